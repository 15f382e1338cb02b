//! Objects from the short forms of the vectors.

use kubestep_model::{
    Container, ContainerStatus, Deployment, Instant, LabelSelector, Labels, ObjectMeta, Pod, PodCondition,
    PodTemplateSpec, ReplicaSet, Time,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The moment of every vector: 2000-01-01T00:00:00Z.
pub(super) const NOW: Instant = Instant::from_secs(946_684_800);

/// A value of any type, its default where it does not fit.
pub(super) fn value<T: DeserializeOwned + Default>(given: &Value) -> T {
    serde_json::from_value(given.clone()).unwrap_or_default()
}

/// The time so many seconds before now; None for no number.
pub(super) fn seconds_ago(given: &Value) -> Option<Time> {
    given.as_i64().map(|seconds| Time(NOW.to_time().0.saturating_sub(seconds)))
}

pub(super) fn labels(app: &str) -> Labels {
    Labels::from([("app".to_owned(), app.to_owned())])
}

/// The template of a version.
pub(super) fn template(image: &str) -> PodTemplateSpec {
    let mut template = PodTemplateSpec::default();
    template.metadata.labels = labels("web");
    template.spec.containers =
        vec![Container { name: "web".into(), image: image.into(), ..Default::default() }];
    template
}

/// A Deployment `web` from `replicas`, `strategy` (RollingUpdate if absent), `maxSurge`, `maxUnavailable`, `paused`.
pub(super) fn deployment(given: &Value) -> Deployment {
    let mut d = Deployment { metadata: meta("web", "uid-web"), ..Default::default() };
    d.spec.replicas = value(&given["replicas"]);
    d.spec.paused = value(&given["paused"]);
    d.spec.selector = Some(LabelSelector::from_labels(&labels("web")));
    d.spec.template = template("new");
    d.spec.progress_deadline_seconds = Some(600);
    d.spec.strategy.r#type = given["strategy"].as_str().unwrap_or("RollingUpdate").into();
    if d.spec.strategy.r#type == "RollingUpdate" {
        let limits = json!({ "maxSurge": given["maxSurge"], "maxUnavailable": given["maxUnavailable"] });
        d.spec.strategy.rolling_update = value(&limits);
    }
    d
}

pub(super) fn meta(name: &str, uid: &str) -> ObjectMeta {
    ObjectMeta {
        name: name.into(),
        uid: uid.into(),
        namespace: "default".into(),
        resource_version: "1".into(),
        ..Default::default()
    }
}

/// A ReplicaSet from `name`, `size`, `age` or `created`, `desired`, `max`, `replicas`, `ready`, `available`.
pub(super) fn replica_set(given: &Value) -> ReplicaSet {
    let name = given["name"].as_str().unwrap_or("rs");
    let mut set = ReplicaSet { metadata: meta(name, name), ..Default::default() };
    set.metadata.labels = labels("web");
    set.metadata.creation_timestamp =
        seconds_ago(&given["age"]).or_else(|| given["created"].as_i64().map(Time));
    for (field, key) in [("desired", "desired-replicas"), ("max", "max-replicas")] {
        if let Some(text) = given[field].as_str() {
            set.metadata.annotations.insert(format!("deployment.kubernetes.io/{key}"), text.into());
        }
    }
    set.spec.replicas = value(&given["size"]);
    set.status.replicas = given["replicas"].as_i64().map_or(set.replicas(), |_| value(&given["replicas"]));
    set.status.ready_replicas = value(&given["ready"]);
    set.status.available_replicas = value(&given["available"]);
    set
}

/// A pod from `uid`, `age`, `node`, `phase`, `ready`, `readyFor`, `restarts`, `deletionCost`, `deleting`.
pub(super) fn pod(given: &Value) -> Pod {
    let uid = given["uid"].as_str().unwrap_or_default();
    let mut pod = Pod { metadata: meta(uid, uid), ..Default::default() };
    pod.metadata.creation_timestamp = seconds_ago(&given["age"]);
    if let Some(cost) = given["deletionCost"].as_str() {
        pod.metadata.annotations.insert("controller.kubernetes.io/pod-deletion-cost".into(), cost.into());
    }
    if given["deleting"] == true {
        pod.metadata.deletion_timestamp = Some(NOW.to_time());
    }
    pod.spec.node_name = given["node"].as_str().unwrap_or_default().into();
    pod.status.phase = value(&given["phase"]);
    let status = match &given["ready"] {
        Value::Bool(ready) => Some(if *ready { "True" } else { "False" }),
        other => other.as_str(),
    };
    if let Some(status) = status {
        pod.status.conditions.push(PodCondition {
            r#type: "Ready".into(),
            status: status.into(),
            last_transition_time: seconds_ago(&given["readyFor"]),
            ..Default::default()
        });
    }
    for restarts in given["restarts"].as_array().into_iter().flatten() {
        let container = ContainerStatus { restart_count: value(restarts), ..Default::default() };
        pod.status.container_statuses.push(container);
    }
    pod
}
