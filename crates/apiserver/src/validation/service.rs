//! Service.
//!
//! Upstream: pkg/apis/core/validation, ValidateService (v1.37).

use super::{
    field::{Errors, items, number, text},
    meta, node,
    pod::{NOT_AN_IP, is_ip},
    probe,
};
use kubestep_model::{Service, ServicePort, text::names};
use serde_json::Value;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const AFFINITIES: [&str; 2] = ["ClientIP", "None"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const NONE: &str = "None";

pub(super) fn service(service: &Service, whole: &Value, old: Option<&Service>) -> Errors {
    let mut errors = Errors::new();
    let spec = &service.spec;
    let headless = spec.cluster_ip == NONE;
    if spec.ports.is_empty() && !headless && spec.r#type != "ExternalName" {
        errors.required("spec.ports", "");
    }
    if spec.r#type == "ExternalName" {
        external_name(&mut errors, service);
    }
    ports(&mut errors, whole, spec.ports.len() > 1);
    meta::labels(&mut errors, &spec.selector, "spec.selector");
    affinity(&mut errors, &whole["spec"]);
    cluster_ips(&mut errors, service, old);
    external_ips(&mut errors, &spec.external_ips);
    if spec.r#type.is_empty() {
        errors.required("spec.type", "");
    } else if !TYPES.contains(&spec.r#type.as_str()) {
        errors.not_supported_text("spec.type", &spec.r#type, &TYPES);
    }
    if spec.r#type == "ClusterIP" {
        for (i, _) in spec.ports.iter().enumerate().filter(|(_, p)| p.node_port != 0) {
            errors.forbidden(
                &format!("spec.ports[{i}].nodePort"),
                "may not be used when `type` is 'ClusterIP'",
            );
        }
    }
    same_ports(&mut errors, &spec.ports);
    source_ranges(&mut errors, whole, old);
    load_balancer(&mut errors, whole, old);
    traffic(&mut errors, whole, &spec.r#type);
    topology(&mut errors, whole);
    errors
}

/// Whom a load balancer lets in, in a field or in an old annotation; and whether it has ports on the nodes.
fn source_ranges(errors: &mut Errors, whole: &Value, old: Option<&Service>) {
    const FIELD: &str = "spec.LoadBalancerSourceRanges";
    const ANNOTATION: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
    let spec = &whole["spec"];
    let balanced = text(&spec["type"]) == "LoadBalancer";
    let ranges = items(&spec["loadBalancerSourceRanges"]);
    let said = &whole["metadata"]["annotations"][ANNOTATION];
    if !ranges.is_empty() {
        if !balanced {
            errors.forbidden(FIELD, ONLY);
        }
        let before =
            old.and_then(|old| old.spec.rest.get("loadBalancerSourceRanges")).cloned().unwrap_or_default();
        for (i, range) in ranges.iter().enumerate().filter(|(_, range)| !items(&before).contains(range)) {
            let range = text(range).trim();
            errors.invalid_each(&format!("{FIELD}[{i}]"), range, node::cidr_errors(range));
        }
    } else if !said.is_null() {
        let field = format!("metadata.annotations[{ANNOTATION}]");
        if !balanced {
            errors.forbidden(&field, ONLY);
        }
        let same =
            old.is_some_and(|old| old.metadata.annotations.get(ANNOTATION).is_some_and(|o| o == text(said)));
        for range in text(said).split(',').map(str::trim).filter(|_| !same && !text(said).trim().is_empty()) {
            errors.invalid_each(&field, range, node::cidr_errors(range));
        }
    }
    if !balanced && !spec["allocateLoadBalancerNodePorts"].is_null() {
        errors.forbidden("spec.allocateLoadBalancerNodePorts", ONLY);
    }
}

