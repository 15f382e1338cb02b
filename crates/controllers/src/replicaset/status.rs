//! What a ReplicaSet says about itself. Upstream: replica_set_utils.go (v1.37).

use super::Face;
use crate::{pods::is_available, stop::Step};
use kubestep_control::Cx;
use kubestep_model::{Instant, Pod, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus, Status};

const REPLICA_FAILURE: &str = "ReplicaFailure";
/// How often a refused status is tried again in one pass, with a fresh copy. Upstream: statusUpdateRetries.
const RETRIES: usize = 1;

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Counts pods as they were before this pass created or deleted any. Upstream: calculateStatus.
pub(super) fn calculate(
    set: &ReplicaSet,
    active: &[&Pod],
    terminating: usize,
    failure: Option<&Status>,
    now: Instant,
) -> ReplicaSetStatus {
    let template = &set.spec.template.metadata.labels;
    let labelled = |pod: &&&Pod| template.iter().all(|(k, v)| pod.metadata.labels.get(k) == Some(v));
    let available = |pod: &&&Pod| is_available(pod, set.spec.min_ready_seconds, now);
    let mut status = set.status.clone();
    status.replicas = count(active.len());
    status.fully_labeled_replicas = count(active.iter().filter(labelled).count());
    status.ready_replicas = count(active.iter().filter(|pod| pod.is_ready()).count());
    // Without a time to wait, the ready ones are those.
    let at_once = set.spec.min_ready_seconds == 0;
    status.available_replicas =
        if at_once { status.ready_replicas } else { count(active.iter().filter(available).count()) };
    status.terminating_replicas = Some(count(terminating));
    let noted = set.condition(REPLICA_FAILURE).is_some();
    match failure {
        Some(failure) if !noted => status.conditions.push(ReplicaSetCondition {
            r#type: REPLICA_FAILURE.into(),
            status: "True".into(),
            reason: if status.replicas < set.replicas() { "FailedCreate" } else { "FailedDelete" }.into(),
            message: failure.message.clone(),
            last_transition_time: Some(now.to_time()),
            ..Default::default()
        }),
        None if noted => status.conditions.retain(|c| c.r#type != REPLICA_FAILURE),
        Some(_) | None => {}
    }
    status
}

/// Writes the status where it changed; a refusal is answered once with a fresh copy.
/// Upstream: updateReplicaSetStatus.
pub(super) fn update(
    cx: &mut Cx<'_>,
    set: &ReplicaSet,
    face: &Face,
    mut fresh: ReplicaSetStatus,
) -> Step<ReplicaSet> {
    if set.status == fresh && set.metadata.generation == set.status.observed_generation {
        cx.because("rs.unchanged", vec![("who", set.metadata.name.to_string())]);
        return Ok(set.clone());
    }
    fresh.observed_generation = set.metadata.generation;
    let counts = [
        ("replicas", fresh.replicas),
        ("ready", fresh.ready_replicas),
        ("available", fresh.available_replicas),
    ];
    let mut about = vec![("who", set.metadata.name.to_string())];
    about.extend(counts.map(|(name, value)| (name, value.to_string())));
    cx.because("rs.status", about);
    let mut copy = face.clone();
    let mut tried = 0;
    loop {
        let refusal = match copy.write_status(cx, &fresh)? {
            Ok(updated) => return Ok(updated),
            Err(refusal) => refusal,
        };
        if tried >= RETRIES {
            return Err(refusal.into());
        }
        tried += 1;
        copy = face.live(cx)??;
    }
}
