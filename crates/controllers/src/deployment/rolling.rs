//! RollingUpdate: new pods come while old ones go, within surge and unavailable. Upstream: rolling.go (v1.37).

use super::{
    arithmetic::{max_replicas, max_unavailable, new_set_replicas},
    new_set::new_and_old_synced,
    progress,
    scaling::scale_set,
    sets::{Set, active, all, available, by_creation, wanted},
    sync::clean_up,
};
use crate::stop::{Step, Stop, error};
use kubestep_control::{Cx, Done};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Deployment, ReplicaSet, Status};

/// One pass: scales the new ReplicaSet up or the old ones down, never both. Upstream: rolloutRolling.
pub(super) fn rollout<'a>(cx: &mut Cx<'a>, d: &mut Deployment, list: &[&'a ReplicaSet]) -> Step<Done> {
    let (new, old) = new_and_old_synced(cx, d, list, true)?;
    // A ReplicaSet is found or created here, or the phase has failed.
    let Some(new) = new else { return Err(error("no new replica set".to_owned()).into()) };
    let sets = all(&old, Some(&new));
    let scaled = reconcile_new(cx, d, &sets, &new)? || reconcile_old(cx, d, &sets, active(&old), &new)?;
    if !scaled && progress::is_complete(d, &d.status) {
        clean_up(cx, d, &old)?;
    }
    progress::sync(cx, &sets, Some(&new), d)
}

/// Scales the new ReplicaSet towards the wanted size. Upstream: reconcileNewReplicaSet.
fn reconcile_new<'a>(cx: &mut Cx<'a>, d: &Deployment, sets: &[Set<'a>], new: &Set<'a>) -> Step<bool> {
    let (have, want) = (new.replicas(), d.replicas());
    let size = if have >= want { want } else { new_set_replicas(d, wanted(sets), have)? };
    if size == have && have < want {
        let about = [("who", d.metadata.name.to_string()), ("set", new.metadata.name.to_string())];
        let numbers = [("total", wanted(sets).to_string()), ("most", max_replicas(d).to_string())];
        cx.because("deploy.surge-full", about.into_iter().chain(numbers).collect());
    }
    Ok(scale_set(cx, new, size, d, false)?.0)
}

/// Scales the old ReplicaSets down as far as enough pods stay available. Upstream: reconcileOldReplicaSets, which
/// takes a failure here for "nothing scaled" and goes on to the status.
fn reconcile_old<'a>(
    cx: &mut Cx<'a>,
    d: &Deployment,
    sets: &[Set<'a>],
    old: Vec<Set<'a>>,
    new: &Set<'a>,
) -> Step<bool> {
    if wanted(&old) == 0 {
        return Ok(false);
    }
    let min_available = d.replicas().wrapping_sub(max_unavailable(d));
    let new_unavailable = new.replicas().wrapping_sub(new.status.available_replicas);
    let most = wanted(sets).wrapping_sub(min_available).wrapping_sub(new_unavailable);
    if most <= 0 {
        keep(cx, d, available(sets), min_available);
        return Ok(false);
    }
    let cleaned = match clean_unhealthy(cx, d, old, most) {
        Ok(cleaned) => cleaned,
        Err(Stop::Failed(status)) => return Ok(swallowed(cx, d, &status.message)),
        Err(halt) => return Err(halt),
    };
    match scale_down_available(cx, d, cleaned.0, new, min_available) {
        Ok(count) => Ok(cleaned.1.wrapping_add(count) > 0),
        Err(Stop::Failed(status)) => Ok(swallowed(cx, d, &status.message)),
        Err(halt) => Err(halt),
    }
}

fn keep(cx: &mut Cx<'_>, d: &Deployment, have: i32, min: i32) {
    let numbers = [("have", have.to_string()), ("min", min.to_string())];
    cx.because(
        "deploy.keep-available",
        [("who", d.metadata.name.to_string())].into_iter().chain(numbers).collect(),
    );
}

fn swallowed(cx: &mut Cx<'_>, d: &Deployment, why: &str) -> bool {
    cx.because(
        "deploy.scale-down-failed",
        vec![("who", d.metadata.name.to_string()), ("why", why.to_owned())],
    );
    false
}

fn no_scale_down(when: &str, set: &ReplicaSet, size: i32) -> Status {
    let (meta, have) = (&set.metadata, set.replicas());
    error(format!(
        "when {when}, got invalid request to scale down {}/{} {have} -> {size}",
        meta.namespace, meta.name
    ))
}

/// Removes pods of old ReplicaSets that are not available, oldest ReplicaSet first: nobody misses them. Answers
/// the ReplicaSets as they are then and how many pods go. Upstream: cleanupUnhealthyReplicas.
fn clean_unhealthy<'a>(
    cx: &mut Cx<'a>,
    d: &Deployment,
    mut old: Vec<Set<'a>>,
    most: i32,
) -> Step<(Vec<Set<'a>>, i32)> {
    old.arrange_by(|a, b| by_creation(a, b));
    let mut total = 0i32;
    for set in &mut old {
        if total >= most {
            break;
        }
        let (size, available) = (set.replicas(), set.status.available_replicas);
        if size == 0 || size == available {
            continue;
        }
        let fewer = most.wrapping_sub(total).min(size.wrapping_sub(available));
        let next = size.wrapping_sub(fewer);
        if next > size {
            return Err(no_scale_down("cleaning up unhealthy replicas", set, next).into());
        }
        let about = [("who", d.metadata.name.to_string()), ("set", set.metadata.name.to_string())];
        cx.because(
            "deploy.clean-unhealthy",
            about.into_iter().chain([("count", fewer.to_string())]).collect(),
        );
        *set = scale_set(cx, set, next, d, false)?.1;
        total = total.wrapping_add(fewer);
    }
    Ok((old, total))
}

/// Scales old ReplicaSets down by as many pods as are available beyond the minimum, oldest first.
/// Upstream: scaleDownOldReplicaSetsForRollingUpdate.
fn scale_down_available<'a>(
    cx: &mut Cx<'a>,
    d: &Deployment,
    mut old: Vec<Set<'a>>,
    new: &Set<'a>,
    min_available: i32,
) -> Step<i32> {
    let available = available(&all(&old, Some(new)));
    if available <= min_available {
        keep(cx, d, available, min_available);
        return Ok(0);
    }
    old.arrange_by(|a, b| by_creation(a, b));
    let spare = available.wrapping_sub(min_available);
    let mut total = 0i32;
    for set in &old {
        if total >= spare {
            break;
        }
        let size = set.replicas();
        if size == 0 {
            continue;
        }
        let fewer = size.min(spare.wrapping_sub(total));
        let next = size.wrapping_sub(fewer);
        if next > size {
            return Err(no_scale_down("scaling down old RS", set, next).into());
        }
        scale_set(cx, set, next, d, false)?;
        total = total.wrapping_add(fewer);
    }
    Ok(total)
}
