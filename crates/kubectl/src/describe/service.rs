//! Service.

use super::{Page, events, page::or_none};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    printers::host_port,
};
use kubestep_model::{EndpointSlice, Kind, Labels, Object, Service, ServicePort, text::Selector};
use serde_json::Value;
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<Service>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    let (meta, spec) = (&o.metadata, &o.spec);
    let labels = Labels::from([("kubernetes.io/service-name".to_owned(), meta.name.to_string())]);
    let listed = kc.list_whole(
        Kind::EndpointSlice,
        Some(meta.namespace.clone()),
        Some(Selector::from_labels(&labels)),
        None,
    )?;
    let slices: Vec<Object> = listed.map(|(items, _)| items).unwrap_or_default();
    let slices: Vec<&EndpointSlice> = slices.iter().filter_map(|s| s.get::<EndpointSlice>()).collect();
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    let selector = spec.selector.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",");
    page.field(0, "Selector", or_none(&selector));
    page.field(0, "Type", &spec.r#type);
    if let Some(policy) = &spec.ip_family_policy {
        page.field(0, "IP Family Policy", policy);
    }
    page.field(0, "IP Families", or_none(&spec.ip_families.join(",")));
    page.field(0, "IP", &spec.cluster_ip);
    page.field(0, "IPs", or_none(&spec.cluster_ips.join(",")));
    let rest = |field: &str| spec.rest.get(field).and_then(Value::as_str).unwrap_or_default();
    let mut unless_empty = |title: &str, value: &str| {
        if !value.is_empty() {
            page.field(0, title, value);
        }
    };
    unless_empty("External IPs", &spec.external_ips.join(","));
    unless_empty("Desired LoadBalancer IP", rest("loadBalancerIP"));
    unless_empty("External Name", &spec.external_name);
    unless_empty("LoadBalancer Ingress", &balancer(o));
    spec.ports.iter().for_each(|p| port(page, p, &slices));
    page.field(0, "Session Affinity", &spec.session_affinity);
    let ranges =
        spec.rest.get("loadBalancerSourceRanges").and_then(Value::as_array).cloned().unwrap_or_default();
    let ranges = ranges.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",");
    let health = spec.rest.get("healthCheckNodePort").and_then(Value::as_i64).unwrap_or_default();
    let mut unless_empty = |title: &str, value: &str| {
        if !value.is_empty() {
            page.field(0, title, value);
        }
    };
    unless_empty("External Traffic Policy", rest("externalTrafficPolicy"));
    unless_empty("Internal Traffic Policy", spec.internal_traffic_policy.as_deref().unwrap_or_default());
    unless_empty("HealthCheck NodePort", &if health == 0 { String::new() } else { health.to_string() });
    unless_empty("LoadBalancer Source Ranges", &ranges);
    unless_empty("Traffic Distribution", rest("trafficDistribution"));
    self::events::show(kc, page, &Object::Service(o.clone()), events)?;
    Ok(Ok(()))
}

fn balancer(o: &Service) -> String {
    let entries =
        o.status.load_balancer.rest.get("ingress").and_then(Value::as_array).cloned().unwrap_or_default();
    let show = |entry: &Value| {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        match (text("ip"), text("ipMode")) {
            ("", _) => text("hostname").to_owned(),
            (ip, "") => ip.to_owned(),
            (ip, mode) => format!("{ip} ({mode})"),
        }
    };
    entries.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn port(page: &mut Page, port: &ServicePort, slices: &[&EndpointSlice]) {
    let name = if port.name.is_empty() { "<unset>" } else { &port.name };
    page.field(0, "Port", format!("{name}\t{}/{}", port.port, port.protocol));
    page.field(0, "TargetPort", format!("{}/{}", port.target_port, port.protocol));
    if let Some(protocol) = &port.app_protocol {
        page.field(0, "AppProtocol", protocol);
    }
    if port.node_port != 0 {
        page.field(0, "NodePort", format!("{name}\t{}/{}", port.node_port, port.protocol));
    }
    page.field(0, "Endpoints", endpoints(slices, &port.name));
}

/// The ready addresses for one port. Upstream: formatEndpointSlices, whose `+ 0 more...` is kept: it looks for room
/// before it looks whether an endpoint is ready.
pub(super) fn endpoints(slices: &[&EndpointSlice], port: &str) -> String {
    if slices.is_empty() {
        return "<none>".to_owned();
    }
    let (mut list, mut more, mut count) = (Vec::new(), false, 0);
    let mut add = |address: String, ready: bool| {
        more |= list.len() == 3;
        if ready {
            count += 1;
            if !more {
                list.push(address);
            }
        }
    };
    for slice in slices {
        let ports: Vec<Option<i32>> = if slice.ports.is_empty() {
            vec![None]
        } else {
            slice
                .ports
                .iter()
                .filter(|p| p.name.as_deref().unwrap_or_default() == port)
                .map(|p| Some(p.port.unwrap_or_default()))
                .collect()
        };
        for number in ports {
            for endpoint in &slice.endpoints {
                let address = endpoint.addresses.first().map(|a| a.to_string()).unwrap_or_default();
                let address = number.map_or_else(|| address.clone(), |n| host_port(&address, n));
                add(address, endpoint.conditions.ready.unwrap_or(true));
            }
        }
    }
    let text = list.join(",");
    if more { format!("{text} + {} more...", count - 3) } else { text }
}
