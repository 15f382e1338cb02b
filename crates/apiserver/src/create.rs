//! Create: decode, default, admit, name, prepare, validate, admit again, store.
//!
//! Upstream: k8s.io/apiserver/pkg/registry/generic/registry, Store.Create (v1.37).

use crate::{
    admission, decode, decode::Decoded, defined, ip_allocation, refuse, strategy, turn::Turn, validation,
    warnings,
};
use kubestep_model::{Body, Custom, Key, Kind, Object, Reply, Status};
use serde_json::Value;
use std::sync::Arc;

/// So many names are drawn before giving up.
const NAME_TRIES: usize = 8;

/// POST of an object.
pub(crate) fn create(turn: &mut Turn<'_>, kind: Kind, namespace: &str, body: &Body) -> Reply {
    let decoded = decode::body(turn, kind, body)?;
    let object = store_new(turn, decoded, namespace)?;
    Ok(turn.show(object))
}

/// Everything that follows once a new object was decoded.
pub(crate) fn store_new(turn: &mut Turn<'_>, decoded: Decoded, namespace: &str) -> Result<Object, Status> {
    let Decoded { mut object, checked } = decoded;
    place(&mut object, namespace)?;
    admission::admit_new(turn, &mut object)?;
    crate::rbac::check_escalation(turn, &object, None)?;
    let drawn = name(turn, &mut object);
    let meta = object.meta_mut();
    meta.creation_timestamp = Some(turn.now.to_time());
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    if !meta.resource_version.is_empty() {
        return Err(refuse::internal("resourceVersion should not be set on objects to be created"));
    }
    meta.uid = turn.draw_uid();
    // Links and field owners are not kept.
    meta.rest.clear();
    if let Object::Service(service) = &mut object {
        ip_allocation::for_new(turn, Arc::make_mut(service))?;
    }
    if let Object::Pod(pod) = &mut object {
        turn.warnings.extend(strategy::app_armor(Arc::make_mut(pod)));
    }
    if let Object::Custom(custom) = &mut object
        && custom.kind == strategy::SIGNING_REQUEST
    {
        sign(turn, Arc::make_mut(custom));
    }
    match (&turn.spoken, &mut object) {
        (Some(spoken), Object::Custom(custom)) => defined::prepare_for_create(spoken, Arc::make_mut(custom)),
        _ => strategy::prepare_for_create(&mut object, turn.now.to_time()),
    }
    if let Object::Custom(custom) = &mut object {
        decode::complete(Arc::make_mut(custom));
    }
    if checked {
        validation::new_labels(&object)?;
    } else {
        validation::new_object(turn, &object)?;
    }
    if !checked {
        turn.warnings.extend(warnings::of_new(&object));
        if turn.spoken.is_some() {
            turn.warnings.extend(defined::finalizer_warnings(&object, None));
        }
    }
    admission::review_new(turn, &object)?;
    strategy::as_read(&mut object);
    let mut key = object.key();
    for _ in 1..NAME_TRIES {
        if !drawn || turn.store.get(&key).is_none() {
            break;
        }
        object.meta_mut().name = turn.draw_name(&object.meta().generate_name);
        key = object.key();
    }
    if let Some(there) = turn.store.get(&key) {
        let mut status = taken(&key, &object, drawn);
        if there.meta().is_terminating() {
            status.message = format!("object is being deleted: {}", status.message);
        }
        return Err(status);
    }
    Ok(turn.put(object))
}

/// A request for a certificate says who asks for it.
///
/// Upstream: pkg/registry/certificates/certificates, csrStrategy.PrepareForCreate (v1.37).
fn sign(turn: &Turn<'_>, request: &mut Custom) {
    const ADMIN: &str = "kubernetes-admin";
    let Some(Value::Object(spec)) = request.rest.get_mut("spec") else { return };
    for name in ["username", "uid", "groups", "extra"] {
        spec.remove(name);
    }
    let mut groups: Vec<String> = match &turn.user {
        Some(user) => {
            spec.insert("username".into(), user.name.as_str().into());
            user.groups.clone()
        }
        None => {
            spec.insert("username".into(), ADMIN.into());
            spec.insert("uid".into(), ADMIN.into());
            vec!["system:masters".into()]
        }
    };
    groups.push("system:authenticated".into());
    spec.insert("groups".into(), groups.into());
}

/// Sets the namespace of the path; a body that names another is refused.
fn place(object: &mut Object, namespace: &str) -> Result<(), Status> {
    if !object.kind().namespaced() {
        if !object.meta().namespace.is_empty() {
            object.meta_mut().namespace = Default::default();
        }
        return Ok(());
    }
    let meta = object.meta();
    if &*meta.namespace == namespace {
        return Ok(());
    }
    if meta.namespace.is_empty() {
        object.meta_mut().namespace = namespace.into();
        return Ok(());
    }
    Err(Status::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}

/// Draws a name where only its beginning is given. Answers whether it did.
fn name(turn: &mut Turn<'_>, object: &mut Object) -> bool {
    let meta = object.meta();
    if !meta.name.is_empty() || meta.generate_name.is_empty() {
        return false;
    }
    let drawn = turn.draw_name(&meta.generate_name);
    object.meta_mut().name = drawn;
    true
}

/// 409; a drawn name that was taken every time says what to do.
///
/// Upstream: apiserver/pkg/registry/rest, CheckGeneratedNameError (v1.37).
fn taken(key: &Key, object: &Object, drawn: bool) -> Status {
    if !drawn {
        return Status::already_exists(key.kind, &key.name);
    }
    let mut status = Status::already_exists(key.kind, &key.name);
    status.message = format!(
        "{} \"{}\" already exists, the server was not able to generate a unique name for the object",
        key.kind.qualified(),
        object.meta().generate_name
    );
    status
}
