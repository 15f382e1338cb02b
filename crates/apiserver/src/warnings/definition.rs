//! What is said about new definitions of kinds.

use kubestep_model::{
    Custom,
    defined::{DEFINITION, Definition},
    text::go,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Formats that nobody checks, and sets whose items are no plain values.
///
/// Upstream: apiextensions-apiserver, pkg/registry/customresourcedefinition/strategy.go (v1.37).
pub(super) fn of_new(warnings: &mut Vec<String>, definition: &Custom) {
    if definition.kind != DEFINITION {
        return;
    }
    let (mut formats, mut sets) = (vec![], BTreeSet::new());
    for version in Definition::of_custom(definition).versions() {
        look(&version["schema"]["openAPIV3Schema"], &mut formats, &mut sets, 0);
    }
    warnings.extend(formats);
    warnings.extend(sets);
}

fn look(schema: &Value, formats: &mut Vec<String>, sets: &mut BTreeSet<String>, depth: usize) {
    if depth > crate::defined::DEEPEST || !schema.is_object() {
        return;
    }
    let format = schema["format"].as_str().unwrap_or_default();
    if !format.is_empty() && !crate::defined::is_known_format(format) {
        formats.push(format!("unrecognized format {}", go::quote(format)));
    }
    let inner = schema["items"]["type"].as_str().unwrap_or_default();
    if schema["x-kubernetes-list-type"] == "set" && matches!(inner, "object" | "array") {
        sets.insert(format!("x-kubernetes-list-type: set for items of type {} is not supported by server-side apply or CEL validation rules", go::quote(inner)));
    }
    let below = ["items", "not", "additionalProperties"].map(|name| &schema[name]);
    let lists = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .flat_map(|name| schema[name].as_array().into_iter().flatten());
    let properties = schema["properties"].as_object().into_iter().flatten().map(|(_, inner)| inner);
    below.into_iter().chain(lists).chain(properties).for_each(|s| look(s, formats, sets, depth + 1));
}
