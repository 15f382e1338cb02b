//! The schema of a definition, place by place: what OpenAPI allows and Kubernetes does not.
//!
//! Upstream: apiextensions-apiserver, ValidateCustomResourceDefinitionOpenAPISchema (v1.37). Left out: rules in CEL are
//! looked at as texts only.

use super::field::{Errors, flag, given, items, text};
use crate::defined::{DEEPEST, shown};
use serde_json::{Map, Value};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const META: [&str; 3] = ["metadata", "kind", "apiVersion"];
/// What may stand at the root of a schema if the status is written on its own.
const AT_ROOT: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// What holds for the root alone.
pub(super) fn check_root(errors: &mut Errors, schema: &Value, status: bool, field: &str) {
    let Some(map) = schema.as_object().filter(|_| status) else { return };
    let kind = text(&schema["type"]);
    if !kind.is_empty() && kind != "object" {
        let why = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.invalid_text(&format!("{field}.type"), kind, why);
    }
    if map.iter().any(|(name, v)| given(v) && *v != false && !AT_ROOT.iter().any(|(known, _)| known == name))
    {
        let known: Vec<&str> = AT_ROOT.iter().map(|(_, go)| *go).collect();
        let why = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            known.join(" ")
        );
        errors.invalid(field, &schema.to_string(), &why);
    }
}

/// Where in a schema.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: bool,
    inside_meta: bool,
    /// Why no default may stand here.
    no_default: Option<&'a str>,
    depth: usize,
}

/// Checks a schema and all inside it.
pub(super) fn check(errors: &mut Errors, schema: &Value, field: &str) {
    let place = Place { root: true, inside_meta: false, no_default: None, depth: 0 };
    walk(errors, schema, field, place);
}

fn map_of<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    schema[name].as_object().into_iter().flatten()
}

fn walk(errors: &mut Errors, schema: &Value, field: &str, place: Place<'_>) {
    if place.depth > DEEPEST || !schema.is_object() {
        return;
    }
    let inner = Place { root: false, depth: place.depth + 1, ..place };
    standard(errors, schema, field, place);
    if flag(&schema["uniqueItems"]) {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.forbidden(&format!("{field}.uniqueItems"), why);
    }
    let additional = &schema["additionalProperties"];
    if given(additional) {
        let some = schema["properties"].as_object().is_some_and(|p| !p.is_empty());
        if some && *additional != true {
            let why = "additionalProperties and properties are mutual exclusive";
            errors.forbidden(&format!("{field}.additionalProperties"), why);
        }
        let why = "inside additionalProperties applying to object metadata";
        let no_default = if place.inside_meta { Some(why) } else { place.no_default };
        walk(errors, additional, &format!("{field}.additionalProperties"), Place { no_default, ..inner });
    }
    for (name, property) in map_of(schema, "properties") {
        let field = format!("{field}.properties[{name}]");
        let meta =
            META.contains(&name.as_str()) && (place.root || flag(&schema["x-kubernetes-embedded-resource"]));
        let why = format!("in top-level {name}");
        let no_default = if meta && place.root { Some(why.as_str()) } else { place.no_default };
        walk(errors, property, &field, Place { inside_meta: place.inside_meta || meta, no_default, ..inner });
    }
    walk(errors, &schema["not"], &format!("{field}.not"), inner);
    for name in ["allOf", "oneOf", "anyOf"] {
        for (i, one) in items(&schema[name]).iter().enumerate() {
            walk(errors, one, &format!("{field}.{name}[{i}]"), inner);
        }
    }
    for (name, definition) in map_of(schema, "definitions") {
        walk(errors, definition, &format!("{field}.definitions[{name}]"), inner);
    }
    walk(errors, &schema["items"], &format!("{field}.items"), inner);
    extensions(errors, schema, field);
    rules(errors, schema, field);
}

/// Upstream: specStandardValidatorV3.
fn standard(errors: &mut Errors, schema: &Value, field: &str, place: Place<'_>) {
    let kind = text(&schema["type"]);
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.not_supported_text(&format!("{field}.type"), kind, &TYPES);
    }
    if let (true, Some(why)) = (given(&schema["default"]), place.no_default) {
        errors.forbidden(&format!("{field}.default"), &format!("must not be set {why}"));
    }
    let filled = |v: &Value| v.as_object().is_none_or(|m: &Map<String, Value>| !m.is_empty());
    for name in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if given(&schema[name]) && filled(&schema[name]) && schema[name] != "" {
            errors.forbidden(&format!("{field}.{name}"), &format!("{name} is not supported"));
        }
    }
    if kind == "null" {
        let why = "type cannot be set to null, use nullable as an alternative";
        errors.forbidden(&format!("{field}.type"), why);
    }
    if schema["items"].is_array() {
        errors.forbidden(&format!("{field}.items"), "items must be a schema object and not an array");
    }
    if place.inside_meta && flag(&schema["x-kubernetes-embedded-resource"]) {
        let why = "must not be used inside of resource meta";
        errors.forbidden(&format!("{field}.x-kubernetes-embedded-resource"), why);
    }
}

