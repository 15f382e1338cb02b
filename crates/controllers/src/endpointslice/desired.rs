//! The endpoints that a service should have. Upstream: staging/src/k8s.io/endpointslice/utils.go (v1.37).

use super::{
    HEADLESS, MANAGED_BY, MANAGER, SERVICE_NAME, is_reserved,
    members::{can_be_endpoint, find_port, has_address, has_hostname},
    plan::port_key,
};
use crate::endpoints::order::slice_ports;
use kubestep_control::View;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Endpoint, EndpointConditions, EndpointPort, EndpointSlice, Labels, Node, ObjectMeta, ObjectReference,
    OwnerReference, Pod, Service, Shared,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// What all endpoints of a slice share.
#[derive(Clone, Debug)]
pub(super) struct Meta {
    pub(super) ports: Vec<EndpointPort>,
    pub(super) address_type: &'static str,
}

/// The wanted endpoints, in groups of equal ports.
pub(super) type Wanted = BTreeMap<BTreeSet<String>, (Meta, Vec<Shared<Endpoint>>)>;

/// The endpoints of a service, of one address type; pods on nodes that are not there go to `lost`. `before` has each
/// pod's endpoint in a slice, if there is one: where nothing changed it is used again.
pub(super) fn desired(
    view: &View,
    service: &Service,
    pods: &[&Pod],
    before: &[Option<&Shared<Endpoint>>],
    address_type: &'static str,
    lost: &mut Vec<(String, String)>,
) -> Wanted {
    let mut groups: Vec<(BTreeSet<String>, Meta, Vec<Shared<Endpoint>>)> = vec![];
    let mut nodes: BTreeMap<&str, Option<&Node>> = BTreeMap::new();
    // Most pods have the same ports: their key is worked out once.
    let mut known: Vec<(Vec<Option<i32>>, usize)> = vec![];
    for (pod, before) in pods.iter().zip(before).filter(|(pod, _)| can_be_endpoint(pod, true)) {
        let numbers = || service.spec.ports.iter().map(|port| find_port(pod, port));
        let group = match known.iter().find(|(known, _)| numbers().eq(known.iter().copied())) {
            Some((_, group)) => *group,
            None => {
                let numbers: Vec<Option<i32>> = numbers().collect();
                let ports = ports_of(service, &numbers);
                let key = port_key(&ports);
                let group = groups.iter().position(|(k, ..)| *k == key).unwrap_or(groups.len());
                if group == groups.len() {
                    groups.push((key, Meta { ports, address_type }, vec![]));
                }
                known.push((numbers, group));
                group
            }
        };
        let name = &*pod.spec.node_name;
        let node = *nodes.entry(name).or_insert_with(|| view.get::<Node>("", name));
        if node.is_none() && !service.spec.publish_not_ready_addresses {
            lost.push((pod.metadata.name.to_string(), pod.spec.node_name.to_string()));
            continue;
        }
        let of = OfPod { service, pod, zone: zone_of(node), address_type };
        let endpoint = match before.filter(|before| of.is(before)) {
            Some(before) => before.clone(),
            None => of.endpoint().into(),
        };
        if !endpoint.addresses.is_empty() {
            groups[group].2.push(endpoint);
        }
    }
    groups.into_iter().map(|(key, meta, endpoints)| (key, (meta, endpoints))).gather()
}

/// The service's ports as a pod has them, under these numbers. Upstream: getEndpointPorts.
fn ports_of(service: &Service, numbers: &[Option<i32>]) -> Vec<EndpointPort> {
    let of = |(port, number): (&kubestep_model::ServicePort, &Option<i32>)| {
        Some(EndpointPort {
            name: Some(port.name.clone()),
            protocol: Some(port.protocol.clone()),
            port: Some((*number)?),
            app_protocol: port.app_protocol.clone(),
            ..EndpointPort::default()
        })
    };
    let mut ports: Vec<EndpointPort> = service.spec.ports.iter().zip(numbers).filter_map(of).collect();
    slice_ports(&mut ports);
    ports
}

fn zone_of(node: Option<&Node>) -> Option<&String> {
    node.and_then(|n| n.labels().get("topology.kubernetes.io/zone")).filter(|z| !z.is_empty())
}

