//! From a request's body to an object with its defaults.

use crate::{defaults, turn::Turn};
use kubestep_model::{Body, Kind, Object, PatchKind, Status};
use serde_json::Value;

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
            let mut object = Object::from_value(kind, (**value).clone()).map_err(Status::bad_request)?;
            let _ = turn.strict;
            defaults::apply(&mut object);
            Ok(Decoded { object, checked: false })
        }
    }
}

/// Reads what a patch made of an object.
pub(crate) fn patched(
    turn: &mut Turn<'_>,
    kind: Kind,
    value: Value,
    _how: PatchKind,
    _patch: &Value,
) -> Result<Decoded, Status> {
    body(turn, kind, &Body::Json(value.into()))
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
