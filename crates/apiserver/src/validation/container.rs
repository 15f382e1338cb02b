//! Containers, init containers, their ports and mounts.
//!
//! Upstream: pkg/apis/core/validation, validateContainers and validateInitContainers (v1.37).

use super::{
    env,
    field::{Errors, given, items, number, text},
    pod_system, probe, resources, security,
    volume::Volumes,
};
use kubestep_model::text::names;
use serde_json::Value;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

pub(super) fn containers(errors: &mut Errors, spec: &Value, field: &str, volumes: &Volumes) {
    let field = format!("{field}.containers");
    let containers = items(&spec["containers"]);
    if containers.is_empty() {
        errors.required(&field, "");
        return;
    }
    let grace = number(&spec["terminationGracePeriodSeconds"]);
    let mut seen: Vec<&str> = vec![];
    for (i, container) in containers.iter().enumerate() {
        let field = format!("{field}[{i}]");
        common(errors, container, &field, volumes, spec);
        let name = text(&container["name"]);
        if seen.contains(&name) {
            errors.duplicate(&format!("{field}.name"), &Value::from(name).to_string());
        }
        seen.push(name);
        probe::lifecycle(errors, &container["lifecycle"], grace, &format!("{field}.lifecycle"));
        probe::probes(errors, container, grace, &field);
        restart_rules(errors, container, &field, true);
    }
    host_port_conflicts(errors, containers, &field);
}

pub(super) fn init_containers(errors: &mut Errors, spec: &Value, field: &str, volumes: &Volumes) {
    let field = format!("{field}.initContainers");
    let grace = number(&spec["terminationGracePeriodSeconds"]);
    let mut seen: Vec<&str> = items(&spec["containers"]).iter().map(|c| text(&c["name"])).collect();
    for (i, container) in items(&spec["initContainers"]).iter().enumerate() {
        let at = format!("{field}[{i}]");
        common(errors, container, &at, volumes, spec);
        restart_rules(errors, container, &at, true);
        let name = text(&container["name"]);
        if seen.contains(&name) {
            errors.duplicate(&format!("{at}.name"), &Value::from(name).to_string());
        } else if !name.is_empty() {
            seen.push(name);
        }
        host_port_conflicts(errors, std::slice::from_ref(container), &field);
        if text(&container["restartPolicy"]) == "Always" {
            probe::lifecycle(errors, &container["lifecycle"], grace, &format!("{at}.lifecycle"));
            probe::probes(errors, container, grace, &at);
            continue;
        }
        for part in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if !container[part].is_null() {
                let why = "may not be set for init containers without restartPolicy=Always";
                errors.forbidden(&format!("{at}.{part}"), why);
            }
        }
        for (j, policy) in items(&container["resizePolicy"]).iter().enumerate() {
            if policy["restartPolicy"] == "RestartContainer" {
                let why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                let at = format!("{at}.resizePolicy[{j}].restartPolicy");
                errors.invalid_text(&at, "RestartContainer", why);
            }
        }
    }
}

/// What holds for every container.
fn common(errors: &mut Errors, container: &Value, field: &str, volumes: &Volumes, spec: &Value) {
    let at = |name: &str| format!("{field}.{name}");
    let name = text(&container["name"]);
    if name.is_empty() {
        errors.required(&at("name"), "");
    } else {
        errors.dns_label(&at("name"), name);
    }
    if text(&container["image"]).is_empty() {
        errors.required(&at("image"), "");
    }
    match text(&container["terminationMessagePolicy"]) {
        "File" | "FallbackToLogsOnError" => {}
        "" => errors.required(&at("terminationMessagePolicy"), ""),
        other => {
            errors.not_supported_text(
                &at("terminationMessagePolicy"),
                other,
                &["File", "FallbackToLogsOnError"],
            );
        }
    }
    ports(errors, &container["ports"], &at("ports"));
    env::env(errors, &container["env"], &at("env"));
    env::env_from(errors, &container["envFrom"], &at("envFrom"));
    mounts(errors, container, &at("volumeMounts"), volumes);
    devices(errors, container, &at("volumeDevices"), volumes);
    let policy = &container["imagePullPolicy"];
    pull_policy_text(errors, text(policy), &at("imagePullPolicy"));
    resources::container(errors, &container["resources"], &at("resources"));
    pod_system::used_claims(errors, &container["resources"], spec, &at("resources"));
    resize_policy(errors, container, text(&spec["restartPolicy"]), &at("resizePolicy"));
    let host_users = spec["hostUsers"] != false;
    security::container(errors, &container["securityContext"], &at("securityContext"), host_users);
}

/// When an image is pulled, of whatever has a `pullPolicy`.
pub(super) fn pull_policy(errors: &mut Errors, source: &Value, field: &str) {
    pull_policy_text(errors, text(&source["pullPolicy"]), field);
}

fn pull_policy_text(errors: &mut Errors, policy: &str, field: &str) {
    if policy.is_empty() {
        errors.required(field, "");
    } else if !PULL_POLICIES.contains(&policy) {
        errors.not_supported_text(field, policy, &PULL_POLICIES);
    }
}

