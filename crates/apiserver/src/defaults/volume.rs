//! Volumes of a pod.

use super::{
    fill,
    pod::{field_version, pull_policy},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// rw-r--r--
const FILE_MODE: i64 = 0o644;
const TOKEN_SECONDS: i64 = 3600;

pub(super) fn volume(source: &mut BTreeMap<String, Value>) {
    if !source.values().any(|v| !v.is_null()) {
        source.insert("emptyDir".into(), json!({}));
    }
    for (name, value) in source {
        if let Value::Object(fields) = value {
            one(name, fields);
        }
    }
}

/// One source, of a pod's volume or of a PersistentVolume.
pub(super) fn one(name: &str, fields: &mut Map<String, Value>) {
    match name {
        "secret" | "configMap" => file_mode(fields),
        "downwardAPI" => {
            file_mode(fields);
            each(fields, "items", field_version);
        }
        "projected" => {
            file_mode(fields);
            each(fields, "sources", projection);
        }
        "hostPath" => default(fields, "type", ""),
        "iscsi" => default(fields, "iscsiInterface", "default"),
        "rbd" => {
            default(fields, "pool", "rbd");
            default(fields, "user", "admin");
            default(fields, "keyring", "/etc/ceph/keyring");
        }
        "ephemeral" => {
            if let Some(Value::Object(template)) = fields.get_mut("volumeClaimTemplate") {
                fill(template, "metadata", json!({}));
                if let Some(Value::Object(spec)) = template.get_mut("spec") {
                    default(spec, "volumeMode", "Filesystem");
                }
            }
        }
        "azureDisk" => {
            default(fields, "cachingMode", "ReadWrite");
            default(fields, "kind", "Shared");
            default(fields, "fsType", "ext4");
            fill(fields, "readOnly", false.into());
        }
        "scaleIO" => {
            default(fields, "storageMode", "ThinProvisioned");
            default(fields, "fsType", "xfs");
        }
        "image" => {
            let policy = pull_policy(fields.get("reference").and_then(Value::as_str).unwrap_or_default());
            default(fields, "pullPolicy", policy);
        }
        _ => {}
    }
}

fn projection(source: &mut Value) {
    if let Some(Value::Object(token)) = source.get_mut("serviceAccountToken") {
        fill(token, "expirationSeconds", TOKEN_SECONDS.into());
    }
    if let Some(Value::Object(downward)) = source.get_mut("downwardAPI") {
        each(downward, "items", field_version);
    }
}

fn file_mode(fields: &mut Map<String, Value>) {
    fill(fields, "defaultMode", FILE_MODE.into());
}

fn default(fields: &mut Map<String, Value>, name: &str, value: &str) {
    fill(fields, name, value.into());
}

fn each(fields: &mut Map<String, Value>, list: &str, change: fn(&mut Value)) {
    if let Some(Value::Array(items)) = fields.get_mut(list) {
        items.iter_mut().for_each(change);
    }
}
