//! Endpoints and EndpointSlice, as clients write them; what loops write is not checked again.
//!
//! Upstream: pkg/apis/core/validation, ValidateEndpoints, and pkg/apis/discovery/validation (v1.37).

use super::{
    field::{Errors, given, items, number, text},
    pod,
};
use kubestep_model::text::names;
use serde_json::Value;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const MOST_ENDPOINTS: usize = 1000;
const MOST_ADDRESSES: usize = 100;
const MOST_PORTS: usize = 100;

pub(super) fn endpoints(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    for (i, subset) in items(&whole["subsets"]).iter().enumerate() {
        let field = format!("subsets[{i}]");
        let lists = ["addresses", "notReadyAddresses"];
        if lists.iter().all(|l| items(&subset[*l]).is_empty()) {
            errors.required(&field, "must specify `addresses` or `notReadyAddresses`");
        }
        for list in lists {
            for (j, address) in items(&subset[list]).iter().enumerate() {
                let at = format!("{field}.{list}[{j}]");
                let ip = text(&address["ip"]);
                errors.invalid_each(&format!("{at}.ip"), ip, pod::ip_errors(ip));
                let host = text(&address["hostname"]);
                if !host.is_empty() {
                    errors.dns_label(&format!("{at}.hostname"), host);
                }
                if given(&address["nodeName"]) {
                    let node = text(&address["nodeName"]);
                    errors.invalid_each(&format!("{at}.nodeName"), node, names::is_dns1123_subdomain(node));
                }
                if !pod::is_ip(ip) {
                    errors.invalid_text(&format!("{at}.ip"), ip, "must be a valid IP address");
                }
                special(&mut errors, ip, &format!("{at}.ip"));
            }
        }
        let ports = items(&subset["ports"]);
        for (j, port) in ports.iter().enumerate() {
            subset_port(&mut errors, port, ports.len() > 1, &format!("{field}.ports[{j}]"));
        }
    }
    errors
}

