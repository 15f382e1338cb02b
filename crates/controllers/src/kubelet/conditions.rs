//! The conditions Initialized, ContainersReady and Ready. Upstream: pkg/kubelet/status/generate.go.

use super::phase::is_sidecar;
use kubestep_model::{ContainerStatus, PodCondition, PodSpec};

/// What a condition says, before it has a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) status: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Said {
    pub(super) fn new(status: bool, reason: &str, message: impl Into<String>) -> Self {
        Said { status, reason: reason.into(), message: message.into() }
    }
}

fn list(names: &[&str]) -> String {
    format!("[{}]", names.join(" "))
}

fn unready(words: &[(&str, &[&str])]) -> String {
    let said: Vec<String> = words
        .iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(word, names)| format!("containers with {word} status: {}", list(names)))
        .collect();
    said.join(", ")
}

/// Whether all containers (and sidecars) are ready.
pub(super) fn containers_ready(spec: &PodSpec, statuses: &[ContainerStatus], phase: &str) -> Said {
    let sidecars = spec.init_containers.iter().filter(|c| is_sidecar(c));
    let (mut unknown, mut not_ready) = (vec![], vec![]);
    for container in sidecars.chain(&spec.containers) {
        match statuses.iter().find(|s| s.name == container.name) {
            None => unknown.push(container.name.as_str()),
            Some(status) if !status.ready => not_ready.push(container.name.as_str()),
            Some(_) => {}
        }
    }
    if phase == "Succeeded" && unknown.is_empty() {
        return Said::new(false, "PodCompleted", "");
    }
    if phase == "Failed" {
        return Said::new(false, "PodFailed", "");
    }
    let message = unready(&[("unknown", &unknown), ("unready", &not_ready)]);
    if message.is_empty() { Said::new(true, "", "") } else { Said::new(false, "ContainersNotReady", message) }
}

/// Whether the pod is ready: its containers, and the conditions that it names as gates.
pub(super) fn ready(spec: &PodSpec, conditions: &[PodCondition], containers: &Said) -> Said {
    if !containers.status {
        return containers.clone();
    }
    let mut messages = vec![];
    for gate in &spec.readiness_gates {
        let kind = &gate.condition_type;
        match conditions.iter().find(|c| c.r#type == *kind) {
            None => messages
                .push(format!("corresponding condition of pod readiness gate \"{kind}\" does not exist.")),
            Some(c) if c.status != "True" => {
                messages.push(format!(
                    "the status of pod readiness gate \"{kind}\" is not \"True\", but {}",
                    c.status
                ));
            }
            Some(_) => {}
        }
    }
    if messages.is_empty() {
        Said::new(true, "", "")
    } else {
        Said::new(false, "ReadinessGatesNotReady", messages.join(", "))
    }
}

/// Whether any regular container has run.
pub(super) fn any_started(spec: &PodSpec, statuses: &[ContainerStatus]) -> bool {
    let ran = |s: &ContainerStatus| {
        s.state.running.is_some() || s.state.terminated.is_some() || s.last_state.terminated.is_some()
    };
    spec.containers.iter().any(|c| statuses.iter().any(|s| s.name == c.name && ran(s)))
}

/// Whether all init containers are done (sidecars: started).
pub(super) fn initialized(spec: &PodSpec, statuses: &[ContainerStatus], phase: &str) -> Said {
    let (mut unknown, mut incomplete) = (vec![], vec![]);
    for init in &spec.init_containers {
        match statuses.iter().find(|s| s.name == init.name) {
            None => unknown.push(init.name.as_str()),
            Some(s) if is_sidecar(init) && s.started != Some(true) => incomplete.push(init.name.as_str()),
            Some(s) if !is_sidecar(init) && !s.ready => incomplete.push(init.name.as_str()),
            Some(_) => {}
        }
    }
    if phase == "Succeeded" && unknown.is_empty() {
        return Said::new(true, "PodCompleted", "");
    }
    if any_started(spec, statuses) {
        return Said::new(true, "", "");
    }
    let message = unready(&[("unknown", &unknown), ("incomplete", &incomplete)]);
    if message.is_empty() {
        Said::new(true, "", "")
    } else {
        Said::new(false, "ContainersNotInitialized", message)
    }
}
