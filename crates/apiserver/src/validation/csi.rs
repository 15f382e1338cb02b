//! CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment and VolumeAttributesClass.
//!
//! Upstream: pkg/apis/storage/validation (v1.37).

use super::{
    field::{Errors, IMMUTABLE, given, items, same, text},
    internal,
};
use kubestep_model::{Quantity, text::names};
use serde_json::Value;

const LONGEST_NODE_ID: usize = 256;
const SHORTEST_TOKEN: i64 = 600;
const LONGEST_TOKEN: i64 = 1 << 32;
const SHORTEST_PERIOD: i64 = 10;
const MOST_ATTACHED: usize = 256 * 1024;
const LONGEST_MESSAGE: usize = 1024;

pub(super) fn driver(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    for (field, shown) in [
        ("attachRequired", "attachedRequired"),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        if !given(&spec[field]) {
            errors.required(&format!("spec.{shown}"), "");
        }
    }
    let groups = ["File", "None", "ReadWriteOnceWithFSType"];
    errors.choice("spec.fsGroupPolicy", &spec["fsGroupPolicy"], &groups);
    token_requests(&mut errors, items(&spec["tokenRequests"]));
    for mode in items(&spec["volumeLifecycleModes"]) {
        errors.choice("spec.volumeLifecycleModes", mode, &["Persistent", "Ephemeral"]);
    }
    if !given(&spec["seLinuxMount"]) {
        errors.required("spec.seLinuxMount", "");
    }
    let period = &spec["nodeAllocatableUpdatePeriodSeconds"];
    if period.as_i64().is_some_and(|seconds| seconds < SHORTEST_PERIOD) {
        let field = "spec.nodeAllocatableUpdatePeriodSeconds";
        errors.invalid(field, &period.to_string(), "must be greater than or equal to 10 seconds");
    }
    let secrets = &spec["serviceAccountTokenInSecrets"];
    if given(secrets) && items(&spec["tokenRequests"]).is_empty() {
        let why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid("spec.serviceAccountTokenInSecrets", &secrets.to_string(), why);
    }
    errors
}

fn token_requests(errors: &mut Errors, requests: &[Value]) {
    for (i, request) in requests.iter().enumerate() {
        let field = format!("spec.tokenRequests[{i}]");
        let audience = text(&request["audience"]);
        if requests[..i].iter().any(|r| text(&r["audience"]) == audience) {
            errors.duplicate(&format!("{field}.audience"), &Value::from(audience).to_string());
            continue;
        }
        let Some(seconds) = request["expirationSeconds"].as_i64() else { continue };
        let field = format!("{field}.expirationSeconds");
        if seconds < SHORTEST_TOKEN {
            errors.invalid(&field, &seconds.to_string(), "may not specify a duration less than 10 minutes");
        }
        if seconds > LONGEST_TOKEN {
            let why = "may not specify a duration larger than 2^32 seconds";
            errors.invalid(&field, &seconds.to_string(), why);
        }
    }
}

pub(super) fn changed_driver(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let part = |whole: &Value, name: &str| whole["spec"][name].clone();
    let required = part(new, "attachRequired");
    errors.immutable("spec.attachedRequired", &required, &part(old, "attachRequired"), &required.to_string());
    let modes = part(new, "volumeLifecycleModes");
    let before = part(old, "volumeLifecycleModes");
    errors.immutable("spec.volumeLifecycleModes", &modes, &before, &modes.to_string());
    errors
}

pub(super) fn node(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let drivers = items(&whole["spec"]["drivers"]);
    for (i, driver) in drivers.iter().enumerate() {
        let field = format!("spec.drivers[{i}]");
        errors.driver(&format!("{field}.name"), text(&driver["name"]));
        let id = text(&driver["nodeID"]);
        if id.is_empty() {
            errors.required(&format!("{field}.nodeID"), "");
        }
        if id.len() > LONGEST_NODE_ID {
            let why = format!("must be {LONGEST_NODE_ID} characters or less");
            errors.invalid_text(&format!("{field}.nodeID"), id, &why);
        }
        errors.not_negative_in(&driver["allocatable"], "count", &format!("{field}.allocatable"));
        if drivers[..i].iter().any(|d| text(&d["name"]) == text(&driver["name"])) {
            errors.duplicate(&format!("{field}.name"), &Value::from(text(&driver["name"])).to_string());
        }
        let keys = items(&driver["topologyKeys"]);
        for (j, key) in keys.iter().enumerate() {
            if text(key).is_empty() {
                errors.required(&field, "");
            }
            if keys[..j].contains(key) {
                errors.duplicate(&field, &key.to_string());
            }
            errors.qualified_name(&field, text(key));
        }
    }
    errors
}

