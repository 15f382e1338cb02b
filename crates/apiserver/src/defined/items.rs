//! Lists whose items are told apart: none stands twice.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/schema/listtype (v1.37).

use super::DEEPEST;
use crate::validation::field::Errors;
use kubestep_model::arrange::Gather;
use serde_json::{Map, Value};

/// What stands twice in the sets and keyed lists of a value.
pub(crate) fn check(schema: &Value, value: &Value, path: &str, depth: usize) -> Errors {
    let mut errors = Errors::new();
    walk(&mut errors, schema, value, path, depth);
    errors
}

fn walk(errors: &mut Errors, schema: &Value, value: &Value, path: &str, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Array(list) => {
            match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => twice(errors, list.iter().collect(), path),
                Some("map") => keyed(errors, schema, list, path),
                _ => {}
            }
            for (i, item) in list.iter().enumerate() {
                walk(errors, &schema["items"], item, &format!("{path}[{i}]"), depth + 1);
            }
        }
        Value::Object(map) => {
            for (name, value) in map {
                let own = schema["properties"].get(name);
                let inner = own.unwrap_or(&schema["additionalProperties"]);
                let path = match (path.is_empty(), own.is_some()) {
                    (true, _) => name.clone(),
                    (false, true) => format!("{path}.{name}"),
                    (false, false) => format!("{path}[{name}]"),
                };
                walk(errors, inner, value, &path, depth + 1);
            }
        }
        _ => {}
    }
}

/// The second of equal items, once for each.
fn second(items: &[&Value]) -> Vec<usize> {
    let before = |i: usize| items[..i].iter().filter(|other| **other == items[i]).count();
    (0..items.len()).filter(|i| before(*i) == 1).collect()
}

fn twice(errors: &mut Errors, items: Vec<&Value>, path: &str) {
    for i in second(&items) {
        errors.duplicate(&format!("{path}[{i}]"), &super::values::shown(items[i]));
    }
}

fn keyed(errors: &mut Errors, schema: &Value, list: &[Value], path: &str) {
    if let Some(i) = list.iter().position(|item| !item.is_object() && !item.is_null()) {
        let shown = super::values::shown(&list[i]);
        errors.invalid(&format!("{path}[{i}]"), &shown, "must be an object for an array of list-type map");
        return;
    }
    let names: Vec<&str> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let key = |item: &Value| {
        let there = names.iter().filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())));
        Value::Object(there.gather::<Map<_, _>>())
    };
    let keys: Vec<Value> = list.iter().map(key).collect();
    twice(errors, keys.iter().collect(), path);
}
