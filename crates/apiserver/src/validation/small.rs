//! Kinds of which little is asked: Lease, Namespace, ControllerRevision, PodTemplate, RuntimeClass.
//!
//! Upstream: pkg/apis/{coordination,core,apps,node}/validation (v1.37).

use super::{
    affinity,
    field::{Errors, given, items, text},
    internal, meta, pod, resources,
};
use kubestep_model::text::names;
use serde_json::Value;

pub(super) fn lease(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"].as_i64().filter(|s| *s <= 0) {
        errors.invalid("spec.leaseDurationSeconds", &seconds.to_string(), "must be greater than 0");
    }
    errors.not_negative_in(spec, "leaseTransitions", "spec");
    errors
}

pub(super) fn namespace(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    for finalizer in items(&whole["spec"]["finalizers"]) {
        let name = text(finalizer);
        let field = "spec.finalizers";
        let wrong = names::is_qualified_name(name);
        let qualified = wrong.is_empty();
        errors.invalid_each(field, name, wrong);
        if qualified && !name.contains('/') && name != "kubernetes" {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid_text(field, name, why);
        }
    }
    errors
}

pub(super) fn revision(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    if !given(&whole["data"]) {
        errors.required("data", "data is mandatory");
    }
    if let Some(revision) = whole["revision"].as_i64() {
        errors.not_negative("revision", revision);
    }
    errors
}

pub(super) fn changed_revision(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.immutable("data", &new["data"], &old["data"], &new["data"].to_string());
    errors
}

pub(super) fn pod_template(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    pod::template(&mut errors, &whole["template"], "template");
    errors
}

pub(super) fn runtime_class(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let overhead = &whole["overhead"];
    if given(overhead) {
        let limits = serde_json::json!({"limits": overhead["podFixed"]});
        resources::container(&mut errors, &limits, "overhead");
    }
    let scheduling = &whole["scheduling"];
    let selector = serde_json::from_value(scheduling["nodeSelector"].clone()).unwrap_or_default();
    meta::labels(&mut errors, &selector, "scheduling.nodeSelector");
    let tolerations = items(&scheduling["tolerations"]);
    affinity::tolerations(&mut errors, &scheduling["tolerations"], "scheduling.tolerations");
    for (i, toleration) in tolerations.iter().enumerate().filter(|(i, t)| tolerations[..*i].contains(t)) {
        let shown = internal::shown("v1.Toleration", toleration);
        errors.duplicate(&format!("scheduling.tolerations[{i}]"), &shown);
    }
    let handler = text(&whole["handler"]);
    errors.declared(&|errors: &mut Errors| {
        if handler.is_empty() {
            errors.required("handler", "");
        } else {
            errors.invalid_each("handler", handler, names::is_dns1123_label(handler));
        }
    });
    errors
}

pub(super) fn changed_runtime_class(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    // What stands there is not told.
    errors.immutable("handler", &new["handler"], &old["handler"], "null");
    errors
}
