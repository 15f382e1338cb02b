//! Which pods go first when there are too many.
//! Upstream: pkg/controller/controller_utils.go, ActivePodsWithRanks (v1.37).

use crate::{
    order::sort_by_less,
    pods::{deletion_cost, ready_since},
};
use kubestep_control::View;
use kubestep_model::{Instant, Pod, ReplicaSet, Time, text::Selector};
use std::{collections::BTreeMap, collections::BTreeSet, sync::Arc};

/// A pod and how many active pods of related ReplicaSets run on its node.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Ranked<'a> {
    pub pod: &'a Pod,
    pub rank: i64,
}

/// The pods to delete. Without a choice (all of them) nothing is sorted. Upstream: getPodsToDelete.
pub(super) fn choose<'a>(
    view: &View,
    now: Instant,
    set: &ReplicaSet,
    active: &[&'a Pod],
    number: usize,
) -> Vec<&'a Pod> {
    if number >= active.len() {
        return active.to_vec();
    }
    let on_node = related_pods_on_node(view, set);
    let rank = |pod: &Pod| on_node.get(&pod.spec.node_name).copied().unwrap_or(0);
    let mut ranked: Vec<Ranked<'a>> = active.iter().map(|&pod| Ranked { pod, rank: rank(pod) }).collect();
    sort_for_deletion(&mut ranked, now);
    ranked.into_iter().take(number).map(|ranked| ranked.pod).collect()
}

/// Active pods on each node that a ReplicaSet of the same owner selects. Upstream: getIndirectlyRelatedPods and
/// getPodsRankedByRelatedPodsOnSameNode. A ReplicaSet without an owner has no related ones, not even itself.
fn related_pods_on_node(view: &View, set: &ReplicaSet) -> BTreeMap<Arc<str>, i64> {
    let (mut counts, mut seen) = (BTreeMap::new(), BTreeSet::new());
    let Some(owner) = set.metadata.controller() else { return counts };
    for related in view.owned_by::<ReplicaSet>(&owner.uid) {
        let selector = match related.spec.selector.as_ref().map(|s| s.to_selector()) {
            None => Selector::nothing(),
            Some(Ok(selector)) => selector,
            Some(Err(_)) => continue,
        };
        for pod in view.list::<Pod>(Some(&related.metadata.namespace)) {
            if selector.matches(&pod.metadata.labels)
                && seen.insert(pod.metadata.uid.clone())
                && pod.is_active()
            {
                *counts.entry(pod.spec.node_name.clone()).or_insert(0) += 1;
            }
        }
    }
    counts
}

/// Puts the pods that are deleted first to the front.
pub fn sort_for_deletion(pods: &mut Vec<Ranked<'_>>, now: Instant) {
    sort_by_less(pods, |a, b| goes_before(a, b, now));
}

fn phase_rank(pod: &Pod) -> u8 {
    match pod.status.phase.as_str() {
        "Unknown" => 1,
        "Running" => 2,
        _ => 0,
    }
}

/// Unassigned, then pending, then not ready, then the cheaper to lose, then the doubled up, then the shortest
/// ready, then those that restarted more, then the youngest.
fn goes_before(a: &Ranked<'_>, b: &Ranked<'_>, now: Instant) -> bool {
    let (x, y) = (a.pod, b.pod);
    let unassigned = (x.spec.node_name.is_empty(), y.spec.node_name.is_empty());
    if unassigned.0 != unassigned.1 {
        return unassigned.0;
    }
    let phases = (phase_rank(x), phase_rank(y));
    if phases.0 != phases.1 {
        return phases.0 < phases.1;
    }
    let ready = (x.is_ready(), y.is_ready());
    if ready.0 != ready.1 {
        return !ready.0;
    }
    let costs = (deletion_cost(&x.metadata.annotations), deletion_cost(&y.metadata.annotations));
    if costs.0 != costs.1 {
        return costs.0 < costs.1;
    }
    if a.rank != b.rank {
        return a.rank > b.rank;
    }
    let ready_times = (ready_since(x), ready_since(y));
    if let Some(younger) = younger(ready_times, (x, y), now).filter(|_| ready == (true, true)) {
        return younger;
    }
    let restarts = (max_restarts(x), max_restarts(y));
    if restarts.0 != restarts.1 {
        return restarts.0 > restarts.1;
    }
    younger((x.metadata.creation_timestamp, y.metadata.creation_timestamp), (x, y), now).unwrap_or(false)
}

/// Whether the first time is the later one, by ages in powers of two; within one power the lesser uid counts.
/// A time that nobody wrote down is later than any. None for equal times.
fn younger(times: (Option<Time>, Option<Time>), pods: (&Pod, &Pod), now: Instant) -> Option<bool> {
    let (a, b) = match times {
        (a, b) if a == b => return None,
        (Some(a), Some(b)) => (age_bucket(a, now), age_bucket(b, now)),
        (a, _) => return Some(a.is_none()),
    };
    Some(if a == b { pods.0.metadata.uid < pods.1.metadata.uid } else { a < b })
}

/// The whole part of log2 of an age in nanoseconds; -1 for none. Upstream: logarithmicRankDiff.
fn age_bucket(time: Time, now: Instant) -> i64 {
    let age = now.nanos_since(time.instant());
    if age > 0 { i64::from(age.ilog2()) } else { -1 }
}

/// The most restarts of one container, then of one sidecar. Upstream: maxContainerRestarts.
fn max_restarts(pod: &Pod) -> (i32, i32) {
    let containers = pod.status.container_statuses.iter().map(|c| c.restart_count).max();
    let is_sidecar = |name: &str| {
        pod.spec
            .init_containers
            .iter()
            .any(|c| c.name == name && c.restart_policy.as_deref() == Some("Always"))
    };
    let sidecars = pod.status.init_container_statuses.iter().filter(|c| is_sidecar(&c.name));
    (containers.unwrap_or(0).max(0), sidecars.map(|c| c.restart_count).max().unwrap_or(0).max(0))
}
