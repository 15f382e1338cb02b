//! Addresses that share their ports. Upstream: pkg/api/v1/endpoints, RepackSubsets (v1.37).

use crate::endpointslice::{
    members::{can_be_endpoint, find_port, has_hostname},
    target,
};
use kubestep_model::{CoreEndpointPort, EndpointAddress, EndpointSubset, Pod, Service};
use std::{collections::BTreeMap, sync::Arc};

/// An address, as it is sorted: by its text, then by the pod's uid.
type Place<'a> = (&'a str, &'a str);
/// The pods that offer one port, and whether they are ready.
type Offers<'a> = BTreeMap<Place<'a>, (bool, &'a Pod)>;

/// The address of a pod for a service: of the service's first family. Upstream: podToEndpointAddressForService.
fn ip<'a>(service: &Service, pod: &'a Pod) -> Option<&'a Arc<str>> {
    let first = service.spec.ip_families.first().map(String::as_str);
    let v6 = first.map_or(service.spec.cluster_ip.contains(':'), |family| family == "IPv6");
    pod.status.pod_ips.iter().map(|p| &p.ip).find(|ip| ip.contains(':') == v6)
}

fn address(service: &Service, pod: &Pod) -> Option<EndpointAddress> {
    Some(EndpointAddress {
        ip: ip(service, pod)?.clone(),
        node_name: Some(pod.spec.node_name.clone()),
        target_ref: Some(target(pod)),
        hostname: if has_hostname(pod, service) { pod.spec.hostname.clone() } else { String::new() },
        ..EndpointAddress::default()
    })
}

/// The subsets of a service. Upstream: syncService with addEndpointSubset.
pub(super) fn subsets(service: &Service, pods: &[&Pod]) -> Vec<EndpointSubset> {
    let all = service.spec.publish_not_ready_addresses;
    // By the service's port and the number it has on the pod; a headless service may have no ports.
    let mut offers: BTreeMap<(usize, i32), Offers<'_>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| can_be_endpoint(pod, all)) {
        let Some(ip) = ip(service, pod) else { continue };
        let ready = all || pod.is_ready();
        let mut offer = |port, number| {
            let offers = offers.entry((port, number)).or_default();
            offers.insert((ip, &pod.metadata.uid), (ready, pod));
        };
        if service.spec.ports.is_empty() && service.spec.cluster_ip == "None" {
            offer(0, -1);
        }
        for (i, port) in service.spec.ports.iter().enumerate() {
            if let Some(number) = find_port(pod, port) {
                offer(i, number);
            }
        }
    }
    let mut found: Vec<(Vec<(Place<'_>, bool)>, EndpointSubset)> = vec![];
    for ((i, number), offers) in offers {
        let key: Vec<(Place<'_>, bool)> = offers.iter().map(|(place, (ready, _))| (*place, *ready)).collect();
        let at = found.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            found.push((key, subset(service, &offers)));
            found.len() - 1
        });
        if let (Some((_, subset)), Some(port)) = (found.get_mut(at), service.spec.ports.get(i)) {
            subset.ports.push(CoreEndpointPort {
                port: number,
                name: port.name.clone(),
                protocol: port.protocol.clone(),
                app_protocol: port.app_protocol.clone(),
                ..CoreEndpointPort::default()
            });
        }
    }
    found.into_iter().map(|(_, subset)| subset).collect()
}

fn subset(service: &Service, offers: &Offers<'_>) -> EndpointSubset {
    let of = |wanted: bool| {
        let pods = offers.values().filter(move |(ready, _)| *ready == wanted);
        pods.filter_map(|(_, pod)| address(service, pod)).collect()
    };
    EndpointSubset { addresses: of(true), not_ready_addresses: of(false), ..EndpointSubset::default() }
}
