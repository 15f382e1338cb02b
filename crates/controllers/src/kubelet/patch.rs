//! The patch that turns the status that the API holds into the wanted one. Upstream: pkg/util/pod, PatchPodStatus.

use kubestep_model::{ContainerStatus, Pod, PodCondition, PodIp, PodStatus, Time, to_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A strategic merge patch of the pod's status; `None` if nothing differs. Thousands of these are written while a world settles:
/// what is the same is not written out to be compared.
pub(super) fn status_patch(held: &Pod, wanted: &PodStatus) -> Option<Value> {
    let old = &held.status;
    if *old == *wanted {
        return None;
    }
    let mut status = Map::new();
    let mut text = |name: &str, old: &str, new: &str| {
        if old != new {
            status.insert(name.into(), if new.is_empty() { Value::Null } else { new.into() });
        }
    };
    text("phase", &old.phase, &wanted.phase);
    text("message", &old.message, &wanted.message);
    text("reason", &old.reason, &wanted.reason);
    text("nominatedNodeName", &old.nominated_node_name, &wanted.nominated_node_name);
    text("qosClass", &old.qos_class, &wanted.qos_class);
    text("hostIP", &old.host_ip, &wanted.host_ip);
    text("podIP", &old.pod_ip, &wanted.pod_ip);
    number(&mut status, old.observed_generation, wanted.observed_generation);
    if old.start_time != wanted.start_time {
        status.insert("startTime".into(), to_json(&wanted.start_time));
    }
    addresses(&mut status, "hostIPs", &old.host_ips, &wanted.host_ips);
    addresses(&mut status, "podIPs", &old.pod_ips, &wanted.pod_ips);
    // These lists are written as a whole.
    let mut list = |name: &str, old: &Vec<ContainerStatus>, new: &Vec<ContainerStatus>| {
        if old != new {
            status.insert(name.into(), if new.is_empty() { Value::Null } else { to_json(new) });
        }
    };
    list("containerStatuses", &old.container_statuses, &wanted.container_statuses);
    list("initContainerStatuses", &old.init_container_statuses, &wanted.init_container_statuses);
    if old.rest != wanted.rest {
        status.extend(difference(&map(&old.rest), map(&wanted.rest)));
    }
    conditions(&mut status, &old.conditions, &wanted.conditions);
    if status.is_empty() {
        return None;
    }
    let mut patch = Map::new();
    patch.insert("metadata".into(), json!({"uid": held.metadata.uid}));
    patch.insert("status".into(), Value::Object(status));
    Some(Value::Object(patch))
}

/// The generation that was looked at, if it is another one.
fn number(patch: &mut Map<String, Value>, old: i64, new: i64) {
    if old != new {
        patch.insert("observedGeneration".into(), if new == 0 { Value::Null } else { new.into() });
    }
}

/// Addresses are merged by themselves.
fn addresses(patch: &mut Map<String, Value>, name: &str, old: &Vec<PodIp>, new: &Vec<PodIp>) {
    if old == new {
        return;
    }
    match (to_json(old), to_json(new)) {
        (old, Value::Array(list)) if !list.is_empty() => keyed(patch, name, "ip", Some(&old), &list),
        _ => drop(patch.insert(name.into(), Value::Null)),
    }
}

/// Fields that are kept as they were written, as JSON has them.
fn map(rest: &BTreeMap<String, Value>) -> Map<String, Value> {
    rest.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The conditions that differ, those that are gone, and the order of all.
fn conditions(patch: &mut Map<String, Value>, held: &[PodCondition], wanted: &[PodCondition]) {
    if held == wanted {
        return;
    }
    if wanted.is_empty() {
        patch.insert("conditions".into(), Value::Null);
        return;
    }
    let mut changes = vec![];
    for condition in wanted {
        let earlier = held.iter().find(|h| h.r#type == condition.r#type);
        if earlier != Some(condition) {
            changes.push(Value::Object(change(earlier, condition)));
        }
    }
    for gone in held.iter().filter(|h| !wanted.iter().any(|c| c.r#type == h.r#type)) {
        changes.push(json!({"$patch": "delete", "type": gone.r#type}));
    }
    if !changes.is_empty() {
        patch.insert("conditions".into(), changes.into());
    }
    let order: Vec<Value> = wanted.iter().map(|c| json!({"type": c.r#type})).collect();
    patch.insert("$setElementOrder/conditions".into(), order.into());
}

/// What is new about a condition, and its type. Thousands of these are written while a world settles: without a tree of either.
fn change(earlier: Option<&PodCondition>, wanted: &PodCondition) -> Map<String, Value> {
    let mut change = Map::new();
    let mut text = |name: &str, before: Option<&str>, now: &str, always: bool| {
        let before = before.filter(|text| always || !text.is_empty());
        if before != Some(now) && (before.is_some() || always || !now.is_empty()) {
            let gone = now.is_empty() && !always;
            change.insert(name.into(), if gone { Value::Null } else { now.into() });
        }
    };
    text("status", earlier.map(|c| &*c.status), &wanted.status, true);
    text("reason", earlier.map(|c| &*c.reason), &wanted.reason, false);
    text("message", earlier.map(|c| &*c.message), &wanted.message, false);
    let mut time = |name: &str, before: Option<Option<Time>>, now: Option<Time>| {
        if before != Some(now) {
            change.insert(name.into(), now.map_or(Value::Null, |time| to_json(&time)));
        }
    };
    time("lastProbeTime", earlier.map(|c| c.last_probe_time), wanted.last_probe_time);
    time("lastTransitionTime", earlier.map(|c| c.last_transition_time), wanted.last_transition_time);
    number(&mut change, earlier.map_or(0, |c| c.observed_generation), wanted.observed_generation);
    let rest = earlier.map(|c| map(&c.rest)).unwrap_or_default();
    change.extend(difference(&rest, map(&wanted.rest)));
    change.insert("type".into(), wanted.r#type.as_str().into());
    change
}

fn difference(old: &Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for name in old.keys().filter(|n| !new.contains_key(*n)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        match (old.get(&name), value) {
            (Some(before), value) if *before == value => {}
            (Some(Value::Object(before)), Value::Object(after)) => {
                patch.insert(name, Value::Object(difference(before, after)));
            }
            (_, value) => drop(patch.insert(name, value)),
        }
    }
    patch
}

fn keyed(patch: &mut Map<String, Value>, name: &str, key: &str, before: Option<&Value>, list: &[Value]) {
    let old: &[Value] = before.and_then(Value::as_array).map_or(&[], Vec::as_slice);
    let empty = Map::new();
    let mut changes = vec![];
    for element in list {
        let earlier = old.iter().find(|o| o[key] == element[key]);
        if earlier == Some(element) {
            continue;
        }
        let earlier = earlier.and_then(Value::as_object).unwrap_or(&empty);
        let mut change = difference(earlier, element.as_object().cloned().unwrap_or_default());
        change.insert(key.into(), element[key].clone());
        changes.push(Value::Object(change));
    }
    for gone in old.iter().filter(|o| !list.iter().any(|n| n[key] == o[key])) {
        changes.push(json!({"$patch": "delete", key: gone[key]}));
    }
    let order: Vec<Value> = list.iter().map(|e| json!({key: e[key]})).collect();
    if !changes.is_empty() {
        patch.insert(name.into(), changes.into());
    }
    patch.insert(format!("$setElementOrder/{name}"), order.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_are_sent() {
        let mut pod: Pod = serde_json::from_value(json!({
            "metadata": {"uid": "u"}, "spec": {"containers": []},
            "status": {"phase": "Pending", "qosClass": "BestEffort", "conditions": [
                {"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": null}]}
        }))
        .unwrap();
        assert_eq!(status_patch(&pod, &pod.status.clone()), None);
        let mut wanted = pod.status.clone();
        wanted.phase = "Running".into();
        let ready = json!({"type": "Ready", "status": "False", "reason": "X", "lastProbeTime": null, "lastTransitionTime": null});
        wanted.conditions.insert(0, serde_json::from_value(ready.clone()).unwrap());
        let order = json!([{"type": "Ready"}, {"type": "PodScheduled"}]);
        let expected = json!({"metadata": {"uid": "u"}, "status": {
            "phase": "Running", "conditions": [ready], "$setElementOrder/conditions": order}});
        assert_eq!(status_patch(&pod, &wanted), Some(expected));
        pod.status = wanted.clone();
        wanted.conditions[0].reason = String::new();
        wanted.conditions[0].status = "True".into();
        let change = json!([{"type": "Ready", "status": "True", "reason": null}]);
        assert_eq!(status_patch(&pod, &wanted).unwrap()["status"]["conditions"], change);
    }
}
