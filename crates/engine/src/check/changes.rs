//! What applying would change: the live object beside the one that was answered.

use crate::{ask::Answer, parts::Part};
use kubestep_cluster::{Store, add_owners};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Answer as Told, Kind, Object, Verb,
    client::{ClientAsk, ClientTold, ClientTurn},
    patch::LAST_APPLIED,
};
use kubestep_protocol::WouldChange;
use serde_json::Value;
use std::collections::BTreeSet;

/// So many rows of one object.
const MOST: usize = 50;
/// Lists and maps are compared this deep.
const DEEPEST: usize = 64;
/// Metadata that the server writes.
const SERVERS: [&str; 7] = [
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "uid",
    "deletionTimestamp",
    "selfLink",
];

/// The rows of one object; none if it would be refused.
pub(super) fn changes(store: &Store, answer: &Answer) -> Vec<WouldChange> {
    let mut before: Option<&Object> = None;
    for turn in &answer.turns {
        let Some((verb, object)) = told(turn) else { continue };
        match verb {
            Verb::Get { .. } => before = Some(object),
            Verb::Create { .. } => return vec![new(object)],
            Verb::Patch { .. } => return before.map(|b| rows(store, b, object)).unwrap_or_default(),
            _ => {}
        }
    }
    vec![]
}

fn told(turn: &ClientTurn) -> Option<(&Verb, &Object)> {
    match (&turn.ask, &turn.told) {
        (ClientAsk::Api(request), ClientTold::Reply(Ok(Told::Object { object, .. }))) => {
            Some((&request.verb, object))
        }
        _ => None,
    }
}

fn title(object: &Object) -> String {
    format!("{}/{}", object.kind().singular(), object.meta().name)
}

fn new(object: &Object) -> WouldChange {
    whole(title(object))
}

/// A new object that the API server cannot be asked about yet.
pub(super) fn new_part(part: &Part<'_>) -> WouldChange {
    let kind = Kind::of_manifest(part.api_version(), part.kind()).map_or("object", Kind::singular);
    let object = format!("{kind}/{}", part.name());
    whole(object)
}

fn whole(object: String) -> WouldChange {
    WouldChange { object, field: String::new(), before: None, after: Some("new".into()), writer: None }
}

fn rows(store: &Store, now: &Object, then: &Object) -> Vec<WouldChange> {
    let mut found = vec![];
    let (old, new) = (now.to_value(), then.to_value());
    if old != new {
        let mut owned = now.clone();
        add_owners(store, &mut owned, false);
        let owners = owned.meta().rest.get("managedFields").and_then(Value::as_array);
        let owners: Vec<Owner<'_>> = owners.into_iter().flatten().map(|o| (o, &o["fieldsV1"])).collect();
        differences("", &old, &new, &owners, &mut found);
    }
    let row = |(path, from, to, writer): Difference| {
        let value = |v: Value| (!v.is_null()).then(|| short(&path, &v));
        let (before, after) = (value(from), value(to));
        WouldChange { object: title(then), field: readable(&path), before, after, writer }
    };
    found.into_iter().take(MOST).map(row).collect()
}

/// Where two objects differ: the path, both values, and who wrote the first.
type Difference = (String, Value, Value, Option<String>);
/// An entry of `managedFields`, and what it owns of the part that is looked at.
type Owner<'a> = (&'a Value, &'a Value);

/// Those who own something of one part of what they are asked about.
fn below<'a>(owners: &[Owner<'a>], is: &dyn Fn(&str) -> bool) -> Vec<Owner<'a>> {
    let one = |(who, set): &Owner<'a>| match set.as_object() {
        // Owned as a whole.
        Some(parts) if parts.is_empty() => Some((*who, *set)),
        parts => parts?.iter().find(|(name, _)| is(name)).map(|(_, inner)| (*who, inner)),
    };
    owners.iter().filter_map(one).collect()
}

/// Whether a name in `fieldsV1` stands for an item of a list.
fn is_item(name: &str, item: &Value) -> bool {
    let keys = name.strip_prefix("k:").and_then(|k| serde_json::from_str::<Value>(k).ok());
    keys.as_ref().and_then(Value::as_object).is_some_and(|k| k.iter().all(|(name, v)| item[name] == *v))
}

/// Whose the present value is, as conflicts name them; of several the last that came.
fn writer(owners: &[Owner<'_>]) -> Option<String> {
    let (who, _) = owners.last()?;
    let part = who["subresource"].as_str().map(|part| format!(" ({part})")).unwrap_or_default();
    Some(format!("{}{part}", who["manager"].as_str()?))
}

/// The leaves in which two objects differ, but for what the server writes itself.
fn differences(path: &str, old: &Value, new: &Value, owners: &[Owner<'_>], out: &mut Vec<Difference>) {
    if old == new || out.len() >= MOST {
        return;
    }
    let depth = path.matches(['.', '[']).count();
    match (old, new) {
        (Value::Object(a), Value::Object(b)) if depth < DEEPEST => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).gather();
            for key in keys.into_iter().filter(|key| !is_servers(path, key)) {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let owners = below(owners, &|name| name.strip_prefix("f:") == Some(key));
                let (a, b) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                differences(&inner, a, b, &owners, out);
            }
        }
        (Value::Array(a), Value::Array(b))
            if depth < DEEPEST && (a.iter().chain(b).any(Value::is_object)) =>
        {
            for i in 0..a.len().max(b.len()) {
                let (a, b) = (a.get(i).unwrap_or(&Value::Null), b.get(i).unwrap_or(&Value::Null));
                let owners = below(owners, &|name| is_item(name, a));
                differences(&format!("{path}[{i}]"), a, b, &owners, out);
            }
        }
        _ => out.push((path.to_string(), old.clone(), new.clone(), writer(owners))),
    }
}

fn is_servers(path: &str, key: &str) -> bool {
    match path {
        "" => key == "status",
        "metadata" => SERVERS.contains(&key),
        "metadata.annotations" => key == LAST_APPLIED,
        _ => false,
    }
}

/// A field as people call it: what belongs to the first container is named without the way to it.
fn readable(path: &str) -> String {
    let container = path
        .split_once("spec.containers[0].")
        .filter(|(before, _)| before.is_empty() || *before == "spec.template.");
    container.map_or_else(|| path.to_string(), |(_, field)| field.to_string())
}

/// A value in a few characters; an image without its registry.
fn short(path: &str, value: &Value) -> String {
    let text = match value {
        Value::String(text) if path.ends_with(".image") => {
            text.rsplit('/').next().unwrap_or(text).to_string()
        }
        Value::String(text) => text.clone(),
        other => kubestep_model::yaml::json::encode(other),
    };
    if text.chars().count() > 60 { format!("{}…", text.chars().take(59).collect::<String>()) } else { text }
}
