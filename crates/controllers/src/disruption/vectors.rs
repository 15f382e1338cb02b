//! One pass over a budget, as the recorded vectors have it.

use super::{BUDGET, DisruptionController};
use crate::{claim::controller_ref, harness};
use kubestep_model::{
    Instant, Key, Kind, Object, ObjectMeta, Pod, PodCondition, PodDisruptionBudget, ReplicaSet, Time, Whole,
};
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Instant = Instant(Instant::START.0 + 3_600_000_000_000);

fn meta(name: &str) -> ObjectMeta {
    let labels = [("app".to_owned(), "web".to_owned())].into();
    ObjectMeta {
        name: name.into(),
        namespace: "default".into(),
        uid: name.into(),
        resource_version: "1".into(),
        generation: 1,
        labels,
        ..Default::default()
    }
}

fn pod(index: usize, given: &Value, set: &ReplicaSet) -> Pod {
    let mut pod = Pod { metadata: meta(&format!("p{index}")), ..Default::default() };
    if given["owned"] == true {
        pod.metadata.owner_references = vec![controller_ref(Kind::ReplicaSet, &set.metadata)];
    }
    let status = if given["ready"] == true { "True" } else { "False" };
    pod.status.conditions =
        vec![PodCondition { r#type: "Ready".into(), status: status.into(), ..Default::default() }];
    pod
}

/// When an eviction was granted that was granted so many seconds ago.
fn ago(seconds: u64) -> Time {
    Instant(NOW.0.saturating_sub(i64::try_from(Duration::from_secs(seconds).as_nanos()).unwrap_or(0)))
        .to_time()
}

/// What a pass makes of a budget and its pods.
pub fn budget(input: &Value) -> Value {
    let mut set = ReplicaSet { metadata: meta("web"), ..Default::default() };
    set.spec.replicas = input["size"].as_i64().and_then(|n| i32::try_from(n).ok());
    let mut budget = PodDisruptionBudget { metadata: meta("web"), ..Default::default() };
    let field = |name: &str| serde_json::from_value(input[name].clone()).ok().flatten();
    budget.spec.min_available = field("minAvailable");
    budget.spec.max_unavailable = field("maxUnavailable");
    budget.spec.selector = serde_json::from_value(json!({"matchLabels": {"app": "web"}})).ok();
    let given = input["pods"].as_array().cloned().unwrap_or_default();
    let pods: Vec<Pod> = given.iter().enumerate().map(|(i, given)| pod(i, given, &set)).collect();
    for (pod, given) in pods.iter().zip(&given) {
        if let Some(seconds) = given["disrupted"].as_u64() {
            budget.status.disrupted_pods.insert(pod.metadata.name.to_string(), ago(seconds));
        }
    }
    let mut objects: Vec<Object> = vec![budget.to_object(), set.into()];
    objects.extend(pods.into_iter().map(Object::from));
    let key = Key::new(BUDGET, "default", "web");
    let done = harness::pass(&DisruptionController, key.clone(), objects, NOW, vec![]);
    let after = done.stored.get(&key).and_then(PodDisruptionBudget::read).unwrap_or_default().status;
    let conditions: Vec<Value> = after
        .conditions
        .iter()
        .map(|c| json!({"type": c.r#type, "status": c.status, "reason": c.reason, "message": c.message}))
        .collect();
    let events: Vec<Value> = done
        .events
        .iter()
        .map(|e| json!({"type": e.r#type, "reason": &*e.reason, "message": &*e.message}))
        .collect();
    json!({"events": events, "status": {
        "conditions": conditions, "currentHealthy": after.current_healthy, "desiredHealthy": after.desired_healthy,
        "disruptedPods": after.disrupted_pods.keys().collect::<Vec<_>>(),
        "disruptionsAllowed": after.disruptions_allowed, "expectedPods": after.expected_pods}})
}
