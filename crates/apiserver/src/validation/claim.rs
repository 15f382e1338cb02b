//! PersistentVolumeClaim, and the templates of claims.
//!
//! Upstream: pkg/apis/core/validation, ValidatePersistentVolumeClaimSpec and ValidatePersistentVolumeClaimUpdate (v1.37).

use super::{
    field::{Errors, entries, given, items, same, text},
    internal, resources, workload,
};
use kubestep_model::{LabelSelector, Quantity, text::names};
use serde_json::Value;

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const ONLY: &str = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    spec(&mut errors, &whole["spec"], "spec");
    errors
}

pub(super) fn spec(errors: &mut Errors, spec: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    if items(&spec["accessModes"]).is_empty() {
        errors.required(&at("accessModes"), "at least 1 access mode is required");
    }
    if let Ok(Some(selector)) = serde_json::from_value::<Option<LabelSelector>>(spec["selector"].clone()) {
        workload::label_selector(errors, &selector, &at("selector"));
    }
    access_modes(errors, spec, &at("accessModes"));
    let storage = format!("{field}.resources[storage]");
    let request = &spec["resources"]["requests"]["storage"];
    match serde_json::from_value::<Quantity>(request.clone()) {
        Ok(amount) if given(request) => {
            if amount.sign() <= 0 {
                errors.invalid_text(&storage, &amount.to_string(), "must be greater than zero");
            } else {
                resources::quantity(errors, "storage", &amount, &storage);
            }
        }
        _ => errors.required(&storage, ""),
    }
    class_name(errors, &spec["storageClassName"], &at("storageClassName"));
    volume_mode(errors, &spec["volumeMode"], &at("volumeMode"));
    let (source, reference) = (&spec["dataSource"], &spec["dataSourceRef"]);
    for (name, source) in [("dataSource", source), ("dataSourceRef", reference)] {
        if given(source) {
            data_source(errors, source, &at(name));
        }
    }
    let elsewhere = text(&reference["namespace"]);
    if !elsewhere.is_empty() {
        errors.dns_label(&at("dataSourceRef.namespace"), elsewhere);
    }
    if given(source) && given(reference) {
        let same = ["kind", "name", "apiGroup"].iter().all(|n| text(&source[*n]) == text(&reference[*n]));
        if !elsewhere.is_empty() {
            errors.invalid(field, "{}", "may not be specified when dataSourceRef.namespace is specified");
        } else if !same {
            errors.invalid(field, "{}", "must match dataSourceRef");
        }
    }
    class_name(errors, &spec["volumeAttributesClassName"], &at("volumeAttributesClassName"));
}

/// The modes in which volumes are mounted; the strictest stands alone.
pub(super) fn access_modes(errors: &mut Errors, spec: &Value, field: &str) {
    let modes: Vec<&str> = items(&spec["accessModes"]).iter().map(text).collect();
    for mode in modes.iter().filter(|m| !MODES.contains(m)) {
        errors.not_supported_text(field, mode, &MODES);
    }
    let alone = modes.iter().filter(|m| **m == "ReadWriteOncePod").count();
    if alone > 0 && modes.iter().any(|m| MODES.contains(m) && *m != "ReadWriteOncePod") {
        errors.forbidden(field, "may not use ReadWriteOncePod with other access modes");
    }
}

pub(super) fn class_name(errors: &mut Errors, name: &Value, field: &str) {
    if !text(name).is_empty() {
        errors.invalid_each(field, text(name), names::is_dns1123_subdomain(text(name)));
    }
}

pub(super) fn volume_mode(errors: &mut Errors, mode: &Value, field: &str) {
    if given(mode) && !VOLUME_MODES.contains(&text(mode)) {
        errors.not_supported_text(field, text(mode), &VOLUME_MODES);
    }
}

fn data_source(errors: &mut Errors, source: &Value, field: &str) {
    for name in ["name", "kind"] {
        if text(&source[name]).is_empty() {
            errors.required(&format!("{field}.{name}"), "");
        }
    }
    let group = text(&source["apiGroup"]);
    if group.is_empty() && text(&source["kind"]) != "PersistentVolumeClaim" {
        let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.invalid_text(field, text(&source["kind"]), why);
    }
    if !group.is_empty() {
        errors.invalid_each(&format!("{field}.apiGroup"), group, names::is_dns1123_subdomain(group));
    }
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (mut after, mut before) = (new["spec"].clone(), old["spec"].clone());
    let bound = text(&new["status"]["phase"]) == "Bound";
    // A claim is bound once, and gets a class once.
    if !given(&before["volumeName"]) {
        before["volumeName"] = after["volumeName"].clone();
    }
    if !given(&before["storageClassName"]) && given(&after["storageClassName"]) {
        after["storageClassName"] = before["storageClassName"].clone();
    }
    if bound {
        after["resources"]["requests"]["storage"] = before["resources"]["requests"]["storage"].clone();
        after["volumeAttributesClassName"] = before["volumeAttributesClassName"].clone();
    }
    if !alike(&after, &before) {
        let diff = internal::diff("PersistentVolumeClaimSpec", &before, &after);
        errors.forbidden("spec", &format!("{ONLY}\n{diff}"));
    }
    let amount = |claim: &Value, at: &str| -> Option<Quantity> {
        serde_json::from_value(claim.pointer(at)?.clone()).ok()
    };
    let asked = |claim: &Value| amount(claim, "/spec/resources/requests/storage");
    if let (Some(new_size), Some(old_size)) = (asked(new), asked(old))
        && bound
        && new_size.cmp(&old_size).is_lt()
    {
        let there = amount(old, "/status/capacity/storage");
        if there.is_none_or(|there| new_size.cmp(&there).is_le()) {
            let why = "field can not be less than status.capacity";
            errors.forbidden("spec.resources.requests.storage", why);
        }
    }
    let (mode, before) = (&new["spec"]["volumeMode"], &old["spec"]["volumeMode"]);
    errors.immutable("volumeMode", mode, before, &mode.to_string());
    errors
}

/// Whether two specs say the same, whatever is null or left out.
fn alike(a: &Value, b: &Value) -> bool {
    let names = |v: &Value| entries(v).map(|(k, _)| k.clone()).collect::<Vec<String>>();
    names(a).iter().chain(&names(b)).all(|name| same(&a[name], &b[name]))
}
