//! How Go sees and prints untyped JSON values: what the messages about patches are made of.

use serde_json::Value;

use crate::yaml::json::go_short_float;

/// The Go type of a value; two values of different types never merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoType {
    Nil,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
}

pub(super) fn go_type(value: &Value) -> GoType {
    match value {
        Value::Null => GoType::Nil,
        Value::Bool(_) => GoType::Bool,
        Value::Number(number) if number.is_i64() => GoType::Int,
        Value::Number(_) => GoType::Float,
        Value::String(_) => GoType::Text,
        Value::Array(_) => GoType::List,
        Value::Object(_) => GoType::Map,
    }
}

fn type_name(value: &Value) -> &'static str {
    match go_type(value) {
        GoType::Nil => "%!s(<nil>)",
        GoType::Bool => "bool",
        GoType::Int => "int64",
        GoType::Float => "float64",
        GoType::Text => "string",
        GoType::List => "[]interface {}",
        GoType::Map => "map[string]interface {}",
    }
}

/// `expected a map[string]interface {}, but received a string`.
pub(super) fn bad_type(expected: &Value, actual: &Value) -> String {
    format!("expected a {}, but received a {}", type_name(expected), type_name(actual))
}

/// A value as Go's `%s` prints it: what is no text is marked.
pub(super) fn print_as_text(value: &Value) -> String {
    match value {
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", type_name(value), print(value)),
        _ => print(value),
    }
}

/// Values deeper than this are printed as `...`.
const MAX_PRINT_DEPTH: usize = 100;

/// A value as Go's `%v` prints it: `map[name:web ports:[80 443]]`.
pub(super) fn print(value: &Value) -> String {
    let mut out = String::new();
    print_into(&mut out, value, 0);
    out
}

fn print_into(out: &mut String, value: &Value, depth: usize) {
    if depth > MAX_PRINT_DEPTH {
        out.push_str("...");
        return;
    }
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => out.push_str(&go_short_float(float)),
            _ => out.push_str(&number.to_string()),
        },
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(' ');
                }
                print_into(out, item, depth + 1);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (place, (key, value)) in map.iter().enumerate() {
                if place > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                print_into(out, value, depth + 1);
            }
            out.push(']');
        }
    }
}

/// Whether Go's `==` holds between two untyped values: lists and maps are never equal.
pub(super) fn same_scalar(left: &Value, right: &Value) -> bool {
    !matches!(left, Value::Array(_) | Value::Object(_)) && left == right
}
