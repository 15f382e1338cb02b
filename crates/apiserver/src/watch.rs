//! How a watch begins: what it tells first, and after which revision it goes on.
//!
//! Upstream: k8s.io/apiserver/pkg/storage/cacher, Cacher.Watch and watchCache.getAllEventsSinceLocked;
//! apis/meta/internalversion/validation, validateWatchOptions (v1.37).

use crate::{chunk, read, turn::Turn, validation::field::Errors};
use kubestep_model::{
    Answer, Kind, ListOptions, Object, Reason, Reply, Revision, Status,
    text::{FieldSelector, Selector},
};

/// What is there where the watch begins, and the revision after which events follow. Objects that are newer than the
/// revision that was asked for are still to be told of.
pub(crate) fn begin(
    turn: &Turn<'_>,
    kind: Kind,
    namespace: Option<&str>,
    labels: Option<&Selector>,
    fields: Option<&FieldSelector>,
    options: &ListOptions,
) -> Reply {
    check(options)?;
    read::check_fields(turn, kind, fields)?;
    let asked = revision(&options.resource_version)?;
    let (oldest, newest) = (turn.store.oldest_revision(), turn.store.revision());
    let now = asked == 0 || options.send_initial_events == Some(true);
    let (from, past) = if now {
        (newest, None)
    } else if asked > newest {
        return Ok(Answer::List { items: vec![], revision: asked });
    } else if asked < oldest && !turn.store.remembers_all() {
        return Err(too_old(asked, oldest));
    } else {
        let from = asked.max(oldest);
        (from, Some(turn.store.at(kind, from).ok_or_else(|| too_old(asked, oldest))?))
    };
    let store = past.as_ref().unwrap_or(&turn.store);
    let fits = |object: &&Object| read::fits(turn, object, labels, fields);
    let items = store.list(kind, namespace).filter(fits).cloned().collect();
    Ok(Answer::List { items, revision: from })
}

/// 410. Upstream: errors.NewResourceExpired.
fn too_old(asked: Revision, oldest: Revision) -> Status {
    Status::new(410, Reason::Expired, format!("too old resource version: {asked} ({oldest})"))
}

fn revision(version: &str) -> Result<Revision, Status> {
    if version.is_empty() {
        return Ok(0);
    }
    chunk::number(version).map_err(|why| Status::new(500, Reason::Unknown, why))
}

fn check(options: &ListOptions) -> Result<(), Status> {
    const FIELD: &str = "resourceVersionMatch";
    let wanted = options.resource_version_match.as_str();
    let mut errors = Errors::new();
    if options.send_initial_events.is_some() && wanted != chunk::NOT_OLDER {
        errors.forbidden(FIELD, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if !wanted.is_empty() {
        if options.send_initial_events.is_none() {
            let text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.forbidden(FIELD, text);
        }
        if wanted != chunk::NOT_OLDER {
            errors.not_supported_text(FIELD, wanted, &[chunk::NOT_OLDER]);
        }
        if !options.continue_token.is_empty() {
            errors.forbidden(FIELD, "resourceVersionMatch is forbidden when continue is provided");
        }
    }
    let causes = errors.into_causes();
    if causes.is_empty() { Ok(()) } else { Err(chunk::invalid(causes)) }
}
