//! Other versions of kinds: read into the version that is stored, and shown as they were asked for.
//!
//! Upstream: pkg/apis/autoscaling/v1/conversion.go and pkg/apis/events/v1/conversion.go (v1.37). What version 1 has no field for (other metrics, behaviour)
//! stands in annotations there; here it is kept in the store and not shown.

use kubestep_model::{Answer, Custom, Key, Kind, Object, Reason, Reply, Status, Verb, kinds::rename_event};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The request with the kind that is stored, if it asks for an older version.
pub(crate) fn request(verb: &Verb) -> Option<Verb> {
    let kind = verb.kind();
    let stored = kind.stored();
    if kind == stored { None } else { Some(renamed(verb, stored)) }
}

/// The request about the same in another version.
pub(crate) fn renamed(verb: &Verb, stored: Kind) -> Verb {
    let mut verb = verb.clone();
    let rename = |key: &mut Key| key.kind = stored;
    match &mut verb {
        Verb::Get { key, .. }
        | Verb::Replace { key, .. }
        | Verb::Patch { key, .. }
        | Verb::Delete { key, .. } => {
            rename(key);
        }
        Verb::List { kind, .. } | Verb::Create { kind, .. } | Verb::DeleteCollection { kind, .. } => {
            *kind = stored
        }
        Verb::Bind { pod, .. } | Verb::Evict { pod, .. } => rename(pod),
        Verb::Token { account } => rename(account),
    }
    verb
}

/// An answer in the version that was asked for.
pub(crate) fn reply(reply: Reply, shown: &dyn Fn(&Object) -> Object) -> Reply {
    reply.map(|answer| match answer {
        Answer::Object { object, warnings } => Answer::Object { object: shown(&object), warnings },
        Answer::List { items, revision } => {
            Answer::List { items: items.iter().map(shown).collect(), revision }
        }
        Answer::Chunk { items, revision, next, remaining } => {
            Answer::Chunk { items: items.iter().map(shown).collect(), revision, next, remaining }
        }
        json @ Answer::Json { .. } => json,
    })
}

/// A refusal in the words of the group that was asked: it is about the resource of the request's path, but what is
/// wrong with an object is told by its kind in the core group.
pub(crate) fn status(mut status: Status, version: Kind) -> Status {
    if version.is_newer_event() && status.reason != Reason::Invalid {
        let (stored, asked) = (version.stored().qualified(), version.qualified());
        if let Some(about) = status.about.as_mut().filter(|about| about.0.is_empty() && about.1 == stored) {
            about.0 = version.group().into();
            status.message = status.message.replacen(&format!("{stored} "), &format!("{asked} "), 1);
        }
    }
    status
}

/// An event with the names of the newer group.
fn newer_event(object: &Object, version: Kind) -> Object {
    let Value::Object(mut rest) = object.to_value() else { return object.clone() };
    for name in ["apiVersion", "kind", "metadata"] {
        rest.remove(name);
    }
    rename_event(&mut rest, true);
    let mut newer = Custom { kind: version, metadata: object.meta().clone(), rest };
    crate::decode::complete(&mut newer);
    Object::Custom(Arc::new(newer))
}

/// A stored object in another version.
pub fn shown(object: &Object, version: Kind) -> Object {
    if version.is_newer_event() && object.kind() == Kind::Event {
        return newer_event(object, version);
    }
    let Object::Custom(custom) = object else { return object.clone() };
    if custom.kind == version || custom.kind != version.stored() {
        return object.clone();
    }
    let mut older = Custom { kind: version, metadata: custom.metadata.clone(), rest: older(&custom.rest) };
    crate::decode::complete(&mut older);
    Object::Custom(Arc::new(older))
}

/// The value that is stored for a value of an older version.
pub(crate) fn stored(value: Value, version: Kind) -> Value {
    let Value::Object(mut map) = value else { return value };
    map.insert("apiVersion".into(), version.stored().api_version().into());
    if version.is_newer_event() {
        rename_event(&mut map, false);
        return Value::Object(map);
    }
    if let Some(Value::Object(spec)) = map.get_mut("spec")
        && let Some(percent) = spec.remove("targetCPUUtilizationPercentage").filter(|p| !p.is_null())
    {
        let target = json!({"type": "Utilization", "averageUtilization": percent});
        spec.insert(
            "metrics".into(),
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]),
        );
    }
    if let Some(Value::Object(status)) = map.get_mut("status")
        && let Some(percent) = status.remove("currentCPUUtilizationPercentage").filter(|p| !p.is_null())
    {
        let current = json!({"averageUtilization": percent, "averageValue": "0"});
        let metric = json!([{"type": "Resource", "resource": {"name": "cpu", "current": current}}]);
        status.insert("currentMetrics".into(), metric);
    }
    Value::Object(map)
}

fn older(rest: &Map<String, Value>) -> Map<String, Value> {
    let mut rest = rest.clone();
    let percent = |metrics: Option<Value>, part: &str| -> Option<Value> {
        let metrics = metrics?;
        let cpu = metrics.as_array()?.iter().find(|m| m["resource"]["name"] == "cpu")?;
        Some(cpu["resource"][part]["averageUtilization"].clone()).filter(|p| !p.is_null())
    };
    if let Some(Value::Object(spec)) = rest.get_mut("spec") {
        spec.remove("behavior");
        if let Some(percent) = percent(spec.remove("metrics"), "target") {
            spec.insert("targetCPUUtilizationPercentage".into(), percent);
        }
    }
    if let Some(Value::Object(status)) = rest.get_mut("status") {
        status.remove("conditions");
        if let Some(percent) = percent(status.remove("currentMetrics"), "current") {
            status.insert("currentCPUUtilizationPercentage".into(), percent);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_two_sets_of_names() {
        let newer = Kind::of_manifest("events.k8s.io/v1", "Event").expect("served");
        let body = json!({"apiVersion": "events.k8s.io/v1", "metadata": {"name": "e"}, "note": "hello",
            "regarding": {"kind": "Pod", "name": "p"}, "reportingController": "a.b/c", "deprecatedCount": 2});
        let value = stored(body, newer);
        assert_eq!((&value["message"], &value["involvedObject"]["name"]), (&json!("hello"), &json!("p")));
        let object = Object::from_value(newer.stored(), value).expect("an object");
        assert_eq!(object.kind(), Kind::Event);
        let back = shown(&object, newer).to_value();
        assert_eq!((&back["apiVersion"], &back["note"]), (&json!("events.k8s.io/v1"), &json!("hello")));
        assert_eq!((&back["deprecatedCount"], &back["message"]), (&json!(2), &Value::Null));
        let missing = status(Status::not_found(Kind::Event, "e"), newer);
        assert_eq!(missing.message, "events.events.k8s.io \"e\" not found");
    }

    #[test]
    fn a_target_of_version_1_is_a_metric_and_back() {
        let v1 = Kind::of_manifest("autoscaling/v1", "HorizontalPodAutoscaler").expect("served");
        let body = json!({"apiVersion": "autoscaling/v1", "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 60}});
        let value = stored(body, v1);
        assert_eq!(value["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"], 60);
        let object = Object::from_value(v1.stored(), value).expect("an object");
        let back = shown(&object, v1).to_value();
        assert_eq!(
            (&back["apiVersion"], &back["spec"]["targetCPUUtilizationPercentage"]),
            (&json!("autoscaling/v1"), &json!(60))
        );
    }
}
