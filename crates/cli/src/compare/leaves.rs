//! An object as a flat map from paths to values: what two objects are compared by.

use std::collections::BTreeMap;

use serde_json::Value;

/// Fields that tell the elements of a list apart, in order of preference.
const KEYS: &[&str] = &["type", "mountPath", "name", "ip", "topologyKey"];

/// Lists whose order is the order in which pods came.
const UNORDERED: &[&str] = &["addresses", "notReadyAddresses", "endpoints", "images"];

/// A generous bound: no API object nests deeper.
const DEPTH: usize = 64;

pub(super) fn leaves(object: &Value) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    walk(object, String::new(), DEPTH, &mut out);
    out
}

fn walk(value: &Value, path: String, depth: usize, out: &mut BTreeMap<String, String>) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, field) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                walk(field, format!("{path}{dot}{name}"), depth - 1, out);
            }
        }
        Value::Array(items) if !items.is_empty() => list(items, &path, depth, out),
        Value::String(text) => {
            out.insert(path, format!("\"{text}\""));
        }
        other => {
            out.insert(path, other.to_string());
        }
    }
}

fn list(items: &[Value], path: &str, depth: usize, out: &mut BTreeMap<String, String>) {
    let keys = keys(items);
    let field = path.rsplit('.').next().unwrap_or(path);
    for (i, item) in items.iter().enumerate() {
        let key = keys.as_ref().map_or_else(|| i.to_string(), |k| k[i].clone());
        walk(item, format!("{path}[{key}]"), depth - 1, out);
    }
    if let Some(keys) = keys
        && !UNORDERED.contains(&field)
    {
        out.insert(format!("{path}[]"), keys.join(" "));
    }
}

/// A name for each element, if a field names them all, and each once.
fn keys(items: &[Value]) -> Option<Vec<String>> {
    let endpoint = |item: &Value| Some(item.get("addresses")?.get(0)?.as_str()?.to_owned());
    let named = |field: &str, item: &Value| Some(item.get(field)?.as_str()?.to_owned());
    let unique = |keys: Option<Vec<String>>| {
        keys.filter(|keys| {
            let mut sorted = keys.clone();
            sorted.sort();
            sorted.windows(2).all(|w| w[0] != w[1])
        })
    };
    KEYS.iter()
        .find_map(|field| unique(items.iter().map(|item| named(field, item)).collect()))
        .or_else(|| unique(items.iter().map(endpoint).collect()))
}

/// JSON merge patch (RFC 7386).
pub(super) fn merge(target: &mut Value, patch: &Value) {
    merge_within(target, patch, DEPTH);
}

fn merge_within(target: &mut Value, patch: &Value, depth: usize) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if depth == 0 {
        return;
    }
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(object) = target {
        for (name, field) in fields {
            if field.is_null() {
                object.remove(name);
            } else {
                merge_within(object.entry(name.clone()).or_insert(Value::Null), field, depth - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_keyed_by_what_names_their_elements() {
        let got = leaves(&json!({"status": {"conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "False"}]},
            "spec": {"args": ["a", "a"], "none": {}}}));
        let want = [
            ("spec.args[0]", "\"a\""),
            ("spec.args[1]", "\"a\""),
            ("spec.none", "{}"),
            ("status.conditions[Initialized].status", "\"False\""),
            ("status.conditions[Initialized].type", "\"Initialized\""),
            ("status.conditions[Ready].status", "\"True\""),
            ("status.conditions[Ready].type", "\"Ready\""),
            ("status.conditions[]", "Ready Initialized"),
        ];
        assert_eq!(got, want.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    }

    #[test]
    fn a_merge_patch_removes_what_it_sets_to_null() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut target, &json!({"a": {"b": null, "e": {"f": 3}}, "d": [2]}));
        assert_eq!(target, json!({"a": {"c": 2, "e": {"f": 3}}, "d": [2]}));
    }
}
