//! Writes JSON as Go's spew would dump the structs that the JSON was decoded into.
//!
//! Upstream: k8s.io/utils/dump, ForHash (v1.37): every field of every struct in Go's order, types in brackets, maps
//! sorted by key. What is empty in the store's encoding comes out as nil: `[]`, `{}` in the place of a map.

use crate::arrange::Gather;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::text::{IntOrString, Quantity};

/// The structs that a pod template is made of, one a line: name, then every field in Go's order as `Name:type`,
/// with `=key` between where the JSON key is not the name with a small first letter (`=` alone: no key, inlined).
const TABLE: &str = include_str!("pod_template.txt");

pub(super) struct Field {
    pub(super) name: &'static str,
    /// None: the fields of this struct stand among those of the one around it.
    pub(super) key: Option<String>,
    pub(super) kind: &'static str,
}

pub(super) type Structs = BTreeMap<&'static str, Vec<Field>>;

pub(super) static STRUCTS: LazyLock<Structs> = LazyLock::new(|| structs(TABLE));

/// Reads a table of structs.
pub(super) fn structs(table: &'static str) -> Structs {
    let structs = table.lines().filter_map(|line| line.split_once(' '));
    structs.map(|(name, fields)| (name, fields.split(' ').filter_map(field).collect())).gather()
}

fn field(text: &'static str) -> Option<Field> {
    let (name, kind) = text.split_once(':')?;
    let (name, key) = match name.split_once('=') {
        None => {
            let (first, rest) = name.split_at_checked(1)?;
            (name, Some(format!("{}{rest}", first.to_ascii_lowercase())))
        }
        Some((name, "")) => (name, None),
        Some((name, key)) => (name, Some(key.to_owned())),
    };
    Some(Field { name, key, kind })
}

/// Dumps a value as the given type.
pub(super) fn dump(kind: &'static str, value: &Value) -> String {
    let mut out = String::with_capacity(8 * 1024);
    write_typed(&mut out, kind, value);
    out
}

/// The type in brackets, then the value. The depth is that of the table's types, not of the input.
fn write_typed(out: &mut String, kind: &'static str, value: &Value) {
    out.push('(');
    out.push_str(kind);
    out.push(')');
    write_value(out, kind, value);
}

fn write_value(out: &mut String, kind: &'static str, value: &Value) {
    if let Some(inner) = kind.strip_prefix('*') {
        // A time would show the zone of the machine that dumped it; templates carry none.
        if value.is_null() || inner == "v1.Time" || inner == "v1.FieldsV1" {
            out.push_str("<nil>");
        } else {
            write_value(out, inner, value);
        }
    } else if let Some(inner) = kind.strip_prefix("[]") {
        write_list(out, inner, value);
    } else if let Some(inner) = map_values(kind) {
        write_map(out, inner, value);
    } else {
        match kind {
            "bool" => out.push_str(if value.as_bool().unwrap_or_default() { "true" } else { "false" }),
            "int32" | "int64" => out.push_str(&value.as_i64().unwrap_or_default().to_string()),
            "v1.Time" => {
                out.push_str("{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}");
            }
            "intstr.IntOrString" => write_int_or_string(out, value),
            "resource.Quantity" => write_quantity(out, value),
            _ => match STRUCTS.get(kind) {
                Some(fields) => write_struct(out, fields, value),
                None => out.push_str(value.as_str().unwrap_or_default()),
            },
        }
    }
}

/// The type of a map's values; None for what is no map.
pub(super) fn map_values(kind: &str) -> Option<&'static str> {
    match kind {
        "map[string]string" => Some("string"),
        "v1.ResourceList" => Some("resource.Quantity"),
        _ => None,
    }
}

fn write_struct(out: &mut String, fields: &'static [Field], value: &Value) {
    out.push('{');
    for (i, field) in fields.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(field.name);
        out.push(':');
        let inner = field.key.as_ref().map_or(value, |key| &value[key.as_str()]);
        write_typed(out, field.kind, inner);
    }
    out.push('}');
}

fn write_list(out: &mut String, kind: &'static str, value: &Value) {
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        out.push_str("<nil>");
        return;
    };
    out.push('[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        write_value(out, kind, item);
    }
    out.push(']');
}

fn write_map(out: &mut String, kind: &'static str, value: &Value) {
    let Some(entries) = value.as_object().filter(|entries| !entries.is_empty()) else {
        out.push_str("<nil>");
        return;
    };
    let sorted: BTreeMap<&String, &Value> = entries.iter().gather();
    out.push_str("map[");
    for (i, (key, value)) in sorted.into_iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(key);
        out.push(':');
        write_value(out, kind, value);
    }
    out.push(']');
}

fn write_int_or_string(out: &mut String, value: &Value) {
    let (kind, number, text) = match serde_json::from_value(value.clone()) {
        Ok(IntOrString::Str(text)) => (1, 0, text),
        Ok(IntOrString::Int(number)) => (0, number, String::new()),
        Err(_) => (0, 0, String::new()),
    };
    out.push_str(&format!("{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"));
}

/// The store keeps a quantity as its text, so what is dumped was read from that text again.
fn write_quantity(out: &mut String, value: &Value) {
    let read: Quantity = serde_json::from_value(value.clone()).unwrap_or_default();
    let stored = Quantity::parse(&read.to_string()).unwrap_or_default();
    out.push_str(&stored.go_dump());
}
