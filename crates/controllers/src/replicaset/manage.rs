//! Too few pods: create them, starting slowly. Too many: choose and delete.
//! Upstream: replica_set.go, manageReplicas (v1.37).

use super::{Face, ranking::choose};
use crate::{
    pods::{from_template, name_prefix},
    stop::{error, namespace_terminating},
};
use kubestep_control::{Cx, Halt};
use kubestep_model::{DeleteOptions, Pod, ReplicaSet, Resource, Status};

/// At most so many pods are created or deleted in one pass. Upstream: BurstReplicas.
const BURST: usize = 500;
/// How many are tried first. Upstream: SlowStartInitialBatchSize.
const FIRST_BATCH: usize = 1;

/// Where the API's check of selectors is off, a ReplicaSet whose template does not match its own selector would
/// create pods for ever. It stops at so many. Not upstream's: Kubernetes refuses such a ReplicaSet.
const MOST_STRAYS: usize = 20;

/// What a burst of requests ended with.
type Managed = Result<(), Status>;

/// Creates or deletes pods towards the wanted number; the first refusal is handed on.
pub(super) fn manage_replicas(
    cx: &mut Cx<'_>,
    active: &[&Pod],
    set: &ReplicaSet,
    face: &Face,
) -> Result<Managed, Halt> {
    let have = i64::try_from(active.len()).unwrap_or(i64::MAX);
    let diff = have - i64::from(set.replicas());
    let number = usize::try_from(diff.unsigned_abs()).unwrap_or(BURST).min(BURST);
    let code = match diff {
        0 => "rs.enough",
        1.. => "rs.too-many",
        _ => "rs.too-few",
    };
    let counts =
        [("have", have.to_string()), ("want", set.replicas().to_string()), ("change", number.to_string())];
    cx.because(code, [("who", set.metadata.name.to_string())].into_iter().chain(counts).collect());
    match diff {
        0 => Ok(Ok(())),
        1.. => delete(cx, choose(cx.view(), cx.now(), set, active, number), set, face),
        _ => {
            let number = number.min(strays_left(cx, set));
            create(cx, set, face, number)
        }
    }
}

/// How many more pods may be created; only a ReplicaSet that does not select its own pods has a bound.
fn strays_left(cx: &mut Cx<'_>, set: &ReplicaSet) -> usize {
    let labels = &set.spec.template.metadata.labels;
    if set.spec.selector.as_ref().is_some_and(|selector| selector.matches(labels)) {
        return BURST;
    }
    let prefix = name_prefix(&set.metadata.name);
    let made = cx
        .list::<Pod>(Some(&set.metadata.namespace))
        .filter(|pod| pod.metadata.generate_name == prefix)
        .count();
    let left = MOST_STRAYS.saturating_sub(made);
    if left == 0 {
        cx.because(
            "rs.stray-limit",
            vec![("who", set.metadata.name.to_string()), ("most", MOST_STRAYS.to_string())],
        );
    }
    left
}

/// Creates in batches of 1, 2, 4, … pods: all of a batch at once; a failure ends the next batch, not this one.
/// Upstream: slowStartBatch with RealPodControl.CreatePods.
fn create(cx: &mut Cx<'_>, set: &ReplicaSet, face: &Face, number: usize) -> Result<Managed, Halt> {
    let pod = from_template(&set.spec.template, face.kind(), &set.metadata);
    if pod.metadata.labels.is_empty() {
        return Ok(Err(error("unable to create pods, no labels".to_owned())));
    }
    let about = face.about();
    let (mut remaining, mut batch) = (number, FIRST_BATCH.min(number));
    while batch > 0 {
        let mut failure = None;
        for reply in cx.create_all(vec![pod.clone(); batch])? {
            match reply {
                Ok(pod) => cx.event(
                    about,
                    "Normal",
                    "SuccessfulCreate",
                    format!("Created pod: {}", pod.metadata.name),
                ),
                Err(status) if namespace_terminating(&status) => super::wait_in_vain(cx, set),
                Err(status) => {
                    cx.event(about, "Warning", "FailedCreate", format!("Error creating: {}", status.message));
                    failure.get_or_insert(status);
                }
            }
        }
        remaining -= batch;
        if let Some(status) = failure {
            let left = [("left", remaining.to_string()), ("why", status.message.clone())];
            cx.because(
                "rs.slow-start-ends",
                [("who", set.metadata.name.to_string())].into_iter().chain(left).collect(),
            );
            return Ok(Err(status));
        }
        batch = (batch * 2).min(remaining);
    }
    Ok(Ok(()))
}

/// Deletes the chosen pods, all at once. Upstream: RealPodControl.DeletePod.
fn delete(cx: &mut Cx<'_>, chosen: Vec<&Pod>, set: &ReplicaSet, face: &Face) -> Result<Managed, Halt> {
    let about = face.about();
    let names: Vec<&str> = chosen.iter().map(|pod| &*pod.metadata.name).collect();
    cx.because("rs.chosen", vec![("who", set.metadata.name.to_string()), ("pods", names.join(", "))]);
    let requests = chosen.iter().map(|pod| (pod.key(), DeleteOptions::default())).collect();
    let mut failure = None;
    for (name, reply) in names.iter().zip(cx.delete_all(requests)?) {
        match reply {
            Ok(()) => cx.event(about, "Normal", "SuccessfulDelete", format!("Deleted pod: {name}")),
            Err(status) if status.is_not_found() => {}
            Err(status) => {
                cx.event(about, "Warning", "FailedDelete", format!("Error deleting: {}", status.message));
                failure.get_or_insert(error(format!("unable to delete pods: {}", status.message)));
            }
        }
    }
    Ok(failure.map_or(Ok(()), Err))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{harness::pass, replicaset::ReplicaSetController};
    use kubestep_model::{Instant, LabelSelector, Labels, Object};

    #[test]
    fn a_replica_set_that_does_not_select_its_own_pods_stops_at_a_bound() {
        let labels = |app: &str| Labels::from([("app".to_owned(), app.to_owned())]);
        let mut set = ReplicaSet::default();
        set.metadata.name = "web".into();
        set.spec.replicas = Some(3);
        set.spec.selector = Some(LabelSelector::from_labels(&labels("web")));
        set.spec.template.metadata.labels = labels("typo");
        let mut objects: Vec<Object> = vec![set.clone().into()];
        for round in 0..12 {
            let done = pass(&ReplicaSetController, set.key(), objects, Instant::START, vec![]);
            let want = if round < 6 {
                3
            } else if round == 6 {
                2
            } else {
                0
            };
            assert_eq!(done.pods.len(), want, "round {round}");
            // The pods do not match, so they are let go of: nobody owns them.
            let orphaned = |object: &Object| {
                let mut object = object.clone();
                object.meta_mut().owner_references.clear();
                object
            };
            objects = done.stored.values().map(orphaned).collect();
        }
    }
}
