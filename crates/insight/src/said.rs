//! Who says so: the field or the event in which Kubernetes itself says that something is not as asked, and who wrote it.

use crate::writes::writes;
use kubestep_cluster::{Store, World};
use kubestep_model::{ContainerStatus, Custom, Event, Instant, Key, Kind, Object, Pod};
use serde_json::Value;
use std::sync::Arc;

/// Where Kubernetes itself says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A field of an object: path and value.
    Field(Key, String, String),
    /// An event about an object: reason, message.
    Event(Key, String, String),
    /// Nobody says it.
    Nobody,
}

/// Who wrote it, by the name under which requests are made, and when: of a field since when it has said so, of an event
/// when it last came.
pub type Writer = (Arc<str>, Instant);

const FINALIZERS: &str = "metadata.finalizers";

/// The cluster's own word about an object whose gap is open.
pub(crate) fn said(world: &World, object: &Object) -> (Said, Option<Writer>) {
    let key = object.key();
    match says(object) {
        Some((path, value)) => {
            let writer = writer(world.store(), object, &(path.clone(), value.clone()));
            (Said::Field(key, path, value), writer)
        }
        None => last_event(world, &key),
    }
}

/// Who wrote the first of the writes since which the field says the same.
fn writer(store: &Store, object: &Object, said: &(String, String)) -> Option<Writer> {
    // Finalizers say so from the deletion on, and were written when the object was.
    let same = |o: &Object| match said.0 == FINALIZERS {
        true => o.meta().finalizers.join(", ") == said.1,
        false => says(o).as_ref() == Some(said),
    };
    let since = writes(store, object).take_while(|(o, _)| same(o)).last();
    since.map(|(_, write)| (write.who.clone(), write.at))
}

/// Path and value of the field of an object that says what is wrong.
pub fn says(object: &Object) -> Option<(String, String)> {
    let meta = object.meta();
    if meta.is_terminating() && !meta.finalizers.is_empty() {
        return Some((FINALIZERS.into(), meta.finalizers.join(", ")));
    }
    match object {
        Object::Deployment(d) if d.spec.paused => Some(("spec.paused".into(), "true".into())),
        Object::Deployment(d) => {
            let bad =
                |status: &str, kind: &str| status == if kind == "ReplicaFailure" { "True" } else { "False" };
            let c = d.status.conditions.iter().find(|c| bad(&c.status, &c.r#type))?;
            Some(condition(&c.r#type, &format!("{} {}", c.status, c.reason), &c.message))
        }
        Object::ReplicaSet(s) => {
            let c = s.condition("ReplicaFailure").filter(|c| c.status == "True")?;
            Some(condition(&c.r#type, &c.reason, &c.message))
        }
        Object::Pod(pod) => of_pod(pod),
        Object::Node(n) => {
            let c = n.condition("Ready").filter(|c| c.status != "True")?;
            Some(condition(&c.r#type, &c.reason, &c.message))
        }
        Object::Namespace(ns) => {
            let held = |kind: &str| {
                ["ContentFailure", "FinalizersRemaining", "ContentRemaining"]
                    .iter()
                    .any(|e| kind.ends_with(e))
            };
            let c = ns.status.conditions.iter().rev().find(|c| c.status == "True" && held(&c.r#type))?;
            Some(condition(&c.r#type, &c.reason, &c.message))
        }
        Object::Custom(custom) => of_custom(custom),
        _ => None,
    }
}

fn condition(kind: &str, reason: &str, message: &str) -> (String, String) {
    (format!("status.conditions[{kind}]"), format!("{reason}: {message}"))
}

fn of_pod(pod: &Pod) -> Option<(String, String)> {
    let waits = |list: &'static str, statuses: &[ContainerStatus]| {
        let waiting = statuses.iter().enumerate().filter_map(|(i, s)| Some((i, s.state.waiting.as_ref()?)));
        let (i, w) = waiting.into_iter().find(|(_, w)| !w.message.is_empty())?;
        Some((format!("status.{list}[{i}].state.waiting"), format!("{}: {}", w.reason, w.message)))
    };
    let status = &pod.status;
    waits("initContainerStatuses", &status.init_container_statuses)
        .or_else(|| waits("containerStatuses", &status.container_statuses))
        .or_else(|| {
            let c = pod.condition("PodScheduled").filter(|c| c.status == "False")?;
            Some(condition(&c.r#type, &c.reason, &c.message))
        })
        .or_else(|| {
            let refused = status.phase == "Failed" && !status.message.is_empty();
            refused.then(|| ("status.message".into(), format!("{}: {}", status.reason, status.message)))
        })
}

/// The condition of a kind that is kept whole; and that a Job is suspended.
fn of_custom(custom: &Custom) -> Option<(String, String)> {
    let part = |part: &str, name: &str| custom.rest.get(part)?.get(name);
    if custom.kind.name() == "Job" && part("spec", "suspend") == Some(&Value::Bool(true)) {
        return Some(("spec.suspend".into(), "true".into()));
    }
    let bad = |c: &&Value| match (c["type"].as_str().unwrap_or_default(), c["status"] == "True") {
        ("ReplicaFailure" | "Failed" | "FailureTarget", is_true) => is_true,
        ("AbleToScale" | "ScalingActive", is_true) => !is_true,
        _ => false,
    };
    let c = part("status", "conditions")?.as_array()?.iter().find(bad)?;
    let [kind, reason, message] =
        ["type", "reason", "message"].map(|name| c[name].as_str().unwrap_or_default());
    Some(condition(kind, reason, message))
}

/// The last warning that was written about an object; of a claim whatever was said last, as nothing warns of one that
/// waits.
fn last_event(world: &World, key: &Key) -> (Said, Option<Writer>) {
    let claim = key.kind.name() == "PersistentVolumeClaim";
    let about = |e: &&Event| {
        (claim || e.r#type == "Warning")
            && e.involved_object.name == key.name
            && e.involved_object.kind == key.kind.name()
    };
    let events = world.store().list(Kind::Event, Some(&key.namespace)).filter_map(|o| o.get::<Event>());
    let time = |e: &Event| {
        let last = e.series.as_ref().and_then(|s| s.last_observed_time).or(e.event_time);
        e.last_timestamp.map(|t| t.instant()).or(last.map(|t| t.instant())).unwrap_or(Instant(0))
    };
    let Some(e) = events.filter(about).max_by_key(|e| time(e)) else { return (Said::Nobody, None) };
    let who = if e.source.component.is_empty() { &e.reporting_component } else { &e.source.component };
    // As its requests name a kubelet.
    let who = if e.source.host.is_empty() { who.clone() } else { format!("{who} {}", e.source.host) };
    (Said::Event(key.clone(), e.reason.clone(), e.message.clone()), Some((who.into(), time(e))))
}
