//! Which ReplicaSets a change wakes. Upstream: replica_set.go, the event handlers (v1.37).

use crate::claim::matching;
use kubestep_control::{Change, View, Wake};
use kubestep_model::{ObjectMeta, OwnerReference, Pod, ReplicaSet, Resource};
use std::time::Duration;

/// Every change of a ReplicaSet wakes it.
pub(super) fn replica_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The ReplicaSet that a reference names, if the cache has the very same. Upstream: resolveControllerRef.
fn resolve<'v>(view: &'v View, namespace: &str, reference: &OwnerReference) -> Option<&'v ReplicaSet> {
    let found = view.get::<ReplicaSet>(namespace, &reference.name).filter(|_| reference.kind == "ReplicaSet");
    found.filter(|set| set.metadata.uid == reference.uid)
}

fn owner<'v>(view: &'v View, pod: &ObjectMeta) -> Option<&'v ReplicaSet> {
    pod.controller().and_then(|reference| resolve(view, &pod.namespace, reference))
}

fn wake_owner(view: &View, pod: &Pod) -> Vec<Wake> {
    owner(view, &pod.metadata).map(|set| Wake::now(set.key())).into_iter().collect()
}

/// All that might want to adopt an orphan. Upstream: getPodReplicaSets.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    let all = view.list::<ReplicaSet>(Some(&pod.metadata.namespace));
    let found = matching(all, |set| set.spec.selector.as_ref(), &pod.metadata.labels);
    found.into_iter().map(|set| Wake::now(set.key())).collect()
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
    if new.metadata.is_terminating() {
        // Asked to go: the replacement need not wait until it is gone.
        let mut wakes = wake_owner(view, new);
        if relabelled {
            wakes.extend(wake_owner(view, old));
        }
        return wakes;
    }
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes = if moved { wake_owner(view, old) } else { Vec::new() };
    if new.metadata.controller().is_some() {
        let Some(set) = owner(view, &new.metadata) else { return wakes };
        wakes.push(Wake::now(set.key()));
        if let Ok(seconds @ 1..) = u64::try_from(set.spec.min_ready_seconds) {
            if !old.is_ready() && new.is_ready() {
                wakes.push(Wake::after(set.key(), Duration::from_secs(seconds)));
            }
        }
    } else if moved || relabelled {
        wakes.extend(candidates(view, new));
    }
    wakes
}