/// Upstream: validateResizePolicy.
fn resize_policy(errors: &mut Errors, container: &Value, of_pod: &str, field: &str) {
    let mut seen: Vec<&str> = vec![];
    for (i, policy) in items(&container["resizePolicy"]).iter().enumerate() {
        let (name, restart) = (text(&policy["resourceName"]), text(&policy["restartPolicy"]));
        if seen.contains(&name) {
            errors.duplicate(&format!("{field}[{i}]"), &Value::from(name).to_string());
        }
        seen.push(name);
        for (value, known) in [(name, ["cpu", "memory"]), (restart, ["NotRequired", "RestartContainer"])] {
            if value.is_empty() {
                errors.required(field, "");
            } else if !known.contains(&value) {
                errors.not_supported_text(field, value, &known);
            }
        }
        if of_pod == "Never" && restart != "NotRequired" {
            let why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid_text(field, restart, why);
        }
    }
}

const RESTART_POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const MOST_RULES: usize = 20;
const MOST_EXIT_CODES: usize = 255;

/// A container's own restart policy and its exceptions. Upstream: validateContainerRestartPolicy.
fn restart_rules(errors: &mut Errors, container: &Value, field: &str, rules_allowed: bool) {
    let (policy, rules) = (&container["restartPolicy"], items(&container["restartPolicyRules"]));
    let at = format!("{field}.restartPolicy");
    if given(policy) {
        if !RESTART_POLICIES.contains(&text(policy)) {
            errors.not_supported_text(&at, text(policy), &RESTART_POLICIES);
        }
    } else if !rules.is_empty() && rules_allowed {
        errors.required(&at, "must specify restartPolicy when restart rules are used");
    }
    if rules.len() > MOST_RULES {
        errors.too_many(&format!("{field}.restartPolicyRules"), rules.len(), MOST_RULES);
    }
    for (i, rule) in rules.iter().enumerate() {
        let at = format!("{field}.restartPolicyRules[{i}]");
        let action = text(&rule["action"]);
        if !RESTART_ACTIONS.contains(&action) {
            errors.not_supported_text(&format!("{at}.action"), action, &RESTART_ACTIONS);
        }
        let at = format!("{at}.exitCodes");
        let codes = &rule["exitCodes"];
        if !given(codes) {
            errors.required(&at, "must be specified");
            continue;
        }
        let operator = text(&codes["operator"]);
        if !matches!(operator, "In" | "NotIn") {
            errors.not_supported_text(&format!("{at}.operator"), operator, &["In", "NotIn"]);
        }
        let count = items(&codes["values"]).len();
        if count > MOST_EXIT_CODES {
            errors.too_many(&format!("{at}.values"), count, MOST_EXIT_CODES);
        }
    }
}

fn ports(errors: &mut Errors, ports: &Value, field: &str) {
    let mut seen: Vec<&str> = vec![];
    for (i, port) in items(ports).iter().enumerate() {
        let at = |name: &str| format!("{field}[{i}].{name}");
        let name = text(&port["name"]);
        if !name.is_empty() {
            let wrong = names::is_valid_port_name(name);
            if !wrong.is_empty() {
                errors.invalid_each(&at("name"), name, wrong);
            } else if seen.contains(&name) {
                errors.duplicate(&at("name"), &Value::from(name).to_string());
            } else {
                seen.push(name);
            }
        }
        let inner = number(&port["containerPort"]);
        if inner == 0 {
            errors.required(&at("containerPort"), "");
        } else {
            errors.invalid_number(&at("containerPort"), inner, names::is_valid_port_num(inner));
        }
        let host = number(&port["hostPort"]);
        if host != 0 {
            errors.invalid_number(&at("hostPort"), host, names::is_valid_port_num(host));
        }
        let protocol = text(&port["protocol"]);
        if protocol.is_empty() {
            errors.required(&at("protocol"), "");
        } else if !PROTOCOLS.contains(&protocol) {
            errors.not_supported_text(&at("protocol"), protocol, &PROTOCOLS);
        }
    }
}

/// One port of the host goes to one container.
fn host_port_conflicts(errors: &mut Errors, containers: &[Value], field: &str) {
    let mut seen: Vec<String> = vec![];
    for (i, container) in containers.iter().enumerate() {
        for (j, port) in items(&container["ports"]).iter().enumerate() {
            let host = number(&port["hostPort"]);
            if host == 0 {
                continue;
            }
            let entry = format!("{}/{}/{host}", text(&port["protocol"]), text(&port["hostIP"]));
            if seen.contains(&entry) {
                let shown = Value::from(entry.as_str()).to_string();
                errors.duplicate(&format!("{field}[{i}].ports[{j}].hostPort"), &shown);
            }
            seen.push(entry);
        }
    }
}

