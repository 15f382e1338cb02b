//! Replication controllers: the loop of ReplicaSets for its elder brother.
//!
//! Upstream: pkg/controller/replication (v1.37), which runs the ReplicaSet loop behind a conversion, as here.

use crate::{
    pod_wakes::{Leaving, PodWakes},
    replicaset::{Face, as_replica_set, sync_replica_set},
    stop::flow,
    whole,
};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{Key, Kind, ObjectMeta, Pod, ReplicationController, Whole};

/// The replication manager.
#[derive(Debug)]
pub struct ReplicationManager;

static WATCHES: [Watch; 2] = [
    Watch { kind: ReplicationController::KIND, wakes: controller_changed },
    Watch { kind: Kind::Pod, wakes: pod_changed },
];

impl Controller for ReplicationManager {
    fn name(&self) -> &'static str {
        "replicationcontroller"
    }
    fn actor(&self) -> &'static str {
        "replication-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Pod, ReplicationController::KIND]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let found = whole::get::<ReplicationController>(cx.view(), &key.namespace, &key.name);
        let Some(controller) = found else {
            cx.because("rs.gone", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        };
        let step = sync_replica_set(cx, &as_replica_set(&controller), &Face::of_controller(&controller));
        flow(cx, step)
    }
}

fn controller_changed(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

fn owner(view: &View, pod: &ObjectMeta) -> Option<(Key, i32)> {
    let found: ReplicationController = whole::controller_of(view, pod)?;
    Some((whole::key(&found), found.spec.min_ready_seconds))
}

/// All that might want to adopt an orphan.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    let labels = &pod.metadata.labels;
    let all = view.objects_of(ReplicationController::KIND, Some(&pod.metadata.namespace));
    let wants = |found: &ReplicationController| {
        let selector = &found.spec.selector;
        !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    let wake = |object| ReplicationController::read(object).filter(wants).map(|_| Wake::now(object.key()));
    all.filter_map(wake).collect()
}

/// Upstream: addPod, updatePod, deletePod of the ReplicaSet controller.
fn pod_changed(change: &Change, view: &View) -> Vec<Wake> {
    PodWakes { owner, candidates, margin: 0, leaving: Leaving::Owner }.of(change, view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::pass;
    use kubestep_model::Instant;
    use serde_json::json;

    #[test]
    fn pods_are_made_for_a_controller_and_counted() {
        let mut controller: ReplicationController = serde_json::from_value(json!({
            "metadata": {"name": "old", "namespace": "default", "uid": "u", "generation": 1},
            "spec": {"replicas": 2, "selector": {"app": "old"},
                "template": {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "c"}]}}},
        }))
        .expect("a controller");
        let key = controller.to_object().key();
        let done =
            pass(&ReplicationManager, key.clone(), vec![controller.to_object()], Instant::START, vec![]);
        assert_eq!(done.pods.len(), 2);
        let owner = &done.pods[0]["metadata"]["ownerReferences"][0];
        assert_eq!((&owner["kind"], &owner["apiVersion"]), (&json!("ReplicationController"), &json!("v1")));
        assert_eq!(done.events[0].regarding.kind, "ReplicationController");
        // What the first pass wrote is all there is to say: the next with these pods writes their number.
        let objects: Vec<_> = done.stored.values().cloned().collect();
        let again = pass(&ReplicationManager, key.clone(), objects, Instant::START, vec![]);
        controller = again.stored.get(&key).and_then(ReplicationController::read).expect("it is stored");
        assert_eq!((controller.status.replicas, controller.status.observed_generation), (2, 1));
        let objects: Vec<_> = again.stored.values().cloned().collect();
        let calm = pass(&ReplicationManager, key, objects, Instant::START, vec![]);
        assert!(calm.actions.is_empty() && calm.pods.is_empty(), "{:?}", calm.actions);
    }
}
