//! Patches of a pod's status as kubelets and the scheduler send them, without taking the pod apart into JSON.
//!
//! Thousands of these are served while a world settles. Anything out of the ordinary is left to the general way,
//! whose result this has to equal.

use kubestep_model::{Pod, PodCondition, PodIp, PodStatus, Time};
use serde_json::{Map, Value};

const ORDER: &str = "$setElementOrder/";

/// The pod with the patch in it; none if the patch is not of the plain kind.
pub(crate) fn apply(pod: &Pod, patch: &Value) -> Option<Pod> {
    let patch = patch.as_object()?;
    for (part, value) in patch {
        match part.as_str() {
            "metadata" => {
                let uid_only = value
                    .as_object()?
                    .iter()
                    .all(|(k, v)| k == "uid" && v.as_str() == Some(&pod.metadata.uid));
                uid_only.then_some(())?;
            }
            "status" => {}
            _ => return None,
        }
    }
    let status = status(&pod.status, patch.get("status")?.as_object()?)?;
    Some(Pod { metadata: pod.metadata.clone(), spec: pod.spec.clone(), status, rest: pod.rest.clone() })
}

fn status(old: &PodStatus, patch: &Map<String, Value>) -> Option<PodStatus> {
    let mut new = old.clone();
    for (field, value) in patch {
        match field.as_str() {
            "phase" => new.phase = text(value)?.into(),
            "reason" => new.reason = text(value)?.into(),
            "message" => new.message = text(value)?.into(),
            "qosClass" => new.qos_class = text(value)?.into(),
            "nominatedNodeName" => new.nominated_node_name = text(value)?.into(),
            "hostIP" => new.host_ip = text(value)?.into(),
            "podIP" => new.pod_ip = text(value)?.into(),
            "observedGeneration" => new.observed_generation = number(value)?,
            "startTime" => new.start_time = time(value)?,
            "conditions" => {
                let order = patch.get("$setElementOrder/conditions")?;
                new.conditions = conditions(&old.conditions, value.as_array()?, order.as_array()?)?;
            }
            "podIPs" => new.pod_ips = addresses(&old.pod_ips, value, patch.get("$setElementOrder/podIPs"))?,
            "hostIPs" => {
                new.host_ips = addresses(&old.host_ips, value, patch.get("$setElementOrder/hostIPs"))?
            }
            "containerStatuses" => new.container_statuses = list(value)?,
            "initContainerStatuses" => new.init_container_statuses = list(value)?,
            // What the pod has and asks for as a whole: a map where there was none is as it is sent.
            "resources" | "allocatedResources" if !old.rest.contains_key(field) && is_plain(value) => {
                new.rest.insert(field.clone(), value.clone());
            }
            other if other.starts_with(ORDER) && patch.contains_key(&other[ORDER.len()..]) => {}
            _ => return None,
        }
    }
    Some(new)
}

/// Whether this is a map of texts, or of maps of texts, without directives.
fn is_plain(value: &Value) -> bool {
    let all = |value: &Value, plain: fn(&Value) -> bool| {
        value.as_object().is_some_and(|map| map.iter().all(|(k, v)| !k.starts_with('$') && plain(v)))
    };
    value.as_object().is_some_and(|map| {
        map.iter().all(|(k, v)| !k.starts_with('$') && (v.is_string() || all(v, Value::is_string)))
    })
}

/// A text; null takes it away.
fn text(value: &Value) -> Option<&str> {
    if value.is_null() { Some("") } else { value.as_str() }
}

fn number(value: &Value) -> Option<i64> {
    if value.is_null() { Some(0) } else { value.as_i64() }
}

fn time(value: &Value) -> Option<Option<Time>> {
    if value.is_null() { Some(None) } else { Time::parse(value.as_str()?).map(Some) }
}

/// A list that is replaced as a whole.
fn list<T: serde::de::DeserializeOwned>(value: &Value) -> Option<Vec<T>> {
    let items = value.as_array()?;
    items.iter().map(|item| T::deserialize(item).ok()).collect()
}

