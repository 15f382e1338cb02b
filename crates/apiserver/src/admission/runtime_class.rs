//! A pod runs as its RuntimeClass says, and pays the overhead that it names.
//!
//! Upstream: plugin/pkg/admission/runtimeclass (v1.37).

use crate::turn::Turn;
use kubestep_model::{Key, Kind, Object, Pod, Quantity, Status, Toleration};
use std::collections::BTreeMap;

const CLASS: Kind = Kind::other("node.k8s.io", "RuntimeClass");

/// Gives a new pod its class' overhead, node selector and tolerations.
pub(super) fn admit(turn: &Turn<'_>, pod: &mut Pod) -> Result<(), Status> {
    let name = super::name_or_start(&pod.metadata).to_owned();
    let refuse = |why: &str| Err(Status::forbidden(Kind::Pod, &name, why));
    let wanted =
        pod.spec.rest.get("runtimeClassName").and_then(|n| n.as_str()).unwrap_or_default().to_owned();
    if wanted.is_empty() {
        if pod.spec.overhead.is_empty() {
            return Ok(());
        }
        return refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    let Some(Object::Custom(class)) = turn.store.get(&Key::new(CLASS, "", &*wanted)) else {
        return refuse(&format!("pod rejected: RuntimeClass \"{wanted}\" not found"));
    };
    let overhead: BTreeMap<String, Quantity> = class
        .rest
        .get("overhead")
        .and_then(|o| serde_json::from_value(o["podFixed"].clone()).ok())
        .unwrap_or_default();
    if overhead.is_empty() && !pod.spec.overhead.is_empty() {
        return refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
    }
    if !pod.spec.overhead.is_empty() && pod.spec.overhead != overhead {
        return refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    let scheduling = class.rest.get("scheduling").cloned().unwrap_or_default();
    let mut selector = pod.spec.node_selector.clone();
    for (key, value) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if let Some(there) = selector.get(key).filter(|there| *there != value) {
            return refuse(&format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {there}"
            ));
        }
        selector.insert(key.clone(), value.into());
    }
    let more: Vec<Toleration> = serde_json::from_value(scheduling["tolerations"].clone()).unwrap_or_default();
    let spec = &mut pod.spec;
    spec.overhead = overhead;
    spec.node_selector = selector;
    for toleration in more {
        if !spec.tolerations.contains(&toleration) {
            spec.tolerations.push(toleration);
        }
    }
    Ok(())
}
