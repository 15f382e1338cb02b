//! The ReplicaSets of one Deployment: which is new, which are old, how they are sorted and counted.
//! Upstream: util/deployment_util.go and pkg/controller/controller_utils.go (v1.37).

use crate::template::equal_ignore_hash;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Deployment, ReplicaSet};
use std::{borrow::Cow, cmp::Ordering};

/// A ReplicaSet as the cache has it, or as a write of this pass answered it.
pub(super) type Set<'a> = Cow<'a, ReplicaSet>;

/// Oldest first, then by name. Upstream: ReplicaSetsByCreationTimestamp.
pub(super) fn by_creation(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    let key = |s: &ReplicaSet| (s.metadata.creation_timestamp, s.metadata.name.clone());
    key(a).cmp(&key(b))
}

/// Largest first, then oldest first. Upstream: ReplicaSetsBySizeOlder.
pub(super) fn by_size_older(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    b.replicas().cmp(&a.replicas()).then_with(|| by_creation(a, b))
}

/// Largest first, then newest first. Upstream: ReplicaSetsBySizeNewer.
pub(super) fn by_size_newer(a: &ReplicaSet, b: &ReplicaSet) -> Ordering {
    b.replicas().cmp(&a.replicas()).then_with(|| by_creation(b, a))
}

/// The oldest ReplicaSet with the Deployment's template, and all others, oldest first.
/// Upstream: FindNewReplicaSet and FindOldReplicaSets.
pub(super) fn new_and_old<'a>(
    d: &Deployment,
    list: &[&'a ReplicaSet],
) -> (Option<&'a ReplicaSet>, Vec<Set<'a>>) {
    let mut sorted = list.to_vec();
    sorted.arrange_by(|a, b| by_creation(a, b));
    let new = sorted.iter().copied().find(|set| equal_ignore_hash(&set.spec.template, &d.spec.template));
    let is_new = |set: &ReplicaSet| new.is_some_and(|new| new.metadata.uid == set.metadata.uid);
    (new, sorted.into_iter().filter(|set| !is_new(set)).map(Cow::Borrowed).collect())
}

/// Old and new together.
pub(super) fn all<'a>(old: &[Set<'a>], new: Option<&Set<'a>>) -> Vec<Set<'a>> {
    old.iter().chain(new).cloned().collect()
}

/// Those that want pods. Upstream: FilterActiveReplicaSets.
pub(super) fn active<'a>(sets: &[Set<'a>]) -> Vec<Set<'a>> {
    sets.iter().filter(|set| set.replicas() > 0).cloned().collect()
}

/// The only one that wants pods; where none does, the new one or else the newest. None where several do.
/// Sorts `old` newest first, as upstream's does under the caller's hands. Upstream: FindActiveOrLatest.
pub fn find_active_or_latest<'a>(
    new: Option<&Cow<'a, ReplicaSet>>,
    old: &mut [Cow<'a, ReplicaSet>],
) -> Option<Cow<'a, ReplicaSet>> {
    old.arrange_by(|a, b| by_creation(b, a));
    let mut active = active(&all(old, new));
    match active.len() {
        0 => new.or(old.first()).cloned(),
        1 => active.pop(),
        _ => None,
    }
}

fn sum<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>, of: impl Fn(&ReplicaSet) -> i32) -> i32 {
    sets.into_iter().fold(0, |total, set| total.wrapping_add(of(set)))
}

/// Pods wanted. Upstream: GetReplicaCountForReplicaSets.
pub(super) fn wanted<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>) -> i32 {
    sum(sets, ReplicaSet::replicas)
}
/// Pods there. Upstream: GetActualReplicaCountForReplicaSets.
pub(super) fn actual<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>) -> i32 {
    sum(sets, |s| s.status.replicas)
}
/// Pods ready. Upstream: GetReadyReplicaCountForReplicaSets.
pub(super) fn ready<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>) -> i32 {
    sum(sets, |s| s.status.ready_replicas)
}
/// Pods available. Upstream: GetAvailableReplicaCountForReplicaSets.
pub(super) fn available<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>) -> i32 {
    sum(sets, |s| s.status.available_replicas)
}
/// Pods that are being deleted; None if a ReplicaSet that was looked at does not say.
/// Upstream: GetTerminatingReplicaCountForReplicaSets.
pub(super) fn terminating<'s>(sets: impl IntoIterator<Item = &'s Set<'s>>) -> Option<i32> {
    let mut total = 0i32;
    for set in sets {
        match set.status.terminating_replicas {
            Some(n) => total = total.wrapping_add(n),
            None if set.status.observed_generation == 0 => {}
            None => return None,
        }
    }
    Some(total)
}

/// Whether the new ReplicaSet has all pods that are wanted, by its own and the Deployment's word, and all are
/// available. Upstream: IsSaturated.
pub(super) fn is_saturated(d: &Deployment, set: Option<&Set<'_>>) -> bool {
    let Some(set) = set else { return false };
    let desired =
        set.metadata.annotations.get(super::history::DESIRED_REPLICAS).and_then(|t| t.parse::<i64>().ok());
    set.replicas() == d.replicas()
        && desired == Some(i64::from(d.replicas()))
        && set.status.available_replicas == d.replicas()
}
