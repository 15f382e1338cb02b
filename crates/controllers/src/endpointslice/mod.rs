//! EndpointSlices: keeps the addresses of the pods behind each service.
//!
//! Upstream: pkg/controller/endpointslice and staging/src/k8s.io/endpointslice (v1.37). That a
//! pass waits for its own writes is the runtime's read-your-writes here. Left out: hints by the annotation of topology, metrics.

mod desired;
mod hints;
pub(crate) mod members;
mod places;
mod plan;
mod tracker;
pub(crate) mod trigger;

pub(crate) use desired::{is_target, target};
pub(crate) use places::begins;

use crate::{
    sentences::Sentence,
    stop::{aggregate, error, namespace_terminating},
};
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, Memory, View, Wake, Watch};
use kubestep_model::{DeleteOptions, EndpointSlice, Key, Kind, Object, Resource, Service, Status, Time};
use members::{has_endpoints, pod_wakes, selected, service_key, service_wakes};
use plan::{Plan, plan};
use std::time::Duration;

/// The endpoint slice controller.
#[derive(Debug)]
pub struct EndpointSliceController;

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const HEADLESS: &str = "service.kubernetes.io/headless";
const MANAGER: &str = "endpointslice-controller.k8s.io";
/// How long a slice that somebody else changed waits. Upstream: endpointSliceChangeMinSyncDelay.
const FOREIGN_CHANGE_DELAY: Duration = Duration::from_secs(1);

/// Labels of a slice that do not come from its service.
fn is_reserved(label: &str) -> bool {
    [SERVICE_NAME, MANAGED_BY, HEADLESS].contains(&label)
}

static WATCHES: [Watch; 4] = [
    Watch { kind: Kind::Service, wakes: service_wakes },
    Watch { kind: Kind::Pod, wakes: pod_wakes },
    Watch { kind: Kind::EndpointSlice, wakes: slice_wakes },
    Watch { kind: Kind::Node, wakes: |_, _| vec![] },
];

/// Every managed slice wakes its service; of the controller's own writes the tracker says that they need not.
/// Upstream: onEndpointSliceAdd, onEndpointSliceUpdate, onEndpointSliceDelete.
fn slice_wakes(change: &Change, _: &View) -> Vec<Wake> {
    let slices = [&change.old, &change.new].into_iter().flatten().filter_map(EndpointSlice::of);
    let managed =
        slices.filter(|slice| slice.metadata.labels.get(MANAGED_BY).is_some_and(|by| by == MANAGER));
    let mut keys: Vec<Key> = managed
        .filter_map(|slice| {
            Some(service_key(&slice.metadata.namespace, slice.metadata.labels.get(SERVICE_NAME)?))
        })
        .collect();
    keys.dedup();
    keys.into_iter().map(|key| Wake::after(key, FOREIGN_CHANGE_DELAY)).collect()
}

impl Controller for EndpointSliceController {
    fn name(&self) -> &'static str {
        "endpointslice"
    }
    fn actor(&self) -> &'static str {
        "endpointslice-controller"
    }
    fn event_source(&self) -> &'static str {
        "endpoint-slice-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::EndpointSlice]
    }
    fn expected(&self, change: &Change, memory: &Memory) -> bool {
        change.key.kind == Kind::EndpointSlice && tracker::expected(change, memory)
    }
    fn max_retries(&self) -> Option<u32> {
        Some(15)
    }
    fn backoff(&self) -> (Duration, Duration) {
        (Duration::from_secs(1), Duration::from_secs(1000))
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(service) = cx.get::<Service>(&key.namespace, &key.name) else {
            cx.because("endpointslice.gone", vec![("who", key.name.to_string())]);
            trigger::forget(cx, &key.namespace, &key.name);
            tracker::forget(cx, &key.namespace, &key.name);
            return Ok(Done::Settled);
        };
        if !has_endpoints(service) {
            cx.because("endpointslice.no-selector", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        }
        let found = cx.once(|view| {
            let pods = selected(view, service);
            (trigger::look(cx, service, &pods), plan(view, service, &pods))
        });
        let (trigger, plan) = &*found;
        trigger::keep(cx, trigger);
        tracker::prune(cx, service);
        if plan.is_settled() {
            cx.because("endpointslice.unchanged", vec![("who", key.name.to_string())]);
        }
        let lost = plan.lost.iter().map(|(pod, node)| {
            let (namespace, name) = (&key.namespace, &key.name);
            error(format!("skipping Pod {pod} for Service {namespace}/{name}: Node {node} Not Found"))
        });
        let mut errors: Vec<Status> = lost.collect();
        errors.extend(write(cx, service, plan, trigger.time)?.err());
        let Some(status) = aggregate(errors) else { return Ok(Done::Settled) };
        let about = format!("Service {}/{}: {}", key.namespace, key.name, status.message);
        let about = format!("Error updating Endpoint Slices for {about}");
        cx.event(&Object::from(service.clone()), "Warning", "FailedToUpdateEndpointSlices", about);
        Err(cx.fail(status))
    }
}

