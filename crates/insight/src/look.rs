//! Who belongs to whom in a store.

use kubestep_cluster::Store;
use kubestep_model::{
    CronJob, Deployment, Job, Kind, Object, Pod, ReplicaSet, Service, Whole, text::Selector,
};

/// The annotation that numbers a Deployment's ReplicaSets.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// Objects of a kind that this owner manages.
pub fn children<'a>(
    store: &'a Store,
    owner: &Object,
    kind: Kind,
) -> impl Iterator<Item = &'a Object> + use<'a> {
    let uid = owner.meta().uid.clone();
    store
        .list(kind, Some(&owner.meta().namespace))
        .filter(move |o| o.meta().controller().is_some_and(|c| c.uid == uid))
}

/// The pods that an object stands for: its own, or those of the ReplicaSets or jobs it manages.
pub fn pods_of<'a>(store: &'a Store, owner: &Object) -> Vec<&'a Pod> {
    match owner {
        Object::Deployment(_) => {
            children(store, owner, Kind::ReplicaSet).flat_map(|set| pods_of(store, set)).collect()
        }
        _ if owner.kind() == CronJob::KIND => {
            children(store, owner, Job::KIND).flat_map(|job| pods_of(store, job)).collect()
        }
        _ => children(store, owner, Kind::Pod).filter_map(|o| o.get::<Pod>()).collect(),
    }
}

/// The number of a ReplicaSet's revision; 0 if it has none.
pub fn revision(set: &ReplicaSet) -> i64 {
    set.metadata.annotations.get(REVISION).and_then(|r| r.parse().ok()).unwrap_or(0)
}

/// The ReplicaSet of the Deployment's last revision.
pub fn new_replica_set<'a>(store: &'a Store, deployment: &Deployment) -> Option<&'a ReplicaSet> {
    let owner = Object::from(deployment.clone());
    children(store, &owner, Kind::ReplicaSet)
        .filter_map(|o| o.get::<ReplicaSet>())
        .max_by_key(|s| (revision(s), s.metadata.creation_timestamp))
}

/// Services whose selector matches a pod.
pub fn services_of<'a>(store: &'a Store, pod: &'a Pod) -> impl Iterator<Item = &'a Service> + 'a {
    store.list(Kind::Service, Some(&pod.metadata.namespace)).filter_map(|o| o.get::<Service>()).filter(|s| {
        !s.spec.selector.is_empty() && Selector::from_labels(&s.spec.selector).matches(&pod.metadata.labels)
    })
}
