//! Which slices a service should have, and how to get there with few writes.
//! Upstream: staging/src/k8s.io/endpointslice/reconciler.go (v1.37). Left out: hints by the annotation of topology.

use super::{
    desired::{Meta, desired, labels_for, new_slice},
    hints,
    members::has_endpoints,
    places::Places,
};
use kubestep_control::View;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Endpoint, EndpointSlice, ObjectMeta, Pod, Service, Shared};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most endpoints of one slice. Upstream: maxEndpointsPerSlice.
const MOST: usize = 100;

/// What has to be written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) create: Vec<EndpointSlice>,
    pub(super) update: Vec<EndpointSlice>,
    pub(super) delete: Vec<EndpointSlice>,
    /// Pods that were left out, with the node that is not there.
    pub(super) lost: Vec<(String, String)>,
}

impl Plan {
    /// Whether there is nothing to do.
    pub(super) fn is_settled(&self) -> bool {
        self.create.is_empty() && self.update.is_empty() && self.delete.is_empty()
    }

    fn add(&mut self, other: Plan) {
        self.create.extend(other.create);
        self.update.extend(other.update);
        self.delete.extend(other.delete);
        self.lost.extend(other.lost);
    }
}

/// The name of the pod that an endpoint stands for.
fn name_of(endpoint: &Endpoint) -> &str {
    endpoint.target_ref.as_ref().map_or("", |target| &target.name)
}

/// Whether two endpoints are of the same pod at the same addresses, in any order. Upstream: hashEndpoint.
fn is_same(a: &Endpoint, b: &Endpoint) -> bool {
    let namespace = |e: &Endpoint| e.target_ref.as_ref().map(|target| target.namespace.clone());
    let addresses = |e: &Endpoint| {
        let mut all = e.addresses.clone();
        all.arrange();
        all
    };
    name_of(a) == name_of(b)
        && namespace(a) == namespace(b)
        && (a.addresses == b.addresses || addresses(a) == addresses(b))
}

/// The wanted endpoints that no slice has taken yet. They are sorted by the names of their pods, of which each has one.
struct Left<'e> {
    all: &'e [Shared<Endpoint>],
    places: Places<'e>,
    taken: Vec<bool>,
}

impl<'e> Left<'e> {
    fn new(all: &'e [Shared<Endpoint>]) -> Self {
        let places = Places::of(all.iter().map(|endpoint| name_of(endpoint)).collect());
        Left { all, places, taken: vec![false; all.len()] }
    }

    /// Takes the same endpoint, as it is wanted now.
    fn take(&mut self, old: &Shared<Endpoint>) -> Option<&'e Shared<Endpoint>> {
        let place = self.places.find(name_of(old))?;
        let (new, taken) = (&self.all[place], self.taken.get_mut(place)?);
        if *taken || !(new.is(old) || is_same(new, old)) {
            return None;
        }
        *taken = true;
        Some(new)
    }

    fn rest(self) -> VecDeque<Shared<Endpoint>> {
        let left = self.all.iter().zip(self.taken).filter(|(_, taken)| !taken);
        left.map(|(endpoint, _)| endpoint.clone()).collect()
    }
}

/// For each pod (sorted by name) its endpoint in one of the slices.
fn by_pod<'e>(pods: &[&Pod], slices: &[&'e EndpointSlice]) -> Vec<Option<&'e Shared<Endpoint>>> {
    let mut found = vec![None; pods.len()];
    let places = Places::of(pods.iter().map(|pod| &*pod.metadata.name).collect());
    for endpoint in slices.iter().flat_map(|slice| &slice.endpoints) {
        if let Some(place) = places.find(name_of(endpoint)) {
            found[place] = Some(endpoint);
        }
    }
    found
}

/// Tells sets of ports apart, in any order. Upstream: NewPortMapKey.
pub(super) fn port_key(ports: &[kubestep_model::EndpointPort]) -> BTreeSet<String> {
    let text = |port: &kubestep_model::EndpointPort| kubestep_model::to_json(port).to_string();
    ports.iter().map(text).collect()
}

