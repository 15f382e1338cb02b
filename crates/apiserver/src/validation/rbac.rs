//! Roles and their bindings.
//!
//! Upstream: pkg/apis/rbac/validation (v1.37).

use super::{
    field::{Errors, IMMUTABLE, given, items, path_segment, same, text},
    internal, workload,
};
use kubestep_model::{LabelSelector, text::names};
use serde_json::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn role(whole: &Value, namespaced: bool) -> Errors {
    let mut errors = Errors::new();
    for (i, rule) in items(&whole["rules"]).iter().enumerate() {
        self::rule(&mut errors, rule, namespaced, &format!("rules[{i}]"));
    }
    let aggregation = &whole["aggregationRule"];
    if given(aggregation) {
        let field = "aggregationRule.clusterRoleSelectors";
        let selectors = items(&aggregation["clusterRoleSelectors"]);
        if selectors.is_empty() {
            let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            errors.required(field, why);
        }
        for (i, selector) in selectors.iter().enumerate() {
            if let Ok(selector) = serde_json::from_value::<LabelSelector>(selector.clone()) {
                workload::label_selector(&mut errors, &selector, &format!("{field}[{i}]"));
                if selector.to_selector().is_err() {
                    errors.invalid(&format!("{field}[{i}]"), "null", "invalid label selector.");
                }
            }
        }
    }
    errors
}

fn rule(errors: &mut Errors, rule: &Value, namespaced: bool, field: &str) {
    let empty = |name: &str| items(&rule[name]).is_empty();
    errors.declared(&|errors: &mut Errors| {
        if empty("verbs") {
            errors.required(&format!("{field}.verbs"), "");
        }
    });
    if !empty("nonResourceURLs") {
        let at = format!("{field}.nonResourceURLs");
        let shown = rule["nonResourceURLs"].to_string();
        if namespaced {
            errors.invalid(&at, &shown, "namespaced rules cannot apply to non-resource URLs");
        }
        if !empty("apiGroups") || !empty("resources") || !empty("resourceNames") {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            errors.invalid(&at, &shown, why);
        }
        return;
    }
    if empty("apiGroups") {
        errors.required(&format!("{field}.apiGroups"), "resource rules must supply at least one api group");
    }
    if empty("resources") {
        errors.required(&format!("{field}.resources"), "resource rules must supply at least one resource");
    }
}

pub(super) fn binding(whole: &Value, namespaced: bool) -> Errors {
    let mut errors = Errors::new();
    let role = &whole["roleRef"];
    let group = text(&role["apiGroup"]);
    if group != GROUP {
        errors.not_supported_text("roleRef.apiGroup", group, &[GROUP]);
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    let kind = text(&role["kind"]);
    if !kinds.contains(&kind) {
        errors.not_supported_text("roleRef.kind", kind, kinds);
    }
    let name = text(&role["name"]);
    if !name.is_empty() {
        errors.invalid_each("roleRef.name", name, path_segment(name));
    }
    for (i, subject) in items(&whole["subjects"]).iter().enumerate() {
        self::subject(&mut errors, subject, namespaced, &format!("subjects[{i}]"));
    }
    if name.is_empty() {
        errors.declared(&|errors: &mut Errors| errors.required("roleRef.name", ""));
    }
    errors
}

fn subject(errors: &mut Errors, subject: &Value, namespaced: bool, field: &str) {
    let name = text(&subject["name"]);
    errors.declared(&|errors: &mut Errors| {
        if name.is_empty() {
            errors.required(&format!("{field}.name"), "");
        }
    });
    let group = text(&subject["apiGroup"]);
    let at = format!("{field}.apiGroup");
    match text(&subject["kind"]) {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.invalid_each(&format!("{field}.name"), name, names::is_dns1123_subdomain(name));
            }
            if !group.is_empty() {
                errors.not_supported_text(&at, group, &[""]);
            }
            if !namespaced && text(&subject["namespace"]).is_empty() {
                errors.required(&format!("{field}.namespace"), "");
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                errors.not_supported_text(&at, group, &[GROUP]);
            }
        }
        other => {
            errors.not_supported_text(&format!("{field}.kind"), other, &["ServiceAccount", "User", "Group"]);
        }
    }
}

pub(super) fn changed_binding(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    if !same(&new["roleRef"], &old["roleRef"]) {
        errors.invalid("roleRef", &internal::shown("RoleRef", &new["roleRef"]), IMMUTABLE);
    }
    errors
}
