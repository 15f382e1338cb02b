//! Creating, repairing and deleting one pod, with the events that tell of it.
//! Upstream: stateful_pod_control.go (v1.37).

use super::{claims, identity};
use crate::{
    history::MOST_TRIES,
    stop::{Step, Stop, error},
};
use kubestep_control::Cx;
use kubestep_model::{DeleteOptions, Pod, Resource, StatefulSet, Status, Whole};

/// Upstream: recordPodEvent.
pub(super) fn pod_event(cx: &mut Cx<'_>, verb: &str, set: &StatefulSet, pod: &Pod, refusal: Option<&Status>) {
    let (pod, name) = (&pod.metadata.name, &set.metadata.name);
    let about = set.to_object();
    match refusal {
        None => {
            let text = format!("{verb} Pod {pod} in StatefulSet {name} successful");
            cx.event(&about, "Normal", &format!("Successful{verb}"), text);
        }
        Some(status) => {
            let text = format!("{verb} Pod {pod} in StatefulSet {name} failed error: {}", status.message);
            cx.event(&about, "Warning", &format!("Failed{verb}"), text);
        }
    }
}

/// Tells of a failure of a phase, and hands it on.
fn told<T>(cx: &mut Cx<'_>, verb: &str, set: &StatefulSet, pod: &Pod, step: Step<T>) -> Step<T> {
    if let Err(Stop::Failed(status)) = &step {
        pod_event(cx, verb, set, pod, Some(status));
    }
    step
}

/// First the claims, then the pod. Upstream: CreateStatefulPod.
pub(super) fn create(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod) -> Step<()> {
    let claims = claims::create_missing(cx, set, pod);
    let made = told(cx, "Create", set, pod, claims)?;
    cx.because(
        "sts.create",
        vec![
            ("who", set.metadata.name.to_string()),
            ("pod", pod.metadata.name.to_string()),
            ("revision", identity::revision(pod).to_owned()),
        ],
    );
    let refusal = cx.try_create(pod.clone())?.err();
    if let Some(refusal) = refusal.as_ref().filter(|r| r.is_already_exists()) {
        return Err(refusal.clone().into());
    }
    let policy = claims::apply_policy(cx, set, pod, &made);
    told(cx, "Update", set, pod, policy)?;
    pod_event(cx, "Create", set, pod, refusal.as_ref());
    refusal.map_or(Ok(()), |status| Err(status.into()))
}

/// A pod that is gone already counts as deleted. Upstream: DeleteStatefulPod.
pub(super) fn delete(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod) -> Step<()> {
    let refusal = cx.try_delete(pod.key(), DeleteOptions::default())?.err();
    let refusal = refusal.filter(|status| !status.is_not_found());
    pod_event(cx, "Delete", set, pod, refusal.as_ref());
    refusal.map_or(Ok(()), |status| Err(status.into()))
}

/// Gives a pod its labels, volumes and claims back. Upstream: UpdateStatefulPod.
pub(super) fn repair(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod) -> Step<()> {
    let mut copy = pod.clone();
    let number = identity::ordinal(pod);
    for _ in 0..MOST_TRIES {
        let mut consistent = true;
        if !identity::identity_matches(set, &copy) {
            identity::update_identity(set, &mut copy, number);
            consistent = false;
        }
        let mut made = Vec::new();
        if !identity::storage_matches(set, &copy) {
            identity::update_storage(set, &mut copy, number);
            consistent = false;
            let claims = claims::create_missing(cx, set, &copy);
            made = told(cx, "Update", set, pod, claims)?;
        }
        if !claims::match_policy(cx, set, &copy) {
            let policy = claims::apply_policy(cx, set, &copy, &made);
            told(cx, "Update", set, pod, policy)?;
        }
        if consistent {
            return Ok(());
        }
        cx.because(
            "sts.repair",
            vec![("who", set.metadata.name.to_string()), ("pod", pod.metadata.name.to_string())],
        );
        let refusal = cx.try_replace(copy.clone())?.err();
        if refusal.as_ref().is_none_or(|r| !r.is_conflict()) {
            pod_event(cx, "Update", set, pod, refusal.as_ref());
            return refusal.map_or(Ok(()), |status| Err(status.into()));
        }
        copy = cx.live::<Pod>(&pod.metadata.namespace, &pod.metadata.name)??;
    }
    Err(error("update conflict".into()).into())
}