/// Whether the service owns the slice. Upstream: ownedBy.
pub(super) fn owned(slice: &EndpointSlice, service: &Service) -> bool {
    let owners = &slice.metadata.owner_references;
    owners.iter().any(|o| o.uid == service.metadata.uid && o.kind == "Service" && o.api_version == "v1")
}

/// The slices that the controller keeps for a service, those that are going away aside.
fn existing<'a>(view: &'a View, service: &'a Service) -> impl Iterator<Item = &'a EndpointSlice> {
    let labels = labels_for(service);
    view.list::<EndpointSlice>(Some(&service.metadata.namespace)).filter(move |slice| {
        !slice.metadata.is_terminating()
            && [super::SERVICE_NAME, super::MANAGED_BY]
                .iter()
                .all(|key| slice.metadata.labels.get(*key) == labels.get(*key))
    })
}

/// The address types that a service has. Upstream: getAddressTypesForService.
fn address_types(service: &Service) -> BTreeSet<&'static str> {
    let families = service.spec.ip_families.iter();
    let named: BTreeSet<&'static str> =
        families.filter_map(|family| ["IPv4", "IPv6"].into_iter().find(|known| known == family)).gather();
    if !named.is_empty() {
        return named;
    }
    if service.spec.cluster_ip.contains(':') { BTreeSet::from(["IPv6"]) } else { BTreeSet::from(["IPv4"]) }
}

/// What has to be written for a service that selects these pods, by what the cache shows.
pub(super) fn plan(view: &View, service: &Service, pods: &[&Pod]) -> Plan {
    let mut plan = Plan::default();
    if !has_endpoints(service) {
        return plan;
    }
    let types = address_types(service);
    let (known, strange): (Vec<&EndpointSlice>, Vec<&EndpointSlice>) =
        existing(view, service).partition(|slice| types.contains(slice.address_type.as_str()));
    for address_type in types {
        let of_type: Vec<&EndpointSlice> =
            known.iter().copied().filter(|slice| slice.address_type == address_type).collect();
        plan.add(of_address_type(view, service, pods, &of_type, address_type));
    }
    plan.delete.extend(strange.into_iter().cloned());
    plan
}

/// Upstream: reconcileByAddressType.
fn of_address_type(
    view: &View,
    service: &Service,
    pods: &[&Pod],
    existing: &[&EndpointSlice],
    address_type: &'static str,
) -> Plan {
    let mut plan = Plan::default();
    let mut by_ports: BTreeMap<BTreeSet<String>, Vec<&EndpointSlice>> = BTreeMap::new();
    for slice in existing {
        if owned(slice, service) {
            by_ports.entry(port_key(&slice.ports)).or_default().push(slice);
        } else {
            plan.delete.push((*slice).clone());
        }
    }
    let before = by_pod(pods, existing);
    let wanted = desired(view, service, pods, &before, address_type, &mut plan.lost);
    let mut unchanged = vec![];
    for (key, (meta, endpoints)) in &wanted {
        let slices = by_ports.get(key).map_or(&[] as &[&EndpointSlice], Vec::as_slice);
        plan.add(of_ports(service, slices, endpoints, meta, &mut unchanged));
    }
    for (_, slices) in by_ports.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
        plan.delete.extend(slices.iter().map(|slice| (*slice).clone()));
    }
    // Where there would be no slice, an empty one stands.
    if existing.len() == plan.delete.len() && plan.create.is_empty() {
        let empty = new_slice(service, &Meta { ports: vec![], address_type });
        if plan.delete.len() == 1 && plan.delete.iter().all(|slice| same_placeholder(slice, &empty)) {
            plan.delete.clear();
        } else {
            plan.create.push(empty);
        }
    }
    hints::set(service, &mut plan, &unchanged);
    reuse(&mut plan, service);
    plan
}

/// Upstream: placeholderSliceCompare.
fn same_placeholder(slice: &EndpointSlice, empty: &EndpointSlice) -> bool {
    slice.endpoints.is_empty()
        && slice.ports.is_empty()
        && slice.address_type == empty.address_type
        && slice.metadata.namespace == empty.metadata.namespace
        && slice.metadata.labels == empty.metadata.labels
}

