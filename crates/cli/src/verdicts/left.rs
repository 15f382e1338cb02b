//! What a case leaves: the objects of its manifest, of its other files, then what its commands made.

use super::{
    case::{Case, expand},
    judge::NAMESPACE,
};
use kubestep_apiserver::conversion;
use kubestep_cluster::Store;
use kubestep_model::{Key, Kind, yaml};
use serde_json::Value;

/// The objects as the store holds them now: none, one, or a list.
pub(crate) fn objects(store: &Store, case: &Case, made: impl Iterator<Item = Key>) -> Value {
    let mut keys: Vec<Key> = vec![];
    let mut add = |key: Key| {
        let same = |k: &Key| {
            k.kind.stored() == key.kind.stored() && k.namespace == key.namespace && k.name == key.name
        };
        if !keys.iter().any(same) && stored(store, &key).is_some() {
            keys.push(key);
        }
    };
    named(&case.manifest).for_each(&mut add);
    case.files.values().for_each(|text| named(text).for_each(&mut add));
    if case.manifest.is_empty() && case.files.is_empty() {
        named(&case.setup).for_each(&mut add);
    }
    made.for_each(&mut add);
    let mut objects: Vec<Value> = keys.iter().filter_map(|k| stored(store, k)).collect();
    match objects.len() {
        0 => Value::Null,
        1 => objects.remove(0),
        _ => objects.into(),
    }
}

/// An object in the version of its key.
fn stored(store: &Store, key: &Key) -> Option<Value> {
    let object = store.get(&Key { kind: key.kind.stored(), ..key.clone() })?;
    Some(conversion::shown(object, key.kind).to_value())
}

/// The objects that a manifest names. A document is what stands between lines that begin with `---`.
fn named(manifest: &str) -> impl Iterator<Item = Key> + use<> {
    let text = expand(manifest);
    let mut documents = vec![String::new()];
    for line in text.lines() {
        match documents.last_mut() {
            Some(last) if !line.starts_with("---") => last.push_str(&format!("{line}\n")),
            _ => documents.push(String::new()),
        }
    }
    documents.into_iter().filter_map(|d| key(&yaml::yaml_to_json(&d, false).ok()?))
}

fn key(document: &Value) -> Option<Key> {
    let (version, kind) = (document["apiVersion"].as_str()?, document["kind"].as_str()?);
    let (group, _) = version.rsplit_once('/').unwrap_or(("", version));
    let kind = Kind::of_manifest(version, kind).or_else(|| Kind::find(group, kind))?;
    let meta = &document["metadata"];
    let name = meta["name"].as_str().filter(|n| !n.is_empty())?;
    let own = meta["namespace"].as_str().filter(|n| !n.is_empty()).unwrap_or(NAMESPACE);
    Some(Key::new(kind, if kind.namespaced() { own } else { "" }, name))
}
