//! Older versions of kinds: read into the version that is stored, and shown as they were asked for.
//!
//! Upstream: pkg/apis/autoscaling/v1/conversion.go (v1.37). What version 1 has no field for (other metrics, behaviour)
//! stands in annotations there; here it is kept in the store and not shown.

use kubestep_model::{Answer, Custom, Key, Kind, Object, Reply, Verb};
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

/// A stored object in an older version.
pub fn shown(object: &Object, version: Kind) -> Object {
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
