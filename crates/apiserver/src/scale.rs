//! The scale subresource.

use crate::{defined, turn::Turn};
use kubestep_model::{Answer, Object, Reply, Status};
use serde_json::{Value, json};
use std::sync::Arc;

/// GET of an object's scale.
pub(crate) fn get(turn: &Turn<'_>, object: &Object) -> Reply {
    let scale = of(turn, object)?;
    Ok(Answer::Json { value: Arc::new(scale), warnings: vec![] })
}

/// The Scale of an object: wanted and present replicas, and the selector as text.
///
/// Upstream: pkg/registry/apps/deployment/storage, scaleFromDeployment and its siblings (v1.37).
pub(crate) fn of(turn: &Turn<'_>, object: &Object) -> Result<Value, Status> {
    if let Some(spoken) = &turn.spoken {
        let paths = spoken
            .subresource("scale")
            .ok_or_else(|| Status::not_found(object.kind(), &object.meta().name))?;
        return Ok(of_defined(object, paths));
    }
    let (wanted, present, selector) = match object {
        Object::Deployment(d) => (d.replicas(), d.status.replicas, d.spec.selector.as_ref()),
        Object::ReplicaSet(r) => (r.replicas(), r.status.replicas, r.spec.selector.as_ref()),
        Object::Custom(c) if matches!(c.kind.own_name(), "StatefulSet" | "ReplicationController") => {
            return Ok(of_custom(object, &c.rest));
        }
        _ => return Err(Status::no_such_resource()),
    };
    let selector = selector.and_then(|s| s.to_selector().ok()).map(|s| s.to_string()).unwrap_or_default();
    Ok(build(object, wanted.into(), present.into(), selector))
}

/// The Scale of a defined kind, by the paths that its definition names.
///
/// Upstream: apiextensions-apiserver, pkg/registry/customresource/etcd.go, scaleFromCustomResource (v1.37).
fn of_defined(object: &Object, paths: &Value) -> Value {
    let whole = object.to_value();
    let at = |name: &str| paths[name].as_str().map_or(&Value::Null, |path| defined::at(&whole, path));
    let number = |name: &str| at(name).as_i64().unwrap_or(0);
    let selector = at("labelSelectorPath").as_str().unwrap_or_default().to_owned();
    build(object, number("specReplicasPath"), number("statusReplicasPath"), selector)
}

fn of_custom(object: &Object, rest: &serde_json::Map<String, Value>) -> Value {
    let number = |part: &str| rest.get(part).and_then(|p| p["replicas"].as_i64()).unwrap_or(0);
    let selector = rest.get("spec").map(|s| s["selector"].clone()).unwrap_or_default();
    let selector = if object.kind().name() == "ReplicationController" {
        let labels: kubestep_model::Labels = serde_json::from_value(selector).unwrap_or_default();
        kubestep_model::text::Selector::from_labels(&labels).to_string()
    } else {
        let selector: kubestep_model::LabelSelector = serde_json::from_value(selector).unwrap_or_default();
        selector.to_selector().map(|s| s.to_string()).unwrap_or_default()
    };
    build(object, number("spec"), number("status"), selector)
}

fn build(object: &Object, wanted: i64, present: i64, selector: String) -> Value {
    let meta = object.meta();
    let mut scale = json!({
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "creationTimestamp": meta.creation_timestamp,
        },
        "spec": {},
        "status": {"replicas": present},
    });
    // Zero and the empty text are left out, as Go's encoder leaves them out.
    if wanted != 0 {
        scale["spec"]["replicas"] = wanted.into();
    }
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    scale
}

/// Writes wanted replicas into an object.
pub(crate) fn set_replicas(turn: &Turn<'_>, object: &mut Object, replicas: i32) -> bool {
    let paths = turn.spoken.as_ref().and_then(|s| s.subresource("scale"));
    if let (Some(paths), Object::Custom(c)) = (paths, &mut *object) {
        let path = paths["specReplicasPath"].as_str().unwrap_or_default();
        defined::put_at(&mut Arc::make_mut(c).rest, path, replicas.into());
        return true;
    }
    match object {
        Object::Deployment(d) => Arc::make_mut(d).spec.replicas = Some(replicas),
        Object::ReplicaSet(r) => Arc::make_mut(r).spec.replicas = Some(replicas),
        Object::Custom(c) => {
            if let Some(Value::Object(spec)) = Arc::make_mut(c).rest.get_mut("spec") {
                spec.insert("replicas".into(), replicas.into());
            }
        }
        _ => return false,
    }
    true
}
