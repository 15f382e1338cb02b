//! Recreate: all old pods are gone before the first new one comes. Upstream: recreate.go (v1.37).

use super::{
    new_set::new_and_old_synced,
    progress,
    scaling::scale_set,
    sets::{Set, active, actual, all},
    sync::clean_up,
};
use crate::stop::{Step, error};
use kubestep_control::{Cx, Done};
use kubestep_model::{Deployment, Pod, ReplicaSet};

/// One pass. Upstream: rolloutRecreate.
pub(super) fn rollout<'a>(cx: &mut Cx<'a>, d: &mut Deployment, list: &[&'a ReplicaSet]) -> Step<Done> {
    let (mut new, mut old) = new_and_old_synced(cx, d, list, false)?;
    let mut scaled = false;
    for set in active(&old) {
        scaled |= scale_set(cx, &set, 0, d, false)?.0;
    }
    if scaled || old_pods_running(cx, d, list, &old, new.as_ref()) {
        return progress::sync(cx, &all(&old, new.as_ref()), new.as_ref(), d);
    }
    if new.is_none() {
        (new, old) = new_and_old_synced(cx, d, list, true)?;
    }
    let Some(new) = new else { return Err(error("no new replica set".to_owned()).into()) };
    scale_set(cx, &new, d.replicas(), d, false)?;
    if progress::is_complete(d, &d.status) {
        clean_up(cx, d, &old)?;
    }
    progress::sync(cx, &all(&old, Some(&new)), Some(&new), d)
}

/// Whether an old ReplicaSet counts pods, or a pod of one has not ended. Upstream: oldPodsRunning.
fn old_pods_running(
    cx: &mut Cx<'_>,
    d: &Deployment,
    list: &[&ReplicaSet],
    old: &[Set<'_>],
    new: Option<&Set<'_>>,
) -> bool {
    let view = cx.view();
    let is_new = |set: &ReplicaSet| new.is_some_and(|new| new.metadata.uid == set.metadata.uid);
    let runs = |pod: &Pod| pod.metadata.namespace == d.metadata.namespace && !pod.is_terminal();
    let others = list.iter().filter(|set| !is_new(set));
    let left =
        actual(old) > 0 || others.into_iter().any(|set| view.owned_by::<Pod>(&set.metadata.uid).any(runs));
    if left {
        cx.because("deploy.wait-old-pods", vec![("who", d.metadata.name.to_string())]);
    }
    left
}
