//! Patch: the object as it is, changed as asked, then stored as a replacement would be.
//!
//! Upstream: k8s.io/apiserver/pkg/endpoints/handlers/patch.go (v1.37).

use crate::{
    apply, conversion, decode, defined, refuse, scale, status_patch, store::Write, strategy, turn::Turn,
    update,
};
use kubestep_model::{Key, Object, PatchKind, Pod, Reason, Reply, Status, Subresource, patch, schema};
use serde_json::{Value, json};
use std::sync::Arc;

/// PATCH of an object or of a part of it.
pub(crate) fn patch(
    turn: &mut Turn<'_>,
    key: &Key,
    part: Subresource,
    kind: PatchKind,
    patch: &Value,
) -> Reply {
    if kind == PatchKind::Apply {
        return apply::apply(turn, key, part, patch);
    }
    match part {
        Subresource::Scale => return patch_scale(turn, key, kind, patch),
        Subresource::Status if !turn.has_status(key.kind) => return Err(refuse::no_status(turn, key)),
        Subresource::Approval if key.kind != strategy::SIGNING_REQUEST => {
            return Err(Status::no_such_resource());
        }
        Subresource::None | Subresource::Status | Subresource::Approval => {}
        Subresource::Binding | Subresource::Eviction | Subresource::Token | Subresource::Finalize => {
            return Err(Status::method_not_allowed());
        }
    }
    if kind == PatchKind::Strategic && turn.spoken.is_some() {
        return Err(refuse::unknown_patch_format());
    }
    // A patch that was no JSON arrives as its text. What opens like an object was sent as it stood; other text is a string.
    if let Some(text) = patch.as_str() {
        if kind == PatchKind::Strategic && !text.trim_start().starts_with('{') {
            let text = "json: cannot unmarshal string into Go value of type map[string]interface {}";
            return Err(Status::bad_request(text));
        }
        return Err(Status::bad_request("invalid JSON patch"));
    }
    let old = turn.find(key)?;
    if part == Subresource::Status
        && let Object::Pod(pod) = &old
    {
        let plain = (kind == PatchKind::Strategic).then(|| status_patch::apply(pod, patch)).flatten();
        let new = match plain {
            Some(new) => new,
            None => general_status_patch(pod, kind, patch)?,
        };
        let object = finish_status(turn, new.into(), old)?;
        return Ok(turn.show(object));
    }
    let version = turn.version.unwrap_or(key.kind);
    let before = match &turn.spoken {
        Some(spoken) => defined::in_version(&old, spoken),
        None => conversion::shown(&old, version),
    };
    let before = before.to_value();
    let patched = merged(&before, &Key { kind: version, ..key.clone() }, kind, patch)?;
    let decoded = decode::patched(turn, version, patched, kind, patch)?;
    update::check_patched_names(&decoded.object, &old)?;
    if let Some(managers) = decoded.object.meta().rest.get("managedFields") {
        turn.by = Some(Arc::new(Write::Managers(Arc::new(managers.clone()))));
        turn.rewrite = true;
    }
    let object = update::store_changed(turn, decoded, old, part)?;
    Ok(turn.show(object))
}

/// A patch that is JSON of another shape than its kind has.
fn undecodable(patch: &Value, target: &str) -> Status {
    let shape = match patch {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(_) | Value::Null => "number",
    };
    let text = format!("error decoding patch: json: cannot unmarshal {shape} into Go value of type {target}");
    Status::bad_request(text)
}

/// Upstream: interpretStrategicMergePatchError; what is not known there is told as it is.
fn unmergeable(why: String) -> Status {
    if why.contains(" does not contain declared merge key: ") {
        return Status::new(500, Reason::Unknown, why);
    }
    Status::bad_request(why)
}

/// The object with the patch in it.
fn merged(object: &Value, key: &Key, kind: PatchKind, patch: &Value) -> Result<Value, Status> {
    match kind {
        PatchKind::Json => {
            if !patch.is_array() {
                return Err(undecodable(patch, "[]handlers.jsonPatchOp"));
            }
            patch::json_patch(object, patch).map_err(|_| {
                let text = "the server rejected our request due to an error in our request";
                Status::new(422, Reason::Invalid, text)
            })
        }
        PatchKind::Strategic if !patch.is_object() && !patch.is_null() => {
            let mut refusal = undecodable(patch, "map[string]interface {}");
            refusal.message = refusal.message.replacen("error decoding patch: ", "", 1);
            Err(refusal)
        }
        PatchKind::Merge if !patch.is_object() => Err(undecodable(patch, "map[string]interface {}")),
        PatchKind::Merge => patch::merge_patch(object, patch).map_err(Status::bad_request),
        PatchKind::Strategic | PatchKind::Apply => {
            match schema::patch_schema(&key.kind.api_version(), key.kind.name()) {
                Some(schema) => patch::strategic_merge_patch(object, patch, schema).map_err(unmergeable),
                None => patch::merge_patch(object, patch).map_err(Status::bad_request),
            }
        }
    }
}

/// A write of a pod's status: only status and metadata are taken apart, not the whole pod.
pub(crate) fn general_status_patch(old: &Pod, kind: PatchKind, patch: &Value) -> Result<Pod, Status> {
    let part = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": serde_json::to_value(&old.metadata).unwrap_or_default(),
        "status": serde_json::to_value(&old.status).unwrap_or_default(),
    });
    let key = Key {
        kind: kubestep_model::Kind::Pod,
        namespace: Default::default(),
        name: old.metadata.name.clone(),
    };
    let mut patched = merged(&part, &key, kind, patch)?;
    let mut take = |name: &str| patched.get_mut(name).map(Value::take).unwrap_or_default();
    let wrong = |e: serde_json::Error| Status::bad_request(e.to_string());
    let (metadata, status) = (take("metadata"), take("status"));
    let metadata = serde_json::from_value(metadata).map_err(wrong)?;
    let status =
        if status.is_null() { Default::default() } else { serde_json::from_value(status).map_err(wrong)? };
    Ok(Pod { metadata, spec: old.spec.clone(), status, rest: old.rest.clone() })
}

fn finish_status(turn: &mut Turn<'_>, new: Object, old: Object) -> Result<Object, Status> {
    update::check_patched_names(&new, &old)?;
    update::store_changed(turn, decode::Decoded { object: new, checked: true }, old, Subresource::Status)
}

fn patch_scale(turn: &mut Turn<'_>, key: &Key, kind: PatchKind, patch: &Value) -> Reply {
    let old = turn.find(key)?;
    let scale = scale::of(turn, &old)?;
    let patched = match kind {
        PatchKind::Json => merged(&scale, key, kind, patch)?,
        _ => patch::merge_patch(&scale, patch).map_err(Status::bad_request)?,
    };
    if let Some(number) = patched["spec"]["replicas"].as_i64().filter(|n| i32::try_from(*n).is_err()) {
        let why = format!(
            "json: cannot unmarshal number {number} into Go struct field ScaleSpec.spec.replicas of type int32"
        );
        return Err(decode::invalid_patch(&patched.to_string(), &why));
    }
    let version = patched["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    let object = update::write_scale(turn, old, &patched["spec"]["replicas"], &version)?;
    scale::get(turn, &object)
}
