//! Containers, in pods and in templates.

use super::{
    Page,
    page::{date, or_none, quote},
};
use crate::printers::host_port;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Container, ContainerPort, ContainerState, ContainerStatus, EnvVar, Pod, Probe};
use serde_json::Value;

/// Where the containers stand.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// In a pod, whose fields the environment may name.
    Pod(&'a Pod),
    /// In a template, indented by a level.
    Template,
}

/// Writes containers with their state, if they have one.
pub(super) fn describe(
    page: &mut Page,
    title: &str,
    list: &[Container],
    statuses: &[ContainerStatus],
    place: Place<'_>,
) {
    let (space, indent) = match place {
        Place::Pod(_) => ("", ""),
        Place::Template => ("  ", " "),
    };
    page.line(0, format!("{space}{title}:{}", if list.is_empty() { " <none>" } else { "" }));
    for container in list {
        let status = statuses.iter().rev().find(|s| s.name == container.name);
        page.line(1, format!("{indent}{}:", container.name));
        basics(page, container, status);
        command(page, "Command", &container.command);
        command(page, "Args", &container.args);
        if let Some(status) = status {
            state(page, "State", &status.state);
            if status.last_state.terminated.is_some() {
                state(page, "Last State", &status.last_state);
            }
            page.field(2, "Ready", if status.ready { "True" } else { "False" });
            page.field(2, "Restart Count", status.restart_count);
        }
        for (title, resources) in
            [("Limits", &container.resources.limits), ("Requests", &container.resources.requests)]
        {
            if !resources.is_empty() {
                page.line(2, format!("{title}:"));
                resources.iter().for_each(|(name, amount)| page.field(3, name, amount));
            }
        }
        let probes = [
            ("Liveness", &container.liveness_probe),
            ("Readiness", &container.readiness_probe),
            ("Startup", &container.startup_probe),
        ];
        for (title, probe) in probes {
            if let Some(probe) = probe {
                page.field(2, title, describe_probe(probe));
            }
        }
        env_from(page, container);
        env(page, container, place);
        mounts(page, container);
    }
}

fn basics(page: &mut Page, container: &Container, status: Option<&ContainerStatus>) {
    if let Some(status) = status {
        page.field(2, "Container ID", &status.container_id);
    }
    page.field(2, "Image", &container.image);
    if let Some(status) = status {
        page.field(2, "Image ID", &status.image_id);
    }
    for (one, many, port) in [
        ("Port", "Ports", (|p| p.container_port) as fn(&ContainerPort) -> i32),
        ("Host Port", "Host Ports", |p| p.host_port),
    ] {
        let show = |p: &ContainerPort| match p.name.as_str() {
            "" => format!("{}/{}", port(p), p.protocol),
            name => format!("{}/{} ({name})", port(p), p.protocol),
        };
        let text = container.ports.iter().map(show).collect::<Vec<_>>().join(", ");
        page.field(2, if text.contains(',') { many } else { one }, or_none(&text));
    }
    let seccomp =
        |field: &str| container.security_context.as_ref()?.get("seccompProfile")?.get(field)?.as_str();
    if let Some(profile) = seccomp("type") {
        page.field(2, "SeccompProfile", profile);
    }
    if let Some(profile) = seccomp("localhostProfile") {
        page.field(3, "LocalhostProfile", profile);
    }
}

fn command(page: &mut Page, title: &str, words: &[String]) {
    if !words.is_empty() {
        page.line(2, format!("{title}:"));
        words.iter().flat_map(|w| w.split('\n')).for_each(|line| page.line(3, line));
    }
}

fn state(page: &mut Page, title: &str, state: &ContainerState) {
    if let Some(running) = &state.running {
        page.field(2, title, "Running");
        page.field(3, "Started", date(running.started_at));
    } else if let (Some(ended), None) = (&state.terminated, &state.waiting) {
        page.field(2, title, "Terminated");
        if !ended.reason.is_empty() {
            page.field(3, "Reason", &ended.reason);
        }
        if !ended.message.is_empty() {
            page.field(3, "Message", &ended.message);
        }
        page.field(3, "Exit Code", ended.exit_code);
        if ended.signal > 0 {
            page.field(3, "Signal", ended.signal);
        }
        page.field(3, "Started", date(ended.started_at));
        page.field(3, "Finished", date(ended.finished_at));
    } else {
        page.field(2, title, "Waiting");
        if let Some(waiting) = state.waiting.as_ref().filter(|w| !w.reason.is_empty()) {
            page.field(3, "Reason", &waiting.reason);
        }
    }
}

/// Upstream: DescribeProbe.
fn describe_probe(probe: &Probe) -> String {
    let attributes = format!(
        "delay={}s timeout={}s period={}s successThreshold={} failureThreshold={}",
        probe.initial_delay_seconds,
        probe.timeout_seconds,
        probe.period_seconds,
        probe.success_threshold,
        probe.failure_threshold
    );
    let text = |v: &Value, field: &str| match v.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    if let Some(exec) = &probe.exec {
        format!("exec [{}] {attributes}", exec.command.join(" "))
    } else if let Some(http) = &probe.http_get {
        let (host, port) = (text(http, "host"), text(http, "port"));
        let address = if port.is_empty() { host } else { host_port(&host, port) };
        let path = text(http, "path");
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        format!(
            "http-get {}://{address}{slash}{path} {attributes}",
            text(http, "scheme").to_ascii_lowercase()
        )
    } else if let Some(tcp) = &probe.tcp_socket {
        format!("tcp-socket {}:{} {attributes}", text(tcp, "host"), text(tcp, "port"))
    } else if let Some(grpc) = &probe.grpc {
        format!("grpc <pod>:{} {} {attributes}", text(grpc, "port"), text(grpc, "service"))
    } else {
        format!("unknown {attributes}")
    }
}

