//! Which sets a change wakes. Upstream: stateful_set.go, the event handlers (v1.37).

use crate::{
    claim::matching_whole,
    pod_wakes::{Leaving, PodWakes},
    whole,
};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{Key, ObjectMeta, Pod, StatefulSet};

/// Every change of a set wakes it.
pub(super) fn stateful_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// Claims and revisions are read, but no change of them wakes anybody.
pub(super) fn nothing(_: &Change, _: &View) -> Vec<Wake> {
    Vec::new()
}

fn owner(view: &View, pod: &ObjectMeta) -> Option<(Key, i32)> {
    let set: StatefulSet = whole::controller_of(view, pod)?;
    Some((whole::key(&set), set.spec.min_ready_seconds))
}

/// All that might want to adopt an orphan. Upstream: getStatefulSetsForPod.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    matching_whole::<StatefulSet>(view, pod, |set| set.spec.selector.as_ref())
}

/// Upstream: addPod, updatePod, deletePod. One second more than wanted, so that the time is surely over.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    PodWakes { owner, candidates, margin: 1, leaving: Leaving::LikeAny }.of(change, view)
}
