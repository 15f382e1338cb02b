//! Who belongs to whom, computed once for a picture.

use super::pods::Made;
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

/// What one pod asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    cpu_milli: i64,
    memory_milli: i64,
}

impl Asked {
    fn by(pod: &Pod) -> Self {
        let asked = requests(pod);
        let milli = |name: &str| asked.get(name).map_or(0, Quantity::milli_value);
        Asked { cpu_milli: milli("cpu"), memory_milli: milli("memory") }
    }
}

/// One picture's lookups.
pub(super) struct Board<'w> {
    pub(super) world: &'w World,
    /// All pods, by namespace and name.
    pub(super) all_pods: Vec<&'w Object>,
    /// What each of them asks for.
    pub(super) asked: Vec<Asked>,
    /// All other objects but events, by kind, namespace and name.
    pub(super) others: Vec<&'w Object>,
    /// Where the pods of an owner are, by its uid.
    owners: BTreeMap<&'w str, usize>,
    by_owner: Vec<Vec<&'w Pod>>,
    /// The owner of the pod before: most have the same.
    last: Option<(&'w Arc<str>, usize)>,
    /// Endpoints by namespace and service.
    endpoints: BTreeMap<(&'w str, &'w str), Vec<&'w Endpoint>>,
    /// Whether a pod, by its uid, is ready in a service's slices.
    ready: BTreeMap<(&'w str, &'w str, &'w str), bool>,
    services: Vec<(&'w Service, Selector)>,
    loads: BTreeMap<&'w str, Load>,
}

impl<'w> Board<'w> {
    /// `made` are the rows of the last picture: what most pods ask for is known from there.
    pub(super) fn new(world: &'w World, made: &[Made]) -> Self {
        let mut board = Board {
            world,
            all_pods: Vec::with_capacity(made.len()),
            asked: Vec::with_capacity(made.len()),
            others: vec![],
            owners: BTreeMap::new(),
            by_owner: vec![],
            last: None,
            endpoints: BTreeMap::new(),
            ready: BTreeMap::new(),
            services: vec![],
            loads: BTreeMap::new(),
        };
        // Thousands of objects: they are gone through once, and events, the most of them, are not.
        let mut made = made.iter().peekable();
        for kind in world.store().kinds().into_iter().filter(|kind| *kind != Kind::Event) {
            for object in world.store().stored(kind) {
                if let Object::Pod(pod) = object {
                    let known = Made::next_of(&mut made, object).filter(|old| old.has_spec_of(pod));
                    let asked = known.map_or_else(|| Asked::by(pod), |old| old.asked);
                    board.all_pods.push(object);
                    board.asked.push(asked);
                    board.pod(pod, asked);
                } else {
                    board.other(object);
                }
            }
        }
        board
    }

    fn other(&mut self, object: &'w Object) {
        self.others.push(object);
        match object {
            Object::EndpointSlice(slice) => self.slice(slice),
            Object::Service(service) if !service.spec.selector.is_empty() => {
                self.services.push((service, Selector::from_labels(&service.spec.selector)));
            }
            _ => {}
        }
    }

    fn pod(&mut self, pod: &'w Pod, asked: Asked) {
        if let Some(owner) = pod.metadata.controller() {
            let place = self.owner(&owner.uid);
            self.by_owner[place].push(pod);
        }
        if pod.spec.node_name.is_empty() {
            return;
        }
        let load = self.loads.entry(&pod.spec.node_name).or_default();
        if !pod.is_terminal() {
            load.pods = load.pods.saturating_add(1);
            load.cpu_milli = load.cpu_milli.saturating_add(asked.cpu_milli);
            load.memory_milli = load.memory_milli.saturating_add(asked.memory_milli);
        }
    }

    /// The place of an owner's pods.
    fn owner(&mut self, uid: &'w Arc<str>) -> usize {
        if let Some((last, place)) = self.last
            && Arc::ptr_eq(last, uid)
        {
            return place;
        }
        let next = self.by_owner.len();
        let place = *self.owners.entry(uid).or_insert(next);
        if place == next {
            self.by_owner.push(vec![]);
        }
        self.last = Some((uid, place));
        place
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
        self.owners.get(&*owner.meta().uid).map_or(&[], |place| &self.by_owner[*place])
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

    /// The nodes that pods are bound to, by name.
    pub(super) fn nodes_of_pods(&self) -> impl Iterator<Item = &'w str> {
        self.loads.keys().copied()
    }

    /// What the pods of a node ask for.
    pub(super) fn load(&self, node: &str) -> Load {
        self.loads.get(node).copied().unwrap_or_default()
    }
}
