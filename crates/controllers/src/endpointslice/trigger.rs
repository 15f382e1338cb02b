//! Since when a change of a pod or service waited to be seen in the endpoints.
//! Upstream: staging/src/k8s.io/endpointslice/util, TriggerTimeTracker (v1.37).

use kubestep_control::Cx;
use kubestep_model::{Labels, Pod, Service, Time, text::order};
use serde_json::Value;
use std::cmp::Ordering;

/// The annotation that carries the time.
const ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// What a look at a service and its pods found.
#[derive(Debug)]
pub(crate) struct Trigger {
    /// The earliest of the times that are new since the last look.
    pub(crate) time: Option<Time>,
    /// What has to be remembered or, without a value, forgotten.
    news: Vec<(String, Option<i64>)>,
}

/// Where the service's time is remembered; behind a slash those of its pods, by their names.
fn place(namespace: &str, name: &str) -> String {
    format!("trigger/{namespace}/{name}")
}

/// The times that are new since the last look. The pods are sorted by name.
pub(crate) fn look(cx: &Cx<'_>, service: &Service, pods: &[&Pod]) -> Trigger {
    let place = place(&service.metadata.namespace, &service.metadata.name);
    let of_pods = format!("{place}/");
    let created = service.metadata.creation_timestamp.unwrap_or_default();
    let mut news = vec![];
    let mut earliest: Option<Time> = None;
    let mut note = |time: Time| earliest = Some(earliest.map_or(time, |e| e.min(time)));
    // What is remembered is sorted, too: the two are walked side by side.
    let mut old = cx.recall_under(&of_pods).peekable();
    for pod in pods {
        let Some(time) = pod.condition("Ready").and_then(|c| c.last_transition_time) else { continue };
        let name = &*pod.metadata.name;
        let mut last = None;
        while let Some((known, value)) = old.peek() {
            match order(known, name) {
                Ordering::Less => news.push((format!("{of_pods}{known}"), None)),
                Ordering::Equal => last = value.as_i64(),
                Ordering::Greater => break,
            }
            old.next();
        }
        if last.is_none_or(|last| time.0 > last) {
            note(time);
        }
        if last != Some(time.0) {
            news.push((format!("{of_pods}{name}"), Some(time.0)));
        }
    }
    news.extend(old.map(|(gone, _)| (format!("{of_pods}{gone}"), None)));
    let before = cx.recall(&place).and_then(Value::as_i64);
    if before.is_some_and(|before| created.0 > before) {
        note(created);
    }
    if before != Some(created.0) {
        news.push((place, Some(created.0)));
    }
    Trigger { time: if before.is_none() { Some(created) } else { earliest }, news }
}

/// Remembers what was found.
pub(crate) fn keep(cx: &mut Cx<'_>, trigger: &Trigger) {
    for (name, time) in &trigger.news {
        cx.remember(name, time.map(Value::from));
    }
}

/// Forgets a service that is gone.
pub(crate) fn forget(cx: &mut Cx<'_>, namespace: &str, name: &str) {
    let place = place(namespace, name);
    if cx.recall(&place).is_some() {
        forget_under(cx, &format!("{place}/"));
        cx.remember(&place, None);
    }
}

/// Forgets all names that begin like this.
pub(crate) fn forget_under(cx: &mut Cx<'_>, prefix: &str) {
    let names: Vec<String> = cx.recall_under(prefix).map(|(rest, _)| format!("{prefix}{rest}")).collect();
    names.iter().for_each(|name| cx.remember(name, None));
}

/// Writes the time into annotations, or takes an old one out. Upstream: addTriggerTimeAnnotation.
pub(crate) fn annotate(annotations: &mut Labels, time: Option<Time>) {
    match time {
        Some(time) => drop(annotations.insert(ANNOTATION.to_owned(), time.to_string())),
        None => drop(annotations.remove(ANNOTATION)),
    }
}
