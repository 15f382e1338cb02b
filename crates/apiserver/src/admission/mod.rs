//! What is looked at between decoding and storing: what is filled in, and what the rest of the cluster forbids.
//!
//! Upstream: the default admission plugins of kube-apiserver, in their order (v1.37).

mod claim_resize;
mod default_class;
mod default_tolerations;
pub(crate) mod limit_range;
mod namespace_lifecycle;
mod pod_security;
mod priority;
pub(crate) mod quota;
mod runtime_class;
mod service_account;

use crate::turn::Turn;
use kubestep_model::{Object, Status, Taint};
use std::sync::Arc;

/// Before a new object is prepared: refuses, or fills in.
pub(crate) fn admit_new(turn: &mut Turn<'_>, object: &mut Object) -> Result<(), Status> {
    namespace_lifecycle::admit_new(turn, object)?;
    match object {
        Object::Pod(pod) => {
            let pod = Arc::make_mut(pod);
            limit_range::admit(turn, pod);
            service_account::admit(turn, pod)?;
            priority::admit(turn, pod)?;
            default_tolerations::add(&mut pod.spec.tolerations);
            runtime_class::admit(turn, pod)?;
        }
        Object::Node(node) => taint_new_node(Arc::make_mut(node)),
        Object::Custom(custom) => {
            priority::one_default(turn, custom, None)?;
            default_class::admit(turn, Arc::make_mut(custom));
        }
        _ => {}
    }
    Ok(())
}

/// Before a changed object is prepared.
pub(crate) fn admit_changed(turn: &mut Turn<'_>, new: &mut Object, old: &Object) -> Result<(), Status> {
    if let (Object::Custom(new), Object::Custom(old)) = (&*new, old) {
        priority::one_default(turn, new, Some(old))?;
    }
    if let (Object::Pod(new), Object::Pod(old)) = (&mut *new, old) {
        priority::keep(new, old);
    }
    if let (Object::Pod(new), Object::Pod(old)) = (new, old)
        && new.spec.tolerations != old.spec.tolerations
    {
        default_tolerations::add(&mut Arc::make_mut(new).spec.tolerations);
    }
    Ok(())
}

/// When a new object is ready to be stored.
pub(crate) fn review_new(turn: &mut Turn<'_>, object: &Object) -> Result<(), Status> {
    match object {
        Object::Pod(pod) => limit_range::review(turn, pod)?,
        Object::Custom(custom) => limit_range::review_claim(turn, custom)?,
        _ => {}
    }
    pod_security::review_new(turn, object)?;
    quota::review(turn, object, None)
}

/// When a changed object is ready to be stored.
pub(crate) fn review_changed(turn: &mut Turn<'_>, new: &Object, old: &Object) -> Result<(), Status> {
    if let (Object::Custom(custom), Object::Custom(old)) = (new, old) {
        limit_range::review_claim(turn, custom)?;
        claim_resize::review(turn, custom, old)?;
    }
    pod_security::review_changed(turn, new, old)?;
    quota::review(turn, new, Some(old))
}

/// Before an object is deleted.
pub(crate) fn review_deletion(_turn: &mut Turn<'_>, object: &Object) -> Result<(), Status> {
    namespace_lifecycle::review_deletion(object)
}

/// How a refusal names an object whose name is not drawn yet.
fn name_or_start(meta: &kubestep_model::ObjectMeta) -> &str {
    if meta.name.is_empty() { &meta.generate_name } else { &meta.name }
}

/// A new node takes no pods until the node controller has seen it ready.
///
/// Upstream: plugin/pkg/admission/nodetaint (v1.37).
fn taint_new_node(node: &mut kubestep_model::Node) {
    const NOT_READY: &str = "node.kubernetes.io/not-ready";
    let taints = &mut node.spec.taints;
    if !taints.iter().any(|t| t.key == NOT_READY && t.effect == "NoSchedule") {
        taints.push(Taint { key: NOT_READY.into(), effect: "NoSchedule".into(), ..Taint::default() });
    }
}
