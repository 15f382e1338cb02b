//! Addresses that share their ports. Upstream: pkg/api/v1/endpoints, RepackSubsets (v1.37).

use super::order;
use crate::endpointslice::{
    begins, is_target,
    members::{can_be_endpoint, find_port, has_hostname},
    target,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    CoreEndpointPort, EndpointAddress, EndpointSubset, Endpoints, Pod, Service, ServicePort, Shared,
};
use std::{collections::BTreeMap, sync::Arc};

/// A pod that can be behind a service, at its address.
struct Member<'a> {
    ip: &'a Arc<str>,
    /// The first letters of the address, as a number that is sorted as they are.
    begins: u128,
    pod: &'a Pod,
    ready: bool,
    hostname: &'a str,
}

impl Member<'_> {
    /// Addresses are sorted by their text, then by the pod's uid.
    fn place(&self) -> (&str, &str) {
        (self.ip, &self.pod.metadata.uid)
    }

    fn address(&self) -> EndpointAddress {
        EndpointAddress {
            ip: self.ip.clone(),
            node_name: Some(self.pod.spec.node_name.clone()),
            target_ref: Some(target(self.pod)),
            hostname: self.hostname.to_owned(),
            ..EndpointAddress::default()
        }
    }

    /// Whether this is what `address` would make.
    fn is(&self, address: &EndpointAddress) -> bool {
        address.ip == *self.ip
            && address.target_ref.as_ref().is_some_and(|of| is_target(of, self.pod))
            && address.node_name.as_ref() == Some(&self.pod.spec.node_name)
            && address.hostname == self.hostname
            && address.rest.is_empty()
    }
}

/// The address of a pod for a service: of the service's first family. Upstream: podToEndpointAddressForService.
fn ip<'a>(v6: bool, pod: &'a Pod) -> Option<&'a Arc<str>> {
    pod.status.pod_ips.iter().map(|p| &p.ip).find(|ip| ip.contains(':') == v6)
}

/// The pods that can be behind a service, as their addresses are sorted.
fn members<'a>(service: &'a Service, pods: &[&'a Pod]) -> Vec<Member<'a>> {
    let all = service.spec.publish_not_ready_addresses;
    let first = service.spec.ip_families.first().map(String::as_str);
    let v6 = first.map_or(service.spec.cluster_ip.contains(':'), |family| family == "IPv6");
    let of = |pod: &&'a Pod| {
        let hostname = if has_hostname(pod, service) { pod.spec.hostname.as_str() } else { "" };
        let ip = ip(v6, pod)?;
        Some(Member { ip, begins: begins(ip.as_bytes()), pod, ready: all || pod.is_ready(), hostname })
    };
    let mut members: Vec<Member<'_>> =
        pods.iter().filter(|pod| can_be_endpoint(pod, all)).filter_map(of).collect();
    members.arrange_by(|a, b| a.begins.cmp(&b.begins).then_with(|| a.place().cmp(&b.place())));
    members
}

/// The subsets of a service. Upstream: syncService with addEndpointSubset. Addresses that did not change are those
/// of the subsets before.
pub(super) fn subsets(service: &Service, pods: &[&Pod], before: Option<&Endpoints>) -> Vec<EndpointSubset> {
    let members = members(service, pods);
    // By the service's port and the number it has on the pod; a headless service may have no ports.
    let mut offers: BTreeMap<(usize, i32), Vec<usize>> = BTreeMap::new();
    let mut offer = |port, number, member| offers.entry((port, number)).or_default().push(member);
    for (member, Member { pod, .. }) in members.iter().enumerate() {
        if service.spec.ports.is_empty() && service.spec.cluster_ip == "None" {
            offer(0, -1, member);
        }
        for (i, port) in service.spec.ports.iter().enumerate() {
            if let Some(number) = find_port(pod, port) {
                offer(i, number, member);
            }
        }
    }
    let mut found: Vec<(Vec<usize>, EndpointSubset)> = vec![];
    for ((i, number), offers) in offers {
        let at = found.iter().position(|(known, _)| *known == offers).unwrap_or_else(|| {
            let before = before.and_then(|b| b.subsets.get(found.len()));
            let subset = subset(offers.iter().filter_map(|i| members.get(*i)), before);
            found.push((offers, subset));
            found.len() - 1
        });
        if let (Some((_, subset)), Some(port)) = (found.get_mut(at), service.spec.ports.get(i)) {
            subset.ports.push(core_port(port, number));
        }
    }
    let mut found: Vec<EndpointSubset> = found.into_iter().map(|(_, subset)| subset).collect();
    order::subsets(&mut found);
    found
}

fn core_port(port: &ServicePort, number: i32) -> CoreEndpointPort {
    CoreEndpointPort {
        port: number,
        name: port.name.clone(),
        protocol: port.protocol.clone(),
        app_protocol: port.app_protocol.clone(),
        ..CoreEndpointPort::default()
    }
}

/// Upstream and here both lists are sorted alike, so they are walked side by side.
fn subset<'m>(
    members: impl Iterator<Item = &'m Member<'m>>,
    before: Option<&EndpointSubset>,
) -> EndpointSubset {
    let mut subset = EndpointSubset::default();
    let list = |of: fn(&EndpointSubset) -> &Vec<Shared<EndpointAddress>>| {
        before.map_or(&[] as &[_], |before| of(before).as_slice()).iter().peekable()
    };
    let mut old = [list(|s| &s.addresses), list(|s| &s.not_ready_addresses)];
    for member in members {
        let mut known = None;
        for old in &mut old {
            while old.next_if(|address| place(address) < member.place()).is_some() {}
            known = known.or(old.peek().copied().filter(|address| member.is(address)));
        }
        let address = known.cloned().unwrap_or_else(|| member.address().into());
        if member.ready { &mut subset.addresses } else { &mut subset.not_ready_addresses }.push(address);
    }
    subset
}

fn place(address: &EndpointAddress) -> (&str, &str) {
    (&address.ip, address.target_ref.as_ref().map_or("", |target| &target.uid))
}
