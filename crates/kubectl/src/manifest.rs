//! Manifests in files: reading, the checks that kubectl itself makes, and what kind each document is.
//! Upstream: cli-runtime/pkg/resource, StreamVisitor and mapper (v1.37).

use crate::{
    args::KUSTOMIZE,
    fault::Fault,
    kc::{Flow, Kc},
    kustomize,
};
use kubestep_model::{Key, Kind, defined, yaml};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};

/// One object of a file, as it was written, with its namespace filled in.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Manifest {
    pub kind: Kind,
    pub namespace: Arc<str>,
    pub name: Arc<str>,
    pub value: Value,
    /// The file it comes from.
    pub source: String,
}

impl Manifest {
    /// What the object is called.
    pub fn key(&self) -> Key {
        Key { kind: self.kind, namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

const KEEP_ON: &str = "if you choose to ignore these errors, turn validation off with --validate=false";

/// How the objects of files are read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The files and folders named by `-f`.
    pub files: Vec<String>,
    /// Whether folders inside folders are read too.
    pub recursive: bool,
    /// Whether the client's own checks are made.
    pub validate: bool,
}

/// What was read: objects and what went wrong, in the order of the files; and whether it was one plain file.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Read {
    pub items: Vec<Result<Manifest, Fault>>,
    /// Faults that stop the command before anything is done.
    pub stops: Vec<Fault>,
    pub single: bool,
    /// Whether a document is of a kind that is none of Kubernetes' own.
    foreign: bool,
    /// Whether a document that was to be checked is of a kind that no schema is known for.
    pub unknown: bool,
}

/// Asks the server for kinds that people defined, where a kind is not one of Kubernetes' own.
///
/// Upstream: cli-runtime/pkg/resource, QueryParamVerifier and CRDFinder (v1.37).
pub fn look_for_kinds(kc: &mut Kc<'_>, read: &Read) -> Flow<()> {
    const DEFINITION: Kind = Kind::other("apiextensions.k8s.io", "CustomResourceDefinition");
    if read.unknown {
        let _known = kc.list_whole(DEFINITION, None, None, None)?;
    }
    Ok(())
}

/// Reads files. Errors of one document do not hide the others.
pub fn read(kc: &mut Kc<'_>, how: &Reading) -> Flow<Read> {
    let read = read_all(kc, how);
    if !read.foreign {
        return Ok(read);
    }
    kc.definitions()?;
    Ok(read_all(kc, how))
}

/// Reads texts that do not lie beside the command, by their names.
pub fn read_texts(kc: &mut Kc<'_>, texts: &BTreeMap<String, String>) -> Flow<Read> {
    let all = |kc: &Kc<'_>| {
        let mut read = Read::default();
        for (name, text) in texts {
            read_text(kc, name, text, true, &mut read);
        }
        read
    };
    let read = all(kc);
    if !read.foreign {
        return Ok(read);
    }
    kc.definitions()?;
    Ok(all(kc))
}

fn read_all(kc: &Kc<'_>, how: &Reading) -> Read {
    let mut read = Read { single: how.files.len() == 1, ..Read::default() };
    for path in &how.files {
        if let Some(folder) = path.strip_prefix(KUSTOMIZE) {
            read.single = false;
            match kustomize::build(kc, folder) {
                Ok(all) => {
                    for value in all {
                        document(kc, folder, value, how.validate, &mut read);
                    }
                }
                Err(why) => read.stops.push(Fault::Text(why)),
            }
            continue;
        }
        match kc.file(path) {
            Some(text) => read_text(kc, path, text, how.validate, &mut read),
            None if path == "-" => match kc.stdin() {
                Some(text) => read_text(kc, "STDIN", text, how.validate, &mut read),
                None => {
                    let text =
                        "-f -: there is nothing on standard input; put a command and | before this one";
                    read.stops.push(Fault::Text(text.into()));
                }
            },
            None if path.starts_with("http://") || path.starts_with("https://") => {
                read.stops.push(Fault::Text(format!("-f {path}: Kubestep does not read from the network")));
            }
            None => read_folder(kc, path, how, &mut read),
        }
    }
    read
}

fn read_folder(kc: &Kc<'_>, path: &str, how: &Reading, read: &mut Read) {
    let bare = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let prefix = if bare.is_empty() || bare == "." { String::new() } else { format!("{bare}/") };
    let inside = |name: &&str| {
        let Some(rest) = name.strip_prefix(prefix.as_str()) else { return false };
        (how.recursive || !rest.contains('/'))
            && [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end))
    };
    let names: Vec<&str> = kc.files().map(|(name, _)| name).filter(inside).collect();
    let exists = prefix.is_empty() || kc.files().any(|(name, _)| name.starts_with(prefix.as_str()));
    if !exists {
        read.stops.push(Fault::Text(format!("the path \"{path}\" does not exist")));
    } else if names.is_empty() {
        read.stops.push(Fault::Text(format!(
            "error reading [{path}]: recognized file extensions are [.json .yaml .yml]"
        )));
    }
    read.single = read.single && names.len() == 1;
    for name in names {
        if let Some(text) = kc.file(name) {
            read_text(kc, name, text, how.validate, read);
        }
    }
}

