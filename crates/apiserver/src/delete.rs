//! Delete: with grace, with finalizers, with dependents; and the deletion of a whole collection.
//!
//! Upstream: k8s.io/apiserver/pkg/registry/generic/registry, Store.Delete, and registry/rest, BeforeDelete (v1.37).

use crate::{admission, defined, ip_allocation, read, refuse, turn::Turn};
use kubestep_model::{
    Answer, DeleteOptions, Key, Kind, NamespaceStatus, Object, Pod, Propagation, Reply, Status,
    defined::DEFINITION,
    text::{FieldSelector, Selector},
};
use serde_json::json;
use std::sync::Arc;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// DELETE of one object.
pub(crate) fn delete(turn: &mut Turn<'_>, key: &Key, options: &DeleteOptions) -> Reply {
    let object = turn.find(key)?;
    admission::review_deletion(turn, &object)?;
    delete_object(turn, object, options)
}

/// DELETE of all objects that match.
pub(crate) fn collection(
    turn: &mut Turn<'_>,
    kind: Kind,
    namespace: &str,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
    options: &DeleteOptions,
) -> Reply {
    let namespace = Some(namespace).filter(|n| !n.is_empty());
    let objects = read::select(turn, kind, namespace, labels, fields)?;
    for object in &objects {
        delete_object(turn, object.clone(), options)?;
    }
    Ok(Answer::List { items: objects, revision: turn.store.revision() })
}

/// Deletes an object because the API server itself wants it gone: it is marked if finalizers hold it.
pub(crate) fn on_its_own(turn: &mut Turn<'_>, object: Object, options: &DeleteOptions) {
    let mut marked = object.clone();
    set_dependents_finalizer(&mut marked, options);
    if marked.meta().finalizers.is_empty() {
        turn.remove_own(&object);
        return;
    }
    mark_deleting(turn, &mut marked);
    if marked != object {
        turn.put_own(marked, "delete", "", 200);
    }
}

/// What a delete does to an object before it goes.
enum Step {
    /// It goes at once.
    Now,
    /// It is marked and waits, or goes right after the mark.
    Marked { grace: i64 },
    /// Its deletion is under way and nothing changes.
    Pending,
}

pub(crate) fn delete_object(turn: &mut Turn<'_>, object: Object, options: &DeleteOptions) -> Reply {
    check_preconditions(&object, options)?;
    if let (Object::Custom(custom), None) = (&object, object.meta().deletion_timestamp)
        && custom.kind == DEFINITION
    {
        let mut marked = (**custom).clone();
        defined::mark(turn, &mut marked);
        crate::decode::complete(&mut marked);
        let marked = turn.put(Object::Custom(Arc::new(marked)));
        return Ok(turn.show(marked));
    }
    if let Object::Namespace(_) = &object {
        return delete_namespace(turn, object, options);
    }
    let mut marked = object.clone();
    let step = mark_graceful(turn, &mut marked, options);
    if matches!(step, Step::Pending) {
        return Ok(turn.show(object));
    }
    set_dependents_finalizer(&mut marked, options);
    let held = !marked.meta().finalizers.is_empty();
    let graceful = if let Step::Marked { grace } = step { Some(grace) } else { None };
    if graceful.is_none() && held {
        mark_deleting(turn, &mut marked);
    }
    let changed = marked != object;
    let marked = if changed && (graceful.is_some() || held) { turn.put(marked) } else { marked };
    if held || graceful.is_some_and(|grace| grace > 0) {
        return Ok(turn.show(marked));
    }
    let gone = remove(turn, &marked);
    if graceful.is_some() {
        return Ok(turn.show(gone));
    }
    Ok(Answer::Json { value: Arc::new(success(&gone)), warnings: std::mem::take(&mut turn.warnings) })
}

/// The answer to a delete that left nothing: a Status that says what is gone.
fn success(gone: &Object) -> serde_json::Value {
    let meta = gone.meta();
    let mut details = json!({"name": meta.name, "kind": gone.kind().resource(), "uid": meta.uid});
    if !gone.kind().group().is_empty() {
        details["group"] = gone.kind().group().into();
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

fn check_preconditions(object: &Object, options: &DeleteOptions) -> Result<(), Status> {
    let meta = object.meta();
    let (kind, name) = (object.kind(), &*meta.name);
    if let Some(uid) = options.uid.as_deref().filter(|uid| **uid != *meta.uid) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            meta.uid
        );
        return Err(refuse::delete_precondition(kind, name, &why));
    }
    if let Some(version) = options.resource_version.as_deref().filter(|v| **v != *meta.resource_version) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
            meta.resource_version
        );
        return Err(refuse::delete_precondition(kind, name, &why));
    }
    Ok(())
}

