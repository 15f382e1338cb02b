//! Which slices a service should have, and how to get there with few writes.
//! Upstream: staging/src/k8s.io/endpointslice/reconciler.go (v1.37). Left out: hints about topology.

use super::{
    desired::{Meta, desired, labels_for, new_slice},
    members::has_endpoints,
};
use kubestep_control::View;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Endpoint, EndpointSlice, ObjectMeta, Pod, Service};
use serde_json::Value;
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

/// What tells endpoints apart: the one address, else all of them in order, and the pod's name and namespace.
type Identity<'e> = (&'e str, Vec<&'e str>, &'e str, &'e str);

/// Tells endpoints apart. Upstream: hashEndpoint.
fn identity(endpoint: &Endpoint) -> Identity<'_> {
    let (only, mut all) = match endpoint.addresses.as_slice() {
        [only] => (&**only, vec![]),
        all => ("", all.iter().map(|a| &**a).collect()),
    };
    all.arrange();
    let target = endpoint.target_ref.as_ref();
    let (name, namespace) = target.map_or(("", ""), |t| (&*t.name, &*t.namespace));
    (only, all, name, namespace)
}

/// The wanted endpoints that no slice has taken yet, found by their identity.
struct Left<'e> {
    endpoints: Vec<Option<&'e Endpoint>>,
    /// The next place of each identity, and of each place the next one of the same identity.
    first: BTreeMap<Identity<'e>, usize>,
    next: Vec<usize>,
}

impl<'e> Left<'e> {
    fn new(endpoints: &'e [Endpoint]) -> Self {
        let none = endpoints.len();
        let (mut first, mut next) = (BTreeMap::new(), vec![none; none]);
        for (i, endpoint) in endpoints.iter().enumerate().rev() {
            if let Some(later) = first.insert(identity(endpoint), i) {
                next[i] = later;
            }
        }
        Left { endpoints: endpoints.iter().map(Some).collect(), first, next }
    }

    /// Takes the first endpoint of the same identity.
    fn take(&mut self, old: &'e Endpoint) -> Option<&'e Endpoint> {
        let place = self.first.get_mut(&identity(old))?;
        let endpoint = self.endpoints.get_mut(*place)?.take();
        *place = self.next[*place];
        endpoint
    }
}

/// Tells sets of ports apart, in any order. Upstream: NewPortMapKey.
pub(super) fn port_key(ports: &[kubestep_model::EndpointPort]) -> BTreeSet<String> {
    let text = |port| serde_json::to_value(port).map_or_else(|_| String::new(), |v: Value| v.to_string());
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
    let wanted = desired(view, service, pods, address_type, &mut plan.lost);
    for (key, (meta, endpoints)) in &wanted {
        let slices = by_ports.get(key).map_or(&[] as &[&EndpointSlice], Vec::as_slice);
        plan.add(of_ports(service, slices, endpoints, meta));
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

/// Upstream: reconcileByPortMapping.
fn of_ports(service: &Service, existing: &[&EndpointSlice], endpoints: &[Endpoint], meta: &Meta) -> Plan {
    let mut plan = Plan::default();
    let mut left = Left::new(endpoints);
    let mut unchanged: Vec<&EndpointSlice> = vec![];
    for slice in existing {
        let kept: Vec<(&Endpoint, &Endpoint)> =
            slice.endpoints.iter().filter_map(|old| Some((old, left.take(old)?))).collect();
        let changed = kept.iter().any(|(old, new)| old != new);
        let labels = labels_for(service);
        let relabelled = own_labels(&slice.metadata.labels) != own_labels(&labels);
        let with = |endpoints: Option<Vec<Endpoint>>| EndpointSlice {
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
    let mut left: VecDeque<Endpoint> = left.endpoints.into_iter().flatten().cloned().collect();
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
    plan
}

fn fill(slice: &mut EndpointSlice, left: &mut VecDeque<Endpoint>) {
    let room = MOST.saturating_sub(slice.endpoints.len()).min(left.len());
    slice.endpoints.extend(left.drain(..room));
}

/// Labels that a slice has from its service.
fn own_labels(labels: &kubestep_model::Labels) -> kubestep_model::Labels {
    labels.iter().filter(|(key, _)| !super::is_reserved(key)).map(|(k, v)| (k.clone(), v.clone())).gather()
}