/// Slices to be made take the place of slices to be deleted. Upstream: finalize.
fn reuse(plan: &mut Plan, service: &Service) {
    let mut kept = vec![];
    for old in plan.delete.drain(..) {
        let fits = plan.create.last().is_some_and(|new| new.address_type == old.address_type);
        match plan.create.pop_if(|_| fits && owned(&old, service)) {
            Some(mut new) => {
                new.metadata.name = old.metadata.name;
                plan.update.push(new);
            }
            None => kept.push(old),
        }
    }
    plan.delete = kept;
}

/// Whether an endpoint is as it is wanted; hints are set afterwards. Upstream: EndpointsEqualBeyondHash.
fn is_as_wanted(old: &Shared<Endpoint>, new: &Shared<Endpoint>) -> bool {
    old.is(new)
        || old.conditions == new.conditions
            && old.node_name == new.node_name
            && old.zone == new.zone
            && old.target_ref == new.target_ref
}

/// Upstream: reconcileByPortMapping. Slices that need not be written go to `same`.
fn of_ports<'a>(
    service: &Service,
    existing: &[&'a EndpointSlice],
    endpoints: &[Shared<Endpoint>],
    meta: &Meta,
    same: &mut Vec<&'a EndpointSlice>,
) -> Plan {
    let mut plan = Plan::default();
    let mut left = Left::new(endpoints);
    let mut unchanged: Vec<&'a EndpointSlice> = vec![];
    let labels = labels_for(service);
    let own = own_labels(&labels);
    for slice in existing {
        let kept: Vec<(&Shared<Endpoint>, &Shared<Endpoint>)> =
            slice.endpoints.iter().filter_map(|old| Some((old, left.take(old)?))).collect();
        let changed = !kept.iter().all(|(old, new)| is_as_wanted(old, new));
        let relabelled = own_labels(&slice.metadata.labels) != own;
        let with = |endpoints: Option<Vec<Shared<Endpoint>>>| EndpointSlice {
            metadata: ObjectMeta { labels: labels.clone(), ..slice.metadata.clone() },
            endpoints: endpoints.unwrap_or_else(|| slice.endpoints.clone()),
            address_type: slice.address_type.clone(),
            ports: slice.ports.clone(),
            rest: slice.rest.clone(),
        };
        if changed || kept.len() != slice.endpoints.len() {
            if kept.is_empty() {
                plan.delete.push(EndpointSlice::clone(slice));
                continue;
            }
            plan.update.push(with(Some(kept.into_iter().map(|(_, new)| new.clone()).collect())));
        } else if relabelled {
            plan.update.push(with(None));
        } else {
            unchanged.push(slice);
        }
    }
    plan.update.arrange_by_key(|slice| std::cmp::Reverse(slice.endpoints.len()));
    let mut left = left.rest();
    for slice in &mut plan.update {
        fill(slice, &mut left);
    }
    while !left.is_empty() {
        let number = left.len();
        let roomy =
            unchanged.iter().enumerate().filter(|(_, s)| number < MOST && number + s.endpoints.len() <= MOST);
        let fullest = roomy.max_by_key(|(_, slice)| slice.endpoints.len()).map(|(i, _)| i);
        let mut slice = match fullest {
            Some(i) => EndpointSlice::clone(unchanged.remove(i)),
            None => new_slice(service, meta),
        };
        fill(&mut slice, &mut left);
        if slice.metadata.name.is_empty() { plan.create.push(slice) } else { plan.update.push(slice) }
    }
    same.append(&mut unchanged);
    plan
}

fn fill(slice: &mut EndpointSlice, left: &mut VecDeque<Shared<Endpoint>>) {
    let room = MOST.saturating_sub(slice.endpoints.len()).min(left.len());
    slice.endpoints.extend(left.drain(..room));
}

/// Labels that a slice has from its service.
fn own_labels(labels: &kubestep_model::Labels) -> kubestep_model::Labels {
    labels.iter().filter(|(key, _)| !super::is_reserved(key)).map(|(k, v)| (k.clone(), v.clone())).gather()
}