fn extensions(errors: &mut Errors, schema: &Value, field: &str) {
    let kind = text(&schema["type"]);
    let at = |name: &str| format!("{field}.{name}");
    let mut typed = |wanted: &str, why: &str| {
        if kind.is_empty() {
            errors.required(&at("type"), why);
        } else if kind != wanted {
            errors.invalid_text(&at("type"), kind, why);
        }
    };
    if schema["x-kubernetes-map-type"].is_string() {
        typed("object", "must be object if x-kubernetes-map-type is specified");
    }
    if schema["x-kubernetes-list-type"].is_string() {
        typed("array", "must be array if x-kubernetes-list-type is specified");
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        errors.invalid(&at("x-kubernetes-preserve-unknown-fields"), "false", "must be true or undefined");
    }
    for (name, known) in [
        ("x-kubernetes-map-type", &["atomic", "granular"][..]),
        ("x-kubernetes-list-type", &["atomic", "set", "map"]),
    ] {
        if let Some(said) = schema[name].as_str().filter(|said| !known.contains(said)) {
            errors.not_supported_text(&at(name), said, known);
        }
    }
    let list = schema["x-kubernetes-list-type"].as_str();
    if list == Some("set") && kind == "array" {
        set_items(errors, &schema["items"], &at("items"));
    }
    let keys = items(&schema["x-kubernetes-list-map-keys"]);
    if !keys.is_empty() && list != Some("map") {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list {
            None => errors.required(&at("x-kubernetes-list-type"), why),
            Some(other) => errors.invalid_text(&at("x-kubernetes-list-type"), other, why),
        }
    }
    if list == Some("map") {
        keyed(errors, schema, keys, field);
    }
    if let (Some(list @ ("set" | "map")), true) = (list, flag(&schema["items"]["nullable"])) {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.forbidden(&at("items.nullable"), &why);
    }
}

fn set_items(errors: &mut Errors, inner: &Value, field: &str) {
    let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let name = match text(&inner["type"]) {
        "array" if inner["x-kubernetes-list-type"].as_str().is_some_and(|t| t != "atomic") => {
            "x-kubernetes-list-type"
        }
        "object" if inner["x-kubernetes-map-type"] != "atomic" => "x-kubernetes-map-type",
        _ => return,
    };
    errors.invalid(&format!("{field}.{name}"), &shown(&inner["x-kubernetes-list-type"]), why);
}

fn keyed(errors: &mut Errors, schema: &Value, keys: &[Value], field: &str) {
    let inner = &schema["items"];
    let named = format!("{field}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        errors.required(&named, "must not be empty if x-kubernetes-list-type is map");
    }
    if !given(inner) {
        errors.required(&format!("{field}.items"), "must have a schema if x-kubernetes-list-type is map");
        return;
    }
    let kind = text(&inner["type"]);
    if kind != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        errors.invalid_text(&format!("{field}.items.type"), kind, why);
        return;
    }
    let all = Value::from(keys.to_vec()).to_string();
    for (i, key) in keys.iter().map(text).enumerate() {
        let property = &inner["properties"][key];
        if !given(property) {
            errors.invalid(&named, &all, "entries must all be names of item properties");
        } else if matches!(text(&property["type"]), "array" | "object") {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.invalid_text(&format!("{field}.items.properties[{key}].type"), kind, why);
        }
        if keys[..i].iter().any(|k| *k == *key) {
            errors.invalid(&named, &all, "must not contain duplicate entries");
        }
    }
    for key in keys.iter().map(text) {
        let property = &inner["properties"][key];
        let at = format!("{field}.items.properties[{key}]");
        let required = items(&inner["required"]).iter().any(|r| *r == *key);
        if given(property) && !required && !given(&property["default"]) {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.required(&format!("{at}.default"), why);
        }
        if flag(&property["nullable"]) {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.forbidden(&format!("{at}.nullable"), why);
        }
    }
}

fn rules(errors: &mut Errors, schema: &Value, field: &str) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    for (i, rule) in items(&schema["x-kubernetes-validations"]).iter().enumerate() {
        let at = |name: &str| format!("{field}.x-kubernetes-validations[{i}].{name}");
        let (said, message) = (text(&rule["rule"]).trim(), text(&rule["message"]));
        let lines = |text: &str| text.contains(['\n', '\r']);
        if said.is_empty() {
            errors.required(&at("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.invalid_text(&at("message"), message, "must be non-empty if specified");
        } else if lines(message.trim()) {
            errors.invalid_text(&at("message"), message, "must not contain line breaks");
        } else if lines(said) && message.is_empty() {
            errors.required(&at("message"), "message must be specified if rule contains line breaks");
        }
        if let Some(reason) = rule["reason"].as_str().filter(|r| !REASONS.contains(r)) {
            errors.not_supported_text(&at("reason"), reason, &REASONS);
        }
    }
}