fn optional(source: &Value) -> bool {
    source.get("optional").and_then(Value::as_bool).unwrap_or(false)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn env_from(page: &mut Page, container: &Container) {
    if container.env_from.is_empty() {
        return;
    }
    page.line(2, "Environment Variables from:");
    for source in &container.env_from {
        let (kind, reference) = match (source.get("configMapRef"), source.get("secretRef")) {
            (Some(reference), _) => ("ConfigMap", reference),
            (None, Some(reference)) => ("Secret", reference),
            (None, None) => ("", &Value::Null),
        };
        let prefix = match text(source, "prefix") {
            "" => String::new(),
            prefix => format!(" with prefix '{prefix}'"),
        };
        page.line(
            3,
            format!("{}\t{kind}{prefix}\tOptional: {}", text(reference, "name"), optional(reference)),
        );
    }
}

fn env(page: &mut Page, container: &Container, place: Place<'_>) {
    page.line(2, if container.env.is_empty() { "Environment:\t<none>" } else { "Environment:" });
    for variable in &container.env {
        match &variable.value_from {
            None => {
                for (at, line) in variable.value.split('\n').enumerate() {
                    let name = if at == 0 { format!("{}:", variable.name) } else { String::new() };
                    page.line(3, format!("{name}\t{line}"));
                }
            }
            Some(from) => env_source(page, container, variable, from, place),
        }
    }
}

fn env_source(page: &mut Page, container: &Container, variable: &EnvVar, from: &Value, place: Place<'_>) {
    let name = &variable.name;
    if let Some(field) = from.get("fieldRef") {
        let path = text(field, "fieldPath");
        let value = if let Place::Pod(pod) = place { pod_field(pod, path) } else { String::new() };
        page.line(3, format!("{name}:\t{value} ({}:{path})", text(field, "apiVersion")));
    } else if let Some(field) = from.get("resourceFieldRef") {
        let resource = text(field, "resource");
        page.line(3, format!("{name}:\t{} ({resource})", resource_field(container, resource)));
    } else if let Some(secret) = from.get("secretKeyRef") {
        let (key, of) = (text(secret, "key"), text(secret, "name"));
        page.line(
            3,
            format!("{name}:\t<set to the key '{key}' in secret '{of}'>\tOptional: {}", optional(secret)),
        );
    } else if let Some(map) = from.get("configMapKeyRef") {
        let (key, of) = (text(map, "key"), text(map, "name"));
        page.line(
            3,
            format!("{name}:\t<set to the key '{key}' of config map '{of}'>\tOptional: {}", optional(map)),
        );
    }
}

/// A field of a pod that its environment names. Upstream: fieldpath.ExtractFieldPathAsString.
fn pod_field(pod: &Pod, path: &str) -> String {
    let meta = &pod.metadata;
    let entry = |map: &kubestep_model::Labels, key: &str| {
        map.get(key.trim_end_matches("']")).cloned().unwrap_or_default()
    };
    let lines = |map: &kubestep_model::Labels| {
        map.iter().map(|(k, v)| format!("{k}={}", quote(v))).collect::<Vec<_>>().join("\n")
    };
    match path {
        "metadata.name" => meta.name.to_string(),
        "metadata.namespace" => meta.namespace.to_string(),
        "metadata.uid" => meta.uid.to_string(),
        "metadata.labels" => lines(&meta.labels),
        "metadata.annotations" => lines(&meta.annotations),
        // The others are resolved by the kubelet; kubectl shows nothing for them.
        _ => match (path.strip_prefix("metadata.labels['"), path.strip_prefix("metadata.annotations['")) {
            (Some(key), _) => entry(&meta.labels, key),
            (None, Some(key)) => entry(&meta.annotations, key),
            (None, None) => String::new(),
        },
    }
}

/// A resource of a container, in whole units.
fn resource_field(container: &Container, resource: &str) -> String {
    let (map, name) = match resource.split_once('.') {
        Some(("limits", name)) => (&container.resources.limits, name),
        Some(("requests", name)) => (&container.resources.requests, name),
        _ => return String::new(),
    };
    match map.get(name) {
        Some(amount) => amount.value().to_string(),
        None if matches!(resource, "limits.cpu" | "limits.memory") => "node allocatable".to_owned(),
        None => "0".to_owned(),
    }
}

fn mounts(page: &mut Page, container: &Container) {
    page.line(2, if container.volume_mounts.is_empty() { "Mounts:\t<none>" } else { "Mounts:" });
    let mut mounts: Vec<_> = container.volume_mounts.iter().collect();
    mounts.arrange_by(|a, b| a.mount_path.cmp(&b.mount_path));
    for mount in mounts {
        let mode = if mount.read_only { "ro" } else { "rw" };
        let path = if mount.sub_path.is_empty() {
            String::new()
        } else {
            format!(",path={}", quote(&mount.sub_path))
        };
        page.line(3, format!("{} from {} ({mode}{path})", mount.mount_path, mount.name));
    }
    let devices =
        container.rest.get("volumeDevices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !devices.is_empty() {
        page.line(2, "Devices:");
        let mut devices: Vec<_> = devices.iter().collect();
        devices.arrange_by_key(|d| text(d, "devicePath").to_owned());
        devices
            .iter()
            .for_each(|d| page.line(3, format!("{} from {}", text(d, "devicePath"), text(d, "name"))));
    }
}
