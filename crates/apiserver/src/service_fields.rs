//! Fields of a service that follow from each other, from its type and from what it was before.
//!
//! Upstream: pkg/registry/core/service/storage (normalizeClusterIPs, patchAllocatedValues) and
//! pkg/registry/core/service/strategy.go (dropTypeDependentFields) (v1.37).

use kubestep_model::Service;
use kubestep_model::arrange::Gather;
use std::collections::BTreeMap;

/// `clusterIP` is the first of `clusterIPs`; a client that sets only one of them means both.
pub(crate) fn match_cluster_ips(new: &mut Service, old: Option<&Service>) {
    let spec = &mut new.spec;
    match old {
        None => {
            if spec.cluster_ips.is_empty() && !spec.cluster_ip.is_empty() {
                spec.cluster_ips = vec![spec.cluster_ip.clone()];
            }
        }
        Some(old) => {
            let same_list = spec.cluster_ips == old.spec.cluster_ips;
            if spec.cluster_ip != old.spec.cluster_ip && (same_list || spec.cluster_ips.is_empty()) {
                spec.cluster_ips =
                    Some(spec.cluster_ip.clone()).filter(|ip| !ip.is_empty()).into_iter().collect();
            } else if spec.cluster_ip == old.spec.cluster_ip && !same_list {
                spec.cluster_ip = spec.cluster_ips.first().cloned().unwrap_or_default();
            }
        }
    }
}

/// What was given to the service stays where the new state is silent.
pub(crate) fn keep_given_values(new: &mut Service, old: &Service) {
    let (was, spec) = (&old.spec, &mut new.spec);
    if has_cluster_ip(&was.r#type) && has_cluster_ip(&spec.r#type) {
        if spec.cluster_ip.is_empty() {
            spec.cluster_ip.clone_from(&was.cluster_ip);
        }
        if spec.cluster_ips.is_empty() && spec.cluster_ip == was.cluster_ip {
            spec.cluster_ips.clone_from(&was.cluster_ips);
        }
    }
    if has_node_ports(&was.r#type) && has_node_ports(&spec.r#type) {
        let mut used: Vec<i32> = spec.ports.iter().map(|p| p.node_port).collect();
        used.retain(|n| *n != 0 && was.ports.iter().any(|p| p.node_port == *n));
        let by_name: BTreeMap<&str, i32> = was.ports.iter().map(|p| (p.name.as_str(), p.node_port)).gather();
        for port in spec.ports.iter_mut().filter(|p| p.node_port == 0) {
            if let Some(number) = by_name.get(port.name.as_str()).filter(|n| !used.contains(n)) {
                port.node_port = *number;
                used.push(*number);
            }
        }
    }
}

/// A change of type drops what only the old type has, where it was left as it was.
pub(crate) fn drop_other_types_fields(new: &mut Service, old: &Service) {
    let (was, spec) = (&old.spec, &mut new.spec);
    if has_cluster_ip(&was.r#type) && !has_cluster_ip(&spec.r#type) {
        if spec.cluster_ip == was.cluster_ip && spec.cluster_ips == was.cluster_ips {
            spec.cluster_ip.clear();
            spec.cluster_ips.clear();
        }
        if spec.ip_families == was.ip_families {
            spec.ip_families.clear();
        }
        if spec.ip_family_policy == was.ip_family_policy {
            spec.ip_family_policy = None;
        }
        if spec.internal_traffic_policy == was.internal_traffic_policy {
            spec.internal_traffic_policy = None;
        }
    }
    let ports = |ports: &[kubestep_model::ServicePort]| ports.iter().map(|p| p.node_port).collect::<Vec<_>>();
    if has_node_ports(&was.r#type) && !has_node_ports(&spec.r#type) {
        if ports(&spec.ports) == ports(&was.ports) {
            spec.ports.iter_mut().for_each(|p| p.node_port = 0);
        }
        for field in ["externalTrafficPolicy", "healthCheckNodePort"] {
            if spec.rest.get(field) == was.rest.get(field) {
                spec.rest.remove(field);
            }
        }
    }
    if was.r#type == "LoadBalancer" && spec.r#type != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.rest.get(field) == was.rest.get(field) {
                spec.rest.remove(field);
            }
        }
    }
}

fn has_cluster_ip(kind: &str) -> bool {
    matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn has_node_ports(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}
