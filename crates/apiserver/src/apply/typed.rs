//! Whether an applied object fits its kind's schema, in the words of the merger.
//!
//! Upstream: sigs.k8s.io/structured-merge-diff, typed/validate.go (v6).

use super::fields::{Path, Step, item_step, shown, shown_key};
use kubestep_model::schema::{Form, Place};
use serde_json::Value;

const DEEPEST: usize = 100;

/// What is wrong; several faults stand one a line.
pub(crate) fn check(place: Place, value: &Value) -> Result<(), String> {
    let mut faults = vec![];
    walk(place, value, &mut vec![], &mut faults);
    match faults.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(many.iter().fold("errors:".to_owned(), |text, fault| format!("{text}\n  {fault}"))),
    }
}

fn walk(place: Place, value: &Value, path: &mut Path, faults: &mut Vec<String>) {
    if value.is_null() || path.len() > DEEPEST {
        return;
    }
    let expected = match (place.form(), value) {
        (Form::Number, Value::Number(_)) | (Form::Text, Value::String(_)) | (Form::Bool, Value::Bool(_)) => {
            None
        }
        (Form::Any, Value::Number(_) | Value::String(_)) => None,
        (Form::Any, _) => None,
        (Form::Struct | Form::Map(_), Value::Object(_)) => None,
        (Form::List(_) | Form::Keyed(..) | Form::Set(_), Value::Array(_)) => None,
        (Form::Number, _) => Some("numeric (int or float)"),
        (Form::Text, _) => Some("string"),
        (Form::Bool, _) => Some("boolean"),
        (Form::Struct | Form::Map(_), _) => Some("map"),
        (Form::List(_) | Form::Keyed(..) | Form::Set(_), _) => Some("list"),
    };
    if let Some(expected) = expected {
        faults.push(format!("{}: expected {expected}, got {}", shown(path), go_type(value, expected)));
        return;
    }
    match (place.form(), value) {
        (Form::Struct, Value::Object(map)) => {
            for (name, value) in map {
                path.push(Step::Field(name.clone()));
                match place.field(name) {
                    Some(inner) => walk(inner, value, path, faults),
                    None if place.is_open() => {}
                    None => faults.push(format!("{}: field not declared in schema", shown(path))),
                }
                path.pop();
            }
        }
        (Form::Map(inner), Value::Object(map)) => {
            for (name, value) in map {
                path.push(Step::Field(name.clone()));
                walk(inner, value, path, faults);
                path.pop();
            }
        }
        (Form::List(inner), Value::Array(items)) => {
            items.iter().for_each(|item| walk(inner, item, path, faults));
        }
        (Form::Keyed(keys, inner), Value::Array(items)) => keyed(&keys, inner, items, path, faults),
        (Form::Set(_), Value::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                if items[..i].contains(item) {
                    faults.push(format!("{}: duplicate entries for key [={item}]", shown(path)));
                }
            }
        }
        _ => {}
    }
}

fn keyed(keys: &[&str], inner: Place, items: &[Value], path: &mut Path, faults: &mut Vec<String>) {
    let mut seen: Vec<Step> = vec![];
    for (i, item) in items.iter().enumerate() {
        match item_step(keys, item) {
            Ok(step) => {
                if let Step::Item(key) = &step
                    && seen.contains(&step)
                {
                    let key = shown_key(key);
                    faults.push(format!("{}: duplicate entries for key [{key}]", shown(path)));
                }
                seen.push(step.clone());
                path.push(step);
                walk(inner, item, path, faults);
                path.pop();
            }
            Err(missing) => faults.push(format!(
                "{}: element {i}: associative list with keys has an element that omits key field \"{missing}\" (and doesn't have default value)",
                shown(path)
            )),
        }
    }
}

/// As Go names what stands there.
fn go_type(value: &Value, expected: &str) -> String {
    match value {
        Value::String(_) if expected.starts_with("numeric") => "string".into(),
        Value::Bool(_) if expected.starts_with("numeric") => "boolean".into(),
        Value::Object(_) if expected.starts_with("numeric") => "map".into(),
        Value::Array(_) if expected.starts_with("numeric") => "list".into(),
        other => format!("&value.valueUnstructured{{Value:{}}}", go_value(other)),
    }
}

fn go_value(value: &Value) -> String {
    match value {
        Value::Array(_) => "[]interface {}{}".into(),
        Value::Object(_) => "map[string]interface {}{}".into(),
        other => other.to_string(),
    }
}
