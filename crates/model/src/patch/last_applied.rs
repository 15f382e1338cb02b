//! The annotation in which kubectl apply keeps what it applied.
//!
//! Upstream: k8s.io/kubectl, pkg/util, GetModifiedConfiguration (v1.37).

use serde_json::{Map, Value};

use crate::yaml::json;

/// Where kubectl apply keeps the manifest it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The value of the annotation for a manifest: the manifest as JSON without the annotation itself, and a line feed.
#[must_use]
pub fn last_applied(manifest: &Value) -> String {
    let mut manifest = manifest.clone();
    if let Some(annotations) = annotations(&mut manifest) {
        annotations.remove(LAST_APPLIED);
    }
    json::encode(&manifest) + "\n"
}

/// The manifest with the annotation that tells what it says: what kubectl apply sends.
#[must_use]
pub fn with_last_applied(manifest: &Value) -> Value {
    let text = last_applied(manifest);
    let mut manifest = manifest.clone();
    if let Some(annotations) = annotations(&mut manifest) {
        annotations.insert(LAST_APPLIED.to_owned(), Value::String(text));
    }
    manifest
}

/// What was applied to an object before; none if it was not applied, or if the annotation holds no object.
#[must_use]
pub fn original(object: &Value) -> Option<Value> {
    let text = object["metadata"]["annotations"][LAST_APPLIED].as_str()?;
    json::parse(text).ok().filter(Value::is_object)
}

/// The annotations of an object, made if there are none; none if the object is no object.
fn annotations(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let annotations =
        metadata.as_object_mut()?.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
    if annotations.is_null() {
        *annotations = Value::Object(Map::new());
    }
    annotations.as_object_mut()
}
