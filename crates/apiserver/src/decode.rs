//! From a request's body to an object with its defaults.
//!
//! Upstream: k8s.io/apiserver/pkg/endpoints/handlers, create.go, update.go and patch.go (v1.37).

use crate::{conversion, defaults, defined, turn::Turn};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Body, Cause, Custom, Kind, Object, PatchKind, Reason, Status, patch,
    schema::{self, Decoded as Read},
    yaml::Spans,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An object that was read, with defaults.
pub(crate) struct Decoded {
    pub(crate) object: Object,
    /// Whether a loop wrote it from parts that were checked before, so that the spec needs no checking again.
    pub(crate) checked: bool,
}

/// Reads a body as a kind.
pub(crate) fn body(turn: &mut Turn<'_>, kind: Kind, body: &Body) -> Result<Decoded, Status> {
    match body {
        Body::Typed(object) if object.kind() == kind => {
            let mut object = object.clone();
            defaults::apply(&mut object);
            Ok(Decoded { checked: is_made_by_loops(kind), object })
        }
        Body::Typed(object) => Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): it is a {}",
            kind.name(),
            object.kind().name()
        ))),
        Body::Json(value) => {
            let object = json(turn, turn.version.unwrap_or(kind), value)?;
            Ok(Decoded { object, checked: false })
        }
    }
}

/// Kinds that loops write many of, out of templates and caches that were checked when a person wrote them.
fn is_made_by_loops(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Pod
            | Kind::ReplicaSet
            | Kind::Endpoints
            | Kind::EndpointSlice
            | Kind::Event
            | Kind::Lease
            | Kind::Node
    )
}

/// Reads JSON that says of itself what it is.
fn json(turn: &mut Turn<'_>, kind: Kind, value: &Value) -> Result<Object, Status> {
    let expected = kind.api_version();
    let meta = schema::interpret(value).map_err(Status::bad_request)?;
    let said_kind = if meta.kind.is_empty() { kind.name() } else { &meta.kind };
    let said_version = if meta.api_version.is_empty() { &expected } else { &meta.api_version };
    let version = said_version.rsplit('/').next().unwrap_or_default();
    let fail = |why: String| {
        let text =
            format!("{said_kind} in version \"{version}\" cannot be handled as a {}: {why}", kind.name());
        Status::bad_request(text)
    };
    let known = turn.spoken.is_some() || schema::is_known(&expected, kind.name());
    if said_kind == kind.name() && *said_version == expected && !known {
        // A kind that is served without a schema is taken as it comes.
        return object(kind, value.clone()).map_err(fail);
    }
    if let (Some(spoken), true) = (turn.spoken.clone(), said_kind == kind.name() && *said_version == expected)
    {
        return defined::read(turn, &spoken, value).map_err(fail);
    }
    let read = schema::strict(said_kind, said_version, value, &Spans::default()).map_err(&fail)?;
    if *said_version != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({said_version}) does not match the expected API version ({expected})"
        )));
    }
    if said_kind != kind.name() {
        return Err(Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): it is a {said_kind}",
            kind.name()
        )));
    }
    if let Some(why) =
        if turn.strict { read.strict_error() } else { read.error.as_ref().map(|e| e.text.clone()) }
    {
        return Err(fail(why));
    }
    warn_of_unknown(turn, &read);
    let mut decoded = read.value;
    without_nulls(&mut decoded, value);
    object(kind, decoded).map_err(fail)
}

