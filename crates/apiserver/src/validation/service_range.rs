//! ServiceCIDR, IPAddress and APIService.
//!
//! Upstream: pkg/apis/networking/validation, and kube-aggregator's pkg/apis/apiregistration/validation (v1.37).

use super::{
    field::{Errors, IMMUTABLE, flag, given, items, number, path_segment, text},
    internal, node, pod,
};
use kubestep_model::text::{go, names};
use serde_json::Value;
use std::net::IpAddr;

const RANGES: &str = "spec.cidrs";

pub(super) fn range(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    ranges(&mut errors, &whole["spec"]);
    errors
}

fn ranges(errors: &mut Errors, spec: &Value) {
    let all = items(&spec["cidrs"]);
    if all.is_empty() {
        errors.required(RANGES, "at least one CIDR required");
        return;
    }
    if all.len() > 2 {
        let shown = internal::shown("ServiceCIDRSpec", spec);
        errors.invalid(RANGES, &shown, "may only hold up to 2 values");
        return;
    }
    for (i, range) in all.iter().map(text).enumerate() {
        let field = format!("{RANGES}[{i}]");
        let wrong = node::cidr_errors(range);
        if wrong.is_empty()
            && let Some(canonical) = canonical(range).filter(|canonical| canonical != range)
        {
            let why = format!("must be in canonical form ({})", go::quote(&canonical));
            errors.invalid_text(&field, range, &why);
        }
        errors.invalid_each(&field, range, wrong);
    }
    let family = |i: usize| node::cidr(text(&all[i])).map(|(ip, _)| ip.is_ipv4());
    if all.len() == 2 && family(0).is_some() && family(0) == family(1) {
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.invalid(RANGES, &spec["cidrs"].to_string(), why);
    }
}

fn canonical(range: &str) -> Option<String> {
    node::cidr(range).map(|(ip, bits)| format!("{ip}/{bits}"))
}

pub(super) fn changed_range(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    let (after, before) = (items(&new["spec"]["cidrs"]), items(&old["spec"]["cidrs"]));
    if after.len() != before.len() && (before.len(), after.len()) != (1, 2) {
        errors.invalid(RANGES, &new["spec"]["cidrs"].to_string(), IMMUTABLE);
        return errors;
    }
    for (i, range) in after.iter().enumerate().take(before.len()).filter(|(i, range)| before[*i] != **range) {
        errors.invalid(&format!("{RANGES}[{i}]"), &range.to_string(), IMMUTABLE);
    }
    if after.len() != before.len() {
        ranges(&mut errors, &new["spec"]);
    }
    errors
}

/// What is wrong with an address as a name. Upstream: IsValidIP.
pub(super) fn address_name(name: &str) -> Vec<String> {
    let wrong = pod::ip_errors(name);
    match name.parse::<IpAddr>() {
        Ok(ip) if wrong.is_empty() && ip.to_string() != name => {
            vec![format!("must be in canonical form ({})", go::quote(&ip.to_string()))]
        }
        _ => wrong,
    }
}

pub(super) fn address(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let parent = &whole["spec"]["parentRef"];
    let mut missing = Errors::new();
    if !given(parent) {
        missing.required("spec.parentRef", "");
        errors.append_declared(missing);
        return errors;
    }
    let group = text(&parent["group"]);
    if !group.is_empty() {
        errors.subdomain("spec.parentRef.group", group);
    }
    for name in ["resource", "name", "namespace"] {
        let (field, value) = (format!("spec.parentRef.{name}"), text(&parent[name]));
        if !value.is_empty() {
            errors.invalid_each(&field, value, path_segment(value));
        } else if name != "namespace" {
            missing.required(&field, "");
        }
    }
    errors.append_declared(missing);
    errors
}

pub(super) fn changed_address(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.declared(&|errors: &mut Errors| {
        errors.immutable("spec.parentRef", &new["spec"]["parentRef"], &old["spec"]["parentRef"], "null");
    });
    errors
}

