//! The garbage collector: objects whose owners are gone go too, or are set free where that was asked for.
//!
//! Upstream: pkg/controller/garbagecollector (v1.37): graph_builder.go and garbagecollector.go. The graph is the
//! cache's own index from owner to dependents, and so is the record of owners that went.

use crate::sentences::Sentence;
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{
    DeleteOptions, Key, Kind, Object, ObjectMeta, OwnerReference, PatchKind, Propagation, Status,
    Subresource,
    defined::{self, DEFINITION, Definition},
};
use serde_json::json;
use std::time::Duration;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The garbage collector.
#[derive(Debug)]
pub struct GarbageCollector;

macro_rules! watch_all {
    ($($kind:expr),*) => { [$(Watch { kind: $kind, wakes }),*] };
}
/// Every kind but events: what no loop makes may have an owner all the same.
static WATCHES: [Watch; 37] = watch_all![
    Kind::Namespace,
    Kind::Node,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::Service,
    Kind::Endpoints,
    Kind::EndpointSlice,
    Kind::ConfigMap,
    Kind::Secret,
    Kind::ServiceAccount,
    Kind::ResourceQuota,
    Kind::Lease,
    Kind::other("", "LimitRange"),
    Kind::other("", "PersistentVolumeClaim"),
    Kind::other("", "PersistentVolume"),
    Kind::other("", "PodTemplate"),
    Kind::other("", "ReplicationController"),
    Kind::other("apps", "ControllerRevision"),
    Kind::other("apps", "DaemonSet"),
    Kind::other("apps", "StatefulSet"),
    Kind::other("autoscaling", "HorizontalPodAutoscaler"),
    Kind::other("batch", "CronJob"),
    Kind::other("batch", "Job"),
    Kind::other("networking.k8s.io", "Ingress"),
    Kind::other("networking.k8s.io", "NetworkPolicy"),
    Kind::other("policy", "PodDisruptionBudget"),
    Kind::other("rbac.authorization.k8s.io", "ClusterRole"),
    Kind::other("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    Kind::other("rbac.authorization.k8s.io", "Role"),
    Kind::other("rbac.authorization.k8s.io", "RoleBinding"),
    Kind::other("scheduling.k8s.io", "PriorityClass"),
    Kind::other("storage.k8s.io", "CSINode"),
    Kind::other("storage.k8s.io", "StorageClass"),
    Kind::other("storage.k8s.io", "VolumeAttachment"),
    Kind::other("networking.k8s.io", "IngressClass"),
    DEFINITION
];

/// Which objects a change may have made garbage. Upstream: processGraphChanges.
fn wakes(change: &Change, view: &View) -> Vec<Wake> {
    match (&change.old, &change.new) {
        (Some(old), None) => after_delete(old, view),
        (_, Some(new)) => {
            let mut keys = vec![];
            let meta = new.meta();
            if started_deleting_with(change.old.as_ref(), meta, ORPHAN) {
                keys.push(change.key.clone());
            }
            if started_deleting_with(change.old.as_ref(), meta, FOREGROUND) {
                keys.extend(view.dependents(&meta.uid).map(Object::key));
                keys.push(change.key.clone());
            }
            if meta.owner_references.iter().any(|o| owner_in(view, meta, o).is_none()) {
                keys.push(change.key.clone());
            }
            keys.into_iter().map(Wake::now).collect()
        }
        (None, None) => vec![],
    }
}

fn after_delete(old: &Object, view: &View) -> Vec<Wake> {
    let meta = old.meta();
    let dependents = view.dependents(&meta.uid).map(Object::key);
    let waiting = meta
        .owner_references
        .iter()
        .filter_map(|o| owner_in(view, meta, o))
        .filter(|o| waits_for_dependents(o.meta()))
        .map(Object::key);
    dependents.chain(waiting).map(Wake::now).collect()
}

fn has(meta: &ObjectMeta, finalizer: &str) -> bool {
    meta.finalizers.iter().any(|f| f == finalizer)
}

fn waits_for_dependents(meta: &ObjectMeta) -> bool {
    meta.is_terminating() && has(meta, FOREGROUND)
}

fn started_deleting_with(old: Option<&Object>, new: &ObjectMeta, finalizer: &str) -> bool {
    let before = old.is_some_and(|o| o.meta().is_terminating() && has(o.meta(), finalizer));
    new.is_terminating() && has(new, finalizer) && !before
}

/// The key that a reference means, for an object of this namespace.
fn owner_key(view: &View, meta: &ObjectMeta, owner: &OwnerReference) -> Option<Key> {
    let (version, kind) = (owner.api_version.as_str(), owner.kind.as_str());
    let kind = Kind::of_manifest(version, kind).or_else(|| {
        // One that somebody defined is cached under one version only.
        let found = defined::of_manifest(view.objects_of(DEFINITION, None), version, kind)?;
        Definition::of(view.object(&defined::definition_key(found))?).map(Definition::stored_kind)
    })?;
    let namespace = if kind.namespaced() { meta.namespace.clone() } else { "".into() };
    Some(Key::new(kind, namespace, owner.name.clone()))
}

fn owner_in<'a>(view: &'a View, meta: &ObjectMeta, owner: &OwnerReference) -> Option<&'a Object> {
    view.object(&owner_key(view, meta, owner)?).filter(|o| o.meta().uid == owner.uid)
}