fn read_text(kc: &Kc<'_>, source: &str, text: &str, validate: bool, read: &mut Read) {
    let reading = yaml::read(text);
    for part in reading.documents {
        if !document(kc, source, part.value, validate, read) {
            return;
        }
    }
    if let Some(error) = reading.error {
        read.items.push(Err(Fault::Text(format!("error parsing {source}: {}", error.text))));
    }
}

/// One document; whether those behind it are to be read.
fn document(kc: &Kc<'_>, source: &str, value: Value, validate: bool, read: &mut Read) -> bool {
    if validate && let Err(why) = check(&value, 0) {
        read.items.push(Err(Fault::Text(format!(
            "error validating \"{source}\": error validating data: {why}; {KEEP_ON}"
        ))));
        return false;
    }
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let list = value.as_object().is_some_and(is_list);
    let unknown = !list && kind_of(kc, text("apiVersion"), text("kind")).is_none();
    read.foreign |= unknown || list;
    read.unknown |= validate && unknown;
    object(kc, source, value, &mut read.items, 0);
    true
}

/// What the client itself demands of a document, whatever its kind.
fn check(value: &Value, depth: usize) -> Result<(), String> {
    let Some(map) = value.as_object() else { return Err("invalid object to validate".into()) };
    let is_set = |field: &str| map.get(field).is_some_and(|v| !v.is_null());
    let missing = |field: &str| format!("{field} not set");
    let faults: Vec<String> =
        ["apiVersion", "kind"].into_iter().filter(|f| !is_set(f)).map(missing).collect();
    match faults.as_slice() {
        [] => {}
        [one] => return Err(one.clone()),
        many => return Err(format!("[{}]", many.join(", "))),
    }
    for field in ["apiVersion", "kind"] {
        if !map[field].is_string() {
            return Err(format!("{field} isn't string type"));
        }
    }
    let version = map["apiVersion"].as_str().unwrap_or_default();
    if version.matches('/').count() > 1 {
        return Err(format!("unexpected GroupVersion string: {version}"));
    }
    if is_list(map) && depth < 8 {
        let items = map.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().try_for_each(|item| check(item, depth + 1))?;
    }
    Ok(())
}

fn is_list(map: &Map<String, Value>) -> bool {
    map.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"))
        && map.contains_key("items")
}

fn object(kc: &Kc<'_>, source: &str, value: Value, items: &mut Vec<Result<Manifest, Fault>>, depth: usize) {
    if let Value::Object(map) = &value
        && is_list(map)
        && depth < 8
    {
        let inner = map.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        for item in inner {
            object(kc, source, item, items, depth + 1);
        }
        return;
    }
    let found = recognise(kc, source, value);
    // Of an item of a list less is known by then. Upstream: FlattenListVisitor.
    items.push(match found {
        Err(Unread::Unknown { why, .. }) if depth > 0 => {
            Err(Fault::Bare(format!("unable to recognize {why}")))
        }
        Err(Unread::Unknown { told, .. }) => Err(Fault::Text(told)),
        Err(Unread::Fault(fault)) => Err(fault),
        Ok(manifest) => Ok(manifest),
    });
}

/// The kind that a manifest names, among Kubernetes' own and those that are known to be defined.
pub(crate) fn kind_of(kc: &Kc<'_>, api_version: &str, kind: &str) -> Option<Kind> {
    Kind::of_manifest(api_version, kind)
        .or_else(|| defined::of_manifest(kc.known_definitions(), api_version, kind))
}

/// Why a document is no manifest: for want of its kind, or for something else.
enum Unread {
    Unknown { why: String, told: String },
    Fault(Fault),
}

impl From<Fault> for Unread {
    fn from(fault: Fault) -> Self {
        Unread::Fault(fault)
    }
}

