//! What the API server does on its own with definitions: it accepts their names, begins to serve them, and empties
//! those that go.
//!
//! Upstream: apiextensions-apiserver, pkg/controller/status, establish and finalizer (v1.37). There three loops of the API
//! server do this within milliseconds after a write; here it is done right behind the write.

use super::definition_of;
use crate::{decode, delete, turn::Turn};
use kubestep_model::{
    Custom, DeleteOptions, Object,
    defined::{DEFINITION, Definition},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Does all that is to do after a write.
pub(crate) fn settle(turn: &mut Turn<'_>) {
    // A name that one gives up may be what another waits for; each round settles one name at least.
    for _ in 0..3 {
        let before = turn.store.revision();
        for name in definitions(turn) {
            accept(turn, &name);
            establish(turn, &name);
            finish(turn, &name);
        }
        if turn.store.revision() == before {
            break;
        }
    }
}

fn definitions(turn: &Turn<'_>) -> Vec<Arc<str>> {
    turn.store.list(DEFINITION, None).map(|o| o.meta().name.clone()).collect()
}

fn find(turn: &Turn<'_>, name: &Arc<str>) -> Option<Arc<Custom>> {
    match turn.store.get(&kubestep_model::Key::new(DEFINITION, "", name.clone())) {
        Some(Object::Custom(custom)) => Some(custom.clone()),
        _ => None,
    }
}

/// Writes the status of a definition.
fn write(turn: &mut Turn<'_>, mut definition: Custom) {
    decode::complete(&mut definition);
    turn.put_own(Object::Custom(Arc::new(definition)), "update", "status", 200);
}

/// A condition of a definition.
struct Condition<'a> {
    of: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

/// Sets a condition; its time changes with its status only.
fn set(turn: &Turn<'_>, definition: &mut Custom, condition: &Condition<'_>) {
    let Some(Value::Object(status)) = definition.rest.get_mut("status") else { return };
    let all = status.entry("conditions").or_insert_with(|| json!([]));
    if !all.is_array() {
        *all = json!([]);
    }
    let Some(all) = all.as_array_mut() else { return };
    let mut fresh = json!({
        "type": condition.of, "status": condition.status, "lastTransitionTime": turn.now.to_time(),
        "reason": condition.reason, "message": condition.message,
    });
    match all.iter_mut().find(|c| c["type"] == condition.of) {
        Some(there) => {
            if there["status"] == condition.status {
                fresh["lastTransitionTime"] = there["lastTransitionTime"].take();
            }
            *there = fresh;
        }
        None => all.push(fresh),
    }
}

/// Accepts the names that nobody else in the group has.
///
/// Upstream: naming_controller.go, calculateNamesAndConditions.
fn accept(turn: &mut Turn<'_>, name: &Arc<str>) {
    let Some(there) = find(turn, name) else { return };
    let (wanted, accepted) = {
        let definition = Definition::of_custom(&there);
        (definition.spec()["names"].clone(), definition.names().clone())
    };
    if wanted == accepted {
        return;
    }
    let (resources, kinds) = taken(turn, &there);
    let mut names = accepted.clone();
    let mut refused: Option<(&str, String)> = None;
    for (field, used, reason) in [
        ("plural", &resources, "PluralConflict"),
        ("singular", &resources, "SingularConflict"),
        ("shortNames", &resources, "ShortNamesConflict"),
        ("kind", &kinds, "KindConflict"),
        ("listKind", &kinds, "ListKindConflict"),
    ] {
        match conflicts(&wanted[field], &accepted[field], used) {
            Some(why) => refused = Some((reason, why)),
            None if wanted[field].is_null() => {
                if let Value::Object(names) = &mut names {
                    names.remove(field);
                }
            }
            None => names[field] = wanted[field].clone(),
        }
    }
    if wanted["categories"].is_array() {
        names["categories"] = wanted["categories"].clone();
    }
    let (status, reason, message) = match &refused {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, why)) => ("False", *reason, why.as_str()),
    };
    let mut fresh = (*there).clone();
    if let Some(status) = fresh.rest.get_mut("status") {
        status["acceptedNames"] = names;
    }
    set(turn, &mut fresh, &Condition { of: "NamesAccepted", status, reason, message });
    if !Definition::of_custom(&fresh).is("Established") {
        let installing = "the initial names have been accepted";
        let condition = if refused.is_none() {
            Some(Condition { of: "Established", status: "False", reason: "Installing", message: installing })
        } else if has_condition(&fresh, "Established") {
            None
        } else {
            let message = "not all names are accepted";
            Some(Condition { of: "Established", status: "False", reason: "NotAccepted", message })
        };
        if let Some(condition) = condition {
            set(turn, &mut fresh, &condition);
        }
    }
    if fresh != *there {
        write(turn, fresh);
    }
}

