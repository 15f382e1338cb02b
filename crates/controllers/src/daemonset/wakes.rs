//! Which sets a change wakes. Upstream: daemon_controller.go, the event handlers (v1.37).

use super::fit::should_run;
use crate::{
    claim::matching_whole,
    pod_wakes::{Leaving, PodWakes},
    whole,
};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{DaemonSet, Key, Node, ObjectMeta, Pod, Resource, Whole};

/// Every change of a set wakes it.
pub(super) fn daemon_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// Revisions are read, but no change of them wakes anybody.
pub(super) fn nothing(_: &Change, _: &View) -> Vec<Wake> {
    Vec::new()
}

fn owner(view: &View, pod: &ObjectMeta) -> Option<(Key, i32)> {
    let set: DaemonSet = whole::controller_of(view, pod)?;
    Some((whole::key(&set), set.spec.min_ready_seconds))
}

fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    matching_whole::<DaemonSet>(view, pod, |set| set.spec.selector.as_ref())
}

/// Upstream: addPod, updatePod, deletePod. One second more than wanted, so that the time is surely over.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    PodWakes { owner, candidates, margin: 1, leaving: Leaving::Owner }.of(change, view)
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
    all.filter(|set| on(set, old) != on(set, new)).map(|set| Wake::now(whole::key(&set))).collect()
}
