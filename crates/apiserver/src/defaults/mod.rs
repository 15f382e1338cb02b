//! What is filled in where a manifest is silent, kind by kind.

mod custom;
mod extension;
mod pod;
mod service;
mod volume;
mod workload;

use crate::base64;
use kubestep_model::{Object, Secret};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Fills in the defaults of an object's kind.
pub(crate) fn apply(object: &mut Object) {
    match object {
        Object::Pod(p) => pod::pod(Arc::make_mut(p)),
        Object::Deployment(d) => workload::deployment(Arc::make_mut(d)),
        Object::ReplicaSet(r) => workload::replica_set(Arc::make_mut(r)),
        Object::Service(s) => service::service(Arc::make_mut(s)),
        Object::Namespace(n) => {
            let namespace = Arc::make_mut(n);
            let name = namespace.metadata.name.to_string();
            if !name.is_empty() {
                namespace.metadata.labels.insert("kubernetes.io/metadata.name".into(), name);
            }
            set(&mut namespace.status.phase, "Active");
        }
        Object::Secret(s) => secret(Arc::make_mut(s)),
        Object::ConfigMap(m) if !m.binary_data.is_empty() => {
            Arc::make_mut(m).binary_data.values_mut().for_each(encode_anew);
        }
        Object::Endpoints(e) if e.subsets.iter().any(|s| s.ports.iter().any(|p| p.protocol.is_empty())) => {
            let ports = Arc::make_mut(e).subsets.iter_mut().flat_map(|s| &mut s.ports);
            ports.for_each(|p| set(&mut p.protocol, "TCP"));
        }
        Object::EndpointSlice(s) if s.ports.iter().any(|p| p.name.is_none() || p.protocol.is_none()) => {
            for port in &mut Arc::make_mut(s).ports {
                port.name.get_or_insert_default();
                port.protocol.get_or_insert_with(|| "TCP".into());
            }
        }
        Object::Node(n) if n.spec.pod_cidrs.is_empty() && !n.spec.pod_cidr.is_empty() => {
            let node = Arc::make_mut(n);
            node.spec.pod_cidrs = vec![node.spec.pod_cidr.clone()];
        }
        Object::Node(n) if n.spec.pod_cidrs.first().is_some_and(|first| *first != n.spec.pod_cidr) => {
            let node = Arc::make_mut(n);
            if node.spec.pod_cidr.is_empty() {
                node.spec.pod_cidr.clone_from(&node.spec.pod_cidrs[0]);
            } else {
                node.spec.pod_cidrs = vec![node.spec.pod_cidr.clone()];
            }
        }
        Object::Node(n) if n.status.allocatable.is_empty() && !n.status.capacity.is_empty() => {
            let node = Arc::make_mut(n);
            node.status.allocatable = node.status.capacity.clone();
        }
        Object::Custom(c) => custom::custom(Arc::make_mut(c)),
        _ => {}
    }
}

/// `stringData` is written as `data`, and never kept.
fn secret(secret: &mut Secret) {
    set(&mut secret.r#type, "Opaque");
    for (key, text) in std::mem::take(&mut secret.string_data) {
        secret.data.insert(key, base64::encode(text.as_bytes()));
    }
    secret.data.values_mut().for_each(encode_anew);
}

/// Bytes are kept as bytes: line breaks in their writing are lost.
fn encode_anew(text: &mut String) {
    if let Ok(bytes) = base64::decode(text) {
        *text = base64::encode(&bytes);
    }
}

/// Sets a field that is not there.
fn fill(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let there = fields.entry(name).or_insert(Value::Null);
    if there.is_null() {
        *there = value;
    }
}

/// Sets an empty text.
fn set(text: &mut String, default: &str) {
    if text.is_empty() {
        default.clone_into(text);
    }
}