fn has_condition(definition: &Custom, of: &str) -> bool {
    let conditions = &Definition::of_custom(definition).status()["conditions"];
    conditions.as_array().into_iter().flatten().any(|c| c["type"] == of)
}

/// What is in use of the wanted names, unless it is the definition's own already.
fn conflicts(wanted: &Value, accepted: &Value, used: &BTreeSet<String>) -> Option<String> {
    if wanted == accepted {
        return None;
    }
    let own = |text: &Value| accepted == text || accepted.as_array().is_some_and(|a| a.contains(text));
    let each = match wanted {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    let taken: Vec<String> = each
        .into_iter()
        .filter(|name| !own(name))
        .filter_map(Value::as_str)
        .filter(|name| used.contains(*name))
        .map(|name| format!("\"{name}\" is already in use"))
        .collect();
    match taken.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

/// The names of resources and of kinds that definitions of the group have.
fn taken(turn: &Turn<'_>, of: &Custom) -> (BTreeSet<String>, BTreeSet<String>) {
    let group = &Definition::of_custom(of).spec()["group"];
    let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for definition in turn.store.list(DEFINITION, None).filter_map(Definition::of) {
        if definition.spec()["group"] != *group {
            continue;
        }
        let names = definition.names();
        let one = |field: &str| names[field].as_str().map(str::to_owned);
        resources.extend(["plural", "singular"].into_iter().filter_map(one));
        resources.extend(definition.list_of_names("shortNames").into_iter().map(str::to_owned));
        kinds.extend(["kind", "listKind"].into_iter().filter_map(one));
    }
    (resources, kinds)
}

/// Begins to serve a definition whose names are accepted.
fn establish(turn: &mut Turn<'_>, name: &Arc<str>) {
    let Some(there) = find(turn, name) else { return };
    let definition = Definition::of_custom(&there);
    if !definition.is("NamesAccepted") || definition.is("Established") {
        return;
    }
    let mut fresh = (*there).clone();
    let message = "the initial names have been accepted";
    let condition = Condition { of: "Established", status: "True", reason: "InitialNamesAccepted", message };
    set(turn, &mut fresh, &condition);
    write(turn, fresh);
}

/// A definition that is asked to go is held, and says so.
///
/// Upstream: pkg/registry/customresourcedefinition/etcd.go, REST.Delete.
pub(crate) fn mark(turn: &Turn<'_>, definition: &mut Custom) {
    let finalizers = &mut definition.metadata.finalizers;
    if !finalizers.iter().any(|f| f == CLEANUP) {
        finalizers.push(CLEANUP.into());
    }
    definition.metadata.deletion_timestamp.get_or_insert(turn.now.to_time());
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    let condition =
        Condition { of: "Terminating", status: "True", reason: "InstanceDeletionPending", message };
    set(turn, definition, &condition);
}

/// Deletes what a definition that goes has made, then lets it go.
///
/// Upstream: finalizer/crd_finalizer.go, sync and deleteInstances.
fn finish(turn: &mut Turn<'_>, name: &Arc<str>) {
    let ends = |d: &Custom| d.metadata.is_terminating() && d.metadata.finalizers.iter().any(|f| f == CLEANUP);
    let Some(there) = find(turn, name).filter(|d| ends(d)) else { return };
    let condition = |status, reason, message| Condition { of: "Terminating", status, reason, message };
    let mut fresh = (*there).clone();
    set(
        turn,
        &mut fresh,
        &condition("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
    );
    if fresh != *there {
        write(turn, fresh);
    }
    let kind = Definition::of_custom(&there).stored_kind();
    let objects: Vec<Object> = turn.store.list(kind, None).cloned().collect();
    for object in objects {
        delete::on_its_own(turn, object, &DeleteOptions::default());
    }
    if turn.store.list(kind, None).next().is_some() {
        return;
    }
    let Some(there) = definition_of(&turn.store, kind) else { return };
    let mut fresh = (*there).clone();
    let last = if Definition::of_custom(&there).is("Established") {
        condition("False", "InstanceDeletionCompleted", "removed all instances")
    } else {
        condition("False", "NeverEstablished", "resource was never established")
    };
    set(turn, &mut fresh, &last);
    fresh.metadata.finalizers.retain(|f| f != CLEANUP);
    if fresh.metadata.finalizers.is_empty() {
        turn.remove_own(&Object::Custom(Arc::new(fresh)));
    } else {
        write(turn, fresh);
    }
}
