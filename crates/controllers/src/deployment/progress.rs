//! Is a rollout getting on, is it complete, has it taken too long?
//! Upstream: progress.go and util/deployment_util.go (v1.37).

use super::{
    conditions::{
        self, NEW_AVAILABLE, PAUSED, PROGRESSING, REPLICA_FAILURE, REPLICA_SET_UPDATED, RESUMED, TIMED_OUT,
        condition,
    },
    sets::Set,
    status,
};
use crate::stop::Step;
use kubestep_control::{Cx, Done};
use kubestep_model::{Deployment, DeploymentCondition, DeploymentStatus, Instant};
use std::time::Duration;

/// Whether somebody wants to hear that a rollout takes too long. Upstream: HasProgressDeadline.
pub(super) fn has_progress_deadline(d: &Deployment) -> bool {
    d.spec.progress_deadline_seconds.is_some_and(|seconds| seconds != i32::MAX)
}

fn deadline(d: &Deployment) -> Duration {
    Duration::from_secs(u64::try_from(d.spec.progress_deadline_seconds.unwrap_or(0)).unwrap_or(0))
}

/// Whether all wanted pods are of the new version and available, and no old ones are left.
/// Upstream: DeploymentComplete.
pub fn is_complete(d: &Deployment, status: &DeploymentStatus) -> bool {
    let want = d.replicas();
    status.updated_replicas == want
        && status.replicas == want
        && status.available_replicas == want
        && status.observed_generation >= d.metadata.generation
}

/// Whether the new status is better than the one before: more new, fewer old, more ready or available pods.
/// Upstream: DeploymentProgressing.
pub fn is_progressing(d: &Deployment, now: &DeploymentStatus) -> bool {
    let before = &d.status;
    let old = |s: &DeploymentStatus| s.replicas.wrapping_sub(s.updated_replicas);
    now.updated_replicas > before.updated_replicas
        || old(now) < old(before)
        || now.ready_replicas > before.ready_replicas
        || now.available_replicas > before.available_replicas
}

/// Whether the last sign of progress is older than the deadline. Upstream: DeploymentTimedOut.
pub fn timed_out(d: &Deployment, status: &DeploymentStatus, now: Instant) -> bool {
    let Some(current) = conditions::find(status, PROGRESSING).filter(|_| has_progress_deadline(d)) else {
        return false;
    };
    match current.reason.as_str() {
        NEW_AVAILABLE => false,
        TIMED_OUT => true,
        _ => current.last_update_time.unwrap_or_default().instant() + deadline(d) < now,
    }
}

/// Notes in the status that the Deployment was paused or resumed, so that time spent paused does not count.
/// Upstream: checkPausedConditions.
pub(super) fn check_paused(cx: &mut Cx<'_>, d: &mut Deployment) -> Step<()> {
    if !has_progress_deadline(d) {
        return Ok(());
    }
    let reason = conditions::find(&d.status, PROGRESSING).map(|c| c.reason.as_str());
    let noted = reason == Some(PAUSED);
    if reason == Some(TIMED_OUT) || d.spec.paused == noted {
        return Ok(());
    }
    let (code, reason, message) = if d.spec.paused {
        ("deploy.paused", PAUSED, "Deployment is paused")
    } else {
        ("deploy.resumed", RESUMED, "Deployment is resumed")
    };
    conditions::set(&mut d.status, condition(PROGRESSING, "Unknown", reason, message, cx.now()));
    cx.because(code, vec![("who", d.metadata.name.to_string())]);
    cx.try_set_status(d.clone())??;
    Ok(())
}

