//! Whether a schema is structural: what it holds is said once, by properties, items and types; other words only narrow it.
//!
//! Upstream: apiextensions-apiserver, pkg/apiserver/schema/validation.go and complete.go; schema/defaulting/validation.go
//! (v1.37).

use super::field::{Errors, flag, given, items, text};
use crate::defined::{DEEPEST, check_values, prune, report, shown};
use kubestep_model::text::pattern;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Checks a schema; refusals are sorted by their text.
pub(super) fn check(schema: &Value, field: &str) -> Errors {
    let mut errors = Errors::new();
    walk(&mut errors, schema, Level::Root, field, 0);
    complete(&mut errors, schema, field);
    errors.arrange();
    errors
}

/// Words that no structural schema can be read from: the first that stands anywhere.
pub(super) fn unreadable(schema: &Value, depth: usize) -> Option<&'static str> {
    if depth > DEEPEST || !schema.is_object() {
        return None;
    }
    let filled = |v: &Value| given(v) && *v != "" && v.as_object().is_none_or(|m| !m.is_empty());
    let own =
        ["id", "$schema", "$ref", "additionalItems", "patternProperties", "definitions", "dependencies"];
    if let Some(name) = own.into_iter().find(|name| filled(&schema[*name])) {
        return Some(name);
    }
    if schema["items"].is_array() {
        return Some("items");
    }
    let below = ["items", "not", "additionalProperties"].map(|name| &schema[name]);
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|name| items(&schema[name]));
    let properties = properties(schema).map(|(_, inner)| inner);
    below.into_iter().chain(lists).chain(properties).find_map(|inner| unreadable(inner, depth + 1))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const KEEPS: &str = "x-kubernetes-preserve-unknown-fields";
const EITHER: &str = "x-kubernetes-int-or-string";

fn walk(errors: &mut Errors, schema: &Value, level: Level, field: &str, depth: usize) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    let kind = text(&schema["type"]);
    let (embedded, keeps, either) = (flag(&schema[EMBEDDED]), flag(&schema[KEEPS]), flag(&schema[EITHER]));
    if kind == "array" && !given(&schema["items"]) {
        errors.required(&format!("{field}.items"), "must be specified");
    }
    walk(errors, &schema["items"], Level::Item, &format!("{field}.items"), depth + 1);
    for (name, property) in properties(schema) {
        walk(errors, property, Level::Field, &format!("{field}.properties[{name}]"), depth + 1);
    }
    let additional = &schema["additionalProperties"];
    if given(additional) {
        let field = format!("{field}.additionalProperties");
        if level == Level::Root {
            errors.forbidden(&field, "must not be used at the root");
        }
        walk(errors, additional, Level::Field, &field, depth + 1);
        if embedded {
            errors.forbidden(&field, "must not be used if x-kubernetes-embedded-resource is set");
        }
    }
    for (name, set) in [(KEEPS, keeps), (EMBEDDED, embedded)] {
        if either && set {
            let why = "must be false if x-kubernetes-int-or-string is true";
            errors.invalid(&format!("{field}.{name}"), "true", why);
        }
    }
    narrowing(errors, schema, field, depth);
    of_type(errors, schema, level, field);
    let of_root = level == Level::Root || embedded;
    for name in ["kind", "apiVersion"] {
        let found = &schema["properties"][name];
        if of_root && given(found) && found["type"] != "string" {
            let shown = shown(&text(&found["type"]).into());
            errors.invalid(&format!("{field}.properties[{name}].type"), &shown, "must be string");
        }
    }
    metadata(errors, &schema["properties"]["metadata"], of_root, level, field);
    if embedded && !keeps && properties(schema).next().is_none() {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.required(&format!("{field}.properties"), why);
    }
    if kind != "object" && embedded {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "" => errors.required(&format!("{field}.type"), why),
            other => errors.invalid_text(&format!("{field}.type"), other, why),
        }
    }
}

fn of_type(errors: &mut Errors, schema: &Value, level: Level, field: &str) {
    let kind = text(&schema["type"]);
    let free = flag(&schema[EITHER]) || flag(&schema[KEEPS]) || flag(&schema[EMBEDDED]);
    if kind.is_empty() && !free {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.required(&format!("{field}.type"), why);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.invalid_text(&format!("{field}.type"), kind, "must be object at the root");
    }
}

fn metadata(errors: &mut Errors, schema: &Value, of_root: bool, level: Level, field: &str) {
    if !schema.is_object() {
        return;
    }
    let field = format!("{field}.properties[metadata]");
    if of_root && schema["type"] != "object" {
        errors.invalid(&format!("{field}.type"), &shown(&text(&schema["type"]).into()), "must be object");
    }
    let more = |(name, value): (&String, &Value)| match name.as_str() {
        "type" | "default" => false,
        "properties" => {
            value.as_object().into_iter().flatten().any(|(n, _)| n != "name" && n != "generateName")
        }
        _ => given(value) && *value != false,
    };
    if level == Level::Root && schema.as_object().into_iter().flatten().any(more) {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.forbidden(&field, why);
    }
}

