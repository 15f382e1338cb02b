//! What each kind does to an object before it is stored: what a client may not set, and when the generation rises.
//!
//! Upstream: PrepareForCreate and PrepareForUpdate of pkg/registry/*/*/strategy.go (v1.37).

mod custom;
mod pod;
mod signing_request;

use kubestep_model::{
    DeploymentStatus, Kind, NamespaceStatus, Object, PodCondition, PodStatus, ReplicaSetStatus,
    ResourceQuotaStatus, ServiceStatus, Subresource, Time,
};
use std::sync::Arc;

pub(crate) use pod::app_armor;
pub(crate) use signing_request::KIND as SIGNING_REQUEST;

/// Before a new object is stored.
pub(crate) fn prepare_for_create(object: &mut Object, now: Time) {
    match object {
        Object::Deployment(d) => {
            let d = Arc::make_mut(d);
            d.status = DeploymentStatus::default();
            pod::drop_disabled(&mut d.spec.template.spec);
            d.metadata.generation = 1;
        }
        Object::ReplicaSet(r) => {
            let r = Arc::make_mut(r);
            r.status = ReplicaSetStatus::default();
            pod::drop_disabled(&mut r.spec.template.spec);
            r.metadata.generation = 1;
        }
        Object::Pod(p) => {
            let p = Arc::make_mut(p);
            p.metadata.generation = 1;
            pod::prepare(p);
            let class = kubestep_model::resources::qos::class(&p.spec).into();
            p.status = PodStatus { phase: "Pending".into(), qos_class: class, ..PodStatus::default() };
            if !p.spec.scheduling_gates.is_empty() {
                p.status.conditions = vec![gated(now)];
            }
        }
        Object::Service(s) => Arc::make_mut(s).status = ServiceStatus::default(),
        Object::ResourceQuota(q) => Arc::make_mut(q).status = ResourceQuotaStatus::default(),
        Object::EndpointSlice(s) => Arc::make_mut(s).metadata.generation = 1,
        Object::Namespace(n) => {
            let n = Arc::make_mut(n);
            n.status = NamespaceStatus { phase: "Active".into(), ..NamespaceStatus::default() };
            if !n.spec.finalizers.iter().any(|f| f == "kubernetes") {
                n.spec.finalizers.push("kubernetes".into());
            }
        }
        Object::Custom(c) => custom::prepare_for_create(Arc::make_mut(c), now),
        Object::Node(n) if n.spec.rest.contains_key("configSource") => {
            Arc::make_mut(n).spec.rest.remove("configSource");
        }
        Object::Lease(l) => custom::drop_lease_parts(&mut Arc::make_mut(l).spec),
        Object::Node(_)
        | Object::Endpoints(_)
        | Object::ConfigMap(_)
        | Object::Secret(_)
        | Object::ServiceAccount(_)
        | Object::Event(_) => {}
    }
}

/// What an object shows when it is read for the first time and no client gave it.
pub(crate) fn as_read(object: &mut Object) {
    if let Object::Custom(c) = object {
        custom::as_read(Arc::make_mut(c));
    }
}

/// A pod with gates is not even looked at by the scheduler.
fn gated(now: Time) -> PodCondition {
    PodCondition {
        r#type: "PodScheduled".into(),
        status: "False".into(),
        reason: "SchedulingGated".into(),
        message: "Scheduling is blocked due to non-empty scheduling gates".into(),
        last_transition_time: Some(now),
        ..PodCondition::default()
    }
}

/// Before a changed object is stored: the status stays, the generation rises with the spec.
pub(crate) fn prepare_for_update(new: &mut Object, old: &Object, now: Time) {
    match (new, old) {
        (Object::Deployment(new), Object::Deployment(old)) => {
            let rises = new.spec != old.spec || new.metadata.annotations != old.metadata.annotations;
            let new = Arc::make_mut(new);
            new.status.clone_from(&old.status);
            new.metadata.generation = old.metadata.generation + i64::from(rises);
        }
        (Object::ReplicaSet(new), Object::ReplicaSet(old)) => {
            let rises = new.spec != old.spec;
            let new = Arc::make_mut(new);
            new.status.clone_from(&old.status);
            new.metadata.generation = old.metadata.generation + i64::from(rises);
        }
        (Object::Pod(new), Object::Pod(old)) => {
            let rises = new.spec != old.spec;
            let new = Arc::make_mut(new);
            new.status.clone_from(&old.status);
            new.metadata.generation = old.metadata.generation + i64::from(rises);
        }
        (Object::EndpointSlice(new), Object::EndpointSlice(old)) => {
            let rises = new.address_type != old.address_type
                || new.endpoints != old.endpoints
                || new.ports != old.ports
                || new.metadata.labels != old.metadata.labels;
            Arc::make_mut(new).metadata.generation = old.metadata.generation + i64::from(rises);
        }
        (Object::Service(new), Object::Service(old)) => Arc::make_mut(new).status.clone_from(&old.status),
        (Object::Node(new), Object::Node(old)) => Arc::make_mut(new).status.clone_from(&old.status),
        (Object::ResourceQuota(new), Object::ResourceQuota(old)) => {
            Arc::make_mut(new).status.clone_from(&old.status);
        }
        (Object::Namespace(new), Object::Namespace(old)) => {
            let new = Arc::make_mut(new);
            new.status.clone_from(&old.status);
            new.spec.finalizers.clone_from(&old.spec.finalizers);
        }
        (Object::Custom(new), Object::Custom(old)) => {
            custom::prepare_for_update(Arc::make_mut(new), old, now);
        }
        _ => {}
    }
}