/// Conditions are told apart by their type and put into the order that the patch gives.
fn conditions(old: &[PodCondition], changes: &[Value], order: &[Value]) -> Option<Vec<PodCondition>> {
    let mut all = old.to_vec();
    for change in changes {
        let change = change.as_object()?;
        let name = change.get("type")?.as_str()?;
        if let Some(directive) = change.get("$patch") {
            (directive.as_str() == Some("delete")).then_some(())?;
            all.retain(|c| c.r#type != name);
            continue;
        }
        let fresh = PodCondition { r#type: name.into(), ..PodCondition::default() };
        let index = all.iter().position(|c| c.r#type == name).unwrap_or_else(|| {
            all.push(fresh);
            all.len() - 1
        });
        condition(&mut all[index], change)?;
    }
    let mut sorted = Vec::with_capacity(all.len());
    for item in order {
        let name = item.get("type")?.as_str()?;
        let index = all.iter().position(|c| c.r#type == name)?;
        sorted.push(all.swap_remove(index));
    }
    // What the patch does not know of has a place of its own, which the general way finds.
    all.is_empty().then_some(sorted)
}

fn condition(condition: &mut PodCondition, change: &Map<String, Value>) -> Option<()> {
    for (field, value) in change {
        match field.as_str() {
            "type" => {}
            "status" => condition.status = text(value)?.into(),
            "reason" => condition.reason = text(value)?.into(),
            "message" => condition.message = text(value)?.into(),
            "lastProbeTime" => condition.last_probe_time = time(value)?,
            "lastTransitionTime" => condition.last_transition_time = time(value)?,
            "observedGeneration" => condition.observed_generation = number(value)?,
            _ => return None,
        }
    }
    Some(())
}

/// Addresses are their own key: those that the order names stay or come.
fn addresses(old: &[PodIp], value: &Value, order: Option<&Value>) -> Option<Vec<PodIp>> {
    let named = |list: &Value| -> Option<Vec<String>> {
        list.as_array()?
            .iter()
            .map(|item| {
                let map = item.as_object()?;
                (map.len() == 1).then_some(())?;
                Some(map.get("ip")?.as_str()?.to_owned())
            })
            .collect()
    };
    let added = named(value)?;
    let Some(order) = order else {
        // Without an order new addresses follow the old ones.
        let fresh = added.iter().filter(|ip| !old.iter().any(|o| *o.ip == ***ip));
        let fresh = fresh.map(|ip| PodIp { ip: ip.as_str().into(), ..PodIp::default() });
        return Some(old.iter().cloned().chain(fresh).collect());
    };
    let order = named(order)?;
    old.iter().all(|o| order.iter().any(|ip| *o.ip == **ip)).then_some(())?;
    added.iter().all(|ip| order.contains(ip)).then_some(())?;
    let find = |ip: &String| old.iter().find(|o| *o.ip == **ip).cloned();
    Some(
        order
            .iter()
            .map(|ip| find(ip).unwrap_or_else(|| PodIp { ip: ip.as_str().into(), ..PodIp::default() }))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patching::general_status_patch;
    use kubestep_model::PatchKind;
    use serde_json::json;

    fn pod() -> Pod {
        let mut pod = Pod::default();
        pod.metadata.uid = "u".into();
        pod.metadata.name = "p".into();
        pod.status = serde_json::from_value(json!({
            "phase": "Pending", "message": "m", "hostIPs": [{"ip": "172.18.0.3"}],
            "conditions": [
                {"type": "Initialized", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "PodScheduled", "status": "True", "reason": "R", "lastProbeTime": null, "lastTransitionTime": null},
            ],
            "containerStatuses": [{"name": "c", "state": {}, "lastState": {}, "ready": false, "restartCount": 0, "image": "", "imageID": ""}],
        })).expect("a status");
        pod
    }

    #[test]
    fn equals_the_general_way() {
        let order = |names: &[&str]| -> Value { names.iter().map(|n| json!({"type": n})).collect() };
        for (patch, plain) in [
            (
                json!({"metadata": {"uid": "u"}, "status": {"phase": "Running", "message": null, "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "startTime": "2026-01-01T00:00:01Z"}}),
                true,
            ),
            (
                json!({"status": {"conditions": [{"type": "Ready", "status": "False", "lastProbeTime": null, "observedGeneration": 1}, {"type": "PodScheduled", "reason": null, "status": "False"}], "$setElementOrder/conditions": order(&["Ready", "Initialized", "PodScheduled"])}}),
                true,
            ),
            (
                json!({"status": {"conditions": [{"type": "Initialized", "$patch": "delete"}], "$setElementOrder/conditions": order(&["PodScheduled"])}}),
                true,
            ),
            (
                json!({"status": {"containerStatuses": [{"name": "c", "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}, "lastState": {}, "ready": true, "restartCount": 2, "image": "i", "imageID": "x"}]}}),
                true,
            ),
            (
                json!({"status": {"hostIPs": [{"ip": "172.18.0.4"}], "$setElementOrder/hostIPs": [{"ip": "172.18.0.3"}, {"ip": "172.18.0.4"}]}}),
                true,
            ),
            (json!({"status": {"resources": {}, "podIP": "10.0.0.1"}}), true),
            (
                json!({"status": {"resources": {"limits": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}}),
                true,
            ),
            (json!({"status": {"resources": {"limits": null}}}), false),
            (json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}), false),
            (
                json!({"status": {"conditions": [{"type": "Ready", "status": "False"}], "$setElementOrder/conditions": order(&["Ready"])}}),
                false,
            ),
            (json!({"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Failed"}}), false),
            (json!({"status": {"resize": "Proposed"}}), false),
        ] {
            let ours = apply(&pod(), &patch);
            assert_eq!(ours.is_some(), plain, "{patch}");
            if let Some(ours) = ours {
                let general = general_status_patch(&pod(), PatchKind::Strategic, &patch);
                assert_eq!(Ok(ours), general, "{patch}");
            }
        }
    }
}