/// Who serves as load balancer is said once. Upstream: validateLoadBalancerClassField.
fn load_balancer(errors: &mut Errors, whole: &Value, old: Option<&Service>) {
    const FIELD: &str = "spec.loadBalancerClass";
    let class = &whole["spec"]["loadBalancerClass"];
    let of_type = text(&whole["spec"]["type"]) == "LoadBalancer";
    if let Some(old) = old.filter(|old| old.spec.r#type == "LoadBalancer" && of_type) {
        let before = old.spec.rest.get("loadBalancerClass").cloned().unwrap_or_default();
        if before != *class {
            errors.invalid(FIELD, &class.to_string(), "may not change once set");
        }
        return;
    }
    if class.is_null() {
        return;
    }
    if !of_type {
        errors.forbidden(FIELD, "may only be used when `type` is 'LoadBalancer'");
        return;
    }
    errors.invalid_each(FIELD, text(class), names::is_qualified_name(text(class)));
}

/// Two annotations that mean the same have to say the same.
fn topology(errors: &mut Errors, whole: &Value) {
    const NEW: &str = "service.kubernetes.io/topology-mode";
    const OLD: &str = "service.kubernetes.io/topology-aware-hints";
    let annotations = &whole["metadata"]["annotations"];
    let (new, old) = (&annotations[NEW], &annotations[OLD]);
    if !new.is_null() && !old.is_null() && new != old {
        let why = format!("must match annotations[{OLD}] when both are specified");
        errors.invalid_text(&format!("metadata.annotations[{NEW}]"), text(new), &why);
    }
}

fn external_name(errors: &mut Errors, service: &Service) {
    let spec = &service.spec;
    if !spec.cluster_ips.is_empty() {
        errors.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
    }
    if !spec.ip_families.is_empty() {
        errors.forbidden("spec.ipFamilies", "may not be set for ExternalName services");
    }
    if spec.ip_family_policy.is_some() {
        errors.forbidden("spec.ipFamilyPolicy", "may not be set for ExternalName services");
    }
    let name = spec.external_name.strip_suffix('.').unwrap_or(&spec.external_name);
    if name.is_empty() {
        errors.required("spec.externalName", "");
    } else {
        errors.invalid_each("spec.externalName", name, names::is_dns1123_subdomain(name));
    }
}

fn ports(errors: &mut Errors, whole: &Value, named: bool) {
    let mut seen: Vec<&str> = vec![];
    for (i, port) in items(&whole["spec"]["ports"]).iter().enumerate() {
        let at = |name: &str| format!("spec.ports[{i}].{name}");
        let name = text(&port["name"]);
        if name.is_empty() {
            if named {
                errors.required(&at("name"), "");
            }
        } else {
            errors.dns_label(&at("name"), name);
            if seen.contains(&name) {
                errors.duplicate(&at("name"), &Value::from(name).to_string());
            } else {
                seen.push(name);
            }
        }
        let outer = number(&port["port"]);
        errors.invalid_number(&at("port"), outer, names::is_valid_port_num(outer));
        let protocol = text(&port["protocol"]);
        if protocol.is_empty() {
            errors.required(&at("protocol"), "");
        } else if !PROTOCOLS.contains(&protocol) {
            errors.not_supported_text(&at("protocol"), protocol, &PROTOCOLS);
        }
        probe::port(errors, &port["targetPort"], &at("targetPort"));
        let app = text(&port["appProtocol"]);
        if !app.is_empty() {
            errors.invalid_each(&at("appProtocol"), app, names::is_qualified_name(app));
        }
    }
}

fn affinity(errors: &mut Errors, spec: &Value) {
    let affinity = text(&spec["sessionAffinity"]);
    if affinity.is_empty() {
        errors.required("spec.sessionAffinity", "");
    } else if !AFFINITIES.contains(&affinity) {
        errors.not_supported_text("spec.sessionAffinity", affinity, &AFFINITIES);
    }
    let config = &spec["sessionAffinityConfig"];
    match affinity {
        "ClientIP" => {
            let field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
            let seconds = number(&config["clientIP"]["timeoutSeconds"]);
            if seconds <= 0 || seconds > 86_400 {
                errors.invalid(field, &seconds.to_string(), "must be greater than 0 and less than 86400");
            }
        }
        NONE if !config.is_null() => {
            let why = "must not be set when session affinity is None";
            errors.forbidden("spec.sessionAffinityConfig", why);
        }
        _ => {}
    }
}

