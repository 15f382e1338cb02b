//! Who belongs to whom, computed once for a picture.

use crate::session::Session;
use kubestep_model::{Endpoint, EndpointSlice, Kind, Object, Pod, Resource};
use std::{collections::BTreeMap, sync::Arc};

/// One picture's lookups.
pub(super) struct Board {
    /// Pods by the uid of their owner.
    pub(super) pods_by_owner: BTreeMap<Arc<str>, Vec<Pod>>,
    /// Endpoints by namespace and service.
    pub(super) endpoints: BTreeMap<(Arc<str>, String), Vec<Endpoint>>,
}

impl Board {
    pub(super) fn new(session: &Session) -> Self {
        let store = session.world().store();
        let mut pods_by_owner: BTreeMap<Arc<str>, Vec<Pod>> = BTreeMap::new();
        for pod in store.list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
            if let Some(owner) = pod.metadata.controller() {
                pods_by_owner.entry(owner.uid.clone()).or_default().push(pod.clone());
            }
        }
        let mut endpoints: BTreeMap<(Arc<str>, String), Vec<Endpoint>> = BTreeMap::new();
        for slice in store.list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>()) {
            if let Some(service) = slice.metadata.labels.get("kubernetes.io/service-name") {
                let key = (slice.metadata.namespace.clone(), service.clone());
                endpoints.entry(key).or_default().extend(slice.endpoints.iter().cloned());
            }
        }
        Board { pods_by_owner, endpoints }
    }

    /// The pods of an owner.
    pub(super) fn pods(&self, owner: &Object) -> &[Pod] {
        self.pods_by_owner.get(&owner.meta().uid).map_or(&[], Vec::as_slice)
    }

    /// Whether a pod's endpoint is ready in a service's slices; `None` if it is not in them.
    pub(super) fn ready_in(&self, service: &str, pod: &Pod) -> Option<bool> {
        let of = self.endpoints.get(&(pod.metadata.namespace.clone(), service.to_string()))?;
        let found = of.iter().find(|e| {
            e.target_ref.as_ref().is_some_and(|t| t.uid == pod.metadata.uid && t.name == pod.key().name)
        })?;
        Some(found.conditions.ready != Some(false))
    }
}
