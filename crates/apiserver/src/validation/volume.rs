//! Volumes.
//!
//! Upstream: pkg/apis/core/validation, ValidateVolumes (v1.37).

use super::{
    env,
    field::{Errors, items, number, text},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The names of the volumes that are in order; others cannot be mounted.
pub(super) type Volumes = BTreeSet<String>;

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
        if good.contains(name) {
            own.duplicate(&at, &Value::from(name).to_string());
        }
        if own.is_empty() {
            good.insert(name.to_owned());
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
        let field = format!("{field}.{kind}");
        if found {
            errors.forbidden(&field, "may not specify more than 1 volume type");
            continue;
        }
        found = true;
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
        "hostPath" => {
            required(errors, "path");
            if text(&source["path"]).split('/').any(|part| part == "..") {
                errors.invalid_text(&format!("{field}.path"), text(&source["path"]), "must not contain '..'");
            }
        }
        "nfs" => {
            required(errors, "server");
            required(errors, "path");
            let path = text(&source["path"]);
            if !path.starts_with('/') {
                errors.invalid_text(&format!("{field}.path"), path, "must be an absolute path");
            }
        }
        "csi" => required(errors, "driver"),
        "image" => required(errors, "reference"),
        "downwardAPI" => {
            mode(errors, source, "defaultMode", field);
            for (i, item) in items(&source["items"]).iter().enumerate() {
                downward(errors, item, &format!("{field}[{i}]"));
            }
        }
        "projected" => {
            mode(errors, source, "defaultMode", field);
            projections(errors, source, field);
        }
        _ => {}
    }
}

fn mode(errors: &mut Errors, source: &Value, name: &str, field: &str) {
    let mode = &source[name];
    if !mode.is_null() && !(0..=0o777).contains(&number(mode)) {
        errors.invalid(&format!("{field}.{name}"), &mode.to_string(), FILE_MODE);
    }
}

fn keys(errors: &mut Errors, source: &Value, field: &str) {
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

fn downward(errors: &mut Errors, item: &Value, field: &str) {
    if text(&item["path"]).is_empty() {
        errors.required(&format!("{field}.path"), "");
    }
    reserved_path(errors, text(&item["path"]), &format!("{field}.path"));
    if !item["fieldRef"].is_null() {
        env::field_ref(errors, &item["fieldRef"], &format!("{field}.fieldRef"), false);
    } else if !item["resourceFieldRef"].is_null() {
        env::resource_ref(errors, &item["resourceFieldRef"], &format!("{field}.resourceFieldRef"));
    } else {
        errors.required(field, "one of fieldRef and resourceFieldRef is required");
    }
}

fn projections(errors: &mut Errors, source: &Value, field: &str) {
    for (i, each) in items(&source["sources"]).iter().enumerate() {
        let field = format!("{field}.sources[{i}]");
        for kind in ["secret", "configMap"] {
            if !each[kind].is_null() {
                let at = format!("{field}.{kind}");
                if text(&each[kind]["name"]).is_empty() {
                    errors.required(&format!("{at}.name"), "");
                }
                keys(errors, &each[kind], &at);
            }
        }
        let token = &each["serviceAccountToken"];
        if !token.is_null() {
            let at = format!("{field}.serviceAccountToken");
            if text(&token["path"]).is_empty() {
                errors.required(&format!("{at}.path"), "");
            }
            let seconds = number(&token["expirationSeconds"]);
            if seconds < 600 {
                errors.invalid(
                    &format!("{at}.expirationSeconds"),
                    &seconds.to_string(),
                    "may not specify a duration less than 10 minutes",
                );
            }
        }
    }
}

fn reserved_path(errors: &mut Errors, path: &str, field: &str) {
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