fn note(cx: &mut Cx<'_>, code: &'static str, service: &Service, slice: &EndpointSlice) {
    let ready = slice.endpoints.iter().filter(|e| e.conditions.ready == Some(true)).count();
    let name =
        if slice.metadata.name.is_empty() { &*slice.metadata.generate_name } else { &*slice.metadata.name };
    cx.because(
        code,
        vec![
            ("who", service.metadata.name.to_string()),
            ("slice", name.to_owned()),
            ("all", slice.endpoints.len().to_string()),
            ("ready", ready.to_string()),
        ],
    );
}

/// Creates, updates and deletes slices; the first refusal ends it. Upstream: finalize.
fn write(
    cx: &mut Cx<'_>,
    service: &Service,
    plan: &Plan,
    time: Option<Time>,
) -> Result<Result<(), Status>, Halt> {
    let of = format!("EndpointSlice for Service {}/{}", service.metadata.namespace, service.metadata.name);
    // While the service is going away, new slices would only have to be collected again.
    let create = if service.metadata.is_terminating() { &[] } else { plan.create.as_slice() };
    for slice in create {
        let mut slice = slice.clone();
        trigger::annotate(&mut slice.metadata.annotations, time);
        note(cx, "endpointslice.create", service, &slice);
        match cx.try_create(slice)? {
            Ok(slice) => tracker::wrote(cx, service, &slice),
            Err(status) if namespace_terminating(&status) => return Ok(Ok(())),
            Err(status) => return Ok(Err(error(format!("failed to create {of}: {}", status.message)))),
        }
    }
    for slice in &plan.update {
        let mut slice = slice.clone();
        trigger::annotate(&mut slice.metadata.annotations, time);
        note(cx, "endpointslice.update", service, &slice);
        let name = slice.metadata.name.clone();
        match cx.try_replace(slice)? {
            Ok(slice) => tracker::wrote(cx, service, &slice),
            Err(status) => {
                return Ok(Err(error(format!("failed to update {name} {of}: {}", status.message))));
            }
        }
    }
    for slice in &plan.delete {
        note(cx, "endpointslice.delete", service, slice);
        let reply = cx.try_delete(slice.key(), DeleteOptions::default())?;
        if let Some(status) = reply.err().filter(|s| !s.is_not_found()) {
            let name = &slice.metadata.name;
            return Ok(Err(error(format!("failed to delete {name} {of}: {}", status.message))));
        }
        tracker::asked_to_go(cx, service, slice);
    }
    Ok(Ok(()))
}

/// What the notes say.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "endpointslice.create",
        text: "Service {who} gets a slice {slice} with {all} endpoints, {ready} of them ready.",
        upstream: "staging/src/k8s.io/endpointslice/reconciler.go, finalize",
    },
    Sentence {
        code: "endpointslice.delete",
        text: "Slice {slice} of service {who} is no longer needed.",
        upstream: "staging/src/k8s.io/endpointslice/reconciler.go, finalize",
    },
    Sentence {
        code: "endpointslice.gone",
        text: "Service {who} is no longer in the cache; its slices go with it.",
        upstream: "pkg/controller/endpointslice/endpointslice_controller.go, syncService",
    },
    Sentence {
        code: "endpointslice.no-selector",
        text: "Service {who} selects no pods; its endpoints are somebody else's business.",
        upstream: "pkg/controller/endpointslice/endpointslice_controller.go, syncService",
    },
    Sentence {
        code: "endpointslice.unchanged",
        text: "The slices of service {who} are as they should be.",
        upstream: "staging/src/k8s.io/endpointslice/reconciler.go, Reconcile",
    },
    Sentence {
        code: "endpointslice.update",
        text: "Slice {slice} of service {who} now has {all} endpoints, {ready} of them ready.",
        upstream: "staging/src/k8s.io/endpointslice/reconciler.go, finalize",
    },
];

#[cfg(test)]
mod tests;
