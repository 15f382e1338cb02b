//! Server-side apply: an applier says which fields it wants, and owns these.
//!
//! Upstream: k8s.io/apiserver/pkg/endpoints/handlers/patch.go, applyPatcher, and
//! k8s.io/apimachinery/pkg/util/managedfields (v1.37).

pub(crate) mod fields;
mod managers;
mod merge;
mod scale;
mod typed;

use crate::{conversion, create, decode, defined, store::Write, strategy, turn::Turn, update};
use fields::Set;
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Answer, Cause, Key, Kind, Object, PatchKind, Reason, Reply, Status, Subresource,
    patch::LAST_APPLIED,
    schema::{self, Place},
};
use managers::{Manager, Managers};
use serde_json::Value;
use std::sync::Arc;

/// The manager of kubectl's own applies.
const KUBECTL: &str = "kubectl";

/// PATCH of an object with what an applier wants of it.
pub(crate) fn apply(turn: &mut Turn<'_>, key: &Key, part: Subresource, applied: &Value) -> Reply {
    let (of_status, stored);
    let applied = match turn.version.filter(|version| turn.spoken.is_none() && *version != key.kind) {
        Some(version) => {
            stored = conversion::stored(applied.clone(), version);
            &stored
        }
        None => applied,
    };
    let applied = match part {
        Subresource::None | Subresource::Scale => applied,
        Subresource::Status if strategy::has_status(key.kind) => {
            of_status = status_alone(applied);
            &of_status
        }
        Subresource::Status => return Err(Status::no_such_resource()),
        _ => return Err(Status::method_not_allowed()),
    };
    let Some(manager) = turn.manager.clone().filter(|m| !m.is_empty()) else {
        let text = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(Status::new(422, Reason::Invalid, text));
    };
    if !applied["metadata"]["managedFields"].is_null() {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    if part == Subresource::Scale {
        return scale::apply(turn, key, applied, &manager);
    }
    let kind = key.kind;
    let place = place_of(turn, kind).ok_or_else(Status::no_such_resource)?;
    let group = if kind.group().is_empty() { "/v1".to_owned() } else { kind.api_version() };
    typed_patch(place, applied, &format!("{group}, Kind={}", kind.name()))?;
    turn.by = Some(Arc::new(Write::Applied { manager: manager.clone(), object: Arc::new(applied.clone()) }));
    match turn.store.get(key).cloned() {
        None if part == Subresource::Status => Err(Status::not_found(key.kind, &key.name)),
        None => make(turn, key, applied),
        Some(old) => change(turn, key, place, applied, (&manager, part), old),
    }
}

/// What is applied has to fit the schema of its kind.
fn typed_patch(place: Place, applied: &Value, kind: &str) -> Result<(), Status> {
    typed::check(place, applied).map_err(|why| {
        let text = |field: &str| applied["metadata"][field].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let text = format!("failed to create typed patch object ({namespace}/{name}; {kind}): {why}");
        Status::new(500, Reason::Unknown, text)
    })
}

/// The shape of a kind's objects.
fn place_of(turn: &Turn<'_>, kind: Kind) -> Option<Place> {
    match &turn.spoken {
        Some(spoken) => Some(schema::defined_place(spoken.schema())),
        None => schema::place(&kind.api_version(), kind.name()),
    }
}

/// Of what is applied to a status nothing else counts.
fn status_alone(applied: &Value) -> Value {
    let meta = &applied["metadata"];
    let mut alone = serde_json::json!({"apiVersion": applied["apiVersion"], "kind": applied["kind"],
        "metadata": {"name": meta["name"]}});
    if !meta["namespace"].is_null() {
        alone["metadata"]["namespace"] = meta["namespace"].clone();
    }
    if !applied["status"].is_null() {
        alone["status"] = applied["status"].clone();
    }
    alone
}

fn make(turn: &mut Turn<'_>, key: &Key, applied: &Value) -> Reply {
    if applied["metadata"]["uid"].as_str().is_some_and(|uid| !uid.is_empty()) {
        let why = "uid mismatch: the provided object specified uid, and no existing object was found";
        return Err(Status::conflict_because(key.kind, &key.name, why));
    }
    turn.created = true;
    let decoded = decode::patched(turn, key.kind, applied.clone(), PatchKind::Apply, applied)?;
    let object = create::store_new(turn, decoded, &key.namespace)?;
    Ok(with_managers(turn, key, object))
}

fn change(
    turn: &mut Turn<'_>,
    key: &Key,
    place: Place,
    applied: &Value,
    (manager, part): (&str, Subresource),
    old: Object,
) -> Reply {
    let live = match &turn.spoken {
        Some(spoken) => defined::in_version(&old, spoken).to_value(),
        None => old.to_value(),
    };
    let before = managers::of(&turn.store, key, place);
    let set = managers::set_of(place, key.kind, applied, part.name());
    let merged = merge::merge(place, &live, applied);
    // What this applier set before and sets no longer goes, unless another owns it, too.
    let mut gone = before.of(manager, true, part.name());
    let others =
        || before.0.iter().filter(|m| !(m.applies && m.name == manager && m.subresource == part.name()));
    let inside = |path: &fields::Path, set: &Set| {
        set.range(path.clone()..).next().is_some_and(|p| p.starts_with(path))
    };
    gone.retain(|path| !inside(path, &set) && !others().any(|m| inside(path, &m.set)));
    let mut merged = merge::without(place, &merged, &gone);
    if !turn.force {
        refuse_conflicts(key.kind, place, &live, &merged, others(), manager)?;
    }
    if manager == KUBECTL && part == Subresource::None && old.meta().annotations.contains_key(LAST_APPLIED) {
        merged["metadata"]["annotations"][LAST_APPLIED] = last_applied(applied).into();
    }
    let decoded = decode::patched(turn, key.kind, merged, PatchKind::Apply, applied)?;
    update::check_patched_names(&decoded.object, &old)?;
    let mut after = before.clone();
    after.apply(place, key.kind, &live, &decoded.object.to_value(), applied, (manager, part.name()));
    // Who owns what is a part of the object.
    turn.rewrite = after != before;
    let object = update::store_changed(turn, decoded, old, part)?;
    Ok(with_managers(turn, key, object))
}

/// A value that another owns is not changed without force.
fn refuse_conflicts<'a>(
    kind: Kind,
    place: Place,
    live: &Value,
    merged: &Value,
    others: impl Iterator<Item = &'a Manager>,
    manager: &str,
) -> Result<(), Status> {
    let found = fields::compare(place, live, merged);
    let changed: Set = found.added.union(&found.modified).cloned().collect();
    let applied_before = live["metadata"]["annotations"][LAST_APPLIED].as_str();
    let own: Option<Set> = applied_before
        .filter(|_| manager == KUBECTL)
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .map(|value| still_as_applied(place, &value, live));
    let mut lost: Vec<(&Manager, fields::Path)> = vec![];
    for other in others {
        let taken = other.set.intersection(&changed);
        // What kubectl itself applied on the client's side is its own.
        let taken = taken.filter(|path| own.as_ref().is_none_or(|own| !own.contains(*path)));
        lost.extend(taken.map(|path| (other, path.clone())));
    }
    conflict_of(lost, &kind.api_version())
}

