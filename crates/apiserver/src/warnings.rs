//! What is stored as asked, but deserves a word.
//!
//! Upstream: WarningsOnCreate and WarningsOnUpdate of pkg/registry/*/*/strategy.go (v1.37).

mod definition;
mod pod;
mod service;

use kubestep_model::{Object, text::names};
use serde_json::Value;

/// Annotations that have a field, or a better way, by now: kind, name, and what is said.
const OLD_ANNOTATIONS: [(&str, &str, &str); 3] = [
    (
        "ServiceAccount",
        "kubernetes.io/enforce-mountable-secrets",
        "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets",
    ),
    (
        "PersistentVolume",
        "volume.beta.kubernetes.io/storage-class",
        "deprecated since v1.8; use \"storageClassName\" attribute instead",
    ),
    (
        "PersistentVolumeClaim",
        "volume.beta.kubernetes.io/storage-class",
        "deprecated since v1.8; use \"storageClassName\" attribute instead",
    ),
];

/// What is said about a driver whose tokens may end up in logs.
const TOKENS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

/// What is said about a new object.
pub(crate) fn of_new(object: &Object) -> Vec<String> {
    let mut warnings = vec![];
    let meta = object.meta();
    let used_in = match object.kind().own_name() {
        "Deployment" | "ReplicaSet" | "Job" => Some("Pod names and hostnames"),
        "Pod" => Some("the Pod's hostname"),
        _ => None,
    };
    warnings.extend(used_in.and_then(|used_in| of_name(&meta.name, used_in)));
    of_content(&mut warnings, object);
    if let Object::Custom(custom) = object {
        definition::of_new(&mut warnings, custom);
    }
    if let Object::Secret(s) = object
        && s.r#type == "kubernetes.io/tls"
    {
        let certificate =
            s.data.get("tls.crt").and_then(|v| crate::base64::decode(v).ok()).unwrap_or_default();
        if !String::from_utf8_lossy(&certificate).contains("-----BEGIN ") {
            warnings.push("tls: failed to find any PEM data in certificate input".into());
        }
    }
    warnings
}

/// What is said about a changed object: as for a new one, where what it wants has changed.
pub(crate) fn of_changed(new: &Object, old: &Object) -> Vec<String> {
    let mut warnings = vec![];
    let counts = new.meta().generation != 0;
    if !counts || new.meta().generation != old.meta().generation {
        of_content(&mut warnings, new);
    }
    warnings
}

/// Where a kind keeps the pods that it makes: the template, and how its fields are told.
fn template(kind: &str) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        "Pod" => ("", ""),
        "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => {
            ("/spec/template", "spec.template.")
        }
        "CronJob" => ("/spec/jobTemplate/spec/template", "spec.jobTemplate.spec.template."),
        "PodTemplate" => ("/template", "template."),
        _ => return None,
    })
}

fn of_content(warnings: &mut Vec<String>, object: &Object) {
    let kind = object.kind().own_name();
    for (_, name, words) in OLD_ANNOTATIONS.iter().filter(|(k, _, _)| *k == kind) {
        if object.meta().annotations.contains_key(*name) {
            warnings.push(format!("metadata.annotations[{name}]: {words}"));
        }
    }
    if let Some((at, field)) = template(kind) {
        let whole = object.to_value();
        if let Some(template) = whole.pointer(at) {
            pod::of_template(warnings, template, field);
        }
    }
    match kind {
        "ResourceSlice" => of_slice(warnings, &object.to_value()["spec"]["driver"]),
        "Service" => service::of_service(warnings, object),
        "CSIDriver" => of_driver(warnings, &object.to_value()["spec"]),
        "Node" => of_node(warnings, &object.to_value()),
        "PersistentVolumeClaim" => of_claim(warnings, &object.to_value()["spec"], "spec"),
        _ => {}
    }
}

fn of_slice(warnings: &mut Vec<String>, driver: &Value) {
    if let Some(name) = driver.as_str().filter(|name| name.to_ascii_lowercase() != *name) {
        let name = kubestep_model::text::go::quote(name);
        warnings.push(format!(
            "spec.driver: driver names should be lowercase; {name} contains uppercase characters"
        ));
    }
}

fn of_driver(warnings: &mut Vec<String>, spec: &Value) {
    let asks = spec["tokenRequests"].as_array().is_some_and(|list| !list.is_empty());
    if asks && spec["serviceAccountTokenInSecrets"].is_null() {
        warnings.push(TOKENS.into());
    }
}

fn of_node(warnings: &mut Vec<String>, whole: &Value) {
    if whole["spec"]["externalID"].as_str().is_some_and(|id| !id.is_empty()) {
        let words = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
        warnings.push(words.into());
    }
}

/// Bytes come whole.
fn of_claim(warnings: &mut Vec<String>, spec: &Value, field: &str) {
    pod::of_bytes(warnings, &spec["resources"], &["storage"], &format!("{field}.resources"));
}

fn of_name(name: &str, used_in: &str) -> Option<String> {
    let wrong = names::is_dns1123_label(name);
    (!wrong.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            wrong.join(" ")
        )
    })
}
