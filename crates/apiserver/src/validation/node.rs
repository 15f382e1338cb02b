//! Node.
//!
//! Upstream: pkg/apis/core/validation, ValidateNode and ValidateNodeUpdate (v1.37).

use super::{
    field::{Errors, entries, items, text},
    internal, resources,
};
use kubestep_model::{Quantity, text::names};
use serde_json::Value;
use std::net::IpAddr;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";
pub(super) const NOT_A_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    annotations(&mut errors, whole);
    taints(&mut errors, items(&whole["spec"]["taints"]));
    amounts(&mut errors, &whole["status"]);
    ranges(&mut errors, &whole["spec"]["podCIDRs"]);
    errors
}

/// What a node's status is asked; the rest is asked of any change.
pub(super) fn check_status(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    annotations(&mut errors, whole);
    amounts(&mut errors, &whole["status"]);
    errors
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (spec, before) = (&new["spec"], &old["spec"]);
    let addresses = items(&new["status"]["addresses"]);
    for (i, address) in addresses.iter().enumerate().filter(|(i, a)| addresses[..*i].contains(a)) {
        let shown = internal::shown("v1.NodeAddress", address);
        errors.duplicate(&format!("status.addresses[{i}]"), &shown);
    }
    let (after, there) = (items(&spec["podCIDRs"]), items(&before["podCIDRs"]));
    if !there.is_empty() && after != there {
        let why = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden("spec.podCIDRs", why);
    }
    let (id, known) = (text(&spec["providerID"]), text(&before["providerID"]));
    errors.declared(&|errors: &mut Errors| {
        if !known.is_empty() && !id.is_empty() && id != known {
            errors.invalid("spec.providerID", "null", "field cannot be modified once set");
        }
        if !known.is_empty() && id.is_empty() {
            errors.invalid("spec.providerID", "null", "field cannot be cleared once set");
        }
    });
    if text(&spec["externalID"]) != text(&before["externalID"]) {
        errors.forbidden("spec.externalID", "may not be updated");
    }
    errors
}

fn annotations(errors: &mut Errors, whole: &Value) {
    let avoid = text(&whole["metadata"]["annotations"][AVOID_PODS]);
    if avoid.is_empty() {
        return;
    }
    if let Err(why) = kubestep_model::text::go_json::check(avoid) {
        errors.invalid_text("metadata.annotations.AvoidPods", AVOID_PODS, &why);
    }
}

/// A node keeps pods away for reasons that differ in key or effect.
fn taints(errors: &mut Errors, taints: &[Value]) {
    for (i, taint) in taints.iter().enumerate() {
        let at = |name: &str| format!("metadata.taints[{i}].{name}");
        let (key, effect) = (text(&taint["key"]), text(&taint["effect"]));
        errors.invalid_each(&at("key"), key, names::is_qualified_name(key));
        let wrong = names::is_valid_label_value(text(&taint["value"]));
        if !wrong.is_empty() {
            errors.invalid_text(&at("value"), text(&taint["value"]), &wrong.join(";"));
        }
        if effect.is_empty() {
            errors.required(&at("effect"), "");
        } else if !EFFECTS.contains(&effect) {
            errors.not_supported_text(&at("effect"), effect, &EFFECTS);
        }
        if taints[..i].iter().any(|t| text(&t["key"]) == key && text(&t["effect"]) == effect) {
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":{}}}",
                Value::from(key),
                Value::from(text(&taint["value"])),
                Value::from(effect),
                taint["timeAdded"]
            );
            let why = "taints must be unique by key and effect pair";
            errors.duplicate_because(&format!("metadata.taints[{i}]"), &shown, why);
        }
    }
}

fn amounts(errors: &mut Errors, status: &Value) {
    for part in ["capacity", "allocatable"] {
        for (name, amount) in entries(&status[part]) {
            if let Ok(amount) = serde_json::from_value::<Quantity>(amount.clone()) {
                resources::quantity(errors, name, &amount, &format!("status.{part}.{name}"));
            }
        }
    }
}

