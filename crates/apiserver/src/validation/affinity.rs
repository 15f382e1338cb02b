//! Affinity, tolerations and spreading.
//!
//! Upstream: pkg/apis/core/validation, validateAffinity, ValidateTolerations, validateTopologySpreadConstraints (v1.37).

use super::{
    field::{Errors, given, items, number, text},
    workload,
};
use kubestep_model::{LabelSelector, text::names};
use serde_json::Value;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(errors: &mut Errors, affinity: &Value, field: &str) {
    node_affinity(errors, &affinity["nodeAffinity"], &format!("{field}.nodeAffinity"));
    for side in ["podAffinity", "podAntiAffinity"] {
        let field = format!("{field}.{side}");
        for (i, term) in items(&affinity[side][REQUIRED]).iter().enumerate() {
            pod_term(errors, term, &format!("{field}.{REQUIRED}[{i}]"));
        }
        for (i, wish) in items(&affinity[side][PREFERRED]).iter().enumerate() {
            let field = format!("{field}.{PREFERRED}[{i}]");
            weight(errors, wish, &field);
            pod_term(errors, &wish["podAffinityTerm"], &format!("{field}.podAffinityTerm"));
        }
    }
}

fn node_affinity(errors: &mut Errors, affinity: &Value, field: &str) {
    let required = &affinity[REQUIRED];
    if !required.is_null() {
        node_selector(errors, required, &format!("{field}.{REQUIRED}"));
    }
    for (i, wish) in items(&affinity[PREFERRED]).iter().enumerate() {
        let field = format!("{field}.{PREFERRED}[{i}]");
        let heavy = number(&wish["weight"]);
        if !(1..=100).contains(&heavy) {
            errors.invalid(&format!("{field}.weight"), &heavy.to_string(), "must be in the range 1-100");
        }
        node_term(errors, &wish["preference"], &format!("{field}.preference"));
    }
}

/// Terms of which one has to be met. Upstream: ValidateNodeSelector.
pub(super) fn node_selector(errors: &mut Errors, selector: &Value, field: &str) {
    let field = format!("{field}.nodeSelectorTerms");
    let terms = items(&selector["nodeSelectorTerms"]);
    if terms.is_empty() {
        errors.required(&field, "must have at least one node selector term");
    }
    for (i, term) in terms.iter().enumerate() {
        node_term(errors, term, &format!("{field}[{i}]"));
    }
}

fn weight(errors: &mut Errors, wish: &Value, field: &str) {
    let heavy = number(&wish["weight"]);
    if !(1..=100).contains(&heavy) {
        errors.invalid(&format!("{field}.weight"), &heavy.to_string(), "must be in the range 1-100");
    }
}

