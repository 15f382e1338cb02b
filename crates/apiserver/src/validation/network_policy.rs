//! NetworkPolicy.
//!
//! Upstream: pkg/apis/networking/validation, ValidateNetworkPolicySpec (v1.37).

use super::{
    field::{Errors, given, items, number, text},
    workload,
};
use kubestep_model::{LabelSelector, text::names};
use serde_json::Value;
use std::net::IpAddr;

const NOT_A_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    selector(&mut errors, &spec["podSelector"], "spec.podSelector");
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (i, rule) in items(&spec[direction]).iter().enumerate() {
            let field = format!("spec.{direction}[{i}]");
            for (j, port) in items(&rule["ports"]).iter().enumerate() {
                self::port(&mut errors, port, &format!("{field}.ports[{j}]"));
            }
            for (j, peer) in items(&rule[peers]).iter().enumerate() {
                self::peer(&mut errors, peer, &format!("{field}.{peers}[{j}]"));
            }
        }
    }
    let types = items(&spec["policyTypes"]);
    if types.len() > 2 {
        let shown = spec["policyTypes"].to_string();
        errors.invalid("spec.policyTypes", &shown, "may not specify more than two policyTypes");
        return errors;
    }
    for (i, kind) in types.iter().enumerate() {
        if !matches!(text(kind), "Ingress" | "Egress") {
            errors.not_supported_text(&format!("spec.policyTypes[{i}]"), text(kind), &["Ingress", "Egress"]);
        }
    }
    errors
}

fn selector(errors: &mut Errors, selector: &Value, field: &str) {
    if let Ok(Some(selector)) = serde_json::from_value::<Option<LabelSelector>>(selector.clone()) {
        workload::label_selector(errors, &selector, field);
    }
}

fn port(errors: &mut Errors, port: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    let protocol = &port["protocol"];
    if given(protocol) && !matches!(text(protocol), "TCP" | "UDP" | "SCTP") {
        errors.not_supported_text(&at("protocol"), text(protocol), &["TCP", "UDP", "SCTP"]);
    }
    let end = port["endPort"].as_i64();
    match &port["port"] {
        Value::Null => {
            if let Some(end) = end {
                let why = "may not be specified when `port` is not specified";
                errors.invalid(&at("endPort"), &end.to_string(), why);
            }
        }
        Value::String(name) => {
            if let Some(end) = end {
                let why = "may not be specified when `port` is non-numeric";
                errors.invalid(&at("endPort"), &end.to_string(), why);
            }
            errors.invalid_each(&at("port"), name, names::is_valid_port_name(name));
        }
        first => {
            let first = number(first);
            errors.invalid_number(&at("port"), first, names::is_valid_port_num(first));
            if let Some(end) = end {
                if end < first {
                    let why = "must be greater than or equal to `port`";
                    errors.invalid(&at("endPort"), &end.to_string(), why);
                }
                errors.invalid_number(&at("endPort"), end, names::is_valid_port_num(end));
            }
        }
    }
}

fn peer(errors: &mut Errors, peer: &Value, field: &str) {
    let mut peers = 0;
    for name in ["podSelector", "namespaceSelector"] {
        if given(&peer[name]) {
            peers += 1;
            selector(errors, &peer[name], &format!("{field}.{name}"));
        }
    }
    let block = &peer["ipBlock"];
    if given(block) {
        peers += 1;
        ip_block(errors, block, &format!("{field}.ipBlock"));
    }
    if peers == 0 {
        errors.required(field, "must specify a peer");
    } else if peers > 1 && given(block) {
        errors.forbidden(field, "may not specify both ipBlock and another peer");
    }
}

fn ip_block(errors: &mut Errors, block: &Value, field: &str) {
    let cidr = text(&block["cidr"]);
    if cidr.is_empty() {
        errors.required(&format!("{field}.cidr"), "");
        return;
    }
    let Some((address, bits)) = range(cidr).filter(|_| super::node::cidr_errors(cidr).is_empty()) else {
        errors.invalid_each(&format!("{field}.cidr"), cidr, super::node::cidr_errors(cidr));
        return;
    };
    for (i, except) in items(&block["except"]).iter().enumerate() {
        let at = format!("{field}.except[{i}]");
        match range(text(except)) {
            None => errors.invalid_text(&at, text(except), NOT_A_CIDR),
            Some((inner, more)) => {
                if bits >= more || !contains(address, bits, inner) {
                    errors.invalid_text(&at, text(except), "must be a strict subset of `cidr`");
                }
            }
        }
    }
}

/// An address and how many of its bits count.
fn range(cidr: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = cidr.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.parse().ok().filter(|b| *b <= most)?;
    Some((address, bits))
}

fn contains(outer: IpAddr, bits: u32, inner: IpAddr) -> bool {
    match (outer, inner) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            (a.to_bits() & mask) == (b.to_bits() & mask)
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            (a.to_bits() & mask) == (b.to_bits() & mask)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_smaller_ranges() {
        let inside = |outer: &str, inner: &str| {
            let ((a, bits), (b, _)) = (range(outer).expect("a range"), range(inner).expect("a range"));
            contains(a, bits, b)
        };
        assert!(inside("10.0.0.0/8", "10.1.0.0/16") && inside("0.0.0.0/0", "192.0.2.0/24"));
        assert!(!inside("10.0.0.0/8", "11.0.0.0/16") && inside("2001:db8::/32", "2001:db8:1::/48"));
        assert!(range("192.0.2.1").is_none() && range("10.0.0.0/33").is_none());
    }
}