/// Addresses that stand for no pod.
fn special(errors: &mut Errors, ip: &str, field: &str) {
    let Ok(address) = ip.parse::<std::net::IpAddr>() else { return };
    let link_local = match address {
        std::net::IpAddr::V4(v4) => v4.is_link_local(),
        std::net::IpAddr::V6(v6) => v6.segments()[0] & 0xffc0 == 0xfe80,
    };
    let shown = |errors: &mut Errors, why: &str| errors.invalid_text(field, ip, why);
    if address.is_unspecified() {
        shown(errors, &format!("may not be unspecified ({ip})"));
    }
    if address.is_loopback() {
        shown(errors, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if link_local {
        shown(errors, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    let local_multicast = match address {
        std::net::IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        std::net::IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    };
    if local_multicast {
        shown(errors, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

fn subset_port(errors: &mut Errors, port: &Value, named: bool, field: &str) {
    let name = text(&port["name"]);
    if named && name.is_empty() {
        errors.required(&format!("{field}.name"), "");
    } else if !name.is_empty() {
        errors.dns_label(&format!("{field}.name"), name);
    }
    let number = number(&port["port"]);
    errors.invalid_number(&format!("{field}.port"), number, names::is_valid_port_num(number));
    protocol(errors, text(&port["protocol"]), &format!("{field}.protocol"));
}

fn protocol(errors: &mut Errors, protocol: &str, field: &str) {
    if protocol.is_empty() {
        errors.required(field, "");
    } else if !PROTOCOLS.contains(&protocol) {
        errors.not_supported_text(field, protocol, &PROTOCOLS);
    }
}

pub(super) fn slice(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let kind = text(&whole["addressType"]);
    if kind.is_empty() {
        errors.required("addressType", "");
    } else if !matches!(kind, "FQDN" | "IPv4" | "IPv6") {
        errors.not_supported_text("addressType", kind, &["FQDN", "IPv4", "IPv6"]);
    }
    let endpoints = items(&whole["endpoints"]);
    if endpoints.len() > MOST_ENDPOINTS {
        errors.too_many("endpoints", endpoints.len(), MOST_ENDPOINTS);
        return errors;
    }
    slice_ports(&mut errors, items(&whole["ports"]));
    for (i, endpoint) in endpoints.iter().enumerate() {
        self::endpoint(&mut errors, endpoint, kind, &format!("endpoints[{i}]"));
    }
    errors
}

fn endpoint(errors: &mut Errors, endpoint: &Value, kind: &str, field: &str) {
    let addresses = items(&endpoint["addresses"]);
    let list = format!("{field}.addresses");
    if addresses.is_empty() {
        errors.declared(&|errors: &mut Errors| errors.required(&list, ""));
    } else if addresses.len() > MOST_ADDRESSES {
        errors.too_many(&list, addresses.len(), MOST_ADDRESSES);
    }
    for (i, address) in addresses.iter().enumerate() {
        let (at, address) = (format!("{list}[{i}]"), text(address));
        let wrong = pod::ip_errors(address);
        match kind {
            "IPv4" | "IPv6" if !wrong.is_empty() => errors.invalid_each(&at, address, wrong),
            "IPv4" if address.parse::<std::net::Ipv4Addr>().is_err() => {
                errors.invalid_text(&at, address, "must be a valid IPv4 address");
            }
            "IPv6" if address.parse::<std::net::Ipv6Addr>().is_err() => {
                errors.invalid_text(&at, address, "must be a valid IPv6 address");
            }
            "IPv4" | "IPv6" => special(errors, address, &at),
            "FQDN" => errors.invalid_each(&at, address, names::is_dns1123_subdomain(address)),
            _ => {}
        }
    }
    if given(&endpoint["nodeName"]) {
        let name = text(&endpoint["nodeName"]);
        errors.invalid_each(&format!("{field}.nodeName"), name, names::is_dns1123_subdomain(name));
    }
    if given(&endpoint["hostname"]) {
        errors.dns_label(&format!("{field}.hostname"), text(&endpoint["hostname"]));
    }
    for (list, check) in [
        ("forZones", names::is_valid_label_value as fn(&str) -> Vec<String>),
        ("forNodes", names::is_dns1123_subdomain),
    ] {
        hints(errors, items(&endpoint["hints"][list]), &format!("{field}.hints.{list}"), check);
    }
}

const MOST_HINTS: usize = 8;

/// For whom an endpoint is meant: zones or nodes, each once.
fn hints(errors: &mut Errors, hints: &[Value], field: &str, check: fn(&str) -> Vec<String>) {
    if hints.len() > MOST_HINTS {
        errors.too_many(field, hints.len(), MOST_HINTS);
        return;
    }
    for (i, hint) in hints.iter().enumerate() {
        let (name, at) = (text(&hint["name"]), format!("{field}[{i}].name"));
        if hints[..i].iter().any(|h| text(&h["name"]) == name) {
            errors.duplicate(&at, &Value::from(name).to_string());
        } else {
            errors.invalid_each(&at, name, check(name));
        }
    }
}

fn slice_ports(errors: &mut Errors, ports: &[Value]) {
    if ports.len() > MOST_PORTS {
        errors.too_many("ports", ports.len(), MOST_PORTS);
        return;
    }
    let mut seen: Vec<&str> = vec![];
    for (i, port) in ports.iter().enumerate() {
        let at = |name: &str| format!("ports[{i}].{name}");
        let name = text(&port["name"]);
        if !name.is_empty() {
            errors.dns_label(&at("name"), name);
        }
        if seen.contains(&name) {
            errors.duplicate(&at("name"), &Value::from(name).to_string());
        }
        seen.push(name);
        protocol(errors, text(&port["protocol"]), &at("protocol"));
        let app = text(&port["appProtocol"]);
        if !app.is_empty() {
            errors.invalid_each(&at("appProtocol"), app, names::is_qualified_name(app));
        }
    }
}
