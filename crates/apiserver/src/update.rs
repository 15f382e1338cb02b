//! Replace, status and scale writes, and binding a pod to its node.
//!
//! Upstream: k8s.io/apiserver/pkg/registry/generic/registry, Store.Update (v1.37).

use crate::{
    admission, create, decode, decode::Decoded, defined, delete, ip_allocation, refuse, scale, strategy,
    turn::Turn, validation, warnings,
};
use kubestep_model::{Answer, Body, Key, Kind, Object, PodCondition, Reply, Status, Subresource};
use serde_json::json;
use std::sync::Arc;

/// PUT of an object or of a part of it.
pub(crate) fn replace(turn: &mut Turn<'_>, key: &Key, part: Subresource, body: &Body) -> Reply {
    match part {
        Subresource::Scale => return replace_scale(turn, key, body),
        Subresource::Status if !turn.has_status(key.kind) => return Err(refuse::no_status(turn, key)),
        Subresource::Finalize if key.kind != Kind::Namespace => return Err(Status::no_such_resource()),
        Subresource::Approval if key.kind != strategy::SIGNING_REQUEST => {
            return Err(Status::no_such_resource());
        }
        Subresource::None | Subresource::Status | Subresource::Finalize | Subresource::Approval => {}
        Subresource::Binding | Subresource::Eviction | Subresource::Token => {
            return Err(Status::method_not_allowed());
        }
    }
    let mut decoded = decode::body(turn, key.kind, body)?;
    fit_to_path(&mut decoded.object, key)?;
    let Some(old) = turn.store.get(key).cloned() else {
        if strategy::create_on_update(key.kind) && part == Subresource::None {
            turn.created = true;
            let object = create::store_new(turn, decoded, &key.namespace)?;
            return Ok(turn.show(object));
        }
        return Err(Status::not_found(key.kind, &key.name));
    };
    let uid = &decoded.object.meta().uid;
    if !uid.is_empty() && *uid != old.meta().uid {
        return Err(refuse::other_uid(key.kind, &key.namespace, &key.name, uid, &old.meta().uid));
    }
    let object = store_changed(turn, decoded, old, part)?;
    Ok(turn.show(object))
}

