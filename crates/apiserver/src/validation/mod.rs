//! Whether an object may be stored, in Kubernetes' own words and order.
//!
//! The checks read the object as JSON, where paths are natural; what loops write is not checked again.

mod admission_policy;
mod affinity;
mod autoscaler;
mod claim;
mod container;
mod core;
mod cron;
mod cron_job;
mod csi;
mod daemon_set;
mod definition;
mod definition_internal;
mod definition_schema;
mod definition_structure;
mod device_claim;
mod device_slice;
mod devices;
mod diff;
mod disruption_budget;
mod endpoints;
mod env;
mod event;
pub(crate) mod field;
mod flow_control;
mod ingress;
mod internal;
mod job;
mod job_policies;
mod limit_range;
mod meta;
mod migration;
mod network_policy;
mod node;
mod persistent_volume;
mod pod;
mod pod_system;
mod pod_update;
mod priority_class;
mod probe;
mod projected;
mod rbac;
mod replication_controller;
mod resources;
mod rules;
mod security;
mod service;
mod service_range;
mod signing_request;
mod small;
mod stateful_set;
mod status;
mod status_job;
mod storage_class;
mod volume;
mod volume_sources;
mod webhooks;
mod whole_kinds;
mod workload;

use crate::{
    defined::{self, Spoken},
    turn::Turn,
};
use field::Errors;
use kubestep_model::{Object, Status, Subresource};

/// Checks a new object.
pub(crate) fn new_object(turn: &Turn<'_>, object: &Object) -> Result<(), Status> {
    let mut errors = meta::new_meta(object.kind(), object.meta());
    if let (Some(spoken), Object::Custom(custom)) = (&turn.spoken, object) {
        errors.append(defined::check(spoken, custom, None, false));
        return answer(object, errors);
    }
    let whole = object.to_value();
    match object {
        Object::Deployment(d) => errors.append(workload::deployment(d, &whole, turn.settings)),
        Object::ReplicaSet(r) => errors.append(workload::replica_set(r, &whole, turn.settings)),
        Object::Pod(p) => errors.append(pod::new_pod(p, &whole)),
        Object::Service(s) => errors.append(service::service(s, &whole, None)),
        _ => {
            match object.kind().own_name() {
                "Job" => errors.append(job::check_new(&whole)),
                "Event" if is_newer(turn) => errors.append(event::check_newer(&whole)),
                _ => errors.append(core::object(object, &whole)),
            }
            if is_first_autoscaler(turn) {
                autoscaler::as_first_version(&mut errors);
            }
            match object.kind().own_name() {
                "ResourceClaim" => device_claim::admin(&mut errors, turn, &whole["spec"], object),
                "ResourceClaimTemplate" => {
                    device_claim::admin(&mut errors, turn, &whole["spec"]["spec"], object);
                }
                "CronJob" => cron_job::check_name(&mut errors, &object.meta().name),
                "Ingress" => ingress::check_annotation(&mut errors, &whole),
                _ => {}
            }
        }
    }
    answer(object, errors)
}

/// Checks only what a loop adds to a template that was checked before, labels with a name in them may be too long; and
/// what is demanded of a pod, but not of its template.
pub(crate) fn new_labels(object: &Object) -> Result<(), Status> {
    let mut errors = Errors::new();
    meta::labels(&mut errors, &object.meta().labels, "metadata.labels");
    if let Object::Pod(pod) = object {
        pod_update::images(&mut errors, &pod.spec.containers, "containers");
        pod_update::images(&mut errors, &pod.spec.init_containers, "initContainers");
    }
    answer(object, errors)
}

/// Checks only that a loop did not give a replica set another selector.
pub(crate) fn kept_selector(turn: &Turn<'_>, new: &Object, old: &Object) -> Result<(), Status> {
    let mut errors = Errors::new();
    if let (Object::ReplicaSet(new), Object::ReplicaSet(old)) = (new, old) {
        let selectors = (new.spec.selector.as_ref(), old.spec.selector.as_ref());
        workload::same_selector(&mut errors, selectors.0, selectors.1, turn.settings);
    }
    answer(new, errors)
}

/// Checks the new state of an object of a kind that somebody defined, or only of its status.
pub(crate) fn defined_object(
    spoken: &Spoken,
    new: &Object,
    old: &Object,
    only_status: bool,
) -> Result<(), Status> {
    let mut errors = meta::changed_meta(new.kind(), new.meta(), old.meta());
    if let (Object::Custom(new), Object::Custom(old)) = (new, old) {
        errors.append(defined::check(spoken, new, Some(old), only_status));
    }
    answer(new, errors)
}

/// Whether an event is written as events.k8s.io has them, which asks for more.
fn is_newer(turn: &Turn<'_>) -> bool {
    turn.version.is_some_and(|version| version.is_newer_event())
}

/// Whether an autoscaler is written in its first version, which declares some of its checks.
fn is_first_autoscaler(turn: &Turn<'_>) -> bool {
    turn.version.is_some_and(|v| v.name() == "HorizontalPodAutoscaler" && v.api_version() == "autoscaling/v1")
}

/// Checks the new status of an object, if a person's client wrote it.
pub(crate) fn changed_status(
    turn: &Turn<'_>,
    new: &Object,
    old: &Object,
    part: Subresource,
) -> Result<(), Status> {
    if turn.manager.is_none() {
        return Ok(());
    }
    let mut errors = meta::changed_meta(new.kind(), new.meta(), old.meta());
    errors.append(status::object(new, old, part));
    answer(new, errors)
}

/// Checks the new state of an object.
pub(crate) fn changed_object(turn: &Turn<'_>, new: &Object, old: &Object) -> Result<(), Status> {
    if let Some(spoken) = &turn.spoken {
        return defined_object(spoken, new, old, false);
    }
    let mut errors = meta::changed_meta(new.kind(), new.meta(), old.meta());
    let whole = new.to_value();
    match (new, old) {
        (Object::Deployment(new), Object::Deployment(old)) => {
            errors.append(workload::deployment(new, &whole, turn.settings));
            let selectors = (new.spec.selector.as_ref(), old.spec.selector.as_ref());
            workload::same_selector(&mut errors, selectors.0, selectors.1, turn.settings);
        }
        (Object::ReplicaSet(new), Object::ReplicaSet(old)) => {
            errors.append(workload::replica_set(new, &whole, turn.settings));
            let selectors = (new.spec.selector.as_ref(), old.spec.selector.as_ref());
            workload::same_selector(&mut errors, selectors.0, selectors.1, turn.settings);
        }
        (Object::Pod(new), Object::Pod(old)) => errors.append(pod_update::changed_pod(new, old, &whole)),
        (Object::Service(new), Object::Service(old)) => {
            errors.append(service::service(new, &whole, Some(old)))
        }
        // What is for life is told first here.
        (Object::Secret(_), Object::Secret(_)) | (Object::ConfigMap(_), Object::ConfigMap(_)) => {
            errors.append(core::changed(new, old, &whole));
            errors.append(core::object(new, &whole));
        }
        (Object::Custom(new), Object::Custom(old)) => {
            errors.append(whole_kinds::new_state(new, old, &whole));
            if is_first_autoscaler(turn) {
                autoscaler::as_first_version(&mut errors);
            }
        }
        (Object::Event(_), _) if is_newer(turn) => {
            errors.append(event::changed_newer(&whole, &old.to_value()));
        }
        _ => {
            errors.append(core::object(new, &whole));
            errors.append(core::changed(new, old, &whole));
        }
    }
    answer(new, errors)
}

fn answer(object: &Object, errors: Errors) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(object.kind(), &object.meta().name, errors.into_causes()))
}
