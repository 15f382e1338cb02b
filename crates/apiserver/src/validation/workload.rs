//! Deployment and ReplicaSet.
//!
//! Upstream: pkg/apis/apps/validation (v1.37).

use super::{
    field::{Errors, IMMUTABLE},
    pod,
};
use crate::Settings;
use kubestep_model::{
    Deployment, DeploymentStrategy, IntOrString, LabelSelector, Labels, PodTemplateSpec, ReplicaSet,
    text::names,
};
use serde_json::Value;

pub(super) fn deployment(d: &Deployment, whole: &Value, settings: &Settings) -> Errors {
    let mut errors = Errors::new();
    let spec = &d.spec;
    errors.not_negative("spec.replicas", spec.replicas.unwrap_or(0).into());
    selector(&mut errors, spec.selector.as_ref());
    template(&mut errors, spec.selector.as_ref(), &spec.template, &whole["spec"]["template"], settings);
    strategy(&mut errors, &spec.strategy);
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    if let Some(limit) = spec.revision_history_limit {
        errors.not_negative("spec.revisionHistoryLimit", limit.into());
    }
    if let Some(deadline) = spec.progress_deadline_seconds {
        let field = "spec.progressDeadlineSeconds";
        errors.not_negative(field, deadline.into());
        if deadline <= spec.min_ready_seconds {
            errors.invalid(field, &deadline.to_string(), "must be greater than minReadySeconds");
        }
    }
    errors
}

pub(super) fn replica_set(r: &ReplicaSet, whole: &Value, settings: &Settings) -> Errors {
    let mut errors = Errors::new();
    let spec = &r.spec;
    errors.not_negative("spec.replicas", spec.replicas.unwrap_or(0).into());
    errors.not_negative("spec.minReadySeconds", spec.min_ready_seconds.into());
    selector(&mut errors, spec.selector.as_ref());
    template(&mut errors, spec.selector.as_ref(), &spec.template, &whole["spec"]["template"], settings);
    errors
}

fn selector(errors: &mut Errors, selector: Option<&LabelSelector>) {
    const FIELD: &str = "spec.selector";
    let Some(selector) = selector else {
        errors.required(FIELD, "");
        return;
    };
    label_selector(errors, selector, FIELD);
    if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
        errors.invalid(FIELD, &shown(selector), "empty selector is invalid for deployment");
    }
}

/// As Go prints a selector: its fields in their order.
pub(super) fn shown(selector: &LabelSelector) -> String {
    serde_json::to_string(selector).unwrap_or_default()
}

/// Upstream: k8s.io/apimachinery/pkg/apis/meta/v1/validation, ValidateLabelSelector (v1.37).
pub(super) fn label_selector(errors: &mut Errors, selector: &LabelSelector, field: &str) {
    super::meta::labels(errors, &selector.match_labels, &format!("{field}.matchLabels"));
    for (i, term) in selector.match_expressions.iter().enumerate() {
        let field = format!("{field}.matchExpressions[{i}]");
        match term.operator.as_str() {
            "In" | "NotIn" if term.values.is_empty() => {
                errors.required(
                    &format!("{field}.values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                );
            }
            "Exists" | "DoesNotExist" if !term.values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&format!("{field}.values"), why);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                errors.invalid_text(&format!("{field}.operator"), other, "not a valid selector operator")
            }
        }
        let key = format!("{field}.key");
        errors.invalid_each(&key, &term.key, names::is_qualified_name(&term.key));
        for (j, value) in term.values.iter().enumerate() {
            errors.invalid_each(&format!("{field}.values[{j}]"), value, names::is_valid_label_value(value));
        }
    }
}