impl Controller for GarbageCollector {
    fn name(&self) -> &'static str {
        "garbage-collector"
    }
    fn actor(&self) -> &'static str {
        "generic-garbage-collector"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn of_defined(&self) -> Option<fn(&Change, &View) -> Vec<Wake>> {
        Some(wakes)
    }
    fn own(&self) -> Option<Kind> {
        None
    }
    fn workers(&self) -> usize {
        20
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(item) = cx.view().object(key) else { return Ok(Done::Settled) };
        let meta = item.meta();
        if meta.is_terminating() && has(meta, ORPHAN) {
            return set_dependents_free(cx, item);
        }
        if meta.is_terminating() && !waits_for_dependents(meta) {
            return Ok(Done::Settled);
        }
        attempt_to_delete(cx, key)
    }
}

/// Takes the owner out of its dependents, then lets it go. Upstream: attemptToOrphanWorker.
fn set_dependents_free(cx: &mut Cx<'_>, owner: &Object) -> Flow {
    let uid = owner.meta().uid.clone();
    let dependents: Vec<Object> = cx.view().dependents(&uid).cloned().collect();
    for dependent in dependents {
        cx.because("gc.orphan", vec![("object", short(&dependent.key())), ("owner", short(&owner.key()))]);
        let patch = json!({"metadata": {"ownerReferences": [{"$patch": "delete", "uid": &*uid}], "uid": &*dependent.meta().uid}});
        match take_owners(cx, &dependent, patch, &[&uid])? {
            Ok(_) => {}
            Err(status) if status.is_not_found() || status.code == 422 => {}
            Err(status) => return Err(cx.fail(status)),
        }
    }
    remove_finalizer(cx, owner, ORPHAN)
}

/// Takes owners out of an object; of a kind that takes no strategic patch by naming those that stay.
///
/// Upstream: patch.go, deleteOwnerRefJSONMergePatch.
fn take_owners(
    cx: &mut Cx<'_>,
    item: &Object,
    strategic: serde_json::Value,
    gone: &[&str],
) -> Result<Result<Object, Status>, Halt> {
    if !item.kind().is_defined() {
        return cx.try_patch(item.key(), Subresource::None, PatchKind::Strategic, strategic);
    }
    let meta = item.meta();
    let left: Vec<&OwnerReference> =
        meta.owner_references.iter().filter(|o| !gone.contains(&&*o.uid)).collect();
    let patch = json!({"metadata": {"resourceVersion": meta.resource_version, "ownerReferences": left}});
    cx.try_patch(item.key(), Subresource::None, PatchKind::Merge, patch)
}

