//! ReplicationController.
//!
//! Upstream: pkg/apis/core/validation, ValidateReplicationControllerSpec (v1.37).

use super::{
    field::{Errors, entries, given, text},
    pod, workload,
};
use kubestep_model::Labels;
use serde_json::Value;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    errors.declared(&|errors: &mut Errors| {
        errors.not_negative_in(spec, "replicas", "spec");
        errors.not_negative_in(spec, "minReadySeconds", "spec");
    });
    let selector: Vec<(&String, &Value)> = entries(&spec["selector"]).collect();
    if selector.is_empty() {
        errors.required("spec.selector", "");
    }
    if !given(&spec["template"]) {
        errors.required("spec.template", "");
        return errors;
    }
    let labels: Labels =
        serde_json::from_value(spec["template"]["metadata"]["labels"].clone()).unwrap_or_default();
    if !selector.iter().all(|(key, value)| labels.get(*key).is_some_and(|l| l == text(value))) {
        let why = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", &workload::labels_shown(&labels), why);
    }
    pod::template(&mut errors, &spec["template"], "spec.template");
    let policy = text(&spec["template"]["spec"]["restartPolicy"]);
    if policy != "Always" {
        errors.not_supported_text("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if given(&spec["template"]["spec"]["activeDeadlineSeconds"]) {
        let why = "activeDeadlineSeconds in ReplicationController is not Supported";
        errors.forbidden("spec.template.spec.activeDeadlineSeconds", why);
    }
    errors
}
