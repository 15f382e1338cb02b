//! Which revision a pod is made of, and which old pods make room for new ones.
//! Upstream: stateful_set_control.go, updateStatefulSetAfterInvariantEstablished; newVersionedStatefulSetPod (v1.37).

use super::{identity, pods, revisions::Revisions, status::unavailable, sync::Ended};
use crate::{history::template_of, stop::Stop};
use kubestep_control::Cx;
use kubestep_model::{IntOrString, Pod, StatefulSet, StatefulSetStatus};
use std::borrow::Cow;

/// Numbers below this stay at the current revision.
fn partition(set: &StatefulSet) -> i32 {
    set.spec.update_strategy.rolling_update.as_ref().and_then(|r| r.partition).unwrap_or(0)
}

/// Upstream: isCurrentRevisionNeeded.
fn wants_current(set: &StatefulSet, number: i32) -> bool {
    let strategy = &set.spec.update_strategy;
    let offset = number.saturating_sub(identity::start(set));
    match &strategy.rolling_update {
        None => strategy.r#type == "RollingUpdate" && offset < set.status.current_replicas,
        Some(_) => offset < partition(set),
    }
}

/// A pod that is not there yet. Upstream: newVersionedStatefulSetPod.
pub(super) fn new_pod(set: &StatefulSet, found: &Revisions, number: i32) -> Pod {
    let revision = if wants_current(set, number) { &found.current } else { &found.update };
    let template = template_of(revision).unwrap_or_else(|| set.spec.template.clone());
    identity::new_pod(set, &template, &revision.metadata.name, number)
}

/// How many pods may be away at once. Upstream: getStatefulSetMaxUnavailable.
fn max_unavailable(set: &StatefulSet) -> i64 {
    let wanted = set.spec.update_strategy.rolling_update.as_ref().and_then(|r| r.max_unavailable.clone());
    let wanted = wanted.unwrap_or(IntOrString::Int(1));
    wanted.scaled_value(i64::from(identity::replicas(set)), false).unwrap_or(1).max(1)
}

/// Deletes pods of another revision, the highest number first, as far as unavailable ones leave room. Where pods are
/// managed in parallel, old ones that are not available anyway go first, all of them and whatever the room.
pub(super) fn replace_old(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    found: &Revisions,
    replicas: &[Cow<'_, Pod>],
    status: &mut StatefulSetStatus,
) -> Ended {
    let (now, most) = (cx.now(), max_unavailable(set));
    let parallel = set.spec.pod_management_policy == "Parallel";
    let update = &*found.update.metadata.name;
    let lowest = usize::try_from(partition(set)).unwrap_or(0);
    let old = |pod: &Pod| identity::revision(pod) != update && !pod.metadata.is_terminating();
    let away = replicas.iter().filter(|pod| unavailable(pod, set, now)).count();
    let room = most - i64::try_from(away).unwrap_or(i64::MAX);
    let stuck = parallel && replicas.iter().any(|pod| unavailable(pod, set, now) && old(pod));
    if room <= 0 && !stuck {
        if replicas.iter().skip(lowest).any(|pod| identity::revision(pod) != update) {
            cx.because(
                "sts.wait-unavailable",
                vec![
                    ("who", set.metadata.name.to_string()),
                    ("away", away.to_string()),
                    ("most", most.to_string()),
                ],
            );
        }
        return Ok(None);
    }
    let room = usize::try_from(room).unwrap_or(0);
    let targets = || replicas.iter().skip(lowest).rev().map(|pod| &**pod).filter(|pod| old(pod));
    if !parallel {
        return delete_old(cx, set, update, targets().take(room), status);
    }
    let refused = delete_old(cx, set, update, targets().filter(|pod| unavailable(pod, set, now)), status)?;
    if refused.is_some() {
        return Ok(refused);
    }
    let available = targets().filter(|pod| !unavailable(pod, set, now));
    delete_old(cx, set, update, available.take(room), status)
}

/// Deletes these pods so that they are made again of the new revision.
fn delete_old<'p>(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    update: &str,
    pods: impl Iterator<Item = &'p Pod>,
    status: &mut StatefulSetStatus,
) -> Ended {
    for pod in pods {
        cx.because(
            "sts.update",
            vec![
                ("who", set.metadata.name.to_string()),
                ("pod", pod.metadata.name.to_string()),
                ("revision", update.to_owned()),
            ],
        );
        match pods::delete(cx, set, pod) {
            Ok(()) => {}
            Err(Stop::Failed(refusal)) => return Ok(Some(refusal)),
            Err(Stop::Halt(halt)) => return Err(halt),
        }
        status.current_replicas -= 1;
    }
    Ok(None)
}