/// Tries with what the cache holds, and once more with what the API server holds.
fn remove_finalizer(cx: &mut Cx<'_>, item: &Object, finalizer: &str) -> Flow {
    let mut meta = item.meta().clone();
    for _ in 0..5 {
        if !has(&meta, finalizer) {
            return Ok(Done::Settled);
        }
        let left: Vec<&String> = meta.finalizers.iter().filter(|f| *f != finalizer).collect();
        let patch = json!({"metadata": {"resourceVersion": meta.resource_version, "finalizers": left}});
        match cx.try_patch(item.key(), Subresource::None, PatchKind::Merge, patch)? {
            Ok(_) => return Ok(Done::Settled),
            Err(status) if status.is_not_found() => return Ok(Done::Settled),
            Err(status) if status.is_conflict() => match cx.live_object(item.key())? {
                Ok(live) if live.meta().uid == meta.uid => meta = live.meta().clone(),
                Ok(_) => return Ok(Done::Settled),
                Err(status) if status.is_not_found() => return Ok(Done::Settled),
                Err(status) => return Err(cx.fail(status)),
            },
            Err(status) => return Err(cx.fail(status)),
        }
    }
    Err(cx.fail(Status::conflict(item.kind(), &item.meta().name)))
}

/// An object's owners, sorted by what became of them.
#[derive(Default)]
struct Owners {
    solid: Vec<OwnerReference>,
    gone: Vec<OwnerReference>,
    waiting: Vec<OwnerReference>,
}

fn classify(cx: &mut Cx<'_>, item: &Object) -> Result<Owners, Halt> {
    let mut owners = Owners::default();
    for owner in &item.meta().owner_references {
        let cached = owner_in(cx.view(), item.meta(), owner).cloned();
        let found = match (cached, owner_key(cx.view(), item.meta(), owner)) {
            (Some(object), _) => Some(object),
            (None, _) if cx.view().is_absent(&owner.uid) => None,
            // An owner of a kind that is not served may be there or not: nothing is deleted for it.
            (None, None) => {
                let text = format!("unable to get REST mapping for {}/{}.", owner.api_version, owner.kind);
                return Err(cx.fail(crate::stop::error(text)));
            }
            (None, Some(key)) => match cx.live_object(key)? {
                Ok(live) => Some(live).filter(|o| o.meta().uid == owner.uid),
                Err(status) if status.is_not_found() => None,
                Err(status) => return Err(cx.fail(status)),
            },
        };
        match found {
            None => owners.gone.push(owner.clone()),
            Some(o) if waits_for_dependents(o.meta()) => owners.waiting.push(owner.clone()),
            Some(_) => owners.solid.push(owner.clone()),
        }
    }
    Ok(owners)
}

/// Upstream: attemptToDeleteItem.
fn attempt_to_delete(cx: &mut Cx<'_>, key: &Key) -> Flow {
    let latest = match cx.live_object(key.clone())? {
        Ok(latest) => latest,
        Err(status) if status.is_not_found() => return Ok(Done::Settled),
        Err(status) => return Err(cx.fail(status)),
    };
    if cx.view().object(key).is_none_or(|o| o.meta().uid != latest.meta().uid) {
        return Ok(Done::Settled);
    }
    if waits_for_dependents(latest.meta()) {
        return delete_dependents_first(cx, &latest);
    }
    // Whether it is on its way already is asked of the cache only: an object that has just been deleted is deleted once
    // more if its turn comes before that is known here.
    if latest.meta().owner_references.is_empty() {
        return Ok(Done::Settled);
    }
    let owners = classify(cx, &latest)?;
    if !owners.solid.is_empty() {
        if owners.gone.is_empty() && owners.waiting.is_empty() {
            return Ok(Done::Settled);
        }
        let lost: Vec<_> = owners
            .gone
            .iter()
            .chain(&owners.waiting)
            .map(|o| json!({"$patch": "delete", "uid": &*o.uid}))
            .collect();
        let patch = json!({"metadata": {"ownerReferences": lost, "uid": &*latest.meta().uid}});
        let gone: Vec<&str> = owners.gone.iter().chain(&owners.waiting).map(|o| &*o.uid).collect();
        return match take_owners(cx, &latest, patch, &gone)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        };
    }
    let has_dependents = cx.view().dependents(&latest.meta().uid).next().is_some();
    if !owners.waiting.is_empty() {
        break_cycle(cx, &latest)?;
    }
    let propagation = if !owners.waiting.is_empty() && has_dependents {
        Propagation::Foreground
    } else if has(latest.meta(), ORPHAN) {
        Propagation::Orphan
    } else if has(latest.meta(), FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    delete(cx, &latest, propagation)
}

