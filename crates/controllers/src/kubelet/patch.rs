//! The patch that turns the status that the API holds into the wanted one. Upstream: pkg/util/pod, PatchPodStatus.

use kubestep_model::{ContainerStatus, Pod, PodCondition, PodStatus};
use serde_json::{Map, Value, json};

/// Lists that the API merges by a key of their elements, conditions aside.
const KEYED: &[(&str, &str)] = &[("hostIPs", "ip"), ("podIPs", "ip")];

/// A strategic merge patch of the pod's status; `None` if nothing differs.
pub(super) fn status_patch(held: &Pod, wanted: &PodStatus) -> Option<Value> {
    if held.status == *wanted {
        return None;
    }
    let (old, new) = parted(&held.status, wanted);
    let old = serde_json::to_value(&old).unwrap_or_default();
    let new = serde_json::to_value(&new).unwrap_or_default();
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut status = difference(old, new);
    conditions(&mut status, &held.status.conditions, &wanted.conditions);
    if status.is_empty() {
        return None;
    }
    Some(json!({"metadata": {"uid": held.metadata.uid}, "status": status}))
}

/// Two statuses with only what differs between these, conditions aside, so that little has to be written out to be compared.
fn parted(held: &PodStatus, wanted: &PodStatus) -> (PodStatus, PodStatus) {
    let (mut old, mut new) = (PodStatus::default(), PodStatus::default());
    macro_rules! differing {
        ($($field:ident),*) => { $(if held.$field != wanted.$field {
            old.$field = held.$field.clone();
            new.$field = wanted.$field.clone();
        })* };
    }
    differing!(observed_generation, phase, message, reason, nominated_node_name, qos_class, start_time, rest);
    differing!(host_ip, host_ips, pod_ip, pod_ips);
    replaced(
        &mut old.container_statuses,
        &mut new.container_statuses,
        [&held.container_statuses, &wanted.container_statuses],
    );
    replaced(
        &mut old.init_container_statuses,
        &mut new.init_container_statuses,
        [&held.init_container_statuses, &wanted.init_container_statuses],
    );
    (old, new)
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
    let map = |c: &PodCondition| match serde_json::to_value(c) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let mut changes = vec![];
    for condition in wanted {
        let earlier = held.iter().find(|h| h.r#type == condition.r#type);
        if earlier == Some(condition) {
            continue;
        }
        let mut change = difference(&earlier.map(map).unwrap_or_default(), &map(condition));
        change.insert("type".into(), condition.r#type.as_str().into());
        changes.push(Value::Object(change));
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

/// A list that is written as a whole if it differs: what it was matters only where it is to go.
fn replaced(
    old: &mut Vec<ContainerStatus>,
    new: &mut Vec<ContainerStatus>,
    [held, wanted]: [&Vec<ContainerStatus>; 2],
) {
    if held == wanted {
        return;
    }
    new.clone_from(wanted);
    if wanted.is_empty() {
        old.push(ContainerStatus::default());
    }
}

fn difference(old: &Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for (name, value) in new {
        match (old.get(name), value) {
            (Some(before), _) if before == value => {}
            (before, Value::Array(list)) => match KEYED.iter().find(|(k, _)| k == name) {
                Some((_, key)) => keyed(&mut patch, name, key, before, list),
                None => drop(patch.insert(name.clone(), value.clone())),
            },
            (Some(Value::Object(before)), Value::Object(after)) => {
                patch.insert(name.clone(), Value::Object(difference(before, after)));
            }
            _ => drop(patch.insert(name.clone(), value.clone())),
        }
    }
    for name in old.keys().filter(|n| !new.contains_key(*n)) {
        patch.insert(name.clone(), Value::Null);
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
        let mut change = difference(earlier, element.as_object().unwrap_or(&empty));
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