/// The refusal that names what would be taken from whom; in the order of the names under which owners are kept.
fn conflict_of(lost: Vec<(&Manager, fields::Path)>, version: &str) -> Result<(), Status> {
    let mut conflicts: Vec<(String, String, String)> = lost
        .into_iter()
        .map(|(other, path)| (other.identifier(version), other.shown(version), fields::shown(&path)))
        .collect();
    conflicts.arrange();
    let message = match conflicts.as_slice() {
        [] => return Ok(()),
        [(_, who, path)] => format!("Apply failed with 1 conflict: conflict with {who}: {path}"),
        many => {
            let mut lines: Vec<String> = vec![];
            for (i, (_, who, path)) in many.iter().enumerate() {
                if i == 0 || many[i - 1].1 != *who {
                    lines.push(format!("conflicts with {who}:"));
                }
                lines.push(format!("- {path}"));
            }
            format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n"))
        }
    };
    let mut status = Status::new(409, Reason::Conflict, message);
    let cause = |(_, who, path): (String, String, String)| Cause {
        reason: "FieldManagerConflict".into(),
        message: format!("conflict with {who}"),
        field: path,
    };
    status.causes = conflicts.into_iter().map(cause).collect();
    Err(status)
}

/// The fields that client-side apply set and that are still as it set them.
///
/// Upstream: managedfields/internal/lastappliedmanager.go, allowedConflictsFromLastApplied.
fn still_as_applied(place: Place, applied: &Value, live: &Value) -> Set {
    let mut set = fields::of_object(place, applied);
    let found = fields::compare(place, applied, live);
    for gone in [&found.added, &found.modified, &found.removed] {
        set.retain(|path| !gone.contains(path));
    }
    set
}

/// The annotation that client-side apply reads, kept true.
///
/// Upstream: managedfields/internal/lastapplied.go, buildLastApplied.
fn last_applied(applied: &Value) -> String {
    let mut value = applied.clone();
    let annotations = value.get_mut("metadata").and_then(|m| m.get_mut("annotations"));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    format!("{value}\n")
}

/// The answer to an apply shows who owns what.
fn with_managers(turn: &mut Turn<'_>, key: &Key, mut object: Object) -> Answer {
    debug_assert_eq!(object.kind(), key.kind);
    show_owners(turn, &mut object);
    turn.show(object)
}

/// Gives an object its `managedFields`, worked out from how it came to be.
pub(crate) fn show_owners(turn: &Turn<'_>, object: &mut Object) {
    let (kind, key) = (object.kind(), object.key());
    let Some(place) = place_of(turn, kind) else { return };
    let managers: Managers = managers::of(&turn.store, &key, place);
    let shown = managers.to_json(turn.version.unwrap_or(kind));
    let Value::Object(entries) = serde_json::json!({"managedFields": shown}) else { return };
    if !managers.0.is_empty() {
        object.meta_mut().rest.extend(entries);
    }
}

/// Gives an object that a watch tells of its `managedFields`, as they were when it was written or before it was deleted.
/// Objects of kinds that somebody defined are left as they are.
pub fn add_owners(store: &crate::Store, object: &mut Object, deleted: bool) {
    let (kind, key) = (object.kind(), object.key());
    let Some(place) = schema::place(&kind.api_version(), kind.name()) else { return };
    let last = object.meta().revision().saturating_sub(u64::from(deleted));
    let managers = managers::until(store, &key, place, last);
    if !managers.0.is_empty() {
        object.meta_mut().rest.insert("managedFields".into(), managers.to_json(kind));
    }
}
