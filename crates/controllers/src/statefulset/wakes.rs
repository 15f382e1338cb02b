//! Which sets a change wakes. Upstream: stateful_set.go, the event handlers (v1.37).

use crate::{claim::matching_whole, whole};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{ObjectMeta, Pod, Resource, StatefulSet, Whole};
use std::time::Duration;

/// Every change of a set wakes it.
pub(super) fn stateful_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// Claims and revisions are read, but no change of them wakes anybody.
pub(super) fn nothing(_: &Change, _: &View) -> Vec<Wake> {
    Vec::new()
}

/// Upstream: resolveControllerRef.
fn owner(view: &View, pod: &ObjectMeta) -> Option<StatefulSet> {
    let reference = pod.controller().filter(|reference| reference.kind == StatefulSet::KIND.name())?;
    let set: StatefulSet = whole::get(view, &pod.namespace, &reference.name)?;
    (set.metadata.uid == reference.uid).then_some(set)
}

fn wake_owner(view: &View, pod: &Pod) -> Vec<Wake> {
    owner(view, &pod.metadata).map(|set| Wake::now(set.to_object().key())).into_iter().collect()
}

/// All that might want to adopt an orphan. Upstream: getStatefulSetsForPod.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    matching_whole::<StatefulSet>(view, pod, |set| set.spec.selector.as_ref())
}

/// Upstream: addPod, updatePod, deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), None) => wake_owner(view, old),
        (None, Some(new)) if new.metadata.controller().is_some() || new.metadata.is_terminating() => {
            wake_owner(view, new)
        }
        (None, Some(new)) => candidates(view, new),
        (Some(old), Some(new)) if old.metadata.resource_version == new.metadata.resource_version => {
            Vec::new()
        }
        (Some(old), Some(new)) => updated(view, old, new),
    }
}

fn updated(view: &View, old: &Pod, new: &Pod) -> Vec<Wake> {
    let relabelled = old.metadata.labels != new.metadata.labels;
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes = if moved { wake_owner(view, old) } else { Vec::new() };
    if new.metadata.controller().is_some() {
        let Some(set) = owner(view, &new.metadata) else { return wakes };
        let key = set.to_object().key();
        wakes.push(Wake::now(key.clone()));
        let min_ready = u64::try_from(set.spec.min_ready_seconds).unwrap_or(0);
        if min_ready > 0 && !old.is_ready() && new.is_ready() {
            // One second more, so that the time is surely over.
            wakes.push(Wake::after(key, Duration::from_secs(min_ready.saturating_add(1))));
        }
    } else if moved || relabelled {
        wakes.extend(candidates(view, new));
    }
    wakes
}