/// What is wrong with the name of an APIService: it follows from what it says.
fn service_name(whole: &Value) -> Vec<String> {
    let (name, spec) = (text(&whole["metadata"]["name"]), &whole["spec"]);
    let wanted = format!("{}.{}", text(&spec["version"]), text(&spec["group"]));
    let wrong = path_segment(name);
    if !wrong.is_empty() || name == wanted {
        return wrong;
    }
    vec![format!("must be `spec.version+\".\"+spec.group`: {}", go::quote(&wanted))]
}

pub(super) fn api_service(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    errors.invalid_each("metadata.name", text(&whole["metadata"]["name"]), service_name(whole));
    let spec = &whole["spec"];
    let (group, version) = (text(&spec["group"]), text(&spec["version"]));
    if group.is_empty() && version != "v1" {
        errors.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
    }
    if !group.is_empty() {
        errors.subdomain("spec.group", group);
    }
    errors.invalid_each("spec.version", version, names::is_dns1035_label(version));
    for (name, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let priority = number(&spec[name]);
        if !(1..=most).contains(&priority) {
            let why = format!("must be positive and less than {most}");
            errors.invalid(&format!("spec.{name}"), &priority.to_string(), &why);
        }
    }
    let bundle = crate::base64::decode(text(&spec["caBundle"])).map_or(0, |bytes| bytes.len());
    let insecure = flag(&spec["insecureSkipTLSVerify"]);
    const INSECURE: &str = "spec.insecureSkipTLSVerify";
    let service = &spec["service"];
    if !given(service) {
        if bundle > 0 {
            let why = "local APIServices may not have a caBundle";
            errors.invalid_text("spec.caBundle", &format!("{bundle} bytes"), why);
        }
        if insecure {
            errors.invalid(INSECURE, "true", "local APIServices may not have insecureSkipTLSVerify");
        }
        return errors;
    }
    for name in ["namespace", "name"] {
        if text(&service[name]).is_empty() {
            errors.required(&format!("spec.service.{name}"), "");
        }
    }
    let port = number(&service["port"]);
    let wrong = names::is_valid_port_num(port);
    if !wrong.is_empty() {
        let why = format!("port is not valid: {}", wrong.join(", "));
        errors.invalid("spec.service.port", &port.to_string(), &why);
    }
    if insecure && bundle > 0 {
        errors.invalid(INSECURE, "true", "may not be true if caBundle is present");
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(errors: Errors) -> Vec<String> {
        errors.into_causes().into_iter().map(|c| format!("{}: {}", c.field, c.message)).collect()
    }

    #[test]
    fn ranges_are_written_one_way_and_one_of_each_family() {
        let cidr = |list: Value| json!({"spec": {"cidrs": list}});
        for (list, wrong) in [
            (json!(["10.0.0.0/16"]), 0),
            (json!(["10.0.0.0/16", "fd00::/64"]), 0),
            (json!(["10.0.0.0/16", "10.1.0.0/16"]), 1),
            (json!(["fd00:0::/64"]), 1),
            (json!(["x"]), 1),
            (json!([]), 1),
            (json!(["10.0.0.0/16", "fd00::/64", "fd01::/64"]), 1),
        ] {
            assert_eq!(said(range(&cidr(list.clone()))).len(), wrong, "{list}");
        }
        let (one, two) = (cidr(json!(["10.0.0.0/16"])), cidr(json!(["10.0.0.0/16", "fd00::/64"])));
        assert!(said(changed_range(&two, &one)).is_empty());
        assert_eq!(said(changed_range(&one, &two)).len(), 1);
    }

    #[test]
    fn an_api_service_is_named_by_what_it_serves() {
        let service = |name: &str| {
            json!({"metadata": {"name": name}, "spec": {"group": "a.b", "version": "v1",
                "groupPriorityMinimum": 1, "versionPriority": 1}})
        };
        assert!(said(api_service(&service("v1.a.b"))).is_empty());
        assert_eq!(said(api_service(&service("v2.a.b"))).len(), 1);
        assert!(address_name("10.0.0.1").is_empty());
        assert_eq!(address_name("fd00:0::1").len(), 1);
    }
}