/// Before a changed status is stored: the spec stays, and with it what the status may not touch.
pub(crate) fn prepare_for_status(new: &mut Object, old: &Object, part: Subresource, now: Time) {
    match (new, old) {
        (Object::Deployment(new), Object::Deployment(old)) => {
            let new = Arc::make_mut(new);
            keep(&mut new.spec, &old.spec);
            keep(&mut new.metadata.labels, &old.metadata.labels);
        }
        (Object::ReplicaSet(new), Object::ReplicaSet(old)) => keep(&mut Arc::make_mut(new).spec, &old.spec),
        (Object::Pod(new), Object::Pod(old)) => {
            let new = Arc::make_mut(new);
            keep(&mut new.spec, &old.spec);
            keep(&mut new.metadata.owner_references, &old.metadata.owner_references);
            pod::same_addresses(&mut new.status);
        }
        (Object::Service(new), Object::Service(old)) => {
            let new = Arc::make_mut(new);
            keep(&mut new.spec, &old.spec);
            if new.spec.r#type == "LoadBalancer" {
                set_ip_modes(&mut new.status);
            }
        }
        (Object::Node(new), Object::Node(old)) => keep(&mut Arc::make_mut(new).spec, &old.spec),
        (Object::ResourceQuota(new), Object::ResourceQuota(old)) => {
            keep(&mut Arc::make_mut(new).spec, &old.spec)
        }
        (Object::Namespace(new), Object::Namespace(old)) => keep(&mut Arc::make_mut(new).spec, &old.spec),
        (Object::Custom(new), Object::Custom(old)) => {
            custom::prepare_for_status(Arc::make_mut(new), old, part, now)
        }
        _ => {}
    }
}

/// An address of a load balancer is a virtual one, unless it says otherwise.
fn set_ip_modes(status: &mut ServiceStatus) {
    let list = status.load_balancer.rest.get_mut("ingress").and_then(|list| list.as_array_mut());
    for entry in list.into_iter().flatten() {
        if entry["ip"].as_str().is_some_and(|ip| !ip.is_empty()) && entry["ipMode"].is_null() {
            entry["ipMode"] = "VIP".into();
        }
    }
}

/// Puts the old value back where it was changed; comparing is cheaper than copying.
fn keep<T: Clone + PartialEq>(new: &mut T, old: &T) {
    if new != old {
        new.clone_from(old);
    }
}

/// Whether the kind has a status of its own to write.
pub(crate) fn has_status(kind: Kind) -> bool {
    match kind {
        Kind::Deployment
        | Kind::ReplicaSet
        | Kind::Pod
        | Kind::Service
        | Kind::Node
        | Kind::Namespace
        | Kind::ResourceQuota => true,
        Kind::Endpoints
        | Kind::EndpointSlice
        | Kind::ConfigMap
        | Kind::Secret
        | Kind::ServiceAccount
        | Kind::Event
        | Kind::Lease => false,
        Kind::Other(_) => custom::has_status(kind.own_name()),
    }
}

/// Whether a PUT without a resource version overwrites what is there.
pub(crate) fn unconditional_update(kind: Kind) -> bool {
    !kind.is_defined()
        && !matches!(
            kind.name(),
            "APIService"
                | "ClusterTrustBundle"
                | "CSIDriver"
                | "CSINode"
                | "CSIStorageCapacity"
                | "CustomResourceDefinition"
                | "DeviceTaintRule"
                | "Lease"
                | "MutatingAdmissionPolicy"
                | "MutatingAdmissionPolicyBinding"
                | "MutatingWebhookConfiguration"
                | "PodCertificateRequest"
                | "PodDisruptionBudget"
                | "RuntimeClass"
                | "StorageVersionMigration"
                | "ValidatingAdmissionPolicy"
                | "ValidatingAdmissionPolicyBinding"
                | "ValidatingWebhookConfiguration"
                | "VolumeAttachment"
        )
}

/// Whether a PUT of what is not there makes it.
pub(crate) fn create_on_update(kind: Kind) -> bool {
    matches!(
        kind.own_name(),
        "Service"
            | "Endpoints"
            | "Event"
            | "Lease"
            | "LimitRange"
            | "PriorityClass"
            | "RoleBinding"
            | "Role"
            | "ClusterRole"
            | "ClusterRoleBinding"
    )
}
