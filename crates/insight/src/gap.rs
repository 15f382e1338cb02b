//! The gap between what is asked for and what is, of one object, from that object alone.

use kubestep_model::{Deployment, Namespace, Node, Object, Pod, ReplicaSet};
use std::time::Duration;

/// An open gap's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// What is asked for.
    pub want: String,
    /// What there is.
    pub have: String,
    /// Both, as "0 of 3".
    pub text: String,
    /// How far it is to the end; getting smaller is getting better.
    pub distance: u64,
    /// The object's own deadline after the gap opened.
    pub deadline: Option<Duration>,
}

impl Measure {
    pub(crate) fn counted(have: i32, want: i32, distance: i64) -> Self {
        Measure {
            want: want.to_string(),
            have: have.to_string(),
            text: format!("{have} of {want}"),
            distance: u64::try_from(distance).unwrap_or(0),
            deadline: None,
        }
    }

    pub(crate) fn stage(want: &str, have: &str, distance: u64) -> Self {
        Measure { want: want.into(), have: have.into(), text: have.into(), distance, deadline: None }
    }
}

/// The gap of an object as a person with `kubectl get -o yaml` could see it; `None` if it is closed, or if objects of
/// its kind have none.
pub fn measure(object: &Object) -> Option<Measure> {
    let ending = object.meta().is_terminating().then(|| Measure::stage("gone", "still there", 1));
    match object {
        Object::Pod(pod) => ending.or_else(|| pod_gap(pod)),
        Object::Deployment(d) => ending.or_else(|| deployment_gap(d)),
        Object::ReplicaSet(set) => ending.or_else(|| replica_set_gap(set)),
        Object::Node(node) => ending.or_else(|| node_gap(node)),
        Object::Namespace(ns) => ending.or_else(|| namespace_gap(ns)),
        Object::Custom(custom) => ending.or_else(|| crate::whole::measure(object, custom)),
        _ => ending,
    }
}

/// How many there are of how many that are asked for, of an object that counts its pods; as its gap says it, and all where
/// there is none.
pub fn counts(object: &Object) -> Option<(i32, i32)> {
    let want = match object {
        Object::Deployment(d) => d.replicas(),
        Object::ReplicaSet(set) => set.replicas(),
        Object::Custom(custom) => return crate::whole::counts(object, custom),
        _ => return None,
    };
    numbers(measure(object), want)
}

/// A gap in numbers; none of something that is to go.
pub(crate) fn numbers(gap: Option<Measure>, want: i32) -> Option<(i32, i32)> {
    match gap {
        Some(gap) => Some((gap.have.parse().ok()?, gap.want.parse().ok()?)),
        None => Some((want, want)),
    }
}

/// Whether a pod that is not to go is not yet where it is to be.
pub(crate) fn is_open(pod: &Pod) -> bool {
    pod.status.phase != "Succeeded" && !pod.is_ready()
}

/// Whether a ReplicaSet that is not to go has an open gap.
pub(crate) fn is_short(set: &ReplicaSet) -> bool {
    set.metadata.is_terminating() || replica_set_gap(set).is_some()
}

fn deployment_gap(d: &Deployment) -> Option<Measure> {
    let (want, status) = (d.replicas(), &d.status);
    let deadline =
        d.spec.progress_deadline_seconds.and_then(|s| u64::try_from(s).ok()).map(Duration::from_secs);
    if status.observed_generation < d.metadata.generation {
        let distance = 4 * i64::from(want) + 4;
        return Some(Measure {
            deadline,
            ..Measure {
                text: "not yet seen".into(),
                ..Measure::counted(status.updated_replicas, want, distance)
            }
        });
    }
    let short = |have: i32| i64::from((want - have).max(0));
    let extra = i64::from((status.replicas - want).max(0));
    let old = i64::from((status.replicas - status.updated_replicas).max(0));
    let distance = short(status.updated_replicas) + short(status.available_replicas) + extra + old;
    if distance == 0 {
        return None;
    }
    // New ones that are available cannot be told from old ones by the status alone while both are there.
    let new = if old > 0 {
        (status.available_replicas - (status.replicas - status.updated_replicas))
            .clamp(0, status.updated_replicas)
    } else {
        status.available_replicas
    };
    Some(Measure { deadline, ..Measure::counted(new, want, distance) })
}

