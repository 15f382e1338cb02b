//! Which Deployments a change wakes. Upstream: deployment_controller.go, the event handlers (v1.37).

use crate::claim::matching;
use kubestep_control::{Change, View, Wake};
use kubestep_model::{Deployment, Key, OwnerReference, Pod, ReplicaSet, Resource};

/// Every change of a Deployment wakes it.
pub(super) fn deployment(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The Deployment that a reference names, if the cache has the very same. Upstream: resolveControllerRef.
fn resolve<'v>(view: &'v View, namespace: &str, reference: &OwnerReference) -> Option<&'v Deployment> {
    let found = view.get::<Deployment>(namespace, &reference.name).filter(|_| reference.kind == "Deployment");
    found.filter(|d| d.metadata.uid == reference.uid)
}

fn owner<'v>(view: &'v View, set: &ReplicaSet) -> Option<&'v Deployment> {
    set.metadata.controller().and_then(|reference| resolve(view, &set.metadata.namespace, reference))
}

fn candidates(view: &View, set: &ReplicaSet) -> Vec<Wake> {
    let all = view.list::<Deployment>(Some(&set.metadata.namespace));
    let found = matching(all, |d| d.spec.selector.as_ref(), &set.metadata.labels);
    found.into_iter().map(|d| Wake::now(d.key())).collect()
}

/// Upstream: addReplicaSet, updateReplicaSet, deleteReplicaSet.
pub(super) fn replica_set(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) =
        (change.old.as_ref().and_then(ReplicaSet::of), change.new.as_ref().and_then(ReplicaSet::of));
    let wake = |d: Option<&Deployment>| d.map(|d| Wake::now(d.key()));
    let Some(new) = new else { return old.and_then(|set| wake(owner(view, set))).into_iter().collect() };
    let Some(old) = old else {
        let ours = new.metadata.controller().is_some() || new.metadata.is_terminating();
        return if ours { wake(owner(view, new)).into_iter().collect() } else { candidates(view, new) };
    };
    if old.metadata.resource_version == new.metadata.resource_version {
        return Vec::new();
    }
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes: Vec<Wake> = wake(owner(view, old).filter(|_| moved)).into_iter().collect();
    if new.metadata.controller().is_some() {
        wakes.extend(wake(owner(view, new)));
    } else if moved || old.metadata.labels != new.metadata.labels {
        wakes.extend(candidates(view, new));
    }
    wakes
}

/// A pod that is gone wakes the Deployment only if it waits for that: with Recreate. Upstream: deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    if change.new.is_some() {
        return Vec::new();
    }
    let found = change.old.as_ref().and_then(Pod::of).and_then(|pod| {
        let reference = pod.metadata.controller().filter(|reference| reference.kind == "ReplicaSet")?;
        let set = view.get::<ReplicaSet>(&pod.metadata.namespace, &reference.name)?;
        owner(view, set).filter(|_| set.metadata.uid == reference.uid)
    });
    let recreated = found.filter(|d| d.spec.strategy.r#type == "Recreate");
    recreated.map(|d: &Deployment| -> Key { d.key() }).map(Wake::now).into_iter().collect()
}
