//! StorageClass.
//!
//! Upstream: pkg/apis/storage/validation, ValidateStorageClass and ValidateStorageClassUpdate (v1.37).

use super::field::{Errors, entries, given, items, text};
use kubestep_model::arrange::Gather;
use kubestep_model::text::names;
use serde_json::Value;

const MOST_PARAMETERS: usize = 512;
const PARAMETER_BYTES: usize = 256 * 1024;
const RECLAIM: [&str; 2] = ["Delete", "Retain"];
const BINDING: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let provisioner = text(&whole["provisioner"]);
    if provisioner.is_empty() {
        errors.required("provisioner", "");
    } else {
        let lower = provisioner.to_ascii_lowercase();
        errors.invalid_each("provisioner", provisioner, names::is_qualified_name(&lower));
    }
    parameters(&mut errors, &whole["parameters"]);
    let policy = text(&whole["reclaimPolicy"]);
    if !policy.is_empty() && !RECLAIM.contains(&policy) {
        errors.not_supported_text("reclaimPolicy", policy, &RECLAIM);
    }
    let mode = &whole["volumeBindingMode"];
    if !given(mode) {
        errors.required("volumeBindingMode", "");
    } else if !BINDING.contains(&text(mode)) {
        errors.not_supported_text("volumeBindingMode", text(mode), &BINDING);
    }
    topologies(&mut errors, items(&whole["allowedTopologies"]));
    errors
}

pub(super) fn parameters(errors: &mut Errors, parameters: &Value) {
    let all: Vec<(&String, &Value)> = entries(parameters).collect();
    if all.len() > MOST_PARAMETERS {
        errors.too_long("parameters", MOST_PARAMETERS);
        return;
    }
    if all.iter().any(|(key, _)| key.is_empty()) {
        errors.invalid_text("parameters", "", "field can not be empty.");
    }
    let bytes: usize = all.iter().map(|(key, value)| key.len() + text(value).len()).sum();
    if bytes > PARAMETER_BYTES {
        errors.too_long("parameters", PARAMETER_BYTES);
    }
}

/// What a term asks for, in no order.
fn wanted(term: &Value) -> std::collections::BTreeMap<&str, std::collections::BTreeSet<&str>> {
    items(&term["matchLabelExpressions"])
        .iter()
        .map(|e| (text(&e["key"]), items(&e["values"]).iter().map(text).gather()))
        .gather()
}

fn topologies(errors: &mut Errors, terms: &[Value]) {
    for (i, term) in terms.iter().enumerate() {
        let expressions = items(&term["matchLabelExpressions"]);
        for (j, expression) in expressions.iter().enumerate() {
            let field = format!("allowedTopologies[{i}].matchLabelExpressions[{j}]");
            if items(&expression["values"]).is_empty() {
                errors.required(&format!("{field}.values"), "");
            }
            let values = items(&expression["values"]);
            for (k, value) in values.iter().enumerate().filter(|(k, v)| values[..*k].contains(v)) {
                errors.duplicate(&format!("{field}.values[{k}]"), &value.to_string());
            }
            let key = text(&expression["key"]);
            errors.invalid_each(&format!("{field}.key"), key, names::is_qualified_name(key));
            if expressions[..j].iter().any(|e| e["key"] == expression["key"]) {
                errors.duplicate(&format!("{field}.key"), &Value::from(key).to_string());
            }
        }
        let same = |other: &Value| wanted(other) == wanted(term);
        // Upstream compares with as many terms that want nothing as there are terms.
        if wanted(term).is_empty() || terms[..i].iter().any(same) {
            errors.duplicate(&format!("allowedTopologies[{i}].matchLabelExpressions"), "\"\"");
        }
    }
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    for name in ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"] {
        // The server does not show these values.
        errors.immutable(name, &new[name], &old[name], "null");
    }
    errors
}
