//! Containers, init containers, their ports and mounts.
//!
//! Upstream: pkg/apis/core/validation, validateContainers and validateInitContainers (v1.37).

use super::{
    env,
    field::{Errors, items, number, text},
    probe, resources, security,
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
        common(errors, container, &field, volumes);
        let name = text(&container["name"]);
        if seen.contains(&name) {
            errors.duplicate(&format!("{field}.name"), &Value::from(name).to_string());
        }
        seen.push(name);
        probe::lifecycle(errors, &container["lifecycle"], grace, &format!("{field}.lifecycle"));
        probe::probes(errors, container, grace, &field);
    }
    host_port_conflicts(errors, containers, &field);
}

pub(super) fn init_containers(errors: &mut Errors, spec: &Value, field: &str, volumes: &Volumes) {
    let field = format!("{field}.initContainers");
    let grace = number(&spec["terminationGracePeriodSeconds"]);
    let mut seen: Vec<&str> = items(&spec["containers"]).iter().map(|c| text(&c["name"])).collect();
    for (i, container) in items(&spec["initContainers"]).iter().enumerate() {
        let at = format!("{field}[{i}]");
        common(errors, container, &at, volumes);
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
    }
}

/// What holds for every container.
fn common(errors: &mut Errors, container: &Value, field: &str, volumes: &Volumes) {
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
                &["FallbackToLogsOnError", "File"],
            );
        }
    }
    ports(errors, &container["ports"], &at("ports"));
    env::env(errors, &container["env"], &at("env"));
    env::env_from(errors, &container["envFrom"], &at("envFrom"));
    mounts(errors, container, &at("volumeMounts"), volumes);
    let policy = text(&container["imagePullPolicy"]);
    if policy.is_empty() {
        errors.required(&at("imagePullPolicy"), "");
    } else if !PULL_POLICIES.contains(&policy) {
        errors.not_supported_text(&at("imagePullPolicy"), policy, &PULL_POLICIES);
    }
    resources::container(errors, &container["resources"], &at("resources"));
    security::container(errors, &container["securityContext"], &at("securityContext"));
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
        if !volumes.contains(name) {
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
        let sub = text(&mount["subPath"]);
        if !sub.is_empty() {
            super::volume::descending_path(errors, sub, &format!("{field}.subPath"));
        }
        if !sub.is_empty() && !text(&mount["subPathExpr"]).is_empty() {
            errors.invalid_text(
                &format!("{field}.subPathExpr"),
                text(&mount["subPathExpr"]),
                "subPathExpr and subPath are mutually exclusive",
            );
        }
    }
}

/// Resources of the pod as a whole have to hold those of its containers.
pub(super) fn pod_level_resources(errors: &mut Errors, spec: &Value, field: &str) {
    let whole = &spec["resources"];
    if whole.is_null() {
        return;
    }
    let field = format!("{field}.resources");
    resources::container(errors, whole, &field);
    resources::within_pod(errors, whole, items(&spec["containers"]), &field);
}