/// Marks a pod with the time it is granted; other kinds know no grace.
fn mark_graceful(turn: &Turn<'_>, object: &mut Object, options: &DeleteOptions) -> Step {
    let Object::Pod(pod) = object else { return Step::Now };
    let asked = options.grace_period_seconds.map(|s| if s < 0 { 1 } else { s });
    let pod = Arc::make_mut(pod);
    let grace = granted(pod, asked);
    let meta = &mut pod.metadata;
    if let Some(until) = meta.deletion_timestamp {
        // Under way already: only a shorter time changes anything.
        let Some(before) = meta.deletion_grace_period_seconds else { return Step::Now };
        let Some(asked) = asked.filter(|asked| *asked < before) else { return Step::Pending };
        // Counted from the first request, but never a time that is over.
        let end = kubestep_model::Time(until.0.saturating_sub(before).saturating_add(asked));
        meta.deletion_timestamp = Some(end.max(turn.now.to_time()));
        meta.deletion_grace_period_seconds = Some(asked);
        return Step::Marked { grace: asked };
    }
    let end = turn.now + std::time::Duration::from_secs(u64::try_from(grace).unwrap_or(0));
    meta.deletion_timestamp = Some(end.to_time());
    meta.deletion_grace_period_seconds = Some(grace);
    if meta.generation > 0 {
        meta.generation += 1;
    }
    Step::Marked { grace }
}

/// How long a pod may take: as asked, else as its spec says; none if it is on no node or has ended.
///
/// Upstream: pkg/registry/core/pod, CheckGracefulDelete (v1.37).
fn granted(pod: &Pod, asked: Option<i64>) -> i64 {
    if pod.spec.node_name.is_empty() || pod.is_terminal() {
        return 0;
    }
    let grace = asked.or(pod.spec.termination_grace_period_seconds).unwrap_or(0);
    if grace < 0 { 1 } else { grace }
}

/// Marks an object that finalizers hold.
fn mark_deleting(turn: &Turn<'_>, object: &mut Object) {
    let now = turn.now.to_time();
    let meta = object.meta_mut();
    if meta.deletion_timestamp.is_none() && meta.generation > 0 {
        meta.generation += 1;
    }
    if meta.deletion_timestamp.is_none_or(|t| t > now) {
        meta.deletion_timestamp = Some(now);
    }
    meta.deletion_grace_period_seconds = Some(0);
}

/// Puts or takes the finalizers by which the garbage collector treats dependents as asked.
fn set_dependents_finalizer(object: &mut Object, options: &DeleteOptions) {
    if object.kind() == Kind::Event {
        return;
    }
    let there = |name: &str| object.meta().finalizers.iter().any(|f| f == name);
    let (orphan, foreground) = match options.propagation {
        Some(Propagation::Orphan) => (true, false),
        Some(Propagation::Foreground) => (false, true),
        Some(Propagation::Background) => (false, false),
        None => {
            let orphan = there(ORPHAN) || (orphans_by_default(object.kind()) && !there(FOREGROUND));
            (orphan, there(FOREGROUND))
        }
    };
    if orphan == there(ORPHAN) && foreground == there(FOREGROUND) {
        return;
    }
    let finalizers = &mut object.meta_mut().finalizers;
    finalizers.retain(|f| f != ORPHAN && f != FOREGROUND);
    if orphan {
        finalizers.push(ORPHAN.into());
    }
    if foreground {
        finalizers.push(FOREGROUND.into());
    }
}

/// Old kinds leave their dependents if nothing else is asked.
fn orphans_by_default(kind: Kind) -> bool {
    matches!(kind.own_name(), "ReplicationController" | "Job")
}

/// A namespace turns Terminating first; it goes when its finalizers have gone.
///
/// Upstream: pkg/registry/core/namespace/storage (v1.37).
fn delete_namespace(turn: &mut Turn<'_>, object: Object, _options: &DeleteOptions) -> Reply {
    let Object::Namespace(namespace) = &object else { return Err(Status::no_such_resource()) };
    if namespace.metadata.deletion_timestamp.is_none() {
        let mut namespace = (**namespace).clone();
        namespace.metadata.deletion_timestamp = Some(turn.now.to_time());
        namespace.status = NamespaceStatus { phase: "Terminating".into(), ..namespace.status };
        let object = turn.put(namespace.into());
        return Ok(turn.show(object));
    }
    if !namespace.spec.finalizers.is_empty() {
        return Ok(turn.show(object));
    }
    let gone = remove(turn, &object);
    Ok(turn.show(gone))
}

/// Whether an update took the last thing that held an object whose deletion is under way.
pub(crate) fn ends_with_this_update(new: &Object) -> bool {
    let meta = new.meta();
    meta.deletion_timestamp.is_some()
        && meta.finalizers.is_empty()
        && meta.deletion_grace_period_seconds.unwrap_or(0) == 0
        && match new {
            Object::Namespace(n) => n.spec.finalizers.is_empty(),
            _ => true,
        }
}

/// Removes an object and what the API server itself keeps for it.
pub(crate) fn remove(turn: &mut Turn<'_>, object: &Object) -> Object {
    let gone = turn.remove(object);
    if let Object::Service(service) = object {
        ip_allocation::release(turn, service);
    }
    gone
}
