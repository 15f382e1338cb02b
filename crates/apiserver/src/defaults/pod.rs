//! Pods and pod templates.
//!
//! Upstream: pkg/apis/core/v1/defaults.go and zz_generated.defaults.go (v1.37).

use super::{fill, set, volume};
use kubestep_model::{
    Container, Pod, PodSpec, PodTemplateSpec, Probe, Quantity, ResourceRequirements,
    resources::{self, Amounts},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A pod: what a template has, and what only pods have.
pub(super) fn pod(pod: &mut Pod) {
    let spec: &mut PodSpec = &mut pod.spec;
    for container in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        requests_from_limits(&mut container.resources);
    }
    pod_level_requests(spec);
    spec.enable_service_links.get_or_insert(true);
    if spec.host_network {
        let containers = spec.containers.iter_mut().chain(&mut spec.init_containers);
        for port in containers.flat_map(|c| &mut c.ports).filter(|p| p.host_port == 0) {
            port.host_port = port.container_port;
        }
    }
    pod_spec(spec);
    // What is less than nothing is the least that there is.
    if spec.termination_grace_period_seconds.is_some_and(|s| s < 0) {
        spec.termination_grace_period_seconds = Some(1);
    }
}

/// A template of pods.
pub(super) fn template(template: &mut PodTemplateSpec) {
    pod_spec(&mut template.spec);
}

/// What has a limit and no request asks for its limit.
fn requests_from_limits(resources: &mut ResourceRequirements) {
    let missing: Vec<(String, Quantity)> = resources
        .limits
        .iter()
        .filter(|(name, _)| !resources.requests.contains_key(*name))
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect();
    resources.requests.extend(missing);
}

/// Where the pod as a whole has a limit and no request, it asks for what its containers ask, else for its limit.
fn pod_level_requests(spec: &mut PodSpec) {
    let Some(mut whole) = spec.rest.get("resources").cloned().filter(Value::is_object) else { return };
    let of = |part: &str| serde_json::from_value(whole[part].clone()).unwrap_or_default();
    let (limits, mut requests): (Amounts, Amounts) = (of("limits"), of("requests"));
    let asked = container_requests(spec);
    let counted = |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
    for (name, limit) in limits.iter().filter(|(name, _)| counted(name)) {
        let amount = asked.get(name).unwrap_or(limit);
        requests.entry(name.clone()).or_insert_with(|| amount.clone());
    }
    if !requests.is_empty() {
        whole["requests"] = serde_json::to_value(requests).unwrap_or_default();
        spec.rest.insert("resources".into(), whole);
    }
}

/// What the containers ask for together, without what is set for the pod as a whole.
fn container_requests(spec: &PodSpec) -> Amounts {
    let mut plain = Pod { spec: spec.clone().into(), ..Pod::default() };
    plain.spec.rest.remove("resources");
    plain.spec.overhead.clear();
    resources::requests(&plain)
}

fn pod_spec(spec: &mut PodSpec) {
    set(&mut spec.dns_policy, "ClusterFirst");
    set(&mut spec.restart_policy, "Always");
    spec.security_context.get_or_insert_with(|| json!({}));
    spec.termination_grace_period_seconds.get_or_insert(30);
    set(&mut spec.scheduler_name, "default-scheduler");
    // The older name of the field follows the newer one.
    if spec.service_account_name.is_empty() {
        spec.service_account_name.clone_from(&spec.service_account);
    }
    if spec.service_account != spec.service_account_name {
        spec.service_account.clone_from(&spec.service_account_name);
    }
    for each in &mut spec.volumes {
        volume::volume(&mut each.rest);
    }
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        self::container(container);
    }
    round_up(&mut spec.overhead);
}