fn recognise(kc: &Kc<'_>, source: &str, mut value: Value) -> Result<Manifest, Unread> {
    let decode = |why: String| Fault::Text(format!("unable to decode \"{source}\": {why}"));
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if value.is_string() {
        let why = "json: cannot unmarshal string into Go value of type unstructured.detector";
        return Err(Unread::Fault(decode(why.to_owned())));
    }
    if kind.is_empty() {
        return Err(Unread::Fault(decode(format!(
            "Object 'Kind' is missing in '{}'",
            yaml::json::encode(&value)
        ))));
    }
    metadata_fault(&value).map_or(Ok(()), |why| Err(decode(why)))?;
    let meta = |field: &str| {
        value.pointer("/metadata").and_then(|m| m.get(field)).and_then(Value::as_str).unwrap_or_default()
    };
    let (name, namespace): (Arc<str>, String) = (meta("name").into(), meta("namespace").to_owned());
    // The client also finds a kind in lower case; the server then refuses it.
    let lower = || {
        let fits = |k: &Kind| k.name().to_ascii_lowercase() == kind && k.api_version() == api_version;
        Kind::all().find(fits)
    };
    let Some(found) = kind_of(kc, &api_version, &kind).or_else(lower) else {
        let why = format!("no matches for kind \"{kind}\" in version \"{api_version}\"");
        let told = format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{namespace}\" from \"{source}\": {why}\nensure CRDs are installed first"
        );
        return Err(Unread::Unknown { why, told });
    };
    let namespace = place(kc, found, &namespace, &mut value)?;
    Ok(Manifest { kind: found, namespace, name, value, source: source.to_owned() })
}

/// The namespace an object goes to; written into it where it did not say one.
fn place(kc: &Kc<'_>, kind: Kind, stated: &str, value: &mut Value) -> Result<Arc<str>, Fault> {
    if !kind.namespaced() {
        if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
            metadata.remove("namespace");
        }
        return Ok("".into());
    }
    if stated.is_empty() && kc.local {
        return Ok(kc.namespace.clone());
    }
    if stated.is_empty() {
        let metadata =
            value.as_object_mut().map(|m| m.entry("metadata").or_insert_with(|| Map::new().into()));
        if let Some(Value::Object(metadata)) = metadata {
            metadata.insert("namespace".into(), (*kc.namespace).into());
        }
        return Ok(kc.namespace.clone());
    }
    if kc.namespace_given && stated != &*kc.namespace {
        return Err(Fault::Text(format!(
            "the namespace from the provided object \"{stated}\" does not match the namespace \"{}\". You must pass '--namespace={stated}' to perform this operation.",
            kc.namespace
        )));
    }
    Ok(stated.into())
}

/// What Go's decoder says about metadata of a wrong type; kubectl reads no other part of an object.
fn metadata_fault(value: &Value) -> Option<String> {
    let cannot = |v: &Value, place: &str, wanted: &str| {
        let is = match v {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) | Value::Null => "object",
        };
        format!("json: cannot unmarshal {is} into Go struct field {place} of type {wanted}")
    };
    let metadata = value.get("metadata").filter(|m| !m.is_null())?;
    let Some(map) = metadata.as_object() else {
        return Some(cannot(metadata, "metadataOnlyObject.metadata", "v1.ObjectMeta"));
    };
    for field in ["name", "generateName", "namespace", "uid", "resourceVersion"] {
        if let Some(v) = map.get(field).filter(|v| !v.is_null() && !v.is_string()) {
            return Some(cannot(v, &format!("ObjectMeta.metadata.{field}"), "string"));
        }
    }
    for field in ["labels", "annotations"] {
        let place = format!("ObjectMeta.metadata.{field}");
        match map.get(field) {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                if let Some(v) = entries.values().find(|v| !v.is_null() && !v.is_string()) {
                    return Some(cannot(v, &place, "string"));
                }
            }
            Some(other) => return Some(cannot(other, &place, "map[string]string")),
        }
    }
    map.get("creationTimestamp")
        .and_then(Value::as_str)
        .filter(|t| kubestep_model::Time::parse(t).is_none())
        .map(|t| {
            format!("parsing time \"{t}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{t}\" as \"2006\"")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Instant;
    use std::collections::BTreeMap;

    fn faults(text: &str) -> Vec<String> {
        let files = BTreeMap::from([("m.yaml".to_owned(), text.to_owned())]);
        let kc = Kc::new(&files, "default".into(), Instant::START, &[]);
        let read = read_all(&kc, &Reading { files: vec!["m.yaml".into()], recursive: false, validate: true });
        read.items.into_iter().filter_map(|i| i.err()).map(|f| f.text()).collect()
    }

    #[test]
    fn refuses_what_kubectl_refuses_itself() {
        for (text, want) in [
            (
                "kind: Pod",
                "error validating \"m.yaml\": error validating data: apiVersion not set; if you choose",
            ),
            (
                "a: b",
                "error validating \"m.yaml\": error validating data: [apiVersion not set, kind not set]; if",
            ),
            (
                "apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: true}}",
                "unable to decode \"m.yaml\": json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                "apiVersion: v1\nkind: Pods\nmetadata: {name: a}",
                "resource mapping not found for name: \"a\" namespace: \"\" from \"m.yaml\": no matches for kind \"Pods\" in version \"v1\"\nensure CRDs",
            ),
        ] {
            let found = faults(text);
            assert!(found.len() == 1 && found[0].starts_with(want), "{text}: {found:?}");
        }
        assert!(faults("apiVersion: v1\nkind: Pod\nmetadata: {name: a}").is_empty());
    }
}
