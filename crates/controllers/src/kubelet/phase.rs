//! The phase of a pod, and whether an ended container starts again. Upstream: pkg/kubelet/kubelet_pods.go, getPhase;
//! pkg/kubelet/container/helpers.go, ShouldContainerBeRestarted.

use kubestep_model::{Container, ContainerStatus, PodSpec};

/// Whether this is an init container that runs beside the others.
pub(super) fn is_sidecar(init: &Container) -> bool {
    init.restart_policy.as_deref() == Some("Always")
}

/// Whether a container that ended with this code is started again.
pub(super) fn restarts(spec: &PodSpec, container: &Container, exit_code: i32) -> bool {
    match container.restart_policy.as_deref().unwrap_or(&spec.restart_policy) {
        "Never" => false,
        "OnFailure" => exit_code != 0,
        _ => true,
    }
}

fn exit_code(status: &ContainerStatus) -> Option<i32> {
    status.state.terminated.as_ref().map(|t| t.exit_code)
}

fn last_exit_code(status: &ContainerStatus) -> Option<i32> {
    status.last_state.terminated.as_ref().map(|t| t.exit_code)
}

#[derive(Default)]
struct Counts {
    unknown: usize,
    running: usize,
    waiting: usize,
    stopped: usize,
    succeeded: usize,
    pending_init: usize,
    pending_sidecars: usize,
    init_failed: bool,
    /// A container that has ended starts again.
    restarting: bool,
}

impl Counts {
    fn init(&mut self, spec: &PodSpec, init: &Container, status: Option<&ContainerStatus>) {
        let Some(status) = status else {
            self.pending_init += 1;
            return;
        };
        let ended = match (exit_code(status), &status.state.running, &status.state.waiting) {
            (Some(code), ..) => Some(code),
            (None, None, Some(_)) => last_exit_code(status),
            _ => None,
        };
        match ended {
            Some(code) if code != 0 => self.init_failed |= !restarts(spec, init, code),
            Some(_) => {}
            None => self.pending_init += 1,
        }
    }

    fn sidecar(&mut self, status: Option<&ContainerStatus>) {
        let Some(status) = status else {
            self.unknown += 1;
            return;
        };
        if status.state.running.is_some() {
            self.pending_sidecars += usize::from(status.started != Some(true));
            self.running += 1;
        } else if status.state.terminated.is_some() {
            // An ended sidecar says nothing about the phase.
        } else if status.state.waiting.is_none() {
            self.pending_sidecars += 1;
            self.unknown += 1;
        } else if status.last_state.terminated.is_none() {
            self.pending_sidecars += 1;
            self.waiting += 1;
        }
    }

    fn container(&mut self, spec: &PodSpec, container: &Container, status: Option<&ContainerStatus>) {
        let Some(status) = status else {
            self.unknown += 1;
            return;
        };
        if status.state.running.is_some() {
            self.running += 1;
        } else if let Some(code) = exit_code(status) {
            self.stopped += 1;
            self.succeeded += usize::from(code == 0);
            self.restarting |= restarts(spec, container, code);
        } else if status.state.waiting.is_none() {
            self.unknown += 1;
        } else if let Some(code) = last_exit_code(status) {
            self.stopped += 1;
            self.restarting |= restarts(spec, container, code);
        } else {
            self.waiting += 1;
        }
    }
}

/// The phase that follows from the states of a pod's containers.
pub(super) fn phase(
    spec: &PodSpec,
    statuses: &[ContainerStatus],
    terminal: bool,
    initialized: bool,
) -> &'static str {
    let find = |name: &str| statuses.iter().find(|s| s.name == name);
    let mut n = Counts::default();
    for init in &spec.init_containers {
        if is_sidecar(init) { n.sidecar(find(&init.name)) } else { n.init(spec, init, find(&init.name)) }
    }
    for container in &spec.containers {
        n.container(spec, container, find(&container.name));
    }
    if n.init_failed {
        return "Failed";
    }
    let not_initialized = n.pending_init > 0 || (n.pending_sidecars > 0 && !initialized);
    if not_initialized || n.waiting > 0 {
        return "Pending";
    }
    if n.running > 0 && n.unknown == 0 {
        return "Running";
    }
    if n.running == 0 && n.stopped > 0 && n.unknown == 0 {
        let all_succeeded = n.stopped == n.succeeded;
        return match (terminal, all_succeeded) {
            (false, _) if n.restarting => "Running",
            (_, true) => "Succeeded",
            (_, false) => "Failed",
        };
    }
    "Pending"
}

/// How the last run of a container stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastRun {
    /// There was none.
    Never,
    Running,
    Exited(i32),
    /// Created but not started, or not known.
    Unclear,
}

/// Whether a container is to be started now.
pub(super) fn should_restart(spec: &PodSpec, container: &Container, last: LastRun, deleting: bool) -> bool {
    match last {
        _ if deleting => false,
        LastRun::Never | LastRun::Unclear => true,
        LastRun::Running => false,
        LastRun::Exited(code) => restarts(spec, container, code),
    }
}
