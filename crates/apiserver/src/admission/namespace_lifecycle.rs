//! Nothing is made in a namespace that is not there or is going away; three namespaces stay for good.
//!
//! Upstream: k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle (v1.37).

use crate::turn::Turn;
use kubestep_model::{Cause, Key, Kind, Object, Status};

const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(super) fn admit_new(turn: &Turn<'_>, object: &Object) -> Result<(), Status> {
    let kind = object.kind();
    if !kind.namespaced() {
        return Ok(());
    }
    let meta = object.meta();
    let namespace = &meta.namespace;
    let key = Key { kind: Kind::Namespace, namespace: Default::default(), name: namespace.clone() };
    let Some(found) = turn.store.get(&key) else {
        return Err(Status::not_found(Kind::Namespace, namespace));
    };
    let Object::Namespace(found) = found else { return Ok(()) };
    if found.metadata.deletion_timestamp.is_none() {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut status = Status::forbidden(kind, super::name_or_start(meta), &why);
    status.causes = vec![Cause {
        reason: "NamespaceTerminating".into(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".into(),
    }];
    Err(status)
}

pub(super) fn review_deletion(object: &Object) -> Result<(), Status> {
    let Object::Namespace(namespace) = object else { return Ok(()) };
    let name = &*namespace.metadata.name;
    if IMMORTAL.contains(&name) {
        return Err(Status::forbidden(Kind::Namespace, name, "this namespace may not be deleted"));
    }
    Ok(())
}