fn cluster_ips(errors: &mut Errors, service: &Service, old: Option<&Service>) {
    let spec = &service.spec;
    if spec.r#type == "ExternalName" {
        return;
    }
    if let Some(old) = old
        && old.spec.r#type != "ExternalName"
        && let (Some(was), Some(is)) = (old.spec.cluster_ips.first(), spec.cluster_ips.first())
        && was != is
    {
        let shown = serde_json::to_string(&spec.cluster_ips).unwrap_or_default();
        errors.invalid("spec.clusterIPs[0]", &shown, "may not change once set");
    }
    for (i, ip) in spec.cluster_ips.iter().enumerate() {
        let field = format!("spec.clusterIPs[{i}]");
        if ip == NONE {
            if spec.r#type != "ClusterIP" {
                errors.invalid_text(
                    &field,
                    NONE,
                    &format!("may not be set to 'None' for {} services", spec.r#type),
                );
            }
        } else if !is_ip(ip) {
            errors.invalid_text(&field, ip, NOT_AN_IP);
        }
    }
}

fn external_ips(errors: &mut Errors, ips: &[String]) {
    for (i, text) in ips.iter().enumerate() {
        let field = format!("spec.externalIPs[{i}]");
        let Ok(ip) = text.parse::<std::net::IpAddr>() else {
            errors.invalid_text(&field, text, NOT_AN_IP);
            continue;
        };
        if ip.is_unspecified() {
            errors.invalid_text(&field, text, &format!("may not be unspecified ({text})"));
        }
        if ip.is_loopback() {
            errors.invalid_text(&field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
        }
        if ip.is_multicast() {
            errors.invalid_text(&field, text, "may not be in the multicast range (224.0.0.0/4, ff00::/10)");
        }
    }
}

/// One port number and protocol goes to one place.
fn same_ports(errors: &mut Errors, ports: &[ServicePort]) {
    for (i, port) in ports.iter().enumerate() {
        let twin = |f: fn(&ServicePort) -> i32| {
            f(port) != 0 && ports[..i].iter().any(|p| p.protocol == port.protocol && f(p) == f(port))
        };
        if twin(|p| p.node_port) {
            errors.duplicate(&format!("spec.ports[{i}].nodePort"), &port.node_port.to_string());
        }
    }
    for (i, port) in ports.iter().enumerate() {
        if ports[..i].iter().any(|p| p.protocol == port.protocol && p.port == port.port) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                Value::from(port.protocol.as_str()),
                port.port
            );
            errors.duplicate(&format!("spec.ports[{i}]"), &shown);
        }
    }
}

fn traffic(errors: &mut Errors, whole: &Value, kind: &str) {
    let spec = &whole["spec"];
    let external = text(&spec["externalTrafficPolicy"]);
    let outside = matches!(kind, "NodePort" | "LoadBalancer")
        || (kind == "ClusterIP" && !items(&spec["externalIPs"]).is_empty());
    if !external.is_empty() {
        if !outside {
            let why = "may only be set for externally-accessible services";
            errors.invalid_text("spec.externalTrafficPolicy", external, why);
        } else if !matches!(external, "Cluster" | "Local") {
            errors.not_supported_text("spec.externalTrafficPolicy", external, &["Cluster", "Local"]);
        }
    }
    let internal = text(&spec["internalTrafficPolicy"]);
    if !internal.is_empty() && !matches!(internal, "Cluster" | "Local") {
        errors.not_supported_text("spec.internalTrafficPolicy", internal, &["Cluster", "Local"]);
    }
    let distribution = text(&spec["trafficDistribution"]);
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    if !distribution.is_empty() && !known.contains(&distribution) {
        errors.not_supported_text("spec.trafficDistribution", distribution, &known);
    }
}
