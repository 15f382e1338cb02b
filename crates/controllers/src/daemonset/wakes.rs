//! Which sets a change wakes. Upstream: daemon_controller.go, the event handlers (v1.37).

use super::fit::should_run;
use crate::{claim::matching_whole, whole};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{DaemonSet, Node, ObjectMeta, Pod, Resource, Whole};
use std::time::Duration;

/// Every change of a set wakes it.
pub(super) fn daemon_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// Revisions are read, but no change of them wakes anybody.
pub(super) fn nothing(_: &Change, _: &View) -> Vec<Wake> {
    Vec::new()
}

/// Upstream: resolveControllerRef.
fn owner(view: &View, pod: &ObjectMeta) -> Option<DaemonSet> {
    let reference = pod.controller().filter(|reference| reference.kind == DaemonSet::KIND.name())?;
    let set: DaemonSet = whole::get(view, &pod.namespace, &reference.name)?;
    (set.metadata.uid == reference.uid).then_some(set)
}

fn wake(set: &DaemonSet) -> Wake {
    Wake::now(set.to_object().key())
}

fn wake_owner(view: &View, pod: &Pod) -> Vec<Wake> {
    owner(view, &pod.metadata).iter().map(wake).collect()
}

fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    matching_whole::<DaemonSet>(view, pod, |set| set.spec.selector.as_ref())
}

/// Upstream: addPod, updatePod, deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), None) => wake_owner(view, old),
        (Some(old), Some(new)) if old.metadata.resource_version == new.metadata.resource_version => {
            Vec::new()
        }
        (_, Some(new)) if new.metadata.is_terminating() => wake_owner(view, new),
        (None, Some(new)) if new.metadata.controller().is_some() => wake_owner(view, new),
        (None, Some(new)) => candidates(view, new),
        (Some(old), Some(new)) => updated(view, old, new),
    }
}

fn updated(view: &View, old: &Pod, new: &Pod) -> Vec<Wake> {
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes = if moved { wake_owner(view, old) } else { Vec::new() };
    if new.metadata.controller().is_some() {
        let Some(set) = owner(view, &new.metadata) else { return wakes };
        wakes.push(wake(&set));
        let min_ready = u64::try_from(set.spec.min_ready_seconds).unwrap_or(0);
        if min_ready > 0 && !old.is_ready() && new.is_ready() {
            // One second more, so that the time is surely over.
            let after = Duration::from_secs(min_ready.saturating_add(1));
            wakes.push(Wake::after(set.to_object().key(), after));
        }
    } else if moved || old.metadata.labels != new.metadata.labels {
        wakes.extend(candidates(view, new));
    }
    wakes
}

/// Sets for which the node changes something. Upstream: addNode, updateNode, deleteNode.
pub(super) fn node(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Node::of), change.new.as_ref().and_then(Node::of));
    if let (Some(old), Some(new)) = (old, new)
        && old.metadata.labels == new.metadata.labels
        && old.spec.taints == new.spec.taints
        && old.metadata.name == new.metadata.name
    {
        return Vec::new();
    }
    let on = |set: &DaemonSet, node: Option<&Node>| node.map_or((false, false), |node| should_run(set, node));
    let all = view.objects_of(DaemonSet::KIND, None).filter_map(DaemonSet::read);
    all.filter(|set| on(set, old) != on(set, new)).map(|set| wake(&set)).collect()
}
