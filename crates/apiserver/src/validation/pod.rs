//! Pods and pod templates.
//!
//! Upstream: pkg/apis/core/validation, ValidatePodSpec and what it calls (v1.37).

use super::{
    affinity, container, env,
    field::{Errors, flag, items, number, text},
    meta, pod_system, pod_update, resources, security, volume,
};
use kubestep_model::{Labels, Pod, text::names};
use serde_json::Value;

const POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/// A template of pods at `field`.
pub(super) fn template(errors: &mut Errors, template: &Value, field: &str) {
    let map = |name: &str| -> Labels {
        serde_json::from_value(template["metadata"][name].clone()).unwrap_or_default()
    };
    meta::labels(errors, &map("labels"), &format!("{field}.labels"));
    meta::annotations(errors, &map("annotations"), &format!("{field}.annotations"));
    let spec = format!("{field}.spec");
    app_armor(errors, &map("annotations"), &template["spec"], &format!("{field}.annotations"));
    pod_spec(errors, &template["spec"], &spec);
    if !items(&template["spec"]["ephemeralContainers"]).is_empty() {
        errors.forbidden(
            &format!("{spec}.ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}

/// The old way to name a profile: an annotation that speaks of a container.
///
/// Upstream: ValidateAppArmorPodAnnotations.
fn app_armor(errors: &mut Errors, annotations: &Labels, spec: &Value, field: &str) {
    const START: &str = "container.apparmor.security.beta.kubernetes.io/";
    for (key, profile) in annotations {
        let Some(name) = key.strip_prefix(START) else { continue };
        let at = format!("{field}[{key}]");
        let lists = ["containers", "initContainers", "ephemeralContainers"];
        if !lists.iter().any(|list| items(&spec[*list]).iter().any(|c| text(&c["name"]) == name)) {
            errors.invalid_text(&at, name, "container not found");
        }
        let known = matches!(profile.as_str(), "" | "runtime/default" | "unconfined");
        if !known && !profile.starts_with("localhost/") {
            let why = format!("invalid AppArmor profile name: {}", kubestep_model::text::go::quote(profile));
            errors.invalid_text(&at, profile, &why);
        }
    }
}

/// A pod that is made.
pub(super) fn new_pod(pod: &Pod, whole: &Value) -> Errors {
    let mut errors = Errors::new();
    app_armor(&mut errors, &pod.metadata.annotations, &whole["spec"], "metadata.annotations");
    pod_spec(&mut errors, &whole["spec"], "spec");
    pod_update::images(&mut errors, &pod.spec.containers, "containers");
    pod_update::images(&mut errors, &pod.spec.init_containers, "initContainers");
    let guests = items(&whole["spec"]["ephemeralContainers"]);
    if !guests.is_empty() {
        for (i, guest) in guests.iter().enumerate() {
            let target = text(&guest["targetContainerName"]);
            let there = |list: &str| items(&whole["spec"][list]).iter().any(|c| text(&c["name"]) == target);
            if !target.is_empty() && !there("containers") && !there("initContainers") {
                errors.not_found(&format!("spec.ephemeralContainers[{i}].targetContainerName"), target);
            }
        }
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    if !pod.spec.node_name.is_empty() && !pod.spec.scheduling_gates.is_empty() {
        errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
    }
    errors
}

/// What a pod or a template wants.
pub(super) fn pod_spec(errors: &mut Errors, spec: &Value, field: &str) {
    let at = |name: &str| format!("{field}.{name}");
    let volumes = volume::volumes(errors, &spec["volumes"], &at("volumes"));
    pod_system::claims(errors, spec, field);
    container::containers(errors, spec, field, &volumes);
    container::init_containers(errors, spec, field, &volumes);
    container::pod_level_resources(errors, spec, field);
    host_ports(errors, spec, field);
    policies(errors, spec, field);
    let selector: Labels = serde_json::from_value(spec["nodeSelector"].clone()).unwrap_or_default();
    meta::labels(errors, &selector, &at("nodeSelector"));
    security::pod(errors, spec, field);
    if flag(&spec["shareProcessNamespace"]) && flag(&spec["hostPID"]) {
        let why = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.invalid(&at("shareProcessNamespace"), "true", why);
    }
    affinity::affinity(errors, &spec["affinity"], &at("affinity"));
    dns_config(errors, spec, &at("dnsConfig"));
    gates(errors, spec, field);
    affinity::spread(errors, &spec["topologySpreadConstraints"], &at("topologySpreadConstraints"));
    pod_system::host_process(errors, spec, field);
    pod_system::host_users(errors, spec, field);
    pod_system::host_name(errors, spec, field);
    names_in_spec(errors, spec, field);
    let deadline = &spec["activeDeadlineSeconds"];
    if !deadline.is_null() {
        let seconds = number(deadline);
        errors.invalid_number(
            &at("activeDeadlineSeconds"),
            seconds,
            names::is_in_range(seconds, 1, i32::MAX.into()),
        );
    }
    for part in ["hostname", "subdomain"] {
        if !text(&spec[part]).is_empty() {
            errors.dns_label(&at(part), text(&spec[part]));
        }
    }
    affinity::tolerations(errors, &spec["tolerations"], &at("tolerations"));
    for (i, alias) in items(&spec["hostAliases"]).iter().enumerate() {
        let ip = text(&alias["ip"]);
        errors.invalid_each(&format!("{}[{i}].ip", at("hostAliases")), ip, ip_errors(ip));
        for (j, host) in items(&alias["hostnames"]).iter().enumerate() {
            let field = format!("{}[{i}].hostnames[{j}]", at("hostAliases"));
            errors.invalid_each(&field, text(host), names::is_dns1123_subdomain(text(host)));
        }
    }
    let class = text(&spec["priorityClassName"]);
    if !class.is_empty() {
        errors.invalid_each(&at("priorityClassName"), class, names::is_dns1123_subdomain(class));
    }
    let preemption = text(&spec["preemptionPolicy"]);
    if !preemption.is_empty() && !matches!(preemption, "PreemptLowerPriority" | "Never") {
        errors.not_supported_text(&at("preemptionPolicy"), preemption, &["PreemptLowerPriority", "Never"]);
    }
    if !spec["overhead"].is_null() {
        let limits = serde_json::json!({"limits": spec["overhead"]});
        resources::container(errors, &limits, &at("overhead"));
    }
    pod_system::os(errors, spec, field);
    env::file_volumes(errors, spec, field);
}

pub(super) const NOT_AN_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

pub(super) fn is_ip(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}

/// What is wrong with an address. Upstream: IsValidIPForLegacyField.
pub(super) fn ip_errors(text: &str) -> Vec<String> {
    match text.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            vec!["must not be an IPv4-mapped IPv6 address".into()]
        }
        Ok(_) => vec![],
        Err(_) if without_zeros(text).parse::<std::net::Ipv4Addr>().is_ok() => {
            vec!["must not have leading 0s".into()]
        }
        Err(_) => vec![NOT_AN_IP.into()],
    }
}

/// An IPv4 address without the zeros before its numbers.
fn without_zeros(text: &str) -> String {
    let part = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    text.split('.').map(part).collect::<Vec<String>>().join(".")
}

fn policies(errors: &mut Errors, spec: &Value, field: &str) {
    let restart = text(&spec["restartPolicy"]);
    if restart.is_empty() {
        errors.required(&format!("{field}.restartPolicy"), "");
    } else if !POLICIES.contains(&restart) {
        errors.not_supported_text(&format!("{field}.restartPolicy"), restart, &POLICIES);
    }
    let dns = text(&spec["dnsPolicy"]);
    if dns.is_empty() {
        errors.required(&format!("{field}.dnsPolicy"), "");
    } else if !DNS_POLICIES.contains(&dns) {
        errors.not_supported_text(&format!("{field}.dnsPolicy"), dns, &DNS_POLICIES);
    }
}

/// On the host's network a port of the host is the container's own.
fn host_ports(errors: &mut Errors, spec: &Value, field: &str) {
    if !flag(&spec["hostNetwork"]) {
        return;
    }
    for list in ["containers", "initContainers"] {
        for (i, container) in items(&spec[list]).iter().enumerate() {
            for (j, port) in items(&container["ports"]).iter().enumerate() {
                let host = number(&port["hostPort"]);
                if host != 0 && host != number(&port["containerPort"]) {
                    let field = format!("{field}.{list}[{i}].ports[{j}].hostPort");
                    let why = "must match `containerPort` when `hostNetwork` is true";
                    errors.invalid(&field, &host.to_string(), why);
                }
            }
        }
    }
}

const MOST_NAMESERVERS: usize = 3;
const MOST_SEARCHES: usize = 32;
const MOST_SEARCH_LETTERS: usize = 2048;

/// The words about a name of the DNS where underscores are allowed too.
fn with_underscores(why: &str) -> String {
    if !why.starts_with("a lowercase RFC 1123 subdomain") {
        return why.to_owned();
    }
    names::regex_error(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*",
        &["example.com"],
    )
}

fn dns_config(errors: &mut Errors, spec: &Value, field: &str) {
    let config = &spec["dnsConfig"];
    if text(&spec["dnsPolicy"]) == "None" {
        if config.is_null() {
            errors.required(field, "must provide `dnsConfig` when `dnsPolicy` is None");
            return;
        }
        if items(&config["nameservers"]).is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.required(&format!("{field}.nameservers"), why);
            return;
        }
    }
    let servers = items(&config["nameservers"]);
    if servers.len() > MOST_NAMESERVERS {
        let why = format!("must not have more than {MOST_NAMESERVERS} nameservers");
        errors.invalid(&format!("{field}.nameservers"), &config["nameservers"].to_string(), &why);
    }
    for (i, server) in servers.iter().enumerate() {
        errors.invalid_each(&format!("{field}.nameservers[{i}]"), text(server), ip_errors(text(server)));
    }
    let searches = items(&config["searches"]);
    if searches.len() > MOST_SEARCHES {
        let why = format!("must not have more than {MOST_SEARCHES} search paths");
        errors.invalid(&format!("{field}.searches"), &config["searches"].to_string(), &why);
    }
    if searches.iter().map(|s| text(s).len() + 1).sum::<usize>() > MOST_SEARCH_LETTERS + 1 {
        let why = format!(
            "must not have more than {MOST_SEARCH_LETTERS} characters (including spaces) in the search list"
        );
        errors.invalid(&format!("{field}.searches"), &config["searches"].to_string(), &why);
    }
    for (i, search) in searches.iter().enumerate().filter(|(_, s)| *s != ".") {
        let name = text(search).strip_suffix('.').unwrap_or(text(search));
        // Each label may begin with one underscore, and have more inside.
        let labels: Vec<&str> =
            name.split('.').map(|label| label.strip_prefix('_').unwrap_or(label)).collect();
        let plain = labels.join(".").replace('_', "-");
        let wrong = names::is_dns1123_subdomain(&plain);
        if !wrong.is_empty() {
            let why: Vec<String> = wrong.into_iter().map(|w| with_underscores(&w)).collect();
            errors.invalid_each(&format!("{field}.searches[{i}]"), name, why);
        }
    }
    for (i, option) in items(&config["options"]).iter().enumerate() {
        if text(&option["name"]).is_empty() {
            errors.required(&format!("{field}.options[{i}]"), "must not be empty");
        }
    }
}

fn gates(errors: &mut Errors, spec: &Value, field: &str) {
    for (i, gate) in items(&spec["readinessGates"]).iter().enumerate() {
        let name = text(&gate["conditionType"]);
        let field = format!("{field}.readinessGates[{i}].conditionType");
        errors.invalid_each(&field, name, names::is_qualified_name(name));
    }
    let mut seen: Vec<&str> = vec![];
    for (i, gate) in items(&spec["schedulingGates"]).iter().enumerate() {
        let name = text(&gate["name"]);
        let field = format!("{field}.schedulingGates[{i}]");
        errors.invalid_each(&field, name, names::is_qualified_name(name));
        if seen.contains(&name) {
            errors.duplicate(&field, &Value::from(name).to_string());
        }
        seen.push(name);
    }
}

fn names_in_spec(errors: &mut Errors, spec: &Value, field: &str) {
    for part in ["serviceAccountName", "nodeName"] {
        let name = text(&spec[part]);
        if !name.is_empty() {
            errors.invalid_each(&format!("{field}.{part}"), name, names::is_dns1123_subdomain(name));
        }
    }
}
