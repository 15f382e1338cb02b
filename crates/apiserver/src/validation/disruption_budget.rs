//! PodDisruptionBudget.
//!
//! Upstream: pkg/apis/policy/validation, ValidatePodDisruptionBudgetSpec (v1.37).

use super::{
    field::{Errors, given, text},
    internal, workload,
};
use kubestep_model::{IntOrString, LabelSelector};
use serde_json::Value;

const EVICTION: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    if given(&spec["minAvailable"]) && given(&spec["maxUnavailable"]) {
        let shown = internal::shown("PodDisruptionBudgetSpec", spec);
        errors.invalid("spec", &shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for name in ["minAvailable", "maxUnavailable"] {
        let Ok(value) = serde_json::from_value::<IntOrString>(spec[name].clone()) else { continue };
        let field = format!("spec.{name}");
        workload::positive_int_or_percent(&mut errors, &value, &field);
        if workload::percent(&value).is_some_and(|p| p > 100) {
            errors.invalid(&field, &workload::int_or_string(&value), "must not be greater than 100%");
        }
    }
    if let Ok(Some(selector)) = serde_json::from_value::<Option<LabelSelector>>(spec["selector"].clone()) {
        workload::label_selector(&mut errors, &selector, "spec.selector");
    }
    let policy = &spec["unhealthyPodEvictionPolicy"];
    if given(policy) && !EVICTION.contains(&text(policy)) {
        errors.not_supported_text("spec.unhealthyPodEvictionPolicy", text(policy), &EVICTION);
    }
    errors
}
