//! The endpoints that a service should have. Upstream: staging/src/k8s.io/endpointslice/utils.go (v1.37).

use super::{
    HEADLESS, MANAGED_BY, MANAGER, SERVICE_NAME, is_reserved,
    members::{can_be_endpoint, find_port, has_address, has_hostname},
    plan::port_key,
};
use kubestep_control::View;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Endpoint, EndpointConditions, EndpointPort, EndpointSlice, Labels, Node, ObjectMeta, ObjectReference,
    OwnerReference, Pod, Service,
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
pub(super) type Wanted = BTreeMap<BTreeSet<String>, (Meta, Vec<Endpoint>)>;

/// The endpoints of a service, of one address type; pods on nodes that are not there go to `lost`.
pub(super) fn desired(
    view: &View,
    service: &Service,
    pods: &[&Pod],
    address_type: &'static str,
    lost: &mut Vec<(String, String)>,
) -> Wanted {
    let mut groups: Vec<(BTreeSet<String>, Meta, Vec<Endpoint>)> = vec![];
    // Most pods have the same ports: their key is worked out once.
    let mut known: Vec<(Vec<Option<i32>>, usize)> = vec![];
    for pod in pods.iter().filter(|pod| can_be_endpoint(pod, true)) {
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
        let node = view.get::<Node>("", &pod.spec.node_name);
        if node.is_none() && !service.spec.publish_not_ready_addresses {
            lost.push((pod.metadata.name.to_string(), pod.spec.node_name.to_string()));
            continue;
        }
        let endpoint = endpoint_of(service, pod, node, address_type);
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
    service.spec.ports.iter().zip(numbers).filter_map(of).collect()
}

/// Upstream: podToEndpoint.
fn endpoint_of(service: &Service, pod: &Pod, node: Option<&Node>, address_type: &str) -> Endpoint {
    let (serving, terminating) = (pod.is_ready(), pod.metadata.is_terminating());
    let ready = service.spec.publish_not_ready_addresses || serving && !terminating;
    let is_type = |ip: &str| ip.contains(':') == (address_type == "IPv6");
    let zone = node.and_then(|n| n.labels().get("topology.kubernetes.io/zone")).filter(|z| !z.is_empty());
    Endpoint {
        addresses: pod.status.pod_ips.iter().map(|p| p.ip.clone()).filter(|ip| is_type(ip)).collect(),
        conditions: EndpointConditions {
            ready: Some(ready),
            serving: Some(serving),
            terminating: Some(terminating),
            ..EndpointConditions::default()
        },
        target_ref: Some(target(pod)),
        node_name: Some(pod.spec.node_name.clone()).filter(|name| !name.is_empty()),
        zone: zone.cloned(),
        hostname: has_hostname(pod, service).then(|| pod.spec.hostname.clone()),
        ..Endpoint::default()
    }
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
