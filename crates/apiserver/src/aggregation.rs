//! Whether what an APIService stands for is there: said in its status, as the aggregator says it.
//!
//! Upstream: kube-aggregator/pkg/controllers/status, remote and local (v1.37). There it is a loop, which also sees when the
//! Service changes; here it is looked at right behind each write of an APIService.

use crate::turn::Turn;
use kubestep_model::{Custom, Key, Kind, Object, Service};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const API_SERVICE: Kind = Kind::other("apiregistration.k8s.io", "APIService");

/// Gives every APIService the condition that it should have.
pub(crate) fn settle(turn: &mut Turn<'_>) {
    let all: Vec<Object> = turn.store.list(API_SERVICE, None).cloned().collect();
    for object in all {
        let Object::Custom(there) = &object else { continue };
        if there.metadata.is_terminating() {
            continue;
        }
        let (status, reason, message) = state(turn, there);
        let mut fresh = (**there).clone();
        let Value::Object(of) = fresh.rest.entry("status").or_insert_with(|| json!({})) else { continue };
        let conditions = of.entry("conditions").or_insert_with(|| json!([]));
        if put(conditions, &json!(turn.now.to_time()), (status, reason, &message)) {
            turn.put_own(Object::Custom(Arc::new(fresh)), "update", "status", 200);
        }
    }
}

/// Puts the condition in; answers whether that changed anything.
fn put(conditions: &mut Value, now: &Value, (status, reason, message): (&str, &str, &str)) -> bool {
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else { return false };
    let there = conditions.iter().position(|c| c["type"] == "Available");
    let same = |c: &Value| c["status"] == status && c["reason"] == reason && c["message"] == message;
    if there.is_some_and(|i| same(&conditions[i])) {
        return false;
    }
    let since = there
        .map(|i| &conditions[i])
        .filter(|c| c["status"] == status)
        .map(|c| c["lastTransitionTime"].clone());
    let fresh = json!({"type": "Available", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since.unwrap_or_else(|| now.clone())});
    match there {
        Some(i) => conditions[i] = fresh,
        None => conditions.push(fresh),
    }
    true
}

fn state(turn: &Turn<'_>, object: &Custom) -> (&'static str, &'static str, String) {
    let spec = object.rest.get("spec").unwrap_or(&Value::Null);
    let service = &spec["service"];
    if service.is_null() {
        return ("True", "Local", "Local APIServices are always available".into());
    }
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let there = turn.store.get(&Key::new(Kind::Service, namespace, name)).and_then(|o| o.get::<Service>());
    let Some(there) = there else {
        return ("False", "ServiceNotFound", format!("service/{name} in \"{namespace}\" is not present"));
    };
    let port = service["port"].as_i64().unwrap_or(443);
    let listens = there.spec.ports.iter().any(|p| i64::from(p.port) == port);
    if there.spec.r#type != "ExternalName" && !listens {
        let why = format!("service/{name} in \"{namespace}\" is not listening on port {port}");
        return ("False", "ServicePortError", why);
    }
    // There is no network over which anything could answer.
    let part = |field: &str| spec[field].as_str().unwrap_or_default();
    let host = format!("{}:{port}", there.spec.cluster_ip);
    let url = format!("https://{host}/apis/{}/{}", part("group"), part("version"));
    let why = format!(
        "failing or missing response from {url}: Get \"{url}\": dial tcp {host}: connect: connection refused"
    );
    ("False", "FailedDiscoveryCheck", why)
}
