//! What applying would change: the live object beside the one that was answered.

use crate::{ask::Answer, parts::Part};
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
pub(super) fn changes(answer: &Answer) -> Vec<WouldChange> {
    let mut before: Option<&Object> = None;
    for turn in &answer.turns {
        let Some((verb, object)) = told(turn) else { continue };
        match verb {
            Verb::Get { .. } => before = Some(object),
            Verb::Create { .. } => return vec![new(object)],
            Verb::Patch { .. } => return before.map(|b| rows(b, object)).unwrap_or_default(),
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
    WouldChange { object: title(object), field: String::new(), before: None, after: Some("new".into()) }
}

/// A new object that the API server cannot be asked about yet.
pub(super) fn new_part(part: &Part<'_>) -> WouldChange {
    let kind = Kind::of_manifest(part.api_version(), part.kind()).map_or("object", Kind::singular);
    let object = format!("{kind}/{}", part.name());
    WouldChange { object, field: String::new(), before: None, after: Some("new".into()) }
}

fn rows(before: &Object, after: &Object) -> Vec<WouldChange> {
    let mut found = vec![];
    differences("", &before.to_value(), &after.to_value(), 0, &mut found);
    let row = |(path, from, to): (String, Value, Value)| {
        let value = |v: Value| (!v.is_null()).then(|| short(&path, &v));
        WouldChange { object: title(after), field: readable(&path), before: value(from), after: value(to) }
    };
    found.into_iter().take(MOST).map(row).collect()
}

/// The leaves in which two objects differ, but for what the server writes itself.
fn differences(path: &str, old: &Value, new: &Value, depth: usize, out: &mut Vec<(String, Value, Value)>) {
    if old == new || out.len() >= MOST {
        return;
    }
    match (old, new) {
        (Value::Object(a), Value::Object(b)) if depth < DEEPEST => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).gather();
            for key in keys.into_iter().filter(|key| !is_servers(path, key)) {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differences(
                    &inner,
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                    depth + 1,
                    out,
                );
            }
        }
        (Value::Array(a), Value::Array(b))
            if depth < DEEPEST && (a.iter().chain(b).any(Value::is_object)) =>
        {
            for i in 0..a.len().max(b.len()) {
                differences(
                    &format!("{path}[{i}]"),
                    a.get(i).unwrap_or(&Value::Null),
                    b.get(i).unwrap_or(&Value::Null),
                    depth + 1,
                    out,
                );
            }
        }
        _ => out.push((path.to_string(), old.clone(), new.clone())),
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
