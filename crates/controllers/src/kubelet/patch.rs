//! The patch that turns the status that the API holds into the wanted one. Upstream: pkg/util/pod, PatchPodStatus.

use kubestep_model::{Pod, PodStatus};
use serde_json::{Map, Value, json};

/// Lists that the API merges by a key of their elements.
const KEYED: &[(&str, &str)] = &[("conditions", "type"), ("hostIPs", "ip"), ("podIPs", "ip")];

/// A strategic merge patch of the pod's status; `None` if nothing differs.
pub(super) fn status_patch(held: &Pod, wanted: &PodStatus) -> Option<Value> {
    if held.status == *wanted {
        return None;
    }
    let (mut old, mut new) = (held.status.clone(), wanted.clone());
    // Lists are the most of it: those that are the same need not be written out to be compared.
    same_list(&mut old.conditions, &mut new.conditions);
    same_list(&mut old.container_statuses, &mut new.container_statuses);
    same_list(&mut old.init_container_statuses, &mut new.init_container_statuses);
    let old = serde_json::to_value(&old).unwrap_or_default();
    let new = serde_json::to_value(&new).unwrap_or_default();
    let (old, new) = (old.as_object()?, new.as_object()?);
    let status = difference(old, new);
    if status.is_empty() {
        return None;
    }
    Some(json!({"metadata": {"uid": held.metadata.uid}, "status": status}))
}

/// Leaves out a list that is the same in both.
fn same_list<T: PartialEq>(old: &mut Vec<T>, new: &mut Vec<T>) {
    if old == new {
        old.clear();
        new.clear();
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
