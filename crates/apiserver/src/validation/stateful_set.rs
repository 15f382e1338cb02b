//! StatefulSet.
//!
//! Upstream: pkg/apis/apps/validation, ValidateStatefulSetSpec and ValidateStatefulSetUpdate (v1.37).

use super::{
    claim,
    field::{Errors, given, items, text},
    internal, pod, workload,
};
use kubestep_model::{IntOrString, LabelSelector, Labels, text::names};
use serde_json::{Value, json};

const RETENTION: [&str; 2] = ["Retain", "Delete"];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let policy = text(&spec["podManagementPolicy"]);
    match policy {
        "" => errors.required("spec.podManagementPolicy", ""),
        "OrderedReady" | "Parallel" => {}
        other => {
            errors.invalid_text("spec.podManagementPolicy", other, "must be 'OrderedReady' or 'Parallel'")
        }
    }
    strategy(&mut errors, &spec["updateStrategy"]);
    retention(&mut errors, &spec["persistentVolumeClaimRetentionPolicy"]);
    errors.not_negative_in(spec, "replicas", "spec");
    errors.not_negative_in(spec, "minReadySeconds", "spec");
    errors.not_negative_in(&spec["ordinals"], "start", "spec.ordinals");
    service_name(&mut errors, text(&spec["serviceName"]));
    let selector = selector(&mut errors, spec, "statefulset");
    for (i, template) in items(&spec["volumeClaimTemplates"]).iter().enumerate() {
        claim::spec(&mut errors, &template["spec"], &format!("spec.volumeClaimTemplates[{i}].spec"));
    }
    template(&mut errors, spec, selector.as_ref());
    errors
}

fn service_name(errors: &mut Errors, name: &str) {
    if !name.is_empty() {
        errors.invalid_each("spec.serviceName", name, names::is_dns1123_label(name));
    }
}

fn strategy(errors: &mut Errors, strategy: &Value) {
    const FIELD: &str = "spec.updateStrategy";
    let rolling = &strategy["rollingUpdate"];
    match text(&strategy["type"]) {
        "" => errors.required(FIELD, ""),
        "OnDelete" => {
            if given(rolling) {
                let why = "only allowed for updateStrategy 'RollingUpdate'";
                let shown = internal::shown("StatefulSetRollingUpdate", rolling);
                errors.invalid(&format!("{FIELD}.rollingUpdate"), &shown, why);
            }
        }
        "RollingUpdate" => {
            let field = format!("{FIELD}.rollingUpdate");
            errors.not_negative_in(rolling, "partition", &field);
            if let Ok(most) = serde_json::from_value::<IntOrString>(rolling["maxUnavailable"].clone()) {
                let field = format!("{field}.maxUnavailable");
                workload::positive_int_or_percent(errors, &most, &field);
                if workload::plain_value(&most) == 0 {
                    errors.invalid(&field, &workload::int_or_string(&most), "cannot be 0");
                }
                if workload::percent(&most).is_some_and(|p| p > 100) {
                    errors.invalid(&field, &workload::int_or_string(&most), "must not be greater than 100%");
                }
            }
        }
        _ => {
            let shown = internal::shown("StatefulSetUpdateStrategy", strategy);
            errors.invalid(FIELD, &shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

fn retention(errors: &mut Errors, policy: &Value) {
    if !given(policy) {
        return;
    }
    for name in ["whenDeleted", "whenScaled"] {
        let value = text(&policy[name]);
        if !RETENTION.contains(&value) {
            let field = format!("spec.persistentVolumeClaimRetentionPolicy.{name}");
            errors.not_supported_text(&field, value, &RETENTION);
        }
    }
}

/// The selector of a workload, which has to be there and to say something.
pub(super) fn selector(errors: &mut Errors, spec: &Value, kind: &str) -> Option<LabelSelector> {
    let selector: Option<LabelSelector> =
        serde_json::from_value(spec["selector"].clone()).unwrap_or_default();
    match &selector {
        None => errors.required("spec.selector", ""),
        Some(selector) => {
            workload::label_selector(errors, selector, "spec.selector");
            if selector.is_empty() {
                let why = format!("empty selector is invalid for {kind}");
                errors.invalid("spec.selector", &workload::shown(selector), &why);
            }
        }
    }
    selector
}

/// The labels of a template have to be found by the selector.
pub(super) fn matching(errors: &mut Errors, spec: &Value, selector: Option<&LabelSelector>) {
    let labels: Labels =
        serde_json::from_value(spec["template"]["metadata"]["labels"].clone()).unwrap_or_default();
    let empty = selector.is_some_and(LabelSelector::is_empty);
    if !empty && !selector.is_some_and(|s| s.matches(&labels)) {
        let why = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", &workload::labels_shown(&labels), why);
    }
}

fn template(errors: &mut Errors, spec: &Value, selector: Option<&LabelSelector>) {
    matching(errors, spec, selector);
    pod::template(errors, &with_claims(spec), "spec.template");
    let policy = text(&spec["template"]["spec"]["restartPolicy"]);
    if policy != "Always" {
        errors.not_supported_text("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if given(&spec["template"]["spec"]["activeDeadlineSeconds"]) {
        let why = "activeDeadlineSeconds in StatefulSet is not Supported";
        errors.forbidden("spec.template.spec.activeDeadlineSeconds", why);
    }
}

/// The template as its pods will have it: each claim template is a volume.
fn with_claims(spec: &Value) -> Value {
    let mut template = spec["template"].clone();
    let mut volumes: Vec<Value> = items(&template["spec"]["volumes"]).to_vec();
    for claim in items(&spec["volumeClaimTemplates"]) {
        let name = &claim["metadata"]["name"];
        if !volumes.iter().any(|v| v["name"] == *name) {
            volumes.push(json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
        }
    }
    if template["spec"].is_object() {
        template["spec"]["volumes"] = volumes.into();
    }
    template
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (new, old) = (&new["spec"], &old["spec"]);
    errors.declared(&|errors: &mut Errors| {
        let (policy, before) = (&new["podManagementPolicy"], &old["podManagementPolicy"]);
        errors.immutable("spec.podManagementPolicy", policy, before, &policy.to_string());
    });
    for (name, shown) in [
        ("selector", selector_shown(&new["selector"])),
        ("volumeClaimTemplates", internal::shown("[]PersistentVolumeClaim", &new["volumeClaimTemplates"])),
        ("serviceName", new["serviceName"].to_string()),
    ] {
        errors.immutable(&format!("spec.{name}"), &new[name], &old[name], &shown);
    }
    errors
}

/// As Go prints a selector.
pub(super) fn selector_shown(selector: &Value) -> String {
    serde_json::from_value::<Option<LabelSelector>>(selector.clone())
        .ok()
        .flatten()
        .map_or("null".to_owned(), |s| workload::shown(&s))
}
