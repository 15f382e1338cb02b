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
                if !pod::is_ip(ip) {
                    errors.invalid_text(&format!("{at}.ip"), ip, pod::NOT_AN_IP);
                }
                let host = text(&address["hostname"]);
                if !host.is_empty() {
                    errors.dns_label(&format!("{at}.hostname"), host);
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
    for (i, endpoint) in endpoints.iter().enumerate() {
        self::endpoint(&mut errors, endpoint, kind, &format!("endpoints[{i}]"));
    }
    slice_ports(&mut errors, items(&whole["ports"]));
    errors
}

fn endpoint(errors: &mut Errors, endpoint: &Value, kind: &str, field: &str) {
    let addresses = items(&endpoint["addresses"]);
    let list = format!("{field}.addresses");
    if addresses.is_empty() {
        errors.required(&list, "must contain at least 1 item");
    } else if addresses.len() > MOST_ADDRESSES {
        errors.too_many(&list, addresses.len(), MOST_ADDRESSES);
    }
    for (i, address) in addresses.iter().enumerate() {
        let (at, address) = (format!("{list}[{i}]"), text(address));
        match kind {
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
    }
}
