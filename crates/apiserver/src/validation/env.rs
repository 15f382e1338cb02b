//! Environment variables.
//!
//! Upstream: pkg/apis/core/validation, ValidateEnv and ValidateEnvFrom (v1.37).

use super::field::{Errors, given, items, text};
use kubestep_model::{Quantity, text::names};
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
            "resourceFieldRef" => resource_ref(errors, value, &field, false),
            "configMapKeyRef" | "secretKeyRef" => key_ref(errors, value, &field),
            "fileKeyRef" => file_ref(errors, value, &field),
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
    let parent = field;
    let field = format!("{field}.fieldPath");
    if path.is_empty() {
        errors.required(&field, "");
        return;
    }
    let version = text(&selector["apiVersion"]);
    if version != "v1" {
        let why = format!("error converting fieldPath: unsupported pod version: {version}");
        errors.invalid_text(&field, path, &why);
        return;
    }
    if let Some((head, key)) = path.strip_suffix("']").and_then(|p| p.split_once("['"))
        && matches!(head, "metadata.annotations" | "metadata.labels")
    {
        let key = if head == "metadata.annotations" { key.to_ascii_lowercase() } else { key.to_owned() };
        errors.invalid_each(parent, &key, names::is_qualified_name(&key));
        return;
    }
    let whole_map = matches!(path, "metadata.annotations" | "metadata.labels");
    let known = FIELDS.contains(&path) || path == "status.podIPs";
    if !(known || whole_map) {
        errors.invalid_text(
            &field,
            path,
            &format!("error converting fieldPath: field label not supported: {path}"),
        );
    } else if in_env && whole_map {
        let mut names = FIELDS.to_vec();
        names.push("status.podIPs");
        errors.not_supported_text(&field, path, &names);
    } else if !in_env && !whole_map && !path.starts_with("metadata.") {
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

/// A part of what a container asks for; a volume has to say of which container.
pub(super) fn resource_ref(errors: &mut Errors, selector: &Value, field: &str, in_volume: bool) {
    let resource = text(&selector["resource"]);
    if in_volume && text(&selector["containerName"]).is_empty() {
        errors.required(&format!("{field}.containerName"), "");
    } else if resource.is_empty() {
        errors.required(&format!("{field}.resource"), "");
    } else if !CONTAINER_RESOURCES.contains(&resource) && !resource.contains(".hugepages-") {
        errors.not_supported_text(&format!("{field}.resource"), resource, &CONTAINER_RESOURCES);
    }
    divisor(errors, resource, &selector["divisor"], &format!("{field}.divisor"));
}

const SIZES: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Upstream: validateContainerResourceDivisor.
fn divisor(errors: &mut Errors, resource: &str, divisor: &Value, field: &str) {
    let Ok(divisor) = serde_json::from_value::<Quantity>(divisor.clone()) else { return };
    if divisor.is_zero() {
        return;
    }
    let shown = divisor.to_string();
    let (_, name) = resource.split_once('.').unwrap_or_default();
    let (known, of): (&[&str], &str) = match name {
        "cpu" => (&["1m", "1"], "cpu"),
        "memory" => (&SIZES, "memory"),
        "ephemeral-storage" => (&SIZES, "local ephemeral storage"),
        huge if huge.starts_with("hugepages-") => (&SIZES, "hugepages"),
        _ => return,
    };
    if !known.contains(&shown.as_str()) {
        let known = if of == "cpu" { "1m and 1".to_owned() } else { SIZES.join(", ") };
        let why = format!("only divisor's values {known} are supported with the {of} resource");
        errors.invalid_text(field, resource, &why);
    }
}

/// A variable from a file that another container wrote. Upstream: validateFileKeySelector.
fn file_ref(errors: &mut Errors, selector: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    match text(&selector["key"]) {
        "" => errors.required(&at("key"), ""),
        key => errors.invalid_each(&at("key"), key, names::is_relaxed_env_var_name(key)),
    }
    match text(&selector["volumeName"]) {
        "" => errors.required(&at("volumeName"), ""),
        name => errors.dns_label(&at("volumeName"), name),
    }
    match text(&selector["path"]) {
        "" => errors.required(&at("path"), ""),
        path if path.split('/').any(|part| part == "..") => {
            errors.invalid_text(&at("path"), path, "must not contain '..'");
        }
        _ => {}
    }
}

/// Such files lie in volumes of the pod that start empty. Upstream: validateFileKeyRefVolumes.
pub(super) fn file_volumes(errors: &mut Errors, spec: &Value, field: &str) {
    for list in ["initContainers", "containers"] {
        for (i, container) in items(&spec[list]).iter().enumerate() {
            for (j, variable) in items(&container["env"]).iter().enumerate() {
                let reference = &variable["valueFrom"]["fileKeyRef"];
                if !given(reference) {
                    continue;
                }
                let name = text(&reference["volumeName"]);
                let at = format!("{field}.{list}[{i}].env[{j}].valueFrom.fileKeyRef.volumeName");
                match items(&spec["volumes"]).iter().rfind(|v| text(&v["name"]) == name) {
                    None => errors.not_found(&at, name),
                    Some(volume) if !given(&volume["emptyDir"]) => {
                        errors.invalid_text(&at, name, "referenced volume must be of type emptyDir");
                    }
                    Some(_) => {}
                }
            }
        }
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
            let field = format!("{at}.{name}.name");
            if referred.is_empty() {
                errors.required(&field, "");
            } else {
                errors.invalid_each(&field, referred, names::is_dns1123_subdomain(referred));
            }
        }
        if present.is_empty() {
            errors.invalid_text(field, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if present.len() > 1 {
            errors.invalid_text(field, "", "may not have more than one field specified at a time");
        }
    }
}