/// An entry that was null in the request is not kept, not even as an empty text.
fn without_nulls(decoded: &mut Value, sent: &Value) {
    match (decoded, sent) {
        (Value::Object(decoded), Value::Object(sent)) => {
            decoded.retain(|key, _| sent.get(key).is_none_or(|v| !v.is_null()));
            for (key, value) in decoded {
                without_nulls(value, sent.get(key).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(decoded), Value::Array(sent)) if decoded.len() == sent.len() => {
            decoded.iter_mut().zip(sent).for_each(|(d, s)| without_nulls(d, s));
        }
        _ => {}
    }
}

fn warn_of_unknown(turn: &mut Turn<'_>, read: &Read) {
    turn.warnings
        .extend(read.duplicate_fields.iter().chain(&read.unknown_fields).map(|note| note.text.clone()));
}

/// The object that a decoded value is, with defaults.
fn object(kind: Kind, mut value: Value) -> Result<Object, String> {
    let empty = empty_policies(kind, &value);
    forget_empty_lists(&mut value);
    let mut value = schema::encode(&kind.api_version(), kind.name(), &value);
    for side in empty {
        value["spec"]["behavior"][side]["policies"] = Value::Array(vec![]);
    }
    let (kind, value) =
        if kind == kind.stored() { (kind, value) } else { (kind.stored(), conversion::stored(value, kind)) };
    let mut object = Object::from_value(kind, value)?;
    defaults::apply(&mut object);
    if let Object::Custom(custom) = &mut object {
        complete(Arc::make_mut(custom));
    }
    Ok(object)
}

/// The directions in which an autoscaler has a list of policies that is empty: no defaults come instead, and the
/// validation refuses it.
fn empty_policies(kind: Kind, value: &Value) -> Vec<&'static str> {
    let empty =
        |side: &&str| value["spec"]["behavior"][*side]["policies"].as_array().is_some_and(Vec::is_empty);
    match kind.name() {
        "HorizontalPodAutoscaler" => ["scaleUp", "scaleDown"].into_iter().filter(empty).collect(),
        _ => vec![],
    }
}

/// Objects are stored in a form that does not tell an empty list from none.
fn forget_empty_lists(value: &mut Value) {
    match value {
        Value::Array(items) if items.is_empty() => *value = Value::Null,
        Value::Array(items) => items.iter_mut().for_each(forget_empty_lists),
        Value::Object(map) => map.values_mut().for_each(forget_empty_lists),
        _ => {}
    }
}

/// Gives a kind that is kept whole the fields that Go writes even when they are empty.
pub(crate) fn complete(custom: &mut Custom) {
    let whole = Value::Object(std::mem::take(&mut custom.rest));
    let encoded = schema::encode(&custom.kind.api_version(), custom.kind.name(), &whole);
    let Value::Object(mut rest) = encoded else { return };
    for name in ["apiVersion", "kind", "metadata"] {
        rest.remove(name);
    }
    custom.rest = rest;
}

/// Reads what a patch made of an object.
pub(crate) fn patched(
    turn: &mut Turn<'_>,
    kind: Kind,
    value: Value,
    how: PatchKind,
    patch: &Value,
) -> Result<Decoded, Status> {
    if let Some(spoken) = turn.spoken.clone() {
        let shown = || if how == PatchKind::Apply { patch.to_string() } else { value.to_string() };
        return defined::decoded(turn, &spoken, &value).map_err(|why| invalid_patch(&shown(), &why));
    }
    let version = kind.api_version();
    let said = |name: &str| value[name].as_str().unwrap_or_default();
    if (said("apiVersion"), said("kind")) != (&*version, kind.name())
        && how != PatchKind::Apply
        && !said("apiVersion").is_empty()
        && !said("kind").is_empty()
        && schema::place(said("apiVersion"), said("kind")).is_none()
    {
        let (name, of) = (said("kind"), said("apiVersion"));
        let why = format!(
            "no kind \"{name}\" is registered for version \"{of}\" in scheme \"pkg/runtime/scheme.go:111\""
        );
        return Err(invalid_patch(&value.to_string(), &why));
    }
    let read =
        schema::strict(kind.name(), &version, &value, &Spans::default()).map_err(Status::bad_request)?;
    let strategic = how == PatchKind::Strategic;
    let shown = || if strategic { patch::printed(&used_up(patch)) } else { value.to_string() };
    if let Some(error) = &read.error {
        let why = if strategic { converter_error(&error.text) } else { error.text.clone() };
        return Err(invalid_patch(&shown(), &why));
    }
    if turn.strict
        && let Some(why) = read.strict_error()
    {
        return Err(invalid_patch(&shown(), &why));
    }
    warn_of_unknown(turn, &read);
    let mut decoded = read.value;
    without_nulls(&mut decoded, &value);
    let object = object(kind, decoded).map_err(|why| invalid_patch(&shown(), &why))?;
    Ok(Decoded { object, checked: false })
}

/// 422 that names no object, only the patch.
pub(crate) fn invalid_patch(shown: &str, why: &str) -> Status {
    let message = format!("Invalid value: {}: {why}", kubestep_model::text::go::quote(shown));
    let mut status = Status::new(422, Reason::Invalid, format!(" \"\" is invalid: patch: {message}"));
    status.causes = vec![Cause { reason: "FieldValueInvalid".into(), message, field: "patch".into() }];
    status
}

/// The patch as it stands after merging: lists whose order was given, and that order, are gone from it.
fn used_up(patch: &Value) -> Value {
    let Value::Object(map) = patch else { return patch.clone() };
    let ordered: Vec<&str> = map.keys().filter_map(|k| k.strip_prefix("$setElementOrder/")).collect();
    let left = map
        .iter()
        .filter(|(key, _)| !key.starts_with("$setElementOrder/") && !ordered.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), used_up(value)));
    Value::Object(left.gather::<Map<_, _>>())
}

/// What the converter that strategic patches go through says where the JSON decoder names a wrong type.
///
/// Upstream: k8s.io/apimachinery/pkg/runtime, fromUnstructured (v1.37).
fn converter_error(text: &str) -> String {
    let Some(rest) = text.strip_prefix("json: cannot unmarshal ") else { return text.to_owned() };
    let Some((_, target)) = rest.rsplit_once(" of type ") else { return text.to_owned() };
    let source = match rest.split([' ', '\n']).next().unwrap_or_default() {
        "object" => "map",
        "array" => "slice",
        "number" => "int64",
        other => other,
    };
    if target == "string" && source == "int64" {
        format!("cannot convert {source} to string")
    } else if target.starts_with("[]") {
        format!("cannot restore slice from {source}")
    } else if target.starts_with("map[") {
        format!("cannot restore map from {source}")
    } else if target.contains('.') {
        format!("cannot restore struct from: {source}")
    } else {
        format!("unrecognized type: {target}")
    }
}