fn container(container: &mut Container) {
    if container.image_pull_policy.is_empty() {
        container.image_pull_policy = pull_policy(&container.image).into();
    }
    set(&mut container.termination_message_path, "/dev/termination-log");
    set(&mut container.termination_message_policy, "File");
    for port in &mut container.ports {
        set(&mut port.protocol, "TCP");
    }
    for variable in &mut container.env {
        if let Some(source) = &mut variable.value_from {
            field_version(source);
            if let Some(Value::Object(file)) = source.get_mut("fileKeyRef") {
                fill(file, "optional", false.into());
            }
        }
    }
    round_up(&mut container.resources.limits);
    round_up(&mut container.resources.requests);
    let probes =
        [&mut container.liveness_probe, &mut container.readiness_probe, &mut container.startup_probe];
    for each in probes.into_iter().flatten() {
        probe(each);
    }
    if let Some(lifecycle) = &mut container.lifecycle {
        for hook in ["postStart", "preStop"] {
            if let Some(action) = lifecycle.get_mut(hook).and_then(|h| h.get_mut("httpGet")) {
                http_get(action);
            }
        }
    }
}

fn probe(probe: &mut Probe) {
    let number = |number: &mut i32, default: i32| {
        if *number == 0 {
            *number = default;
        }
    };
    number(&mut probe.timeout_seconds, 1);
    number(&mut probe.period_seconds, 10);
    number(&mut probe.success_threshold, 1);
    number(&mut probe.failure_threshold, 3);
    if let Some(action) = &mut probe.http_get {
        http_get(action);
    }
    if let Some(Value::Object(action)) = &mut probe.grpc {
        fill(action, "service", "".into());
    }
}

fn http_get(action: &mut Value) {
    if let Value::Object(action) = action {
        for (field, default) in [("path", "/"), ("scheme", "HTTP")] {
            if action.get(field).is_none_or(|v| v.as_str().is_some_and(str::is_empty)) {
                action.insert(field.into(), default.into());
            }
        }
    }
}

/// `fieldRef` names the API version of the field it points to.
pub(super) fn field_version(source: &mut Value) {
    if let Some(Value::Object(field)) = source.get_mut("fieldRef") {
        fill(field, "apiVersion", "v1".into());
    }
}

/// Amounts are kept to thousandths.
pub(super) fn round_up(amounts: &mut BTreeMap<String, Quantity>) {
    for amount in amounts.values_mut() {
        let (rounded, exact) = amount.round_up(-3);
        if !exact {
            *amount = rounded;
        }
    }
}

/// An image with the tag `latest`, or with neither tag nor digest, is pulled always.
///
/// Upstream: pkg/util/parsers, ParseImageName (v1.37).
pub(super) fn pull_policy(image: &str) -> &'static str {
    if tag(image).is_some_and(|tag| tag == "latest") { "Always" } else { "IfNotPresent" }
}

/// The tag of an image, `latest` where it has neither tag nor digest; none if it is no image name.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let slash = name.rfind('/').map_or(0, |i| i + 1);
    let (path, tag) = match name[slash..].find(':') {
        Some(colon) => (&name[..slash + colon], Some(&name[slash + colon + 1..])),
        None => (name, None),
    };
    if !is_image_path(path) || tag.is_some_and(|t| !is_tag(t)) {
        return None;
    }
    match (tag, digest) {
        (None, None) => Some("latest"),
        (tag, _) => tag.or(Some("")),
    }
}

/// Lower-case parts between slashes; the first may be a host with a port.
fn is_image_path(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    if parts.len() > 1
        && (parts[0].contains(['.', ':'])
            || parts[0] == "localhost"
            || parts[0] != parts[0].to_ascii_lowercase())
    {
        let host = parts.remove(0);
        if host.is_empty()
            || !host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']'))
        {
            return false;
        }
    }
    parts.iter().all(|part| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        part.bytes().all(inner) && edge(part.bytes().next()) && edge(part.bytes().last())
    })
}

fn is_tag(tag: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    tag.len() <= 128
        && tag.bytes().next().is_some_and(word)
        && tag.bytes().all(|b| word(b) || matches!(b, b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_is_pulled_always() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1", "IfNotPresent"),
            ("registry.example.com:5000/a/b", "Always"),
            ("registry.example.com:5000/a/b:2", "IfNotPresent"),
            ("x@sha256:0123", "IfNotPresent"),
            ("x:latest@sha256:0123", "Always"),
            (" nginx", "IfNotPresent"),
            ("Nginx", "IfNotPresent"),
            ("", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image:?}");
        }
    }
}
