//! Event objects from the lines in which a recording keeps events.

use crate::{past::Past, text::absolute};
use kubestep_model::{Kind, Object};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

impl Past {
    /// Event objects, as they were after each time that one was written. Their names, which the recordings leave out,
    /// are made of the object's and the time of the first, as upstream makes them.
    pub(crate) fn read_events(&mut self, recording: &Value) {
        let mut known: BTreeMap<String, (String, f64)> = BTreeMap::new();
        for event in recording["events"].as_array().expect("there are events") {
            let text = |field: &str| event[field].as_str().unwrap_or_default();
            let at = event["at"].as_f64().unwrap_or_default();
            let message = text("message");
            let combined = message.starts_with("(combined from similar events)");
            let shown = if combined { "" } else { message };
            let id = format!(
                "{}|{}|{}|{}|{shown}|{combined}",
                text("regarding"),
                text("reason"),
                text("from"),
                text("namespace")
            );
            let count = event["count"].as_i64().unwrap_or(1);
            let (kind, about) = text("regarding").split_once('/').unwrap_or_default();
            let fresh = count <= 1 && !combined;
            if fresh || !known.contains_key(&id) {
                let nanos = (at * 1e9) as i64;
                known.insert(id.clone(), (format!("{about}.{nanos:016x}{:04x}", known.len()), at));
            }
            let (name, first) = known[&id].clone();
            let subject = self.find_at(kind, text("namespace"), about, at + 0.1);
            let meta = subject.as_deref().map(Object::meta);
            let uid = meta.map(|m| m.uid.to_string()).unwrap_or_default();
            let namespace = if text("namespace").is_empty() { "default" } else { text("namespace") };
            let of_node = matches!(kind, "Node");
            let container = container(subject.as_deref(), text("reason"), text("from"), message);
            let scheduler = text("from") == "default-scheduler";
            let time = |t: f64| Value::String(format!("T+{:.1}s", t.floor()));
            let mut object = json!({
                "apiVersion": "v1", "kind": "Event",
                "metadata": {"name": name, "namespace": namespace, "creationTimestamp": time(first), "uid": format!("event-{name}")},
                "involvedObject": {
                    "kind": kind, "name": about,
                    "namespace": if of_node { "" } else { namespace },
                    // Before it is registered, the kubelet does not know its node's uid.
                    "uid": if of_node && matches!(text("reason"), "Starting" | "NodeHasSufficientMemory" | "NodeHasNoDiskPressure" | "NodeHasSufficientPID") { String::new() } else { uid },
                    "fieldPath": container,
                },
                "reason": text("reason"), "message": message, "type": text("type"), "count": count,
                "source": {"component": text("from")},
                "firstTimestamp": time(first), "lastTimestamp": time(at),
            });
            if scheduler {
                object["eventTime"] = Value::String(format!("T+{first:.6}s"));
                object["reportingComponent"] = object["source"]["component"].clone();
                object["source"] = json!({});
                object["firstTimestamp"] = Value::Null;
                object["lastTimestamp"] = Value::Null;
                object["count"] = json!(0);
                if count > 1 {
                    object["series"] = json!({"count": count, "lastObservedTime": format!("T+{at:.6}s")});
                }
            }
            let value = Object::from_value(Kind::Event, absolute(&object)).expect("an event can be read");
            self.events.push((at, ("Event".into(), namespace.into(), name), Arc::new(value)));
        }
    }
}

/// The field path of a kubelet's event about a container, which the recordings leave out.
fn container(about: Option<&Object>, reason: &str, from: &str, message: &str) -> String {
    let of_container = matches!(
        reason,
        "Pulling" | "Pulled" | "Created" | "Started" | "Killing" | "Failed" | "BackOff" | "Unhealthy"
    );
    let Some(Object::Pod(pod)) = about else { return String::new() };
    if !from.starts_with("kubelet") || !of_container {
        return String::new();
    }
    let named = pod.spec.containers.iter().find(|c| message.contains(&format!("container {}", c.name)));
    let by_image = pod
        .spec
        .containers
        .iter()
        .find(|c| !c.image.is_empty() && message.contains(&format!("\"{}\"", c.image)));
    let container = named.or(by_image).or(pod.spec.containers.first());
    container.map(|c| format!("spec.containers{{{}}}", c.name)).unwrap_or_default()
}
