//! Volumes.
//!
//! Upstream: pkg/apis/core/validation, ValidateVolumes (v1.37).

use super::{
    claim, env,
    field::{Errors, given, items, number, text},
    meta,
    projected::projections,
    volume_sources,
};
use kubestep_model::{Labels, Quantity};
use serde_json::Value;
use std::collections::BTreeMap;

/// The names and sources of the volumes that are in order; others cannot be mounted.
pub(super) type Volumes = BTreeMap<String, &'static str>;

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const SOURCES: [&str; 31] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "flocker",
    "downwardAPI",
    "fc",
    "flexVolume",
    "azureFile",
    "configMap",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
    "projected",
    "csi",
    "ephemeral",
    "image",
    "podCertificate",
];

pub(super) fn volumes(errors: &mut Errors, volumes: &Value, field: &str) -> Volumes {
    let mut good = Volumes::new();
    for (i, volume) in items(volumes).iter().enumerate() {
        let field = format!("{field}[{i}]");
        let mut own = Errors::new();
        source(&mut own, volume, &field);
        let name = text(&volume["name"]);
        let at = format!("{field}.name");
        if name.is_empty() {
            own.required(&at, "");
        } else {
            own.dns_label(&at, name);
        }
        if good.contains_key(name) {
            own.duplicate(&at, &Value::from(name).to_string());
        }
        if own.is_empty() {
            let kind = SOURCES.into_iter().find(|kind| given(&volume[*kind]));
            good.insert(name.to_owned(), kind.unwrap_or_default());
        }
        errors.append(own);
    }
    good
}

fn source(errors: &mut Errors, volume: &Value, field: &str) {
    let mut found = false;
    for kind in SOURCES {
        let source = &volume[kind];
        if source.is_null() {
            continue;
        }
        if found {
            errors.forbidden(&format!("{field}.{kind}"), "may not specify more than 1 volume type");
            continue;
        }
        found = true;
        let field = format!("{field}.{}", volume_sources::shown_name(kind));
        one_source(errors, kind, source, &field);
    }
    if !found {
        errors.required(field, "must specify a volume type");
    }
}

fn one_source(errors: &mut Errors, kind: &str, source: &Value, field: &str) {
    let required = |errors: &mut Errors, name: &str| {
        if text(&source[name]).is_empty() {
            errors.required(&format!("{field}.{name}"), "");
        }
    };
    match kind {
        "secret" => {
            required(errors, "secretName");
            mode(errors, source, "defaultMode", field);
            keys(errors, source, field);
        }
        "configMap" => {
            required(errors, "name");
            mode(errors, source, "defaultMode", field);
            keys(errors, source, field);
        }
        "persistentVolumeClaim" => required(errors, "claimName"),
        "hostPath" => host_path(errors, source, field),
        "emptyDir" => {
            let limit = serde_json::from_value::<Quantity>(source["sizeLimit"].clone());
            if limit.is_ok_and(|limit| limit.sign() < 0) {
                let why = "SizeLimit field must be a valid resource quantity";
                errors.forbidden(&format!("{field}.sizeLimit"), why);
            }
        }
        "ephemeral" => ephemeral(errors, &source["volumeClaimTemplate"], field),
        "nfs" => {
            required(errors, "server");
            required(errors, "path");
            let path = text(&source["path"]);
            if !path.starts_with('/') {
                errors.invalid_text(&format!("{field}.path"), path, "must be an absolute path");
            }
        }
        "image" => {
            required(errors, "reference");
            super::container::pull_policy(errors, source, &format!("{field}.pullPolicy"));
        }
        "downwardAPI" => {
            mode(errors, source, "defaultMode", field);
            for item in items(&source["items"]) {
                downward(errors, item, field);
            }
        }
        "projected" => {
            mode(errors, source, "defaultMode", field);
            projections(errors, source, field);
        }
        other => volume_sources::check(errors, other, source, field, false),
    }
}