/// Whether alternatives are just `integer` or `string`.
fn is_either(any: &Value) -> bool {
    let kinds: Vec<&Value> = items(any).iter().map(|one| &one["type"]).collect();
    items(any).iter().all(|one| one.as_object().is_some_and(|m| m.len() == 1))
        && (kinds == ["integer", "string"] || kinds == ["string", "integer"])
}

/// The words that only narrow.
fn narrowing(errors: &mut Errors, schema: &Value, field: &str, depth: usize) {
    let either = flag(&schema[EITHER]);
    for name in ["anyOf", "allOf", "oneOf"] {
        if name == "anyOf" && either && is_either(&schema["anyOf"]) {
            continue;
        }
        for (i, one) in items(&schema[name]).iter().enumerate() {
            let skip = name == "allOf" && i == 0 && either && is_either(&one["anyOf"]);
            if !skip {
                nested(errors, one, &format!("{field}.{name}[{i}]"), depth + 1);
            }
        }
    }
    nested(errors, &schema["not"], &format!("{field}.not"), depth + 1);
    let wanted = text(&schema["pattern"]);
    if let (false, Err(why)) = (wanted.is_empty(), pattern::matches(wanted, "")) {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        errors.invalid_text(&format!("{field}.pattern"), wanted, &why);
    }
}

/// What may not stand inside words that only narrow.
fn nested(errors: &mut Errors, schema: &Value, field: &str, depth: usize) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    narrowing(errors, schema, field, depth);
    nested(errors, &schema["items"], &format!("{field}.items"), depth + 1);
    for (name, property) in properties(schema) {
        nested(errors, property, &format!("{field}.properties[{name}]"), depth + 1);
    }
    for (name, state) in [
        ("type", "empty"),
        ("additionalProperties", "undefined"),
        ("default", "undefined"),
        ("title", "empty"),
        ("description", "empty"),
        ("nullable", "false"),
        (KEEPS, "false"),
        (EMBEDDED, "false"),
        (EITHER, "false"),
        ("x-kubernetes-list-map-keys", "empty"),
        ("x-kubernetes-list-type", "undefined"),
        ("x-kubernetes-map-type", "undefined"),
        ("x-kubernetes-validations", "empty"),
    ] {
        if given(&schema[name]) && schema[name] != false && schema[name] != "" {
            errors.forbidden(&format!("{field}.{name}"), &format!("must be {state} to be structural"));
        }
    }
    if given(&schema["properties"]["metadata"]) {
        let field = format!("{field}.properties[metadata]");
        errors.forbidden(&field, "must not be specified in a nested context");
    }
}

/// What narrowing words at the root name has to be there outside of them. Upstream looks no deeper.
fn complete(errors: &mut Errors, schema: &Value, field: &str) {
    for name in ["anyOf", "allOf", "oneOf"] {
        for (i, one) in items(&schema[name]).iter().enumerate() {
            covered(errors, one, schema, field, &format!("{field}.{name}[{i}]"), 0);
        }
    }
    covered(errors, &schema["not"], schema, field, &format!("{field}.not"), 0);
}

fn covered(errors: &mut Errors, inner: &Value, outer: &Value, field: &str, from: &str, depth: usize) {
    if depth > DEEPEST || !inner.is_object() {
        return;
    }
    let mut one = |inner: &Value, outer: &Value, step: &str| {
        let (field, from) = (format!("{field}.{step}"), format!("{from}.{step}"));
        if !given(outer) {
            errors.required(&field, &format!("because it is defined in {from}"));
        } else {
            covered(errors, inner, outer, &field, &from, depth + 1);
        }
    };
    if given(&inner["items"]) {
        one(&inner["items"], &outer["items"], "items");
    }
    for (name, property) in properties(inner) {
        one(property, &outer["properties"][name], &format!("properties[{name}]"));
    }
    for name in ["anyOf", "allOf", "oneOf"] {
        for (i, alternative) in items(&inner[name]).iter().enumerate() {
            covered(errors, alternative, outer, field, &format!("{from}.{name}[{i}]"), depth + 1);
        }
    }
    covered(errors, &inner["not"], outer, field, &format!("{from}.not"), depth + 1);
}

/// Whether every default is as its own schema wants it.
pub(super) fn defaults(schema: &Value, field: &str) -> Errors {
    let mut errors = Errors::new();
    default_at(&mut errors, schema, field, 0);
    errors
}

fn default_at(errors: &mut Errors, schema: &Value, field: &str, depth: usize) {
    if depth > DEEPEST || !schema.is_object() {
        return;
    }
    let default = &schema["default"];
    if given(default) {
        let field = format!("{field}.default");
        let mut pruned = default.clone();
        prune(&mut pruned, schema, flag(&schema[EMBEDDED]));
        if pruned != *default {
            errors.invalid(&field, &shown(default), "must not have unknown fields");
        }
        report(errors, &field, check_values(schema, default, ""));
    }
    default_at(errors, &schema["items"], &format!("{field}.items"), depth + 1);
    default_at(errors, &schema["additionalProperties"], &format!("{field}.additionalProperties"), depth + 1);
    for (name, property) in properties(schema) {
        default_at(errors, property, &format!("{field}.properties[{name}]"), depth + 1);
    }
}