/// Writes the status of a rollout with its Progressing condition, or asks to look again at the deadline.
/// Upstream: syncRolloutStatus.
pub(super) fn sync(
    cx: &mut Cx<'_>,
    all: &[Set<'_>],
    new: Option<&Set<'_>>,
    d: &mut Deployment,
) -> Step<Done> {
    let mut fresh = status::calculate(all, new, d, cx.now());
    if !has_progress_deadline(d) {
        conditions::remove(&mut fresh, PROGRESSING);
    }
    let current = conditions::find(&d.status, PROGRESSING).cloned();
    let complete = fresh.replicas == fresh.updated_replicas
        && current.as_ref().is_some_and(|c| c.reason == NEW_AVAILABLE);
    if has_progress_deadline(d) && !complete {
        estimate(cx, d, new, current.as_ref(), &mut fresh);
    }
    match replica_failure(all, new) {
        Some(failure) => conditions::set(&mut fresh, failure),
        None => conditions::remove(&mut fresh, REPLICA_FAILURE),
    }
    if d.status == fresh {
        return Ok(requeue_stuck(cx, d, &fresh));
    }
    status::write(cx, d, fresh)?;
    Ok(Done::Settled)
}

/// Sets the Progressing condition: complete, progressing or timed out; otherwise it stays as it is.
fn estimate(
    cx: &mut Cx<'_>,
    d: &Deployment,
    new: Option<&Set<'_>>,
    current: Option<&DeploymentCondition>,
    fresh: &mut DeploymentStatus,
) {
    let now = cx.now();
    let whose = match new {
        Some(set) => format!("ReplicaSet \"{}\"", set.metadata.name),
        None => format!("Deployment \"{}\"", d.metadata.name),
    };
    let code = if is_complete(d, fresh) {
        let message = format!("{whose} has successfully progressed.");
        conditions::set(fresh, condition(PROGRESSING, "True", NEW_AVAILABLE, message, now));
        "deploy.complete"
    } else if is_progressing(d, fresh) {
        let message = format!("{whose} is progressing.");
        let mut progressing = condition(PROGRESSING, "True", REPLICA_SET_UPDATED, message, now);
        // Any progress moves the update time, even where status and reason stay.
        if let Some(current) = current {
            if current.status == "True" {
                progressing.last_transition_time = current.last_transition_time;
            }
            conditions::remove(fresh, PROGRESSING);
        }
        conditions::set(fresh, progressing);
        "deploy.progressing"
    } else if timed_out(d, fresh, now) {
        let message = format!("{whose} has timed out progressing.");
        conditions::set(fresh, condition(PROGRESSING, "False", TIMED_OUT, message, now));
        "deploy.timed-out"
    } else {
        return;
    };
    let seconds = d.spec.progress_deadline_seconds.unwrap_or(0).to_string();
    cx.because(code, vec![("who", d.metadata.name.to_string()), ("deadline", seconds)]);
}

/// The first failure that a ReplicaSet reports, the new one's before all others'. Upstream: getReplicaFailures.
fn replica_failure(all: &[Set<'_>], new: Option<&Set<'_>>) -> Option<DeploymentCondition> {
    let mut failures = new.into_iter().chain(all).flat_map(|set| &set.status.conditions);
    failures.find(|c| c.r#type == REPLICA_FAILURE).map(conditions::from_replica_set)
}

/// Looks again when the deadline has passed, because nothing else might wake a stuck Deployment.
/// Upstream: requeueStuckDeployment.
fn requeue_stuck(cx: &mut Cx<'_>, d: &Deployment, fresh: &DeploymentStatus) -> Done {
    let who = d.metadata.name.to_string();
    let current = conditions::find(&d.status, PROGRESSING).filter(|_| has_progress_deadline(d));
    let Some(current) = current.filter(|c| !is_complete(d, fresh) && c.reason != TIMED_OUT) else {
        cx.because("deploy.unchanged", vec![("who", who)]);
        return Done::Settled;
    };
    let due = current.last_update_time.unwrap_or_default().instant() + deadline(d);
    let after = due.since(cx.now());
    cx.because("deploy.progress-check", vec![("who", who), ("after", after.as_secs().to_string())]);
    // A second more, as upstream has it, against a timer that comes a moment too early.
    if after < Duration::from_secs(1) { Done::Limited } else { Done::Again(after + Duration::from_secs(1)) }
}
