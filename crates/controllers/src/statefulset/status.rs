//! What a set says about itself. Upstream: stateful_set_control.go and stateful_set_status_updater.go (v1.37).

use super::{identity, revisions::Revisions};
use crate::{history::MOST_TRIES, pods::is_available, stop::Step, whole};
use kubestep_control::Cx;
use kubestep_model::{Instant, Pod, StatefulSet, StatefulSetStatus};

/// Running, and ready.
pub(super) fn running_and_ready(pod: &Pod) -> bool {
    pod.status.phase == "Running" && pod.is_ready()
}

/// Not ready for long enough, or on its way out. Upstream: isUnavailable.
pub(super) fn unavailable(pod: &Pod, set: &StatefulSet, now: Instant) -> bool {
    !is_available(pod, set.spec.min_ready_seconds, now) || pod.metadata.is_terminating()
}

/// The status that a pass begins with. Upstream: updateStatefulSet.
pub(super) fn begin(set: &StatefulSet, revisions: &Revisions) -> StatefulSetStatus {
    StatefulSetStatus {
        observed_generation: set.metadata.generation,
        current_revision: revisions.current.metadata.name.to_string(),
        update_revision: revisions.update.metadata.name.to_string(),
        collision_count: Some(revisions.collisions),
        ..Default::default()
    }
}

/// Counts pods as they were before this pass. Upstream: updateStatus.
pub(super) fn count<'p>(
    status: &mut StatefulSetStatus,
    set: &StatefulSet,
    pods: impl Iterator<Item = &'p Pod>,
    now: Instant,
) {
    let mut counts = [0i32; 5];
    for pod in pods.filter(|pod| !pod.status.phase.is_empty()) {
        let revision = if pod.metadata.is_terminating() { "" } else { identity::revision(pod) };
        let ready = running_and_ready(pod);
        let counted = [
            true,
            ready,
            ready && is_available(pod, set.spec.min_ready_seconds, now),
            !revision.is_empty() && revision == status.current_revision,
            !revision.is_empty() && revision == status.update_revision,
        ];
        for (sum, one) in counts.iter_mut().zip(counted) {
            *sum += i32::from(one);
        }
    }
    let [replicas, ready, available, current, updated] = counts;
    status.replicas = replicas;
    status.ready_replicas = ready;
    status.available_replicas = available;
    status.current_replicas = current;
    status.updated_replicas = updated;
}

/// All pods are of the new revision and ready: it is the current one from now on.
/// Upstream: completeRollingUpdate.
fn complete(set: &StatefulSet, status: &mut StatefulSetStatus) {
    let want = set.spec.replicas.unwrap_or(1);
    let all = [status.updated_replicas, status.ready_replicas, status.replicas];
    if set.spec.update_strategy.r#type == "RollingUpdate" && all.iter().all(|n| *n == want) {
        status.current_replicas = status.updated_replicas;
        status.current_revision.clone_from(&status.update_revision);
    }
}

/// Upstream: inconsistentStatus.
fn differs(set: &StatefulSet, status: &StatefulSetStatus) -> bool {
    let old = &set.status;
    let counts = |s: &StatefulSetStatus| {
        [s.replicas, s.current_replicas, s.ready_replicas, s.updated_replicas, s.available_replicas]
    };
    status.observed_generation > old.observed_generation
        || counts(old) != counts(status)
        || old.current_revision != status.current_revision
        || old.update_revision != status.update_revision
}

/// Writes the status where it changed; a conflict is answered with the cache's copy.
/// Upstream: updateStatefulSetStatus and UpdateStatefulSetStatus.
pub(super) fn write(cx: &mut Cx<'_>, set: &StatefulSet, status: &mut StatefulSetStatus) -> Step<()> {
    complete(set, status);
    if !differs(set, status) {
        cx.because("sts.unchanged", vec![("who", set.metadata.name.to_string())]);
        return Ok(());
    }
    cx.because(
        "sts.status",
        vec![
            ("who", set.metadata.name.to_string()),
            ("replicas", status.replicas.to_string()),
            ("ready", status.ready_replicas.to_string()),
            ("updated", status.updated_replicas.to_string()),
        ],
    );
    let mut copy = set.clone();
    for last in (0..=MOST_TRIES).map(|i| i == MOST_TRIES) {
        copy.status = StatefulSetStatus { conditions: copy.status.conditions, ..status.clone() };
        match whole::set_status(cx, &copy)? {
            Ok(_) => return Ok(()),
            Err(refusal) if last || !refusal.is_conflict() => return Err(refusal.into()),
            Err(_) => {}
        }
        copy = whole::get(cx.view(), &set.metadata.namespace, &set.metadata.name).unwrap_or(copy);
    }
    Ok(())
}