pub(super) fn changed_node(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let without_count = |driver: &Value| {
        let mut driver = driver.clone();
        if let Value::Object(fields) = &mut driver {
            fields.remove("allocatable");
        }
        driver
    };
    for before in items(&old["spec"]["drivers"]) {
        for driver in items(&new["spec"]["drivers"]).iter().filter(|d| d["name"] == before["name"]) {
            if !same(&without_count(driver), &without_count(before)) {
                let shown = internal::shown("CSINodeDriver", &without_count(driver));
                errors.invalid("spec.drivers", &shown, IMMUTABLE);
            }
        }
    }
    errors
}

pub(super) fn capacity(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.label_selector("nodeTopology", &whole["nodeTopology"]);
    errors.subdomain("storageClassName", text(&whole["storageClassName"]));
    let amount: Option<Quantity> = serde_json::from_value(whole["capacity"].clone()).ok();
    if let Some(amount) = amount.filter(|amount| given(&whole["capacity"]) && amount.sign() < 0) {
        errors.invalid_text("capacity", &amount.to_string(), super::field::NEGATIVE);
    }
    errors
}

pub(super) fn changed_capacity(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    for name in ["nodeTopology", "storageClassName"] {
        let shown = if given(&new[name]) { new[name].to_string() } else { "null".into() };
        errors.immutable(name, &new[name], &old[name], &shown);
    }
    errors
}

pub(super) fn attachment(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    errors.declared_driver("spec.attacher", text(&spec["attacher"]));
    let (inline, name) = (&spec["source"]["inlineVolumeSpec"], &spec["source"]["persistentVolumeName"]);
    const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (given(inline), given(name)) {
        (false, false) => errors.required("spec.source", ONE),
        (true, true) => errors.forbidden("spec.source", ONE),
        (false, true) if text(name).is_empty() => {
            let why = "must specify non empty persistentVolumeName";
            errors.required("spec.source.persistentVolumeName", why);
        }
        _ => {}
    }
    errors.subdomain("spec.nodeName", text(&spec["nodeName"]));
    status(&mut errors, whole);
    if given(name) {
        errors.subdomain("spec.source.persistentVolumeName", text(name));
    }
    errors
}

fn status(errors: &mut Errors, whole: &Value) {
    let status = &whole["status"];
    let bytes: usize =
        super::field::entries(&status["attachmentMetadata"]).map(|(k, v)| k.len() + text(v).len()).sum();
    if bytes > MOST_ATTACHED {
        errors.too_long("status.attachmentMetadata", MOST_ATTACHED);
    }
    for name in ["attachError", "detachError"] {
        let field = format!("status.{name}");
        if text(&status[name]["message"]).len() > LONGEST_MESSAGE {
            errors.too_long(&format!("{field}.message"), LONGEST_MESSAGE);
        }
        if let Some(code) = status[name]["errorCode"].as_i64().filter(|code| *code < 0) {
            let why = "must be between 0 and 2147483647, inclusive";
            errors.invalid(&format!("{field}.errorCode"), &code.to_string(), why);
        }
    }
}

pub(super) fn changed_attachment(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.declared(&|errors: &mut Errors| {
        errors.immutable("spec", &new["spec"], &old["spec"], "null");
    });
    errors
}

pub(super) fn attributes_class(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let driver = text(&whole["driverName"]);
    if driver.is_empty() {
        errors.required("driverName", "");
    } else {
        errors.invalid_each("driverName", driver, names::is_qualified_name(&driver.to_ascii_lowercase()));
    }
    super::storage_class::parameters(&mut errors, &whole["parameters"]);
    if super::field::entries(&whole["parameters"]).next().is_none() {
        errors.required("parameters", "must contain at least one key/value pair");
    }
    errors
}

pub(super) fn changed_attributes_class(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    for name in ["driverName", "parameters"] {
        if !same(&new[name], &old[name]) {
            errors.forbidden(name, &format!("updates to {name} are forbidden."));
        }
    }
    errors
}
