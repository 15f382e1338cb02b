//! StorageVersionMigration.
//!
//! Upstream: pkg/apis/storagemigration/validation (v1.37).

use super::{
    field::{Errors, items, text},
    internal,
};
use kubestep_model::text::names;
use serde_json::Value;

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let of = &whole["spec"]["resource"];
    let (group, resource) = (text(&of["group"]), text(&of["resource"]));
    if resource.is_empty() {
        errors.required("spec.resource.resource", "resource is required to be set");
    } else {
        errors.invalid_joined("spec.resource.resource", resource, &names::is_dns1035_label(resource));
    }
    if !group.is_empty() {
        errors.invalid_joined("spec.resource.group", group, &names::is_dns1123_subdomain(group));
    }
    errors
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let shown = internal::shown("StorageVersionMigrationSpec", &new["spec"]);
    errors.immutable("spec", &new["spec"], &old["spec"], &shown);
    errors
}

pub(super) fn changed_status(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    const VERSION: &str = "status.resourceVersion";
    const CONDITIONS: &str = "status.conditions";
    let (after, before) = (text(&new["status"]["resourceVersion"]), text(&old["status"]["resourceVersion"]));
    let conditions = &new["status"]["conditions"];
    let digits = after.bytes().all(|b| b.is_ascii_digit()) && !after.starts_with('0');
    if !after.is_empty() && !digits {
        errors.invalid_text(VERSION, after, &format!("resource version is not well formed: {after}"));
    }
    super::status::conditions(&mut errors, conditions, CONDITIONS);
    if !before.is_empty() && after != before {
        errors.invalid_text(VERSION, after, "field is immutable");
    }
    let is = |whole: &Value, kind: &str| {
        let found = items(&whole["status"]["conditions"]).iter().find(|c| text(&c["type"]) == kind);
        found.is_some_and(|c| text(&c["status"]) == "True")
    };
    let mut wrong = |why: &str| {
        let written: Vec<String> = items(conditions)
            .iter()
            .map(|c| kubestep_model::schema::written("meta/v1.Condition", c))
            .collect();
        errors.invalid(CONDITIONS, &format!("[{}]", written.join(",")), why);
    };
    if is(new, "Succeeded") && is(new, "Failed") {
        wrong("Both success and failed conditions cannot be true at the same time");
    }
    for (kind, word) in [("Succeeded", "Success"), ("Failed", "Failed")] {
        if is(old, kind) && !is(new, kind) {
            wrong(&format!("{word} condition cannot be set to false once it is true"));
        }
    }
    errors
}
