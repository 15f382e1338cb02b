//! Since when a change of a pod or service waited to be seen in the endpoints.
//! Upstream: staging/src/k8s.io/endpointslice/util, TriggerTimeTracker (v1.37).

use kubestep_control::Cx;
use kubestep_model::{Labels, Pod, Service, Time};
use serde_json::{Map, Value, json};

/// The annotation that carries the time.
const ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";

fn place(namespace: &str, name: &str) -> String {
    format!("trigger/{namespace}/{name}")
}

/// The earliest of the times that are new since the last look; remembers them.
pub(crate) fn trigger_time<'a>(
    cx: &mut Cx<'_>,
    service: &Service,
    pods: impl Iterator<Item = &'a Pod>,
) -> Option<Time> {
    let place = place(&service.metadata.namespace, &service.metadata.name);
    let known = cx.recall(&place).cloned();
    let created = service.metadata.creation_timestamp.unwrap_or_default();
    let before = |value: &Value| value.as_i64().unwrap_or(i64::MIN);
    let mut earliest: Option<Time> = None;
    let mut note = |time: Time| earliest = Some(earliest.map_or(time, |e| e.min(time)));
    let mut times = Map::new();
    for pod in pods {
        if let Some(time) = pod.condition("Ready").and_then(|c| c.last_transition_time) {
            let last = known.as_ref().map_or(i64::MIN, |k| before(&k["pods"][&*pod.metadata.name]));
            if time.0 > last {
                note(time);
            }
            times.insert(pod.metadata.name.to_string(), time.0.into());
        }
    }
    if known.as_ref().is_some_and(|k| created.0 > before(&k["service"])) {
        note(created);
    }
    let fresh = json!({ "service": created.0, "pods": times });
    if known.as_ref() != Some(&fresh) {
        cx.remember(&place, Some(fresh));
    }
    if known.is_none() { Some(created) } else { earliest }
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
