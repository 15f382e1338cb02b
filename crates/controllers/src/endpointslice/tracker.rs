//! Which slices the controller has written itself, so that it need not look at them again.
//! Upstream: staging/src/k8s.io/endpointslice/util, EndpointSliceTracker (v1.37).

use super::{MANAGED_BY, MANAGER, SERVICE_NAME, trigger::forget_under};
use kubestep_control::{Change, Cx, Memory};
use kubestep_model::{EndpointSlice, Resource, Service};
use std::collections::BTreeSet;

/// Stands for the generation of a slice that was asked to go. Upstream: deletionExpected.
const GOING: i64 = -1;

fn place(namespace: &str, service: &str) -> String {
    format!("slices/{namespace}/{service}/")
}

/// Whether the controller knows of this change: it wrote this generation or a later one, or asked the slice to go.
/// Upstream: ShouldSync, HandleDeletion.
pub(super) fn expected(change: &Change, memory: &Memory) -> bool {
    let (old, new) =
        (change.old.as_ref().and_then(EndpointSlice::of), change.new.as_ref().and_then(EndpointSlice::of));
    let Some(slice) = new.or(old) else { return false };
    let labels = &slice.metadata.labels;
    let moved = |key: &str| old.is_some_and(|old| old.metadata.labels.get(key) != labels.get(key));
    if moved(SERVICE_NAME) || moved(MANAGED_BY) || labels.get(MANAGED_BY).is_none_or(|by| by != MANAGER) {
        return false;
    }
    let Some(service) = labels.get(SERVICE_NAME) else { return false };
    let name = format!("{}{}", place(&slice.metadata.namespace, service), slice.metadata.uid);
    let Some(known) = memory.get(&*name).and_then(|value| value.as_i64()) else { return false };
    if new.is_some() { slice.metadata.generation <= known } else { known == GOING }
}

/// Remembers the generation that was written. Upstream: Update.
pub(super) fn wrote(cx: &mut Cx<'_>, service: &Service, slice: &EndpointSlice) {
    remember(cx, service, slice, slice.metadata.generation);
}

/// Remembers that a slice was asked to go. Upstream: ExpectDeletion.
pub(super) fn asked_to_go(cx: &mut Cx<'_>, service: &Service, slice: &EndpointSlice) {
    remember(cx, service, slice, GOING);
}

fn remember(cx: &mut Cx<'_>, service: &Service, slice: &EndpointSlice, generation: i64) {
    let name =
        format!("{}{}", place(&service.metadata.namespace, &service.metadata.name), slice.metadata.uid);
    cx.remember(&name, Some(generation.into()));
}

/// Forgets slices that are no longer there.
pub(super) fn prune(cx: &mut Cx<'_>, service: &Service) {
    let place = place(&service.metadata.namespace, &service.metadata.name);
    if cx.recall_under(&place).next().is_none() {
        return;
    }
    let slices = cx.list::<EndpointSlice>(Some(&service.metadata.namespace));
    let there: BTreeSet<&str> = slices.map(|slice| &*slice.metadata.uid).collect();
    let gone: Vec<String> = cx
        .recall_under(&place)
        .filter(|(uid, _)| !there.contains(uid))
        .map(|(uid, _)| format!("{place}{uid}"))
        .collect();
    gone.iter().for_each(|name| cx.remember(name, None));
}

/// Forgets all slices of a service. Upstream: DeleteService.
pub(super) fn forget(cx: &mut Cx<'_>, namespace: &str, service: &str) {
    forget_under(cx, &place(namespace, service));
}
