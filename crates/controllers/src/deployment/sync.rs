//! The passes that start no rollout: status only, scaling, paused; and the clean-up of history.
//! Upstream: sync.go (v1.37).

use super::{
    history::{DESIRED_REPLICAS, number_annotation, revision},
    new_set::new_and_old_synced,
    rollback, scaling,
    sets::{Set, active, all, by_creation},
    status,
};
use crate::{order::sort_by_less, stop::Step};
use kubestep_control::{Cx, Done};
use kubestep_model::{DeleteOptions, Deployment, ReplicaSet, Resource};

/// Counts, and changes nothing but the status. Upstream: syncStatusOnly.
pub(super) fn status_only<'a>(cx: &mut Cx<'a>, d: &mut Deployment, list: &[&'a ReplicaSet]) -> Step<Done> {
    let (new, old) = new_and_old_synced(cx, d, list, false)?;
    status::sync(cx, &all(&old, new.as_ref()), new.as_ref(), d)
}

/// A pass for a Deployment that was scaled or is paused. Upstream: sync.
pub(super) fn scale_and_status<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    list: &[&'a ReplicaSet],
) -> Step<Done> {
    let (new, mut old) = new_and_old_synced(cx, d, list, false)?;
    scaling::scale(cx, d, new.as_ref(), &mut old)?;
    if d.spec.paused && rollback::wanted(d).is_none() {
        clean_up(cx, d, &old)?;
    }
    status::sync(cx, &all(&old, new.as_ref()), new.as_ref(), d)
}

/// Whether a ReplicaSet with pods remembers another size of the Deployment. Upstream: isScalingEvent.
pub(super) fn is_scaling_event<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    list: &[&'a ReplicaSet],
) -> Step<bool> {
    let (new, old) = new_and_old_synced(cx, d, list, false)?;
    let other = |set: &Set<'_>| number_annotation(set, DESIRED_REPLICAS).filter(|n| *n != d.replicas());
    let Some(before) = active(&all(&old, new.as_ref())).iter().find_map(other) else { return Ok(false) };
    let numbers = [("have", before.to_string()), ("want", d.replicas().to_string())];
    cx.because("deploy.scaled", [("who", d.metadata.name.to_string())].into_iter().chain(numbers).collect());
    Ok(true)
}

/// Deletes the oldest empty ReplicaSets beyond the history limit. Upstream: cleanupDeployment.
pub(super) fn clean_up(cx: &mut Cx<'_>, d: &Deployment, old: &[Set<'_>]) -> Step<()> {
    let Some(limit) = d.spec.revision_history_limit.filter(|limit| *limit != i32::MAX) else { return Ok(()) };
    let mut alive: Vec<&Set<'_>> = old.iter().filter(|set| !set.metadata.is_terminating()).collect();
    let surplus = i64::try_from(alive.len()).unwrap_or(i64::MAX) - i64::from(limit);
    let surplus = usize::try_from(surplus).unwrap_or(0).min(alive.len());
    sort_by_less(&mut alive, |a, b| older_revision(a, b));
    for set in &alive[..surplus] {
        let (status, generation) = (&set.status, set.metadata.generation);
        if status.replicas != 0 || set.replicas() != 0 || generation > status.observed_generation {
            continue;
        }
        let about = [("who", d.metadata.name.to_string()), ("set", set.metadata.name.to_string())];
        cx.because("deploy.trim-history", about.into_iter().chain([("limit", limit.to_string())]).collect());
        match cx.try_delete(set.key(), DeleteOptions::default())? {
            Err(status) if !status.is_not_found() => return Err(status.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Upstream: ReplicaSetsByRevision, which goes by age where a revision is no number.
fn older_revision(a: &ReplicaSet, b: &ReplicaSet) -> bool {
    match (revision(a), revision(b)) {
        (Some(left), Some(right)) if left != right => left < right,
        _ => by_creation(a, b).is_lt(),
    }
}
