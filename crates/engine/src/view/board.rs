//! Who belongs to whom, computed once for a picture.

use kubestep_cluster::World;
use kubestep_model::{
    Endpoint, EndpointSlice, Kind, Object, Pod, Quantity, Service, resources::requests, text::Selector,
};
use std::{collections::BTreeMap, sync::Arc};

/// What the pods of a node ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) pods: u32,
    pub(super) cpu_milli: i64,
    pub(super) memory_milli: i64,
}

/// One picture's lookups.
pub(super) struct Board<'w> {
    pub(super) world: &'w World,
    /// Pods by the uid of their owner.
    by_owner: BTreeMap<&'w str, Vec<&'w Pod>>,
    /// Endpoints by namespace and service.
    endpoints: BTreeMap<(&'w str, &'w str), Vec<&'w Endpoint>>,
    /// Whether a pod, by its uid, is ready in a service's slices.
    ready: BTreeMap<(&'w str, &'w str, &'w str), bool>,
    services: Vec<(&'w Service, Selector)>,
    loads: BTreeMap<&'w str, Load>,
}

impl<'w> Board<'w> {
    pub(super) fn new(world: &'w World) -> Self {
        let store = world.store();
        let services = store.list(Kind::Service, None).filter_map(|o| o.get::<Service>());
        let services = services.filter(|s| !s.spec.selector.is_empty());
        let mut board = Board {
            world,
            by_owner: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            ready: BTreeMap::new(),
            services: services.map(|s| (s, Selector::from_labels(&s.spec.selector))).collect(),
            loads: BTreeMap::new(),
        };
        for pod in store.list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
            board.pod(pod);
        }
        for slice in store.list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>()) {
            board.slice(slice);
        }
        board
    }

    fn pod(&mut self, pod: &'w Pod) {
        if let Some(owner) = pod.metadata.controller() {
            self.by_owner.entry(&owner.uid).or_default().push(pod);
        }
        if !pod.spec.node_name.is_empty() && !pod.is_terminal() {
            let load = self.loads.entry(&pod.spec.node_name).or_default();
            let asked = requests(pod);
            let milli = |name: &str| asked.get(name).map_or(0, Quantity::milli_value);
            load.pods = load.pods.saturating_add(1);
            load.cpu_milli = load.cpu_milli.saturating_add(milli("cpu"));
            load.memory_milli = load.memory_milli.saturating_add(milli("memory"));
        }
    }

    fn slice(&mut self, slice: &'w EndpointSlice) {
        let Some(service) = slice.metadata.labels.get("kubernetes.io/service-name") else { return };
        let (namespace, service): (&str, &str) = (&slice.metadata.namespace, service);
        for endpoint in &slice.endpoints {
            self.endpoints.entry((namespace, service)).or_default().push(endpoint);
            if let Some(target) = &endpoint.target_ref {
                let ready = endpoint.conditions.ready != Some(false);
                self.ready.entry((namespace, service, &target.uid)).or_insert(ready);
            }
        }
    }

    /// The pods of an owner.
    pub(super) fn pods(&self, owner: &Object) -> &[&'w Pod] {
        self.by_owner.get(&*owner.meta().uid).map_or(&[], Vec::as_slice)
    }

    /// The endpoints of a service.
    pub(super) fn endpoints<'b>(&'b self, service: &'b Service) -> &'b [&'b Endpoint] {
        let key = (&*service.metadata.namespace, &*service.metadata.name);
        self.endpoints.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The services that select a pod, by their uids, and whether it is ready in their slices.
    pub(super) fn services_of(&self, pod: &Pod) -> Vec<(Arc<str>, bool)> {
        let meta = &pod.metadata;
        let selects = |(service, selector): &&(&Service, Selector)| {
            service.metadata.namespace == meta.namespace && selector.matches(&meta.labels)
        };
        let ready = |service: &Service| {
            let key = (&*meta.namespace, &*service.metadata.name, &*meta.uid);
            self.ready.get(&key).copied().unwrap_or(false)
        };
        let found = self.services.iter().filter(selects);
        found.map(|(service, _)| (service.metadata.uid.clone(), ready(service))).collect()
    }

    /// What the pods of a node ask for.
    pub(super) fn load(&self, node: &str) -> Load {
        self.loads.get(node).copied().unwrap_or_default()
    }
}
