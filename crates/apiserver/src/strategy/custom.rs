//! The same for kinds that are kept whole.

use kubestep_model::Custom;
use serde_json::{Value, json};

/// The status that a new object starts with; `None` for kinds without a status.
fn first_status(kind: &str) -> Option<Value> {
    Some(match kind {
        "DaemonSet" => {
            json!({"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0})
        }
        "StatefulSet" => json!({"replicas": 0, "availableReplicas": 0}),
        "ReplicationController" => json!({"replicas": 0}),
        "Ingress" => json!({"loadBalancer": {}}),
        "PersistentVolumeClaim" => json!({"phase": "Pending"}),
        "PersistentVolume" => json!({"phase": "Pending"}),
        "PodDisruptionBudget" => {
            json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0})
        }
        "HorizontalPodAutoscaler" => json!({"desiredReplicas": 0, "currentMetrics": null}),
        "Job" | "CronJob" | "FlowSchema" | "PriorityLevelConfiguration" | "CertificateSigningRequest" => {
            json!({})
        }
        "VolumeAttachment" => json!({"attached": false}),
        _ => return None,
    })
}

/// Kinds whose generation counts changes of the spec.
fn counts(kind: &str) -> bool {
    matches!(
        kind,
        "DaemonSet"
            | "StatefulSet"
            | "ReplicationController"
            | "Ingress"
            | "IngressClass"
            | "NetworkPolicy"
            | "Job"
            | "CronJob"
            | "PodDisruptionBudget"
            | "PriorityClass"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "CustomResourceDefinition"
    )
}

pub(super) fn has_status(kind: &str) -> bool {
    first_status(kind).is_some()
}

pub(super) fn prepare_for_create(object: &mut Custom) {
    let kind = object.kind.name();
    if let Some(status) = first_status(kind) {
        object.rest.insert("status".into(), status);
    }
    object.metadata.generation = i64::from(counts(kind));
}

pub(super) fn prepare_for_update(new: &mut Custom, old: &Custom) {
    let kind = new.kind.name();
    if first_status(kind).is_some() {
        copy(new, old, "status");
    }
    // Kinds without a spec count every change of what they hold instead.
    let rises = if new.rest.contains_key("spec") || old.rest.contains_key("spec") {
        new.rest.get("spec") != old.rest.get("spec")
    } else {
        new.rest != old.rest
    };
    new.metadata.generation = old.metadata.generation + i64::from(rises && counts(kind));
}

pub(super) fn prepare_for_status(new: &mut Custom, old: &Custom) {
    copy(new, old, "spec");
}

fn copy(new: &mut Custom, old: &Custom, part: &str) {
    match old.rest.get(part) {
        Some(value) => new.rest.insert(part.into(), value.clone()),
        None => new.rest.remove(part),
    };
}
