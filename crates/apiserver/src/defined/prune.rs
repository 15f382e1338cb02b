//! What a schema does not know is dropped, what it gives a default is filled in.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/schema/pruning and schema/defaulting (v1.37).

use super::DEEPEST;
use kubestep_model::{arrange::Arrange, text::go};
use serde_json::Value;

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what the schema does not know; answers with what is said of each such field. The root of an object has
/// metadata, whatever its schema says.
pub(crate) fn prune(value: &mut Value, schema: &Value, root: bool) -> Vec<String> {
    let mut pruner = Pruner { unknown: vec![], path: String::new(), depth: 0 };
    pruner.value(value, Some(schema), root);
    pruner.unknown.arrange();
    pruner.unknown.iter().map(|path| format!("unknown field {}", go::quote(path))).collect()
}

fn flag(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

/// The schema of additional fields: none if there are none, nothing inside if any value goes.
fn additional(schema: &Value) -> Option<Option<&Value>> {
    match schema.get("additionalProperties") {
        None | Some(Value::Null) => None,
        Some(Value::Bool(_)) => Some(None),
        Some(inner) => Some(Some(inner)),
    }
}

struct Pruner {
    unknown: Vec<String>,
    path: String,
    depth: usize,
}

impl Pruner {
    fn inside(&mut self, step: &str, go: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 && !step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        self.depth += 1;
        if self.depth < DEEPEST {
            go(self);
        }
        self.depth -= 1;
        self.path.truncate(length);
    }

    fn value(&mut self, value: &mut Value, schema: Option<&Value>, root: bool) {
        let keeps = schema.is_some_and(|s| flag(s, "x-kubernetes-preserve-unknown-fields"));
        let resource = root || schema.is_some_and(|s| flag(s, "x-kubernetes-embedded-resource"));
        match value {
            Value::Object(map) => {
                let names: Vec<String> = map.keys().cloned().collect();
                for name in names {
                    if resource && META.contains(&name.as_str()) {
                        continue;
                    }
                    let property = schema.and_then(|s| s["properties"].get(&name));
                    let inner = property.map(Some).or_else(|| schema.and_then(additional));
                    match (inner, map.get_mut(&name)) {
                        (Some(inner), Some(value)) => self.inside(&name, |p| p.value(value, inner, false)),
                        _ if keeps => {}
                        _ => {
                            self.inside(&name, |p| p.unknown.push(p.path.clone()));
                            map.remove(&name);
                        }
                    }
                }
            }
            Value::Array(list) => {
                let items = schema.and_then(|s| s.get("items"));
                if keeps && items.is_none() {
                    return;
                }
                for (i, value) in list.iter_mut().enumerate() {
                    self.inside(&format!("[{i}]"), |p| p.value(value, items, false));
                }
            }
            _ => {}
        }
    }
}

/// The schema of a field, of its own or as one of many.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema["properties"].get(name).or_else(|| additional(schema).flatten())
}

/// Drops nulls where neither a null nor a default may stand.
pub(crate) fn nulls(value: &mut Value, schema: &Value) {
    nulls_at(value, Some(schema), 0);
}

fn nulls_at(value: &mut Value, schema: Option<&Value>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(map) => {
            map.retain(|name, value| {
                let Some(inner) = schema.and_then(|s| field(s, name)) else { return true };
                !value.is_null() || flag(inner, "nullable") || inner.get("default").is_some()
            });
            for (name, value) in map {
                nulls_at(value, schema.and_then(|s| field(s, name)), depth + 1);
            }
        }
        Value::Array(list) => {
            let items = schema.and_then(|s| s.get("items"));
            list.iter_mut().for_each(|value| nulls_at(value, items, depth + 1));
        }
        _ => {}
    }
}

/// Fills in defaults, from the outside to the inside.
pub(crate) fn fill(value: &mut Value, schema: &Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let missing = |value: &Value, schema: &Value| value.is_null() && !flag(schema, "nullable");
    match value {
        Value::Object(map) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let Some(default) = property.get("default").filter(|d| !d.is_null()) else { continue };
                if map.get(name).is_none_or(|there| missing(there, property)) {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                let Some(inner) = field(schema, name) else { continue };
                if missing(value, inner) {
                    *value = inner.get("default").cloned().unwrap_or_default();
                }
                fill(value, inner, depth + 1);
            }
        }
        Value::Array(list) => {
            let Some(items) = schema.get("items") else { return };
            for value in list {
                if missing(value, items) {
                    *value = items.get("default").cloned().unwrap_or_default();
                }
                fill(value, items, depth + 1);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_go_and_are_named() {
        let schema = json!({"properties": {
            "spec": {"properties": {
                "a": {"type": "string"},
                "free": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"properties": {}}}},
                "map": {"additionalProperties": {"properties": {"x": {}}}},
                "list": {"items": {"properties": {"n": {}}}},
                "pod": {"x-kubernetes-embedded-resource": true, "properties": {"spec": {}}},
            }},
        }});
        let mut value = json!({
            "apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}, "more": 1,
            "spec": {"a": "b", "b": 1, "free": {"x": {"y": 1}, "known": {"z": 1}}, "map": {"k": {"x": 1, "y": 2}},
                "list": [{"n": 1, "m": 2}], "pod": {"kind": "Pod", "metadata": {}, "other": 1}},
        });
        let said = prune(&mut value, &schema, true);
        let want =
            ["more", "spec.b", "spec.free.known.z", "spec.list[0].m", "spec.map.k.y", "spec.pod.other"];
        assert_eq!(said, want.map(|w| format!("unknown field \"{w}\"")));
        assert_eq!(
            value["spec"],
            json!({"a": "b", "free": {"x": {"y": 1}, "known": {}}, "map": {"k": {"x": 1}},
                "list": [{"n": 1}], "pod": {"kind": "Pod", "metadata": {}}})
        );
    }

    #[test]
    fn defaults_are_filled_in_outside_first() {
        let schema = json!({"properties": {"spec": {"default": {}, "properties": {
            "n": {"default": 3},
            "null": {"nullable": true, "default": 1},
            "list": {"items": {"properties": {"p": {"default": "TCP"}}}},
        }}}});
        for (given, want) in [
            (json!({}), json!({"spec": {"n": 3, "null": 1}})),
            (json!({"spec": {"n": null, "null": null}}), json!({"spec": {"n": 3, "null": null}})),
            (
                json!({"spec": {"n": 1, "list": [{}, {"p": "UDP"}]}}),
                json!({"spec": {"n": 1, "null": 1, "list": [{"p": "TCP"}, {"p": "UDP"}]}}),
            ),
        ] {
            let mut value = given.clone();
            nulls(&mut value, &schema);
            fill(&mut value, &schema, 0);
            assert_eq!(value, want, "{given}");
        }
    }
}
