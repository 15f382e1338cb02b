//! Objects inside objects have a kind and metadata of their own.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/schema/objectmeta/validation.go (v1.37).

use super::DEEPEST;
use crate::validation::field::{Errors, given};
use kubestep_model::text::names;
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
                let wrong = names::is_dns1035_label(&text.to_lowercase());
                if !wrong.is_empty() {
                    let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
                    errors.invalid_text(&field, text, &why);
                }
            }
            other => errors.invalid(&field, &other.to_string(), "must be a string"),
        }
    }
}
