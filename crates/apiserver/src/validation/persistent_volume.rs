//! PersistentVolume.
//!
//! Upstream: pkg/apis/core/validation, ValidatePersistentVolumeSpec and ValidatePersistentVolumeUpdate (v1.37).

use super::{
    affinity, claim,
    field::{Errors, entries, given, items, same, text},
    internal, resources, volume, volume_sources,
};
use kubestep_model::Quantity;
use kubestep_model::arrange::Gather;
use serde_json::{Map, Value};

const RECLAIM: [&str; 3] = ["Delete", "Recycle", "Retain"];
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    if items(&spec["accessModes"]).is_empty() {
        errors.required("spec.accessModes", "");
    }
    claim::access_modes(&mut errors, spec, "spec.accessModes");
    capacity(&mut errors, &spec["capacity"]);
    let policy = text(&spec["persistentVolumeReclaimPolicy"]);
    if !policy.is_empty() && !RECLAIM.contains(&policy) {
        errors.not_supported_text("spec.persistentVolumeReclaimPolicy", policy, &RECLAIM);
    }
    let required = &spec["nodeAffinity"]["required"];
    if given(&spec["nodeAffinity"]) {
        if given(required) {
            affinity::node_selector(&mut errors, required, "spec.nodeAffinity.required");
        } else {
            errors.required("spec.nodeAffinity.required", "must specify required node constraints");
        }
    }
    sources(&mut errors, spec);
    let root =
        |path: &str| path.split('/').all(|part| part.is_empty() || part == ".") && path.starts_with('/');
    if given(&spec["hostPath"]) && root(text(&spec["hostPath"]["path"])) && policy == "Recycle" {
        let why = "may not be 'recycle' for a hostPath mount of '/'";
        errors.forbidden("spec.persistentVolumeReclaimPolicy", why);
    }
    claim::class_name(&mut errors, &spec["storageClassName"], "spec.storageClassName");
    claim::volume_mode(&mut errors, &spec["volumeMode"], "spec.volumeMode");
    let class = &spec["volumeAttributesClassName"];
    if given(class) {
        const FIELD: &str = "spec.volumeAttributesClassName";
        if text(class).is_empty() {
            errors.required(FIELD, "an empty string is disallowed");
        }
        claim::class_name(&mut errors, class, FIELD);
        if !given(&spec["csi"]) {
            errors.required("spec.csi", "has to be specified when using volumeAttributesClassName");
        }
    }
    errors
}

fn capacity(errors: &mut Errors, capacity: &Value) {
    const FIELD: &str = "spec.capacity";
    let amounts: Vec<(&String, &Value)> = entries(capacity).collect();
    if amounts.is_empty() {
        errors.required(FIELD, "");
    }
    if amounts.len() != 1 || amounts[0].0 != "storage" {
        let shown =
            if amounts.is_empty() && !given(capacity) { "null".to_owned() } else { capacity.to_string() };
        errors.not_supported(FIELD, &shown, &["storage"]);
    }
    for (name, amount) in amounts {
        let Ok(amount) = serde_json::from_value::<Quantity>(amount.clone()) else { continue };
        let field = format!("{FIELD}[{name}]");
        resources::quantity(errors, name, &amount, &field);
        if amount.sign() <= 0 {
            errors.invalid_text(&field, &amount.to_string(), "must be greater than zero");
        }
    }
}

fn sources(errors: &mut Errors, spec: &Value) {
    let mut found = false;
    for name in SOURCES.into_iter().filter(|name| given(&spec[*name])) {
        if found {
            errors.forbidden(&format!("spec.{name}"), "may not specify more than 1 volume type");
            continue;
        }
        found = true;
        let (source, field) = (&spec[name], format!("spec.{}", volume_sources::shown_name(name)));
        let path = text(&source["path"]);
        match name {
            "hostPath" => volume::host_path(errors, source, &field),
            "local" => {
                if path.is_empty() {
                    errors.required(&format!("{field}.path"), "");
                } else if path.split('/').any(|part| part == "..") {
                    errors.invalid_text(&format!("{field}.path"), path, "must not contain '..'");
                }
                if !given(&spec["nodeAffinity"]) {
                    errors.required("spec.nodeAffinity", "Local volume requires node affinity");
                }
            }
            "nfs" => {
                for part in ["server", "path"] {
                    if text(&source[part]).is_empty() {
                        errors.required(&format!("{field}.{part}"), "");
                    }
                }
                if !path.starts_with('/') {
                    errors.invalid_text(&format!("{field}.path"), path, "must be an absolute path");
                }
            }
            other => volume_sources::check(errors, other, source, &field, true),
        }
    }
    if !found {
        errors.required("spec", "must specify a volume type");
    }
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let source = |whole: &Value| -> Value {
        let named = SOURCES.into_iter().map(|n| (n.to_owned(), whole["spec"][n].clone()));
        Value::Object(named.filter(|(_, v)| given(v)).gather::<Map<_, _>>())
    };
    let (after, before) = (source(new), source(old));
    if after != before {
        let diff = internal::diff("PersistentVolumeSource", &before, &after);
        let why = format!("spec.persistentvolumesource is immutable after creation\n{diff}");
        errors.forbidden("spec.persistentvolumesource", &why);
    }
    let (mode, before) = (&new["spec"]["volumeMode"], &old["spec"]["volumeMode"]);
    errors.immutable("volumeMode", mode, before, &mode.to_string());
    let (affinity, before) = (&new["spec"]["nodeAffinity"], &old["spec"]["nodeAffinity"]);
    if given(before) && !same(affinity, before) {
        let shown = internal::shown("VolumeNodeAffinity", affinity);
        let why = "field is immutable, except for updating from beta label to GA";
        errors.invalid("spec.nodeAffinity", &shown, why);
    }
    errors
}
