//! Objects inside objects have a kind and metadata of their own.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go (v1.37).

use super::DEEPEST;
use crate::validation::field::{Errors, given};
use kubestep_model::{
    arrange::Arrange,
    schema,
    text::{go, names},
    yaml::Spans,
};
use serde_json::Value;

/// Checks the objects inside a value.
pub(crate) fn check(errors: &mut Errors, schema: &Value, value: &Value, path: &str, depth: usize) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema["x-kubernetes-embedded-resource"] == true {
                one(errors, value, path);
            }
            for (name, value) in map {
                let inner = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                check(errors, inner, value, &path, depth + 1);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                check(errors, &schema["items"], value, &format!("{path}[{i}]"), depth + 1);
            }
        }
        _ => {}
    }
}

/// Drops what metadata of objects inside objects does not know; answers with what is said of each such field.
///
/// Upstream: schema/objectmeta/coerce.go and algorithm.go.
pub(super) fn coerce(value: &mut Value, schema: &Value) -> Vec<String> {
    let mut unknown = vec![];
    drop_unknown(value, schema, "", &mut unknown, 0);
    unknown.arrange();
    unknown.into_iter().map(|path| format!("unknown field {}", go::quote(&path))).collect()
}

fn drop_unknown(value: &mut Value, schema: &Value, path: &str, unknown: &mut Vec<String>, depth: usize) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema["x-kubernetes-embedded-resource"] == true
                && let Some(metadata) = map.get_mut("metadata").filter(|m| m.is_object())
            {
                let holder = serde_json::json!({"metadata": metadata});
                let read = schema::strict("ConfigMap", "v1", &holder, &Spans::default());
                if let Ok(read) = read.map(|r| (r.unknown_fields, r.error.is_none(), r.value))
                    && read.1
                {
                    unknown.extend(read.0.into_iter().map(|note| format!("{path}.{}", note.path)));
                    *metadata = read.2["metadata"].clone();
                }
            }
            for (name, value) in map {
                let inner = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                drop_unknown(value, inner, &path, unknown, depth + 1);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter_mut().enumerate() {
                drop_unknown(value, &schema["items"], &format!("{path}[{i}]"), unknown, depth + 1);
            }
        }
        _ => {}
    }
}

fn one(errors: &mut Errors, value: &Value, path: &str) {
    for name in ["apiVersion", "kind"] {
        if !given(&value[name]) {
            errors.required(&format!("{path}.{name}"), "");
        }
    }
    for name in ["apiVersion", "kind"] {
        let field = format!("{path}.{name}");
        match &value[name] {
            Value::Null => {}
            Value::String(text) if text.is_empty() => errors.invalid(&field, "\"\"", "must not be empty"),
            Value::String(text) if name == "apiVersion" => {
                if text.matches('/').count() > 1 {
                    errors.invalid_text(&field, text, &format!("unexpected GroupVersion string: {text}"));
                }
            }
            Value::String(text) => {
                let wrong = names::is_dns1035_label(&text.to_ascii_lowercase());
                if !wrong.is_empty() {
                    let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
                    errors.invalid_text(&field, text, &why);
                }
            }
            other => errors.invalid(&field, &other.to_string(), "must be a string"),
        }
    }
}
