//! Refusals that several verbs share.

use crate::turn::Turn;
use kubestep_model::{Cause, Key, Kind, Reason, Status};

/// 404 of a status that a kind does not write on its own; of one that somebody defined in other words.
pub(crate) fn no_status(turn: &Turn<'_>, key: &Key) -> Status {
    match &turn.spoken {
        Some(_) => Status::not_found(key.kind, &key.name),
        None => Status::no_such_resource(),
    }
}

/// 415 of a patch in a form that a kind does not take.
pub(crate) fn unknown_patch_format() -> Status {
    let text = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    Status::new(415, Reason::UnsupportedMediaType, text)
}

/// 409 because the object that is there has another uid.
///
/// Upstream: apiserver/pkg/storage, Preconditions.Check (v1.37).
pub(crate) fn other_uid(kind: Kind, namespace: &str, name: &str, asked: &str, there: &str) -> Status {
    let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{place}{name}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, UID in object meta: {there}",
        kind.resource()
    );
    Status::conflict_because(kind, name, &why)
}

/// 409 because a precondition of a delete does not hold. Upstream names the kind where a resource belongs.
///
/// Upstream: apiserver/pkg/registry/rest, BeforeDelete (v1.37).
pub(crate) fn delete_precondition(kind: Kind, name: &str, why: &str) -> Status {
    let mut status = Status::conflict_because(kind, name, why);
    status.message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.qualified_kind());
    status.about = Some((kind.group().into(), kind.name().into(), name.into()));
    status
}

/// 422 for one field.
pub(crate) fn invalid_field(
    kind: Kind,
    name: &str,
    reason: &str,
    field: &str,
    message: impl Into<String>,
) -> Status {
    let cause = Cause { reason: reason.into(), message: message.into(), field: field.into() };
    Status::invalid(kind, name, vec![cause])
}

/// 500 with a message.
pub(crate) fn internal(message: &str) -> Status {
    Status::new(500, Reason::InternalError, format!("Internal error occurred: {message}"))
}