/// If one of its dependents waits for its own dependents, they may wait for each other: this one lets go.
/// Upstream: unblockOwnerReferencesStrategicMergePatch.
fn break_cycle(cx: &mut Cx<'_>, item: &Object) -> Result<(), Halt> {
    let waits = cx.view().dependents(&item.meta().uid).any(|d| waits_for_dependents(d.meta()));
    let blocking = item.meta().owner_references.iter().filter(|o| o.block_owner_deletion == Some(true));
    let mut owners: Vec<OwnerReference> = blocking.cloned().collect();
    if !waits || owners.is_empty() {
        return Ok(());
    }
    for owner in &mut owners {
        owner.block_owner_deletion = Some(false);
    }
    cx.because("gc.cycle", vec![("object", short(&item.key()))]);
    let patch = json!({"metadata": {"ownerReferences": owners, "uid": &*item.meta().uid}});
    // A list of owners in a merge patch takes the place of all, so those that do not block are named, too.
    let kind = if item.kind().is_defined() { PatchKind::Merge } else { PatchKind::Strategic };
    match cx.try_patch(item.key(), Subresource::None, kind, patch)? {
        Ok(_) => Ok(()),
        Err(status) => Err(cx.fail(status)),
    }
}

fn delete(cx: &mut Cx<'_>, item: &Object, propagation: Propagation) -> Flow {
    let owner =
        item.meta().owner_references.first().map_or(String::new(), |o| format!("{} {}", o.kind, o.name));
    cx.because("gc.delete", vec![("object", short(&item.key())), ("owner", owner)]);
    let options = DeleteOptions {
        propagation: Some(propagation),
        uid: Some(item.meta().uid.clone()),
        resource_version: Some(item.meta().resource_version.clone()),
        ..Default::default()
    };
    match cx.try_delete(item.key(), options)? {
        Ok(()) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

/// Upstream: processDeletingDependentsItem.
fn delete_dependents_first(cx: &mut Cx<'_>, item: &Object) -> Flow {
    let uid = item.meta().uid.clone();
    let blocks = |o: &&Object| {
        o.meta().owner_references.iter().any(|r| r.uid == uid && r.block_owner_deletion == Some(true))
    };
    let blocking: Vec<&Object> = cx.view().dependents(&uid).filter(blocks).collect();
    if blocking.is_empty() {
        cx.because("gc.foreground-done", vec![("object", short(&item.key()))]);
        return remove_finalizer(cx, item, FOREGROUND);
    }
    cx.because(
        "gc.foreground-wait",
        vec![("object", short(&item.key())), ("left", blocking.len().to_string())],
    );
    for dependent in blocking.into_iter().filter(|o| !waits_for_dependents(o.meta())) {
        cx.again(dependent.key(), Duration::ZERO);
    }
    Ok(Done::Settled)
}

fn short(key: &Key) -> String {
    format!("{} {}", key.kind, key.name)
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "gc.orphan",
        text: "The garbage collector takes {owner} out of the owners of {object}: it was to be left behind.",
        upstream: "pkg/controller/garbagecollector/garbagecollector.go, orphanDependents",
    },
    Sentence {
        code: "gc.delete",
        text: "The garbage collector deletes {object}: its owner {owner} is gone or going.",
        upstream: "pkg/controller/garbagecollector/garbagecollector.go, attemptToDeleteItem",
    },
    Sentence {
        code: "gc.cycle",
        text: "{object} and what depends on it may wait for each other: it no longer holds its owner back.",
        upstream: "pkg/controller/garbagecollector/garbagecollector.go, attemptToDeleteItem",
    },
    Sentence {
        code: "gc.foreground-wait",
        text: "{object} waits for {left} dependents that are deleted before it.",
        upstream: "pkg/controller/garbagecollector/garbagecollector.go, processDeletingDependentsItem",
    },
    Sentence {
        code: "gc.foreground-done",
        text: "Nothing holds {object} back any more: the garbage collector lets it go.",
        upstream: "pkg/controller/garbagecollector/garbagecollector.go, processDeletingDependentsItem",
    },
];
