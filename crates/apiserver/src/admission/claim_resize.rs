//! Which claims may ask for more room.
//!
//! Upstream: plugin/pkg/admission/storage/persistentvolume/resize (v1.37).

use crate::turn::Turn;
use kubestep_model::{Custom, Key, Kind, Object, Quantity, Status};
use serde_json::Value;

const STORAGE_CLASS: Kind = Kind::other("storage.k8s.io", "StorageClass");
const OLD_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const UNBOUND: &str = "Only bound persistent volume claims can be expanded";
const NOT_EXPANDABLE: &str = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

/// Refuses a claim that grows, unless it is bound and its class lets it.
pub(super) fn review(turn: &Turn<'_>, new: &Custom, old: &Custom) -> Result<(), Status> {
    if new.kind.own_name() != "PersistentVolumeClaim" {
        return Ok(());
    }
    let (Some(wanted), Some(had)) = (asked(new), asked(old)) else { return Ok(()) };
    if !wanted.cmp(&had).is_gt() {
        return Ok(());
    }
    let refuse = |why| Err(Status::forbidden(new.kind, &new.metadata.name, why));
    if at(old, "status", "/phase").and_then(Value::as_str) != Some("Bound") {
        return refuse(UNBOUND);
    }
    if expandable(turn, new, old) { Ok(()) } else { refuse(NOT_EXPANDABLE) }
}

fn expandable(turn: &Turn<'_>, new: &Custom, old: &Custom) -> bool {
    let name = class(new);
    if name.is_empty() || name != class(old) {
        return false;
    }
    match turn.store.get(&Key::new(STORAGE_CLASS, "", name)) {
        Some(Object::Custom(class)) => {
            class.rest.get("allowVolumeExpansion").and_then(Value::as_bool).unwrap_or(false)
        }
        _ => false,
    }
}

fn class(claim: &Custom) -> &str {
    let old = claim.metadata.annotations.get(OLD_ANNOTATION).map(|class| &**class);
    old.or_else(|| at(claim, "spec", "/storageClassName").and_then(Value::as_str)).unwrap_or("")
}

fn asked(claim: &Custom) -> Option<Quantity> {
    serde_json::from_value(at(claim, "spec", "/resources/requests/storage")?.clone()).ok()
}

fn at<'a>(claim: &'a Custom, part: &str, path: &str) -> Option<&'a Value> {
    claim.rest.get(part)?.pointer(path)
}