fn node_term(errors: &mut Errors, term: &Value, field: &str) {
    for (i, requirement) in items(&term["matchExpressions"]).iter().enumerate() {
        let field = format!("{field}.matchExpressions[{i}]");
        let values = items(&requirement["values"]);
        match text(&requirement["operator"]) {
            "In" | "NotIn" if values.is_empty() => {
                errors.required(
                    &format!("{field}.values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                );
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&format!("{field}.values"), why);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                errors.required(
                    &format!("{field}.values"),
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => {
                errors.invalid_text(&format!("{field}.operator"), other, "not a valid selector operator")
            }
        }
        let key = text(&requirement["key"]);
        errors.invalid_each(&format!("{field}.key"), key, names::is_qualified_name(key));
        for (j, value) in values.iter().enumerate() {
            let field = format!("{field}.values[{j}]");
            errors.invalid_each(&field, text(value), names::is_valid_label_value(text(value)));
        }
    }
    for (i, requirement) in items(&term["matchFields"]).iter().enumerate() {
        let field = format!("{field}.matchFields[{i}]");
        match text(&requirement["operator"]) {
            "In" | "NotIn" => {
                if items(&requirement["values"]).len() != 1 {
                    let why =
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                    errors.required(&format!("{field}.values"), why);
                }
            }
            other => {
                errors.invalid_text(&format!("{field}.operator"), other, "not a valid selector operator")
            }
        }
        let key = text(&requirement["key"]);
        if key != "metadata.name" {
            errors.invalid_text(&format!("{field}.key"), key, "not a valid field selector key");
        } else {
            for (j, value) in items(&requirement["values"]).iter().enumerate() {
                let field = format!("{field}.values[{j}]");
                errors.invalid_each(&field, text(value), names::is_dns1123_subdomain(text(value)));
            }
        }
    }
}

fn pod_term(errors: &mut Errors, term: &Value, field: &str) {
    for name in ["labelSelector", "namespaceSelector"] {
        if let Ok(selector) = serde_json::from_value::<LabelSelector>(term[name].clone()) {
            workload::label_selector(errors, &selector, &format!("{field}.{name}"));
        }
    }
    for namespace in items(&term["namespaces"]) {
        let field = format!("{field}.namespace");
        errors.invalid_each(&field, text(namespace), names::is_dns1123_label(text(namespace)));
    }
    label_keys(errors, term, field);
    let key = text(&term["topologyKey"]);
    let field = format!("{field}.topologyKey");
    if key.is_empty() {
        errors.required(&field, "can not be empty");
    }
    errors.invalid_each(&field, key, names::is_qualified_name(key));
}

/// Labels of the pod itself that are part of the selector.
///
/// Upstream: ValidateMatchLabelKeysAndMismatchLabelKeys.
fn label_keys(errors: &mut Errors, term: &Value, field: &str) {
    let selector = &term["labelSelector"];
    let (matching, other) = (items(&term["matchLabelKeys"]), items(&term["mismatchLabelKeys"]));
    for (name, keys) in [("matchLabelKeys", matching), ("mismatchLabelKeys", other)] {
        let field = format!("{field}.{name}");
        if !keys.is_empty() && !given(selector) {
            errors.forbidden(&field, "must not be specified when labelSelector is not set");
            continue;
        }
        for (i, key) in keys.iter().enumerate() {
            errors.invalid_each(&format!("{field}[{i}]"), text(key), names::is_qualified_name(text(key)));
        }
    }
    let mut seen: Vec<&str> =
        selector["matchLabels"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    for expression in items(&selector["matchExpressions"]) {
        let key = text(&expression["key"]);
        if let Some(i) = matching.iter().rposition(|k| text(k) == key).filter(|_| seen.contains(&key)) {
            let why = "exists in both matchLabelKeys and labelSelector";
            errors.invalid_text(&format!("{field}[{i}]"), key, why);
        }
        seen.push(key);
    }
    for (i, key) in matching.iter().enumerate().filter(|(_, key)| other.contains(key)) {
        let why = "exists in both matchLabelKeys and mismatchLabelKeys";
        errors.invalid_text(&format!("{field}.matchLabelKeys[{i}]"), text(key), why);
    }
}

pub(super) fn tolerations(errors: &mut Errors, tolerations: &Value, field: &str) {
    for (i, toleration) in items(tolerations).iter().enumerate() {
        let field = format!("{field}[{i}]");
        let (key, operator) = (text(&toleration["key"]), text(&toleration["operator"]));
        let (value, effect) = (text(&toleration["value"]), text(&toleration["effect"]));
        if !key.is_empty() {
            errors.invalid_each(&format!("{field}.key"), key, names::is_qualified_name(key));
        }
        if key.is_empty() && operator != "Exists" {
            let why =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid_text(&format!("{field}.operator"), operator, why);
        }
        if !toleration["tolerationSeconds"].is_null() && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid_text(&format!("{field}.effect"), effect, why);
        }
        match operator {
            "Equal" | "" => {
                let wrong = names::is_valid_label_value(value);
                if !wrong.is_empty() {
                    errors.invalid_text(&format!("{field}.operator"), value, &wrong.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                errors.invalid_text(
                    &format!("{field}.operator"),
                    value,
                    "value must be empty when `operator` is 'Exists'",
                );
            }
            "Exists" => {}
            // Known, and not yet switched on.
            "Lt" | "Gt" => {
                let known = ["Equal", "Exists", "Lt", "Gt"];
                errors.not_supported_text(&format!("{field}.operator"), operator, &known);
            }
            other => errors.not_supported_text(&format!("{field}.operator"), other, &["Equal", "Exists"]),
        }
        if !effect.is_empty() && !EFFECTS.contains(&effect) {
            errors.not_supported_text(&format!("{field}.effect"), effect, &EFFECTS);
        }
    }
}

pub(super) fn spread(errors: &mut Errors, constraints: &Value, field: &str) {
    let all = items(constraints);
    for (i, constraint) in all.iter().enumerate() {
        let at = |name: &str| format!("{field}[{i}].{name}");
        let skew = number(&constraint["maxSkew"]);
        if skew <= 0 {
            errors.invalid(&at("maxSkew"), &skew.to_string(), "must be greater than zero");
        }
        let key = text(&constraint["topologyKey"]);
        if key.is_empty() {
            errors.required(&at("topologyKey"), "can not be empty");
        } else {
            errors.invalid_each(&at("topologyKey"), key, names::is_qualified_name(key));
        }
        let when = text(&constraint["whenUnsatisfiable"]);
        if !matches!(when, "DoNotSchedule" | "ScheduleAnyway") {
            errors.not_supported_text(&at("whenUnsatisfiable"), when, &["DoNotSchedule", "ScheduleAnyway"]);
        }
        let later = all[i + 1..].iter();
        if later.filter(|c| text(&c["topologyKey"]) == key && text(&c["whenUnsatisfiable"]) == when).count()
            > 0
        {
            let shown = Value::from(format!("{{{key}, {when}}}")).to_string();
            errors.duplicate(&at("{topologyKey, whenUnsatisfiable}"), &shown);
        }
        let domains = &constraint["minDomains"];
        if !domains.is_null() {
            if number(domains) <= 0 {
                errors.invalid(&at("minDomains"), &domains.to_string(), "must be greater than zero");
            }
            if when != "DoNotSchedule" {
                let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}");
                errors.invalid(&at("minDomains"), &domains.to_string(), &why);
            }
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = &constraint[name];
            if given(policy) && !matches!(text(policy), "Honor" | "Ignore") {
                errors.not_supported_text(&at(name), text(policy), &["Honor", "Ignore"]);
            }
        }
        label_keys(errors, constraint, &format!("{field}[{i}]"));
        if let Ok(selector) = serde_json::from_value::<LabelSelector>(constraint["labelSelector"].clone()) {
            workload::label_selector(errors, &selector, &at("labelSelector"));
        }
    }
}
