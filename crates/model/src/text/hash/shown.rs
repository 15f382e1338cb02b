//! Shows JSON as Go's encoder would show the internal structs that the JSON was decoded into: field names of Go in
//! Go's order, nothing left out. That is how the API server prints a value that it refuses.
//!
//! Upstream: the internal types of pkg/apis/* (v1.37), encoding/json.

use super::dump::{Field, STRUCTS, Structs, map_values, structs};
use crate::arrange::Arrange;
use crate::text::Quantity;
use serde_json::Value;
use std::sync::LazyLock;

/// The structs that no pod template has, written as in the table of templates.
const MORE: &str = include_str!("more_structs.txt");

static OTHERS: LazyLock<Structs> = LazyLock::new(|| structs(MORE));

/// The metadata of objects keeps its names of the API and leaves out what is empty.
const META: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// A value as it will be printed: with names in order.
enum Shown {
    Plain(String),
    List(Vec<Shown>),
    Struct(Vec<(String, Shown)>),
}

/// A value of this type on one line.
pub fn shown(kind: &str, value: &Value) -> String {
    let mut out = String::new();
    read(kind, value, 0).write(&mut out, None);
    out
}

/// A value of this type with one line for each field, as Go indents it by a space.
pub fn shown_lines(kind: &str, value: &Value) -> String {
    let mut out = String::new();
    read(kind, value, 0).write(&mut out, Some(0));
    out
}

/// No type of the tables is as deep as this.
const DEEPEST: usize = 64;

fn read(kind: &str, value: &Value, depth: usize) -> Shown {
    if depth > DEEPEST {
        return Shown::Plain("null".into());
    }
    if let Some(inner) = kind.strip_prefix('*') {
        return if value.is_null() { Shown::Plain("null".into()) } else { read(inner, value, depth + 1) };
    }
    if let Some(inner) = kind.strip_prefix("[]") {
        return match value.as_array().filter(|items| !items.is_empty()) {
            Some(items) => Shown::List(items.iter().map(|v| read(inner, v, depth + 1)).collect()),
            None => Shown::Plain("null".into()),
        };
    }
    if let Some(inner) = map_values(kind) {
        return match value.as_object().filter(|map| !map.is_empty()) {
            Some(map) => {
                let mut entries: Vec<(String, Shown)> =
                    map.iter().map(|(k, v)| (k.clone(), read(inner, v, depth + 1))).collect();
                entries.arrange_by(|a, b| a.0.cmp(&b.0));
                Shown::Struct(entries)
            }
            None => Shown::Plain("null".into()),
        };
    }
    match kind {
        "bool" => Shown::Plain(value.as_bool().unwrap_or_default().to_string()),
        "int32" | "int64" => Shown::Plain(value.as_i64().unwrap_or_default().to_string()),
        "intstr.IntOrString" if value.is_null() => Shown::Plain("0".into()),
        "resource.Quantity" => {
            let amount: Quantity = serde_json::from_value(value.clone()).unwrap_or_default();
            Shown::Plain(Value::from(amount.to_string()).to_string())
        }
        "" | "intstr.IntOrString" | "v1.Time" => Shown::Plain(value.to_string()),
        "v1.ObjectMeta" => Shown::Struct(meta(value)),
        "v1.LabelSelector" => selector(value),
        _ => match STRUCTS.get(kind).or_else(|| OTHERS.get(kind)) {
            Some(fields) => Shown::Struct(of_struct(fields, value, depth)),
            None if value.is_null() => Shown::Plain("\"\"".into()),
            None => Shown::Plain(value.to_string()),
        },
    }
}

fn of_struct(fields: &[Field], value: &Value, depth: usize) -> Vec<(String, Shown)> {
    let mut entries = vec![];
    for field in fields {
        let inner = field.key.as_ref().map_or(value, |key| &value[key.as_str()]);
        let read = read(field.kind, inner, depth + 1);
        match read {
            // An embedded struct's fields stand among those of the one around it.
            Shown::Struct(inner) if field.key.is_none() || field.kind == "v1.ObjectMeta" => {
                entries.extend(inner)
            }
            read => entries.push((field.name.to_owned(), read)),
        }
    }
    entries
}

fn meta(value: &Value) -> Vec<(String, Shown)> {
    let empty = |v: &Value| match v {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) => false,
    };
    let there = META.iter().filter(|name| !empty(&value[**name]));
    there.map(|name| ((*name).to_owned(), Shown::Plain(value[*name].to_string()))).collect()
}

fn selector(value: &Value) -> Shown {
    let mut entries = vec![];
    if value["matchLabels"].as_object().is_some_and(|m| !m.is_empty()) {
        entries.push(("matchLabels".to_owned(), read("map[string]string", &value["matchLabels"], 1)));
    }
    if let Some(terms) = value["matchExpressions"].as_array().filter(|t| !t.is_empty()) {
        let term = |term: &Value| {
            let mut entries: Vec<(String, Shown)> = ["key", "operator"]
                .iter()
                .map(|name| ((*name).to_owned(), Shown::Plain(term[*name].to_string())))
                .collect();
            if term["values"].as_array().is_some_and(|v| !v.is_empty()) {
                entries.push(("values".to_owned(), read("[]string", &term["values"], 1)));
            }
            Shown::Struct(entries)
        };
        entries.push(("matchExpressions".to_owned(), Shown::List(terms.iter().map(term).collect())));
    }
    Shown::Struct(entries)
}

impl Shown {
    /// Compact, or (with a depth) a line for each entry.
    fn write(&self, out: &mut String, depth: Option<usize>) {
        let inner = depth.map(|d| d + 1);
        let new_line = |out: &mut String, depth: Option<usize>| {
            if let Some(depth) = depth {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', depth));
            }
        };
        match self {
            Shown::Plain(text) => out.push_str(text),
            Shown::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    new_line(out, inner);
                    item.write(out, inner);
                }
                new_line(out, depth);
                out.push(']');
            }
            Shown::Struct(entries) if entries.is_empty() => out.push_str("{}"),
            Shown::Struct(entries) => {
                out.push('{');
                for (i, (name, item)) in entries.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    new_line(out, inner);
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(if depth.is_some() { ": " } else { ":" });
                    item.write(out, inner);
                }
                new_line(out, depth);
                out.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_field_is_shown_in_gos_order() {
        let rules = json!({"rules": [{"succeededCount": 1}]});
        assert_eq!(
            shown("SuccessPolicy", &rules),
            r#"{"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}"#
        );
        let lines = "{\n \"Key\": \"a\",\n \"Path\": \"b\",\n \"Mode\": null\n}";
        let there = shown_lines("v1.KeyToPath", &json!({"key": "a", "path": "b"}));
        assert!(there.starts_with(&lines[..lines.len() - 2]), "{there}");
    }

    #[test]
    fn metadata_keeps_the_names_of_the_api() {
        let claim = json!({"metadata": {"name": "data", "labels": {}}, "spec": {}});
        let start =
            r#"{"name":"data","Spec":{"AccessModes":null,"Selector":null,"Resources":{"Limits":null,"#;
        assert!(shown("PersistentVolumeClaim", &claim).starts_with(start));
    }
}