/// The ranges of pods' addresses: one, or one of each family.
fn ranges(errors: &mut Errors, ranges: &Value) {
    const FIELD: &str = "spec.podCIDRs";
    let all: Vec<&str> = items(ranges).iter().map(text).collect();
    for (i, range) in all.iter().enumerate() {
        errors.invalid_each(&format!("{FIELD}[{i}]"), range, cidr_errors(range));
    }
    if all.len() < 2 {
        return;
    }
    let families: Vec<Option<bool>> =
        all.iter().map(|range| cidr(range).map(|(ip, _)| ip.is_ipv6())).collect();
    let mut both = families.contains(&Some(true)) && families.contains(&Some(false));
    if let Some(i) = families.iter().position(Option::is_none) {
        let why = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{i}]: <nil> (invalid CIDR address: {})",
            all[i]
        );
        errors.internal(FIELD, &why);
        both = false;
    }
    if !both || all.len() > 2 {
        let why = "may specify no more than one CIDR for each IP family";
        errors.invalid(FIELD, &ranges.to_string(), why);
    }
}

/// An address and how many of its bits count.
pub(super) fn cidr(text: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits: u32 = bits.parse().ok()?;
    (bits <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, bits))
}

/// What is wrong with a range of addresses. Upstream: IsValidCIDRForLegacyField.
pub(super) fn cidr_errors(text: &str) -> Vec<String> {
    let Some((address, bits)) = cidr(text) else { return vec![NOT_A_CIDR.into()] };
    let rest_is_zero = match address {
        IpAddr::V4(ip) => u32::from(ip).checked_shl(bits).unwrap_or(0) == 0,
        IpAddr::V6(ip) => u128::from(ip).checked_shl(bits).unwrap_or(0) == 0,
    };
    if rest_is_zero { vec![] } else { vec!["must not have bits set beyond the prefix length".into()] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| format!("{}: {}", c.field, c.message)).collect()
    }

    #[test]
    fn taints_differ_in_key_or_effect() {
        let taint = |effect: &str| json!({"key": "d", "effect": effect});
        let node = |a: &str, b: &str| json!({"spec": {"taints": [taint(a), taint(b)]}});
        assert!(said(check(&node("NoSchedule", "NoExecute"))).is_empty());
        let twice = said(check(&node("NoSchedule", "NoSchedule")));
        assert_eq!(twice.len(), 1);
        assert!(twice[0].ends_with("taints must be unique by key and effect pair"), "{twice:?}");
        assert_eq!(said(check(&node("", "Nope"))).len(), 2);
    }

    #[test]
    fn ranges_are_one_of_each_family() {
        let node = |ranges: Value| json!({"spec": {"podCIDRs": ranges}});
        assert!(said(check(&node(json!(["10.1.0.0/24", "fd00::/64"])))).is_empty());
        assert_eq!(said(check(&node(json!(["10.1.0.0/24", "10.2.0.0/24"])))).len(), 1);
        assert_eq!(said(check(&node(json!(["x"])))).len(), 1);
        assert_eq!(cidr_errors("10.1.2.3/8"), ["must not have bits set beyond the prefix length"]);
        assert!(cidr_errors("10.1.2.3/32").is_empty() && cidr_errors("0.0.0.0/0").is_empty());
    }

    #[test]
    fn what_a_node_is_stays() {
        let node = |cidr: &str, id: &str| json!({"spec": {"podCIDRs": [cidr], "providerID": id}});
        assert!(said(changed(&node("a", "x"), &node("a", "x"))).is_empty());
        assert_eq!(said(changed(&node("b", "y"), &node("a", "x"))).len(), 2);
        assert!(said(changed(&node("a", "y"), &node("a", ""))).is_empty());
    }
}