/// All that makes an endpoint.
struct OfPod<'a> {
    service: &'a Service,
    pod: &'a Pod,
    zone: Option<&'a String>,
    address_type: &'static str,
}

impl OfPod<'_> {
    fn conditions(&self) -> EndpointConditions {
        let (serving, terminating) = (self.pod.is_ready(), self.pod.metadata.is_terminating());
        let ready = self.service.spec.publish_not_ready_addresses || serving && !terminating;
        EndpointConditions {
            ready: Some(ready),
            serving: Some(serving),
            terminating: Some(terminating),
            ..EndpointConditions::default()
        }
    }

    fn addresses(&self) -> impl Iterator<Item = &Arc<str>> {
        let of_type = |ip: &&Arc<str>| ip.contains(':') == (self.address_type == "IPv6");
        self.pod.status.pod_ips.iter().map(|p| &p.ip).filter(of_type)
    }

    fn node_name(&self) -> Option<&Arc<str>> {
        Some(&self.pod.spec.node_name).filter(|name| !name.is_empty())
    }

    fn hostname(&self) -> Option<&String> {
        has_hostname(self.pod, self.service).then_some(&self.pod.spec.hostname)
    }

    /// Upstream: podToEndpoint.
    fn endpoint(&self) -> Endpoint {
        Endpoint {
            addresses: self.addresses().cloned().collect(),
            conditions: self.conditions(),
            target_ref: Some(target(self.pod)),
            node_name: self.node_name().cloned(),
            zone: self.zone.cloned(),
            hostname: self.hostname().cloned(),
            ..Endpoint::default()
        }
    }

    /// Whether this is what `endpoint` would make.
    fn is(&self, endpoint: &Endpoint) -> bool {
        endpoint.conditions == self.conditions()
            && endpoint.target_ref.as_ref().is_some_and(|of| is_target(of, self.pod))
            && endpoint.addresses.iter().eq(self.addresses())
            && endpoint.node_name.as_ref() == self.node_name()
            && endpoint.zone.as_ref() == self.zone
            && endpoint.hostname.as_ref() == self.hostname()
            && endpoint.rest.is_empty()
    }
}

/// Whether this is what `target` would make.
pub(crate) fn is_target(of: &ObjectReference, pod: &Pod) -> bool {
    of.uid == pod.metadata.uid
        && of.name == pod.metadata.name
        && of.namespace == pod.metadata.namespace
        && of.kind == "Pod"
        && [&of.api_version, &of.resource_version, &of.field_path].iter().all(|text| text.is_empty())
        && of.rest.is_empty()
}

/// How an endpoint names its pod.
pub(crate) fn target(pod: &Pod) -> ObjectReference {
    ObjectReference {
        kind: "Pod".into(),
        namespace: pod.metadata.namespace.clone(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

/// The labels of a service's slices. Upstream: setEndpointSliceLabels.
pub(super) fn labels_for(service: &Service) -> Labels {
    let of_service = service.metadata.labels.iter().filter(|(key, _)| !is_reserved(key));
    let mut labels: Labels = of_service.map(|(k, v)| (k.clone(), v.clone())).gather();
    if !has_address(service) {
        labels.insert(HEADLESS.into(), String::new());
    }
    labels.insert(SERVICE_NAME.into(), service.metadata.name.to_string());
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    labels
}

/// An empty slice. Upstream: newEndpointSlice.
pub(super) fn new_slice(service: &Service, meta: &Meta) -> EndpointSlice {
    let owner = OwnerReference {
        api_version: "v1".into(),
        kind: "Service".into(),
        name: service.metadata.name.clone(),
        uid: service.metadata.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..OwnerReference::default()
    };
    let name = &service.metadata.name;
    EndpointSlice {
        metadata: ObjectMeta {
            generate_name: if name.len() < 253 { format!("{name}-") } else { name.to_string() },
            namespace: Arc::clone(&service.metadata.namespace),
            labels: labels_for(service),
            owner_references: vec![owner],
            ..ObjectMeta::default()
        },
        address_type: meta.address_type.into(),
        ports: meta.ports.clone(),
        ..EndpointSlice::default()
    }
}
