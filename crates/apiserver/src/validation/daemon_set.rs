//! DaemonSet.
//!
//! Upstream: pkg/apis/apps/validation, ValidateDaemonSetSpec and ValidateDaemonSetUpdate (v1.37).

use super::{
    field::{Errors, IMMUTABLE, given, same, text},
    internal, pod, stateful_set, workload,
};
use kubestep_model::{IntOrString, LabelSelector};
use serde_json::Value;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let selector: Option<LabelSelector> =
        serde_json::from_value(spec["selector"].clone()).unwrap_or_default();
    if let Some(selector) = &selector {
        workload::label_selector(&mut errors, selector, "spec.selector");
    }
    stateful_set::matching(&mut errors, spec, selector.as_ref());
    if let Some(selector) = &selector
        && selector.is_empty()
    {
        let why = "empty selector is invalid for daemonset";
        errors.invalid("spec.selector", &workload::shown(selector), why);
    }
    pod::template(&mut errors, &spec["template"], "spec.template");
    let policy = text(&spec["template"]["spec"]["restartPolicy"]);
    if policy != "Always" {
        errors.not_supported_text("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if given(&spec["template"]["spec"]["activeDeadlineSeconds"]) {
        let why = "activeDeadlineSeconds in DaemonSet is not Supported";
        errors.forbidden("spec.template.spec.activeDeadlineSeconds", why);
    }
    errors.not_negative_in(spec, "minReadySeconds", "spec");
    strategy(&mut errors, &spec["updateStrategy"]);
    errors.not_negative_in(spec, "revisionHistoryLimit", "spec");
    errors
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    const FIELD: &str = "spec.updateStrategy";
    match text(&strategy["type"]) {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = &strategy["rollingUpdate"];
            if given(rolling) {
                self::rolling(errors, rolling, &format!("{FIELD}.rollingUpdate"));
            } else {
                errors.required(&format!("{FIELD}.rollingUpdate"), "");
            }
        }
        _ => {
            let shown = internal::shown("DaemonSetUpdateStrategy", strategy);
            errors.not_supported(FIELD, &shown, &["RollingUpdate", "OnDelete"]);
        }
    }
}

fn rolling(errors: &mut Errors, rolling: &Value, field: &str) {
    let side = |name: &str| -> IntOrString {
        serde_json::from_value(rolling[name].clone()).unwrap_or(IntOrString::Int(0))
    };
    let (unavailable, surge) = (side("maxUnavailable"), side("maxSurge"));
    let (at_most, more) = (format!("{field}.maxUnavailable"), format!("{field}.maxSurge"));
    for (value, field) in [(&unavailable, &at_most), (&surge, &more)] {
        workload::positive_int_or_percent(errors, value, field);
    }
    for (value, field) in [(&unavailable, &at_most), (&surge, &more)] {
        if workload::percent(value).is_some_and(|p| p > 100) {
            errors.invalid(field, &workload::int_or_string(value), "must not be greater than 100%");
        }
    }
    match (workload::plain_value(&unavailable) != 0, workload::plain_value(&surge) != 0) {
        (true, true) => {
            let why = "may not be set when maxUnavailable is non-zero";
            errors.invalid(&more, &workload::int_or_string(&surge), why);
        }
        (false, false) => errors.required(&at_most, "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (new, old) = (&new["spec"]["selector"], &old["spec"]["selector"]);
    if !same(new, old) {
        errors.invalid("spec.selector", &stateful_set::selector_shown(new), IMMUTABLE);
    }
    errors
}
