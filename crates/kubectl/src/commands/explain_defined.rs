//! `kubectl explain` of a kind that somebody defined: its definition says what its fields are.
//! Upstream: kubectl/pkg/explain/v2 (v1.37). Descriptions are those of the definition.

use crate::{
    args::Args,
    kc::{Flow, Kc},
};
use kubestep_model::{
    Kind,
    defined::{self, Definition, inner_schema as inner, is_required, schema_of, schema_type as defined_type},
};
use serde_json::{Map, Value, json};

/// The fields of a kind that somebody defined, from its schema.
pub(super) fn explain(kc: &mut Kc<'_>, args: &Args, kind: Kind, path: &[&str]) -> Flow<i32> {
    let definitions = kc.definitions()?;
    let key = defined::definition_key(kind);
    let definition = definitions.iter().find(|d| d.key() == key).and_then(Definition::of);
    let asked = args.text("api-version").filter(|v| !v.is_empty());
    let kinds = definition.map(Definition::served).unwrap_or_default();
    let found = kinds.into_iter().find(|k| asked.map_or(*k == kind, |v| v == k.api_version()));
    let (Some(definition), Some(kind)) = (definition, found) else {
        let asked = args.text_or_empty("api-version");
        return Err(kc.fail(format!("couldn't find resource for \"{asked}, Kind={}\"", kind.name())));
    };
    let mut at = schema_of(definition, kind);
    let mut required = false;
    let (group, name, version) = (kind.group(), kind.name(), kind.version());
    let mut text = format!("GROUP:      {group}\nKIND:       {name}\nVERSION:    {version}\n\n");
    for step in path {
        at = inner(at);
        required = is_required(at, step);
        at = &at["properties"][*step];
        if at.is_null() {
            kc.out(text);
            return Err(kc.fail(format!("field \"{step}\" does not exist")));
        }
    }
    if let Some(last) = path.last() {
        let required = if required { " -required-" } else { "" };
        text += &format!("FIELD: {last} <{}>{required}\n", defined_type(at));
        text += &enumerated(at, "");
        text += "\n\n";
    }
    text += &format!("DESCRIPTION:\n    {}\n", described(at, "<empty>"));
    let at = inner(at);
    let mut fields = at["properties"].as_object().cloned().unwrap_or_default();
    if path.is_empty() {
        // Every object has these, whatever its definition says.
        for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "ObjectMeta")] {
            fields.entry(name).or_insert_with(|| json!({"type": kind}));
        }
    }
    if !fields.is_empty() {
        text += "FIELDS:\n";
        defined_lines(&mut text, at, &fields, 1, args.on("recursive"));
    }
    text += "\n";
    kc.out(text);
    Ok(0)
}

fn enumerated(schema: &Value, indent: &str) -> String {
    let Some(known) = schema["enum"].as_array() else { return String::new() };
    let each: Vec<String> =
        known.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
    format!("{indent}enum: {}\n", each.join(", "))
}

fn described<'a>(schema: &'a Value, nothing: &'a str) -> &'a str {
    schema["description"].as_str().filter(|d| !d.is_empty()).unwrap_or(nothing)
}

fn defined_lines(text: &mut String, schema: &Value, fields: &Map<String, Value>, level: usize, deep: bool) {
    let indent = "  ".repeat(level);
    for (name, field) in fields {
        let required = if is_required(schema, name) { " -required-" } else { "" };
        *text += &format!("{indent}{name}\t<{}>{required}\n", defined_type(field));
        *text += &enumerated(field, &indent);
        if !deep {
            *text += &format!("{indent}  {}\n\n", described(field, "<no description>"));
            continue;
        }
        let below = inner(field);
        if let Some(more) = below["properties"].as_object().filter(|_| level < 32) {
            defined_lines(text, below, more, level + 1, deep);
        }
    }
}
