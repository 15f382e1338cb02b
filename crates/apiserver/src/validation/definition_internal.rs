//! The versions of a definition as Go prints its internal form of them, where a refusal shows them.
//!
//! Upstream: apiextensions-apiserver, pkg/apis/apiextensions/types.go and types_jsonschema.go (v1.37): structs without
//! names for JSON, so every field is printed under Go's name.

use super::field::{flag, given, items, text};
use crate::defined::DEEPEST;
use serde_json::{Value, json};

/// What Go prints of a field that is not set.
#[derive(Clone, Copy)]
enum Zero {
    Text,
    No,
    Null,
    /// A schema, a list of them, or a map of them.
    Inside,
}

const FIELDS: [(&str, &str, Zero); 44] = [
    ("ID", "id", Zero::Text),
    ("Schema", "$schema", Zero::Text),
    ("Ref", "$ref", Zero::Null),
    ("Description", "description", Zero::Text),
    ("Type", "type", Zero::Text),
    ("Nullable", "nullable", Zero::No),
    ("Format", "format", Zero::Text),
    ("Title", "title", Zero::Text),
    ("Default", "default", Zero::Null),
    ("Maximum", "maximum", Zero::Null),
    ("ExclusiveMaximum", "exclusiveMaximum", Zero::No),
    ("Minimum", "minimum", Zero::Null),
    ("ExclusiveMinimum", "exclusiveMinimum", Zero::No),
    ("MaxLength", "maxLength", Zero::Null),
    ("MinLength", "minLength", Zero::Null),
    ("Pattern", "pattern", Zero::Text),
    ("MaxItems", "maxItems", Zero::Null),
    ("MinItems", "minItems", Zero::Null),
    ("UniqueItems", "uniqueItems", Zero::No),
    ("MultipleOf", "multipleOf", Zero::Null),
    ("Enum", "enum", Zero::Null),
    ("MaxProperties", "maxProperties", Zero::Null),
    ("MinProperties", "minProperties", Zero::Null),
    ("Required", "required", Zero::Null),
    ("Items", "items", Zero::Inside),
    ("AllOf", "allOf", Zero::Inside),
    ("OneOf", "oneOf", Zero::Inside),
    ("AnyOf", "anyOf", Zero::Inside),
    ("Not", "not", Zero::Inside),
    ("Properties", "properties", Zero::Inside),
    ("AdditionalProperties", "additionalProperties", Zero::Inside),
    ("PatternProperties", "patternProperties", Zero::Null),
    ("Dependencies", "dependencies", Zero::Null),
    ("AdditionalItems", "additionalItems", Zero::Null),
    ("Definitions", "definitions", Zero::Null),
    ("ExternalDocs", "externalDocs", Zero::Null),
    ("Example", "example", Zero::Null),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Zero::Null),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Zero::No),
    ("XIntOrString", "x-kubernetes-int-or-string", Zero::No),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Zero::Null),
    ("XListType", "x-kubernetes-list-type", Zero::Null),
    ("XMapType", "x-kubernetes-map-type", Zero::Null),
    ("XValidations", "x-kubernetes-validations", Zero::Null),
];

fn object(fields: impl Iterator<Item = (&'static str, String)>) -> String {
    let each: Vec<String> = fields.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", each.join(","))
}

fn schema(value: &Value, depth: usize) -> String {
    if depth > DEEPEST || !value.is_object() {
        return "null".into();
    }
    let one = |&(go, name, zero): &(&'static str, &str, Zero)| {
        let value = &value[name];
        let shown = match zero {
            Zero::Text => json!(text(value)).to_string(),
            Zero::No => flag(value).to_string(),
            Zero::Null => value.to_string(),
            Zero::Inside => inside(name, value, depth + 1),
        };
        (go, shown)
    };
    object(FIELDS.iter().map(one))
}

fn inside(name: &str, value: &Value, depth: usize) -> String {
    match (name, value) {
        (_, Value::Null) => "null".into(),
        ("items", _) => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema(value, depth)),
        ("additionalProperties", _) => {
            let allows = *value != false;
            format!("{{\"Allows\":{allows},\"Schema\":{}}}", schema(value, depth))
        }
        ("properties", Value::Object(map)) => {
            let one = |(name, inner): (&String, &Value)| format!("{}:{}", json!(name), schema(inner, depth));
            format!("{{{}}}", map.iter().map(one).collect::<Vec<_>>().join(","))
        }
        (_, Value::Array(list)) => {
            format!("[{}]", list.iter().map(|s| schema(s, depth)).collect::<Vec<_>>().join(","))
        }
        _ => schema(value, depth),
    }
}

fn subresources(value: &Value) -> String {
    if !given(value) {
        return "null".into();
    }
    let scale = &value["scale"];
    let scale = match given(scale) {
        false => "null".to_owned(),
        true => object(
            [
                ("SpecReplicasPath", json!(text(&scale["specReplicasPath"])).to_string()),
                ("StatusReplicasPath", json!(text(&scale["statusReplicasPath"])).to_string()),
                ("LabelSelectorPath", scale["labelSelectorPath"].to_string()),
            ]
            .into_iter(),
        ),
    };
    let status = if given(&value["status"]) { "{}" } else { "null" };
    format!("{{\"Status\":{status},\"Scale\":{scale}}}")
}

fn columns(value: &Value) -> String {
    let list = items(value);
    if list.is_empty() {
        return "null".into();
    }
    let one = |column: &Value| {
        let of = |name: &str| json!(text(&column[name])).to_string();
        let priority = column["priority"].as_i64().unwrap_or(0).to_string();
        let fields = [
            ("Name", of("name")),
            ("Type", of("type")),
            ("Format", of("format")),
            ("Description", of("description")),
            ("Priority", priority),
            ("JSONPath", of("jsonPath")),
        ];
        object(fields.into_iter())
    };
    format!("[{}]", list.iter().map(one).collect::<Vec<_>>().join(","))
}

/// All versions. What all of them say alike stands elsewhere; `alike` tells.
pub(super) fn versions(versions: &[Value], alike: impl Fn(&str) -> bool) -> String {
    let own = |version: &Value, name: &str, show: fn(&Value) -> String| {
        if alike(name) { "null".to_owned() } else { show(&version[name]) }
    };
    let whole = |holder: &Value| match given(holder) {
        true => format!("{{\"OpenAPIV3Schema\":{}}}", schema(&holder["openAPIV3Schema"], 0)),
        false => "null".to_owned(),
    };
    let one = |v: &Value| {
        let fields = [
            ("Name", json!(text(&v["name"])).to_string()),
            ("Served", flag(&v["served"]).to_string()),
            ("Storage", flag(&v["storage"]).to_string()),
            ("Deprecated", flag(&v["deprecated"]).to_string()),
            ("DeprecationWarning", v["deprecationWarning"].to_string()),
            ("Schema", own(v, "schema", whole)),
            ("Subresources", own(v, "subresources", subresources)),
            ("AdditionalPrinterColumns", own(v, "additionalPrinterColumns", columns)),
            ("SelectableFields", own(v, "selectableFields", Value::to_string)),
        ];
        object(fields.into_iter())
    };
    format!("[{}]", versions.iter().map(one).collect::<Vec<_>>().join(","))
}
