//! The forms in which objects are printed.

pub mod custom_columns;
pub mod format;
pub mod json;
pub mod jsonpath;
pub(crate) mod links;
pub mod listed;
pub mod sort;
pub mod table;
pub mod tabs;
pub mod unified;

use serde_json::Value;

/// A value as Go's `fmt.Print` writes it: `map[a:1 b:[x y]]`.
pub fn go_print(value: &Value) -> String {
    let mut out = String::new();
    go_print_to(value, &mut out, 0);
    out
}

/// A value as Go's `%#v` prints what it unmarshals.
pub(crate) fn go_syntax(value: &Value) -> String {
    let mut out = String::new();
    go_syntax_to(value, &mut out, 0);
    out
}

fn go_syntax_to(value: &Value, out: &mut String, depth: usize) {
    let comma = |at: usize| if at > 0 { ", " } else { "" };
    match value {
        _ if depth > 500 => out.push_str("..."),
        Value::Null => out.push_str("interface {}(nil)"),
        Value::Bool(_) | Value::Number(_) => go_print_to(value, out, depth),
        Value::String(text) => out.push_str(&kubestep_model::text::go::quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (at, item) in items.iter().enumerate() {
                out.push_str(comma(at));
                go_syntax_to(item, out, depth + 1);
            }
            out.push('}');
        }
        Value::Object(map) => {
            out.push_str("map[string]interface {}{");
            for (at, (key, item)) in map.iter().enumerate() {
                out.push_str(comma(at));
                out.push_str(&kubestep_model::text::go::quote(key));
                out.push(':');
                go_syntax_to(item, out, depth + 1);
            }
            out.push('}');
        }
    }
}

fn go_print_to(value: &Value, out: &mut String, depth: usize) {
    match value {
        _ if depth > 500 => out.push_str("..."),
        Value::Null => out.push_str("<nil>"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(_) => out.push_str(&kubestep_model::yaml::json::encode(value)),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                go_print_to(item, out, depth + 1);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                go_print_to(item, out, depth + 1);
            }
            out.push(']');
        }
    }
}