fn mounts(errors: &mut Errors, container: &Value, field: &str, volumes: &Volumes) {
    let mut paths: Vec<&str> = vec![];
    for (i, mount) in items(&container["volumeMounts"]).iter().enumerate() {
        let at = |name: &str| format!("{field}[{i}].{name}");
        let name = text(&mount["name"]);
        if name.is_empty() {
            errors.required(&at("name"), "");
        }
        if !volumes.contains_key(name) {
            errors.not_found(&at("name"), name);
        }
        let path = text(&mount["mountPath"]);
        if path.is_empty() {
            errors.required(&at("mountPath"), "");
        }
        if paths.contains(&path) {
            errors.invalid_text(&at("mountPath"), path, "must be unique");
        }
        paths.push(path);
        let devices = items(&container["volumeDevices"]);
        if devices.iter().any(|d| text(&d["name"]) == name) {
            errors.invalid_text(&at("name"), name, "must not already exist in volumeDevices");
        }
        if devices.iter().any(|d| text(&d["devicePath"]) == path) {
            let why = "must not already exist as a path in volumeDevices";
            errors.invalid_text(&at("mountPath"), path, why);
        }
        let sub = text(&mount["subPath"]);
        if !sub.is_empty() {
            super::volume::descending_path(errors, sub, &format!("{field}.subPath"));
        }
        let expression = text(&mount["subPathExpr"]);
        if !expression.is_empty() {
            if !sub.is_empty() {
                let why = "subPathExpr and subPath are mutually exclusive";
                errors.invalid_text(&at("subPathExpr"), expression, why);
            }
            super::volume::descending_path(errors, expression, &format!("{field}.subPathExpr"));
        }
        propagation(errors, container, mount, field);
    }
}

fn propagation(errors: &mut Errors, container: &Value, mount: &Value, field: &str) {
    const WAYS: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
    const READ_ONLY: [&str; 3] = ["Disabled", "Enabled", "IfPossible"];
    let way = &mount["mountPropagation"];
    if given(way) {
        let field = format!("{field}.mountPropagation");
        if !WAYS.contains(&text(way)) {
            errors.not_supported_text(&field, text(way), &WAYS);
        }
        if way == "Bidirectional" && container["securityContext"]["privileged"] != true {
            let why = "Bidirectional mount propagation is available only to privileged containers";
            errors.forbidden(&field, why);
        }
    }
    let recursive = &mount["recursiveReadOnly"];
    let field = format!("{field}.recursiveReadOnly");
    match text(recursive) {
        "Enabled" | "IfPossible" => {
            if mount["readOnly"] != true {
                errors.forbidden(&field, "may only be specified when readOnly is true");
            }
            if given(way) && way != "None" {
                let why = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(&field, why);
            }
        }
        other if given(recursive) && other != "Disabled" => {
            errors.not_supported_text(&field, other, &READ_ONLY);
        }
        _ => {}
    }
}

/// Volumes that are given as devices: claims only, each once.
fn devices(errors: &mut Errors, container: &Value, field: &str, volumes: &Volumes) {
    let (mut paths, mut seen): (Vec<&str>, Vec<&str>) = (vec![], vec![]);
    let mounts = items(&container["volumeMounts"]);
    for (i, device) in items(&container["volumeDevices"]).iter().enumerate() {
        let at = |name: &str| format!("{field}[{i}].{name}");
        let (name, path) = (text(&device["name"]), text(&device["devicePath"]));
        if name.is_empty() {
            errors.required(&at("name"), "");
        }
        if seen.contains(&name) {
            errors.invalid_text(&at("name"), name, "must be unique");
        }
        match volumes.get(name) {
            Some(&("persistentVolumeClaim" | "ephemeral")) => {}
            Some(_) => {
                let why =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.invalid_text(&at("name"), name, why);
            }
            None => errors.not_found(&at("name"), name),
        }
        if path.is_empty() {
            errors.required(&at("devicePath"), "");
        }
        if paths.contains(&path) {
            errors.invalid_text(&at("devicePath"), path, "must be unique");
        }
        if path.split('/').any(|part| part == "..") {
            errors.invalid_text(&at("devicePath"), path, "can not contain backsteps ('..')");
        } else {
            paths.push(path);
        }
        if mounts.iter().any(|m| text(&m["name"]) == name) {
            errors.invalid_text(&at("name"), name, "must not already exist in volumeMounts");
        }
        if mounts.iter().any(|m| text(&m["mountPath"]) == path) {
            let why = "must not already exist as a path in volumeMounts";
            errors.invalid_text(&at("devicePath"), path, why);
        }
        if !name.is_empty() {
            seen.push(name);
        }
    }
}

/// Resources of the pod as a whole have to hold those of its containers.
pub(super) fn pod_level_resources(errors: &mut Errors, spec: &Value, field: &str) {
    let whole = &spec["resources"];
    if whole.is_null() {
        return;
    }
    if spec["os"]["name"] == "windows" {
        errors.forbidden(&format!("{field}.resources"), "may not be set for a windows pod");
        return;
    }
    let field = format!("{field}.resources");
    if !items(&whole["claims"]).is_empty() {
        errors.forbidden(&format!("{field}.claims"), "claims may not be set for Resources at pod-level");
    }
    resources::of_pod(errors, whole, &field);
    pod_system::used_claims(errors, whole, spec, &field);
    resources::within_pod(errors, whole, items(&spec["containers"]), &field);
}
