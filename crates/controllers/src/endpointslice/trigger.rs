//! Since when a change of a pod or service waited to be seen in the endpoints.
//! Upstream: staging/src/k8s.io/endpointslice/util, TriggerTimeTracker (v1.37).

use kubestep_control::Cx;
use kubestep_model::arrange::Gather;
use kubestep_model::{Labels, Pod, Service, Time};
use serde_json::{Map, Value, json};

/// The annotation that carries the time.
const ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";

fn place(namespace: &str, name: &str) -> String {
    format!("trigger/{namespace}/{name}")
}

/// The earliest of the times that are new since the last look; remembers them. The pods are sorted by name.
pub(crate) fn trigger_time(cx: &mut Cx<'_>, service: &Service, pods: &[&Pod]) -> Option<Time> {
    let place = place(&service.metadata.namespace, &service.metadata.name);
    let known = cx.recall(&place);
    let created = service.metadata.creation_timestamp.unwrap_or_default();
    let before = |value: &Value| value.as_i64().unwrap_or(i64::MIN);
    let mut earliest: Option<Time> = None;
    let mut note = |time: Time| earliest = Some(earliest.map_or(time, |e| e.min(time)));
    // What is remembered is sorted, too: the two are walked side by side.
    let mut old = known.and_then(|k| k["pods"].as_object()).into_iter().flatten().peekable();
    let (mut times, mut same) = (Vec::with_capacity(pods.len()), true);
    for pod in pods {
        let Some(time) = pod.condition("Ready").and_then(|c| c.last_transition_time) else { continue };
        let name = &*pod.metadata.name;
        while old.next_if(|(known, _)| known.as_str() < name).is_some() {
            same = false;
        }
        let last = old.next_if(|(known, _)| *known == name).map_or(i64::MIN, |(_, value)| before(value));
        if time.0 > last {
            note(time);
        }
        same &= time.0 == last;
        times.push((name, time));
    }
    same &= old.next().is_none();
    let service_before = known.map(|k| before(&k["service"]));
    if service_before.is_some_and(|before| created.0 > before) {
        note(created);
    }
    if !same || service_before != Some(created.0) {
        let pods: Map<String, Value> = times.into_iter().map(|(n, t)| (n.to_owned(), t.0.into())).gather();
        cx.remember(&place, Some(json!({ "service": created.0, "pods": pods })));
    }
    if service_before.is_none() { Some(created) } else { earliest }
}

/// Forgets a service that is gone.
pub(crate) fn forget(cx: &mut Cx<'_>, namespace: &str, name: &str) {
    let place = place(namespace, name);
    if cx.recall(&place).is_some() {
        cx.remember(&place, None);
    }
}

/// Writes the time into annotations, or takes an old one out. Upstream: addTriggerTimeAnnotation.
pub(crate) fn annotate(annotations: &mut Labels, time: Option<Time>) {
    match time {
        Some(time) => drop(annotations.insert(ANNOTATION.to_owned(), time.to_string())),
        None => drop(annotations.remove(ANNOTATION)),
    }
}