fn replica_set_gap(set: &ReplicaSet) -> Option<Measure> {
    let (want, status) = (set.replicas(), &set.status);
    let unseen = status.observed_generation < set.metadata.generation;
    let short = |have: i32| i64::from((want - have).max(0));
    let distance = short(status.replicas)
        + short(status.ready_replicas)
        + short(status.available_replicas)
        + i64::from((status.replicas - want).max(0))
        + i64::from(unseen);
    (distance > 0).then(|| Measure::counted(status.available_replicas.min(want), want, distance))
}

/// The stages of a pod's way, with what is left of it.
fn pod_gap(pod: &Pod) -> Option<Measure> {
    let status = &pod.status;
    if status.phase == "Succeeded" || pod.is_ready() {
        return None;
    }
    if status.phase == "Failed" {
        // A job counts its failed pods and makes others: such a pod is at its end, and the job says what is open.
        if pod.metadata.controller().is_some_and(|owner| owner.kind == "Job") {
            return None;
        }
        return Some(Measure::stage("ready", "failed", 7));
    }
    let is_true = |name: &str| pod.condition(name).is_some_and(|c| c.status == "True");
    let started = status.container_statuses.iter().filter(|c| c.state.running.is_some()).count();
    let all = pod.spec.containers.len();
    let (have, left) = if pod.spec.node_name.is_empty() {
        ("not scheduled", 6)
    } else if !is_true("PodReadyToStartContainers") {
        ("bound to a node", 5)
    } else if !is_true("Initialized") {
        ("initialising", 4)
    } else if started < all {
        ("starting", 3)
    } else {
        ("running, not ready", 1)
    };
    Some(Measure::stage("ready", have, left))
}

fn node_gap(node: &Node) -> Option<Measure> {
    (!node.is_ready()).then(|| Measure::stage("Ready", "NotReady", 1))
}

fn namespace_gap(ns: &Namespace) -> Option<Measure> {
    (ns.status.phase == "Terminating").then(|| Measure::stage("gone", "Terminating", 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Kind;
    use serde_json::json;

    #[test]
    fn a_failed_pod_of_a_job_is_at_its_end() {
        let pod = |owner: &str| {
            let owners =
                json!([{"apiVersion": "v1", "kind": owner, "name": "x", "uid": "u", "controller": true}]);
            let value = json!({"metadata": {"name": "x-1", "ownerReferences": owners}, "status": {"phase": "Failed"}});
            serde_json::from_value::<Pod>(value).expect("a pod")
        };
        assert_eq!(pod_gap(&pod("Job")), None);
        assert!(pod_gap(&pod("ReplicaSet")).is_some());
    }

    fn deployment(status: serde_json::Value) -> Object {
        let value = json!({"metadata": {"name": "web", "generation": 2}, "spec": {"replicas": 3, "progressDeadlineSeconds": 600,
            "selector": {}, "template": {"metadata": {}, "spec": {"containers": []}}, "strategy": {}}, "status": status});
        Object::from_value(Kind::Deployment, value).expect("a deployment")
    }

    #[test]
    fn a_deployment_is_open_until_all_new_replicas_are_available_and_no_old_one_is_left() {
        let rows = [
            (
                json!({"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}),
                Some(("not yet seen", "3")),
            ),
            (
                json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 1, "availableReplicas": 3}),
                Some(("0 of 3", "0")),
            ),
            (
                json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 2, "availableReplicas": 4}),
                Some(("2 of 3", "2")),
            ),
            (
                json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 2}),
                Some(("2 of 3", "2")),
            ),
            (
                json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3}),
                None,
            ),
        ];
        for (status, want) in rows {
            let found = measure(&deployment(status.clone()));
            assert_eq!(found.as_ref().map(|m| (m.text.as_str(), m.have.as_str())), want, "{status}");
        }
    }

    #[test]
    fn a_pod_is_open_until_it_is_ready_or_has_done_its_work() {
        let pod = |node: &str, status: serde_json::Value| {
            let value = json!({"metadata": {"name": "p"}, "spec": {"nodeName": node, "containers": [{"name": "c"}]}, "status": status});
            measure(&Object::from_value(Kind::Pod, value).expect("a pod")).map(|m| m.have)
        };
        assert_eq!(pod("", json!({"phase": "Pending"})).as_deref(), Some("not scheduled"));
        assert_eq!(pod("node-1", json!({"phase": "Pending"})).as_deref(), Some("bound to a node"));
        assert_eq!(pod("node-1", json!({"phase": "Failed"})).as_deref(), Some("failed"));
        assert_eq!(pod("node-1", json!({"phase": "Succeeded"})), None);
        assert_eq!(
            pod("node-1", json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})),
            None
        );
    }
}