/// The names in the body have to be those of the path.
fn fit_to_path(object: &mut Object, key: &Key) -> Result<(), Status> {
    let meta = object.meta();
    if meta.name != key.name {
        if !meta.name.is_empty() {
            return Err(Status::bad_request(format!(
                "the name of the object ({}) does not match the name on the URL ({})",
                meta.name, key.name
            )));
        }
        object.meta_mut().name = key.name.clone();
    }
    if object.meta().namespace != key.namespace {
        if !object.meta().namespace.is_empty() && key.kind.namespaced() {
            return Err(Status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        object.meta_mut().namespace = key.namespace.clone();
    }
    Ok(())
}

/// A patch may not give an object another name or another uid.
pub(crate) fn check_patched_names(new: &Object, old: &Object) -> Result<(), Status> {
    let (meta, there) = (new.meta(), old.meta());
    let kind = old.kind();
    if meta.name != there.name {
        let text = "the name of the object ({}) does not match the name on the URL ({})";
        let text = text.replacen("{}", &meta.name, 1).replacen("{}", &there.name, 1);
        return Err(Status::bad_request(text));
    }
    if meta.namespace != there.namespace {
        let text = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(text));
    }
    if !meta.uid.is_empty() && meta.uid != there.uid {
        let text = format!("Invalid value: \"{}\": field is immutable", meta.uid);
        return Err(refuse::invalid_field(kind, &there.name, "FieldValueInvalid", "metadata.uid", text));
    }
    Ok(())
}

/// Everything that follows once the new state of an object that is there was decoded.
pub(crate) fn store_changed(
    turn: &mut Turn<'_>,
    decoded: Decoded,
    old: Object,
    part: Subresource,
) -> Result<Object, Status> {
    let Decoded { object: mut new, checked } = decoded;
    if part == Subresource::None {
        admission::admit_changed(turn, &mut new, &old)?;
        crate::rbac::check_escalation(turn, &new, Some(&old))?;
    }
    check_version(&mut new, &old)?;
    keep_system_fields(&mut new, &old);
    match part {
        Subresource::Status | Subresource::Approval => match (&turn.spoken, &mut new, &old) {
            (Some(spoken), Object::Custom(custom), Object::Custom(before)) => {
                defined::prepare_for_status(Arc::make_mut(custom), before);
                validation::defined_object(spoken, &new, &old, true)?;
            }
            _ => {
                strategy::prepare_for_status(&mut new, &old, part, turn.now.to_time());
                validation::changed_status(turn, &new, &old, part)?;
            }
        },
        Subresource::Finalize => finalize(&mut new, &old),
        _ => {
            if let (Object::Service(new), Object::Service(old)) = (&mut new, &old) {
                ip_allocation::for_changed(turn, Arc::make_mut(new), old)?;
            }
            match (&turn.spoken, &mut new, &old) {
                (Some(spoken), Object::Custom(custom), Object::Custom(before)) => {
                    defined::prepare_for_update(spoken, Arc::make_mut(custom), before);
                }
                _ => strategy::prepare_for_update(&mut new, &old, turn.now.to_time()),
            }
            if let Object::Custom(custom) = &mut new {
                decode::complete(Arc::make_mut(custom));
            }
            if checked {
                validation::kept_selector(turn, &new, &old)?;
            } else {
                validation::changed_object(turn, &new, &old)?;
            }
        }
    }
    if part == Subresource::None {
        if !checked {
            turn.warnings.extend(warnings::of_changed(&new, &old));
            if turn.spoken.is_some() {
                turn.warnings.extend(defined::finalizer_warnings(&new, Some(&old)));
            }
        }
        admission::review_changed(turn, &new, &old)?;
    }
    if delete::ends_with_this_update(&new) {
        return Ok(delete::remove(turn, &new));
    }
    // A write that changes nothing makes no revision.
    if new == old && !turn.rewrite {
        return Ok(old);
    }
    Ok(turn.put(new))
}

/// Optimistic locking.
fn check_version(new: &mut Object, old: &Object) -> Result<(), Status> {
    let (kind, name) = (new.kind(), new.meta().name.clone());
    if new.meta().resource_version.is_empty() || new.meta().resource_version == "0" {
        if !strategy::unconditional_update(kind) {
            let text = "Invalid value: 0: must be specified for an update";
            return Err(refuse::invalid_field(
                kind,
                &name,
                "FieldValueInvalid",
                "metadata.resourceVersion",
                text,
            ));
        }
        new.meta_mut().resource_version.clone_from(&old.meta().resource_version);
    }
    if new.meta().resource_version != old.meta().resource_version {
        return Err(Status::conflict(kind, &name));
    }
    Ok(())
}

/// What no client may change.
///
/// Upstream: apiserver/pkg/registry/rest, BeforeUpdate (v1.37).
fn keep_system_fields(new: &mut Object, old: &Object) {
    let there = old.meta();
    let meta = new.meta();
    let same = meta.uid == there.uid
        && meta.creation_timestamp == there.creation_timestamp
        && meta.deletion_timestamp == there.deletion_timestamp
        && meta.deletion_grace_period_seconds == there.deletion_grace_period_seconds
        && meta.generation == there.generation
        && meta.rest.is_empty();
    if same {
        return;
    }
    let meta = new.meta_mut();
    meta.uid = there.uid.clone();
    meta.creation_timestamp = there.creation_timestamp;
    meta.deletion_timestamp = there.deletion_timestamp;
    meta.deletion_grace_period_seconds = there.deletion_grace_period_seconds;
    meta.generation = there.generation;
    meta.rest.clear();
}

/// PUT of a namespace's finalizers: nothing else changes.
fn finalize(new: &mut Object, old: &Object) {
    let (Object::Namespace(new), Object::Namespace(old)) = (new, old) else { return };
    let finalizers = new.spec.finalizers.clone();
    let mut kept = (**old).clone();
    kept.spec.finalizers = finalizers;
    *new = Arc::new(kept);
}

fn replace_scale(turn: &mut Turn<'_>, key: &Key, body: &Body) -> Reply {
    let old = turn.find(key)?;
    scale::of(turn, &old)?;
    let Body::Json(scale) = body else {
        return Err(Status::bad_request("expected input object type to be Scale"));
    };
    let version = scale["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let object = write_scale(turn, old, &scale["spec"]["replicas"], version)?;
    scale::get(turn, &object)
}

/// Writes wanted replicas through the scale subresource.
pub(crate) fn write_scale(
    turn: &mut Turn<'_>,
    old: Object,
    replicas: &serde_json::Value,
    version: &str,
) -> Result<Object, Status> {
    let wanted = i32::try_from(replicas.as_i64().unwrap_or(0)).unwrap_or(i32::MAX);
    let name = old.meta().name.clone();
    if wanted < 0 {
        let text = format!(
            "Scale.autoscaling \"{name}\" is invalid: spec.replicas: Invalid value: {wanted}: must be greater than or equal to 0"
        );
        let mut status = refuse::invalid_field(
            old.kind(),
            &name,
            "FieldValueInvalid",
            "spec.replicas",
            format!("Invalid value: {wanted}: must be greater than or equal to 0"),
        );
        status.message = text;
        status.about = Some(("autoscaling".into(), "Scale".into(), name.to_string()));
        return Err(status);
    }
    if !version.is_empty() && version != old.meta().resource_version {
        return Err(Status::conflict(old.kind(), &name));
    }
    let mut new = old.clone();
    scale::set_replicas(turn, &mut new, wanted);
    match (&turn.spoken, &mut new, &old) {
        (Some(spoken), Object::Custom(custom), Object::Custom(before)) => {
            defined::prepare_for_update(spoken, Arc::make_mut(custom), before);
            validation::defined_object(spoken, &new, &old, false)?;
        }
        _ => strategy::prepare_for_update(&mut new, &old, turn.now.to_time()),
    }
    if new == old && !turn.rewrite {
        return Ok(old);
    }
    Ok(turn.put(new))
}

/// POST of a pod's binding: sets its node and the condition that says so.
///
/// Upstream: pkg/registry/core/pod/storage, BindingREST (v1.37).
pub(crate) fn bind(turn: &mut Turn<'_>, key: &Key, uid: &str, node: &str) -> Reply {
    let old = turn.find(key)?;
    let Object::Pod(pod) = &old else { return Err(Status::no_such_resource()) };
    let name = &pod.metadata.name;
    if !uid.is_empty() && uid != &*pod.metadata.uid {
        return Err(refuse::other_uid(key.kind, &key.namespace, name, uid, &pod.metadata.uid));
    }
    let refusal = if pod.metadata.is_terminating() {
        Some(format!("pod {name} is being deleted, cannot be assigned to a host"))
    } else if !pod.spec.node_name.is_empty() {
        Some(format!("pod {name} is already assigned to node \"{}\"", pod.spec.node_name))
    } else if !pod.spec.scheduling_gates.is_empty() {
        Some(format!("pod {name} has non-empty .spec.schedulingGates"))
    } else {
        None
    };
    if let Some(why) = refusal {
        let mut status = Status::new(409, kubestep_model::Reason::Conflict, "");
        status.message = format!("Operation cannot be fulfilled on pods/binding \"{name}\": {why}");
        status.about = Some((String::new(), "pods/binding".into(), name.to_string()));
        return Err(status);
    }
    let mut pod = (**pod).clone();
    pod.spec.node_name = node.into();
    // Once the pod has a node, a node that was promised means nothing any more.
    pod.status.nominated_node_name.clear();
    set_scheduled(&mut pod.status.conditions, turn.now.to_time());
    copy_topology(turn, &mut pod, node);
    turn.put(pod.into());
    let done =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Answer::Json { value: Arc::new(done), warnings: vec![] })
}

/// A pod that is bound says where its node is; what it says already stays.
///
/// Upstream: plugin/pkg/admission/podtopologylabels, copyLabelsWithoutOverwriting (v1.37).
fn copy_topology(turn: &Turn<'_>, pod: &mut kubestep_model::Pod, node: &str) {
    const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];
    let Some(node) = turn.store.get(&Key::new(Kind::Node, "", node)) else { return };
    for label in TOPOLOGY {
        if let Some(value) = node.meta().labels.get(label) {
            pod.metadata.labels.entry(label.into()).or_insert_with(|| value.clone());
        }
    }
}

fn set_scheduled(conditions: &mut Vec<PodCondition>, now: kubestep_model::Time) {
    let fresh = PodCondition {
        r#type: "PodScheduled".into(),
        status: "True".into(),
        last_transition_time: Some(now),
        ..PodCondition::default()
    };
    match conditions.iter_mut().find(|c| c.r#type == fresh.r#type) {
        Some(there) if there.status == fresh.status => {
            *there = PodCondition { last_transition_time: there.last_transition_time, ..fresh };
        }
        Some(there) => *there = fresh,
        None => conditions.push(fresh),
    }
}
