//! Environment variables.
//!
//! Upstream: pkg/apis/core/validation, ValidateEnv and ValidateEnvFrom (v1.37).

use super::field::{Errors, items, text};
use kubestep_model::text::names;
use serde_json::Value;

const FIELDS: [&str; 8] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
];
const CONTAINER_RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const SOURCES: [&str; 5] = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

pub(super) fn env(errors: &mut Errors, variables: &Value, field: &str) {
    for (i, variable) in items(variables).iter().enumerate() {
        let field = format!("{field}[{i}]");
        let name = text(&variable["name"]);
        if name.is_empty() {
            errors.required(&format!("{field}.name"), "");
        } else {
            errors.invalid_each(&format!("{field}.name"), name, names::is_relaxed_env_var_name(name));
        }
        if !variable["valueFrom"].is_null() {
            source(errors, variable, &format!("{field}.valueFrom"));
        }
    }
}

fn source(errors: &mut Errors, variable: &Value, field: &str) {
    let from = &variable["valueFrom"];
    let present: Vec<&str> = SOURCES.into_iter().filter(|s| !from[*s].is_null()).collect();
    for name in &present {
        let (value, field) = (&from[*name], format!("{field}.{name}"));
        match *name {
            "fieldRef" => field_ref(errors, value, &field, true),
            "resourceFieldRef" => resource_ref(errors, value, &field),
            "configMapKeyRef" | "secretKeyRef" => key_ref(errors, value, &field),
            _ => {}
        }
    }
    if present.is_empty() {
        let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        errors.invalid_text(field, "", why);
    } else if !text(&variable["value"]).is_empty() {
        errors.invalid_text(field, "", "may not be specified when `value` is not empty");
    } else if present.len() > 1 {
        errors.invalid_text(field, "", "may not have more than one field specified at a time");
    }
}

/// A field of the pod, by its path.
pub(super) fn field_ref(errors: &mut Errors, selector: &Value, field: &str, in_env: bool) {
    let path = text(&selector["fieldPath"]);
    if text(&selector["apiVersion"]).is_empty() {
        errors.required(&format!("{field}.apiVersion"), "");
        return;
    }
    let field = format!("{field}.fieldPath");
    if path.is_empty() {
        errors.required(&field, "");
        return;
    }
    let subscript = path.split_once("['").is_some_and(|(head, tail)| {
        matches!(head, "metadata.annotations" | "metadata.labels") && tail.ends_with("']")
    });
    let whole_map = matches!(path, "metadata.annotations" | "metadata.labels");
    let known = FIELDS.contains(&path) || path == "status.podIPs";
    if !(known || subscript || whole_map) {
        errors.invalid_text(
            &field,
            path,
            &format!("error converting fieldPath: field label not supported: {path}"),
        );
    } else if in_env && whole_map {
        let mut names = FIELDS.to_vec();
        names.push("status.podIPs");
        errors.not_supported_text(&field, path, &names);
    } else if !in_env && !subscript && !whole_map && !path.starts_with("metadata.") {
        let names = [
            "metadata.annotations",
            "metadata.labels",
            "metadata.name",
            "metadata.namespace",
            "metadata.uid",
        ];
        errors.not_supported_text(&field, path, &names);
    }
}

pub(super) fn resource_ref(errors: &mut Errors, selector: &Value, field: &str) {
    let resource = text(&selector["resource"]);
    if resource.is_empty() {
        errors.required(&format!("{field}.resource"), "");
    } else if !CONTAINER_RESOURCES.contains(&resource) && !resource.contains(".hugepages-") {
        errors.not_supported_text(&format!("{field}.resource"), resource, &CONTAINER_RESOURCES);
    }
}

fn key_ref(errors: &mut Errors, selector: &Value, field: &str) {
    let name = text(&selector["name"]);
    errors.invalid_each(&format!("{field}.name"), name, names::is_dns1123_subdomain(name));
    let key = text(&selector["key"]);
    if key.is_empty() {
        errors.required(&format!("{field}.key"), "");
    } else {
        errors.invalid_each(&format!("{field}.key"), key, names::is_config_map_key(key));
    }
}

pub(super) fn env_from(errors: &mut Errors, sources: &Value, field: &str) {
    for (i, source) in items(sources).iter().enumerate() {
        let at = format!("{field}[{i}]");
        let prefix = text(&source["prefix"]);
        if !prefix.is_empty() {
            errors.invalid_each(&format!("{at}.prefix"), prefix, names::is_relaxed_env_var_name(prefix));
        }
        let present: Vec<&str> =
            ["configMapRef", "secretRef"].into_iter().filter(|s| !source[*s].is_null()).collect();
        for name in &present {
            let referred = text(&source[*name]["name"]);
            errors.invalid_each(
                &format!("{at}.{name}.name"),
                referred,
                names::is_dns1123_subdomain(referred),
            );
        }
        if present.is_empty() {
            errors.invalid_text(field, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if present.len() > 1 {
            errors.invalid_text(field, "", "may not have more than one field specified at a time");
        }
    }
}