const HOST_PATH_TYPES: [&str; 8] =
    ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];

pub(super) fn host_path(errors: &mut Errors, source: &Value, field: &str) {
    let path = text(&source["path"]);
    if path.is_empty() {
        errors.required(&format!("{field}.path"), "");
        return;
    }
    if path.split('/').any(|part| part == "..") {
        errors.invalid_text(&format!("{field}.path"), path, "must not contain '..'");
    }
    let kind = &source["type"];
    if given(kind) && !HOST_PATH_TYPES.contains(&text(kind)) {
        errors.not_supported_text(&format!("{field}.type"), text(kind), &HOST_PATH_TYPES);
    }
}

/// A claim that is made for the pod: as any other, but its name is the pod's and the volume's.
///
/// Upstream: ValidatePersistentVolumeClaimTemplate.
fn ephemeral(errors: &mut Errors, template: &Value, field: &str) {
    let field = format!("{field}.volumeClaimTemplate");
    if !given(template) {
        errors.required(&field, "");
        return;
    }
    let metadata = &template["metadata"];
    let map = |name: &str| -> Labels { serde_json::from_value(metadata[name].clone()).unwrap_or_default() };
    meta::annotations(errors, &map("annotations"), &format!("{field}.metadata.annotations"));
    meta::labels(errors, &map("labels"), &format!("{field}.metadata.labels"));
    for name in ["name", "generateName", "namespace", "finalizers", "ownerReferences"] {
        if given(&metadata[name]) && metadata[name] != "" {
            errors.forbidden(&format!("{field}.metadata.{name}"), "cannot be set");
        }
    }
    claim::spec(errors, &template["spec"], &format!("{field}.spec"));
}

pub(super) fn mode(errors: &mut Errors, source: &Value, name: &str, field: &str) {
    let mode = &source[name];
    if !mode.is_null() && !(0..=0o777).contains(&number(mode)) {
        errors.invalid(&format!("{field}.{name}"), &mode.to_string(), FILE_MODE);
    }
}

pub(super) fn keys(errors: &mut Errors, source: &Value, field: &str) {
    for (i, item) in items(&source["items"]).iter().enumerate() {
        let field = format!("{field}.items[{i}]");
        if text(&item["key"]).is_empty() {
            errors.required(&format!("{field}.key"), "");
        }
        if text(&item["path"]).is_empty() {
            errors.required(&format!("{field}.path"), "");
        }
        reserved_path(errors, text(&item["path"]), &format!("{field}.path"));
        mode(errors, item, "mode", &field);
    }
}

pub(super) fn downward(errors: &mut Errors, item: &Value, field: &str) {
    if text(&item["path"]).is_empty() {
        errors.required(&format!("{field}.path"), "");
    }
    reserved_path(errors, text(&item["path"]), &format!("{field}.path"));
    if given(&item["fieldRef"]) {
        env::field_ref(errors, &item["fieldRef"], &format!("{field}.fieldRef"), false);
        if given(&item["resourceFieldRef"]) {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_text(field, "resource", why);
        }
    } else if given(&item["resourceFieldRef"]) {
        env::resource_ref(errors, &item["resourceFieldRef"], &format!("{field}.resourceFieldRef"), true);
    } else {
        errors.required(field, "one of fieldRef and resourceFieldRef is required");
    }
    mode(errors, item, "mode", field);
}

pub(super) fn reserved_path(errors: &mut Errors, path: &str, field: &str) {
    descending_path(errors, path, field);
    if path.starts_with("..") && !path.starts_with("../") && path != ".." {
        errors.invalid_text(field, path, "must not start with '..'");
    }
}

/// A path that stays below where it starts.
pub(super) fn descending_path(errors: &mut Errors, path: &str, field: &str) {
    if path.starts_with('/') {
        errors.invalid_text(field, path, "must be a relative path");
    }
    if path.split('/').any(|part| part == "..") {
        errors.invalid_text(field, path, "must not contain '..'");
    }
}