/// A template whose pods a selector has to find.
fn template(
    errors: &mut Errors,
    selector: Option<&LabelSelector>,
    template: &PodTemplateSpec,
    whole: &Value,
    settings: &Settings,
) {
    const FIELD: &str = "spec.template";
    if let Some(selector) = selector
        && selector.to_selector().is_err()
    {
        errors.invalid("spec.selector", &shown(selector), "invalid label selector");
        return;
    }
    let empty = selector.is_some_and(LabelSelector::is_empty);
    let labels = &template.metadata.labels;
    if settings.selector_check && !empty && !selector.is_some_and(|s| s.matches(labels)) {
        let field = format!("{FIELD}.metadata.labels");
        errors.invalid(&field, &labels_shown(labels), "`selector` does not match template `labels`");
    }
    pod::template(errors, whole, FIELD);
    let policy = &template.spec.restart_policy;
    if policy != "Always" {
        errors.not_supported_text(&format!("{FIELD}.spec.restartPolicy"), policy, &["Always"]);
    }
    if template.spec.active_deadline_seconds.is_some() {
        let field = format!("{FIELD}.spec.activeDeadlineSeconds");
        errors.forbidden(&field, "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

pub(super) fn labels_shown(labels: &Labels) -> String {
    if labels.is_empty() { "null".into() } else { serde_json::to_string(labels).unwrap_or_default() }
}

fn strategy(errors: &mut Errors, strategy: &DeploymentStrategy) {
    const FIELD: &str = "spec.strategy";
    match strategy.r#type.as_str() {
        "Recreate" => {
            if strategy.rolling_update.is_some() {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(&format!("{FIELD}.rollingUpdate"), why);
            }
        }
        "RollingUpdate" => {
            let Some(rolling) = &strategy.rolling_update else {
                let why = "this should be defaulted and never be nil";
                errors.required(&format!("{FIELD}.rollingUpdate"), why);
                return;
            };
            let zero = IntOrString::Int(0);
            let unavailable = rolling.max_unavailable.as_ref().unwrap_or(&zero);
            let surge = rolling.max_surge.as_ref().unwrap_or(&zero);
            let field = format!("{FIELD}.rollingUpdate.maxUnavailable");
            positive_int_or_percent(errors, unavailable, &field);
            positive_int_or_percent(errors, surge, &format!("{FIELD}.rollingUpdate.maxSurge"));
            if plain_value(unavailable) == 0 && plain_value(surge) == 0 {
                errors.invalid(&field, &int_or_string(unavailable), "may not be 0 when `maxSurge` is 0");
            }
            if percent(unavailable).is_some_and(|p| p > 100) {
                errors.invalid(&field, &int_or_string(unavailable), "must not be greater than 100%");
            }
        }
        other => {
            let rolling = strategy.rolling_update.as_ref().map_or("null".to_owned(), |r| {
                let side = |v: &Option<IntOrString>| v.as_ref().map_or("0".to_owned(), int_or_string);
                format!(
                    "{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}",
                    side(&r.max_unavailable),
                    side(&r.max_surge)
                )
            });
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", Value::from(other));
            errors.not_supported(FIELD, &shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

pub(super) fn int_or_string(value: &IntOrString) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn positive_int_or_percent(errors: &mut Errors, value: &IntOrString, field: &str) {
    match value {
        IntOrString::Int(n) => errors.not_negative(field, (*n).into()),
        IntOrString::Str(text) => errors.invalid_each(field, text, names::is_valid_percent(text)),
    }
}

/// The number before the `%`, if it is a percentage.
pub(super) fn percent(value: &IntOrString) -> Option<i64> {
    match value {
        IntOrString::Str(text) if names::is_valid_percent(text).is_empty() => {
            text.trim_end_matches('%').parse().ok()
        }
        _ => None,
    }
}

pub(super) fn plain_value(value: &IntOrString) -> i64 {
    percent(value).unwrap_or_else(|| value.int_value())
}

/// Selectors are for life.
pub(super) fn same_selector(
    errors: &mut Errors,
    new: Option<&LabelSelector>,
    old: Option<&LabelSelector>,
    settings: &Settings,
) {
    if settings.selector_check && new != old {
        let shown = new.map_or("null".to_owned(), shown);
        errors.invalid("spec.selector", &shown, IMMUTABLE);
    }
}
