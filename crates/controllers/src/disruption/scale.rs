//! How many pods a budget's workloads want. Upstream: getExpectedPodCount and the finders (v1.37).

use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Deployment, IntOrString, Key, Kind, Object, OwnerReference, Pod, PodDisruptionBudget, ReplicaSet,
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

pub(super) const STATEFUL_SET: Kind = Kind::other("apps", "StatefulSet");
pub(super) const REPLICATION_CONTROLLER: Kind = Kind::other("", "ReplicationController");

/// What is expected of a budget's pods.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) count: i32,
    pub(super) desired: i32,
    /// Some of them have no owner.
    pub(super) unmanaged: bool,
}

/// An error is a text for an event.
pub(super) fn expected(
    cx: &mut Cx<'_>,
    budget: &PodDisruptionBudget,
    pods: &[&Pod],
) -> Result<Result<Expected, String>, Halt> {
    let spec = &budget.spec;
    if let (None, Some(IntOrString::Int(least))) = (&spec.max_unavailable, &spec.min_available) {
        let count = i32::try_from(pods.len()).unwrap_or(i32::MAX);
        return Ok(Ok(Expected { count, desired: *least, unmanaged: false }));
    }
    let Some(share) = spec.max_unavailable.as_ref().or(spec.min_available.as_ref()) else {
        return Ok(Ok(Expected::default()));
    };
    let (count, unmanaged) = match scales(cx, pods)? {
        Ok(found) => found,
        Err(text) => return Ok(Err(text)),
    };
    let part = match share.scaled_value(i64::from(count), true) {
        Ok(part) => i32::try_from(part).unwrap_or(i32::MAX),
        Err(text) => return Ok(Err(text)),
    };
    let desired = if spec.max_unavailable.is_some() { count.saturating_sub(part).max(0) } else { part };
    Ok(Ok(Expected { count, desired, unmanaged }))
}

/// The sum of what the pods' workloads want. Upstream: getExpectedScale.
fn scales(cx: &mut Cx<'_>, pods: &[&Pod]) -> Result<Result<(i32, bool), String>, Halt> {
    let mut wanted: BTreeMap<Arc<str>, i32> = BTreeMap::new();
    let mut unmanaged = false;
    for pod in pods {
        let Some(owner) = pod.metadata.controller() else {
            unmanaged = true;
            continue;
        };
        if wanted.contains_key(&owner.uid) {
            continue;
        }
        match find(cx, owner, &pod.metadata.namespace)? {
            Ok(Some((uid, scale))) => drop(wanted.insert(uid, scale)),
            Ok(None) => return Ok(Err(format!("found no controllers for pod {:?}", &*pod.metadata.name))),
            Err(text) => return Ok(Err(text)),
        }
    }
    let sum = wanted.values().fold(0i32, |sum, scale| sum.saturating_add(*scale));
    Ok(Ok((sum, unmanaged)))
}

type Found = Result<Option<(Arc<str>, i32)>, String>;

/// The workload behind a pod's owner, and how many pods it wants.
fn find(cx: &mut Cx<'_>, owner: &OwnerReference, namespace: &str) -> Result<Found, Halt> {
    let Some(kind) = Kind::of_manifest(&owner.api_version, &owner.kind) else { return Ok(Ok(None)) };
    if kind == Kind::ReplicaSet {
        return Ok(Ok(of_set(cx, owner, namespace)));
    }
    let key = Key::new(kind, namespace, owner.name.clone());
    if kind == STATEFUL_SET || kind == REPLICATION_CONTROLLER {
        let found = cx.view().object(&key).filter(|o| o.meta().uid == owner.uid);
        return Ok(Ok(found.map(|o| (owner.uid.clone(), replicas(o)))));
    }
    // Any other owner must be one that can be scaled, or it is an error.
    Ok(match cx.live_object(key)? {
        Ok(_) => Err(format!("{} does not implement the scale subresource", kind.qualified())),
        Err(status) if status.is_not_found() => Ok(None),
        Err(status) => Err(status.message),
    })
}

/// A ReplicaSet counts by itself, unless a Deployment stands behind it. Upstream: getPodReplicaSet, getPodDeployment.
fn of_set(cx: &Cx<'_>, owner: &OwnerReference, namespace: &str) -> Option<(Arc<str>, i32)> {
    let set = cx.get::<ReplicaSet>(namespace, &owner.name).filter(|s| s.metadata.uid == owner.uid)?;
    match set.metadata.controller().filter(|o| o.kind == "Deployment") {
        None => Some((set.metadata.uid.clone(), set.spec.replicas.unwrap_or(1))),
        Some(above) => {
            let found =
                cx.get::<Deployment>(namespace, &above.name).filter(|d| d.metadata.uid == above.uid)?;
            Some((found.metadata.uid.clone(), found.spec.replicas.unwrap_or(1)))
        }
    }
}

fn replicas(object: &Object) -> i32 {
    let Object::Custom(custom) = object else { return 0 };
    let replicas = custom.rest.get("spec").and_then(|s| s.get("replicas")).and_then(Value::as_i64);
    replicas.map_or(1, |n| i32::try_from(n).unwrap_or(i32::MAX))
}
