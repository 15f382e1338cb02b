//! What is filled in where a manifest is silent, kind by kind.

mod pod;
mod service;
mod volume;
mod workload;

use kubestep_model::Object;
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
            let meta = &mut namespace.metadata;
            if !meta.name.is_empty() {
                meta.labels
                    .entry("kubernetes.io/metadata.name".into())
                    .or_insert_with(|| meta.name.to_string());
            }
        }
        Object::Secret(s) if s.r#type.is_empty() => Arc::make_mut(s).r#type = "Opaque".into(),
        Object::Endpoints(e) => {
            if e.subsets.iter().any(|s| s.ports.iter().any(|p| p.protocol.is_empty())) {
                let ports = Arc::make_mut(e).subsets.iter_mut().flat_map(|s| &mut s.ports);
                ports.for_each(|p| set(&mut p.protocol, "TCP"));
            }
        }
        Object::EndpointSlice(s) => {
            if s.ports.iter().any(|p| p.name.is_none() || p.protocol.is_none()) {
                for port in &mut Arc::make_mut(s).ports {
                    port.name.get_or_insert_default();
                    port.protocol.get_or_insert_with(|| "TCP".into());
                }
            }
        }
        Object::Node(n) if n.status.allocatable.is_empty() && !n.status.capacity.is_empty() => {
            let node = Arc::make_mut(n);
            node.status.allocatable = node.status.capacity.clone();
        }
        _ => {}
    }
}

/// Sets an empty text.
fn set(text: &mut String, default: &str) {
    if text.is_empty() {
        default.clone_into(text);
    }
}
