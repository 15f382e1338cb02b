//! What is to be done for a pod to be as wanted. Upstream: pkg/kubelet/kuberuntime, computePodActions.

use super::{
    phase::{LastRun, is_sidecar, restarts, should_restart},
    status::{last_run, runs},
    worker::Worker,
};
use kubestep_control::{ProbeKind, RuntimePod, RuntimeState, full_image_name};
use kubestep_model::{Container, Pod};
use std::sync::Arc;

/// A running container that must end first, and why.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kill {
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    /// The event's text.
    pub(super) message: String,
    /// The probe that failed, if one did: its own grace period holds.
    pub(super) probe: Option<ProbeKind>,
}

/// What is to be done, in order: kill, make a sandbox, start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Actions {
    /// All containers and the sandbox are to be stopped.
    pub(super) kill_pod: bool,
    pub(super) sandbox: bool,
    pub(super) kills: Vec<Kill>,
    /// Names, init containers first.
    pub(super) starts: Vec<Arc<str>>,
}

fn name(container: &Container) -> Arc<str> {
    container.name.as_str().into()
}

/// Whether a container that runs must be restarted.
fn unwell(worker: &Worker, runtime: &RuntimePod, container: &Container, init: bool) -> Option<Kill> {
    let run = runs(runtime, &container.name).into_iter().find(|c| c.state == RuntimeState::Running)?;
    let failed = |kind: ProbeKind| {
        let probe = worker.probes.get(&(name(container), kind));
        probe.is_some_and(|p| p.container.as_ref() == Some(&run.id) && p.passed == Some(false))
    };
    let kill =
        |message: String, probe| Some(Kill { id: run.id.clone(), name: run.name.clone(), message, probe });
    let title = if init { "Init container" } else { "Container" };
    let restarted = if init { "" } else { ", will be restarted" };
    if *run.image != *full_image_name(&container.image) {
        return kill(format!("{title} {} definition changed, will be restarted", container.name), None);
    }
    let ends = if restarts(&worker.pod.spec, container, 1) || init { restarted } else { "" };
    if failed(ProbeKind::Liveness) {
        return kill(
            format!("{title} {} failed liveness probe{ends}", container.name),
            Some(ProbeKind::Liveness),
        );
    }
    if failed(ProbeKind::Startup) {
        return kill(
            format!("{title} {} failed startup probe{ends}", container.name),
            Some(ProbeKind::Startup),
        );
    }
    None
}

/// Upstream: runtimeutil.PodSandboxChanged and the case that follows from it.
fn with_new_sandbox(pod: &Pod, runtime: &RuntimePod) -> Actions {
    let mut actions = Actions { kill_pod: runtime.sandbox.is_some(), sandbox: true, ..Actions::default() };
    let ran = runtime.sandbox.is_some();
    if pod.spec.restart_policy == "Never" && ran && !runtime.containers.is_empty() {
        // The containers have run once: that was all.
        actions.sandbox = false;
        return actions;
    }
    if let Some(first) = pod.spec.init_containers.first() {
        actions.starts.push(name(first));
        return actions;
    }
    let done = |c: &&Container| {
        pod.spec.restart_policy == "OnFailure" && last_run(runtime, &c.name) == LastRun::Exited(0)
    };
    actions.starts = pod.spec.containers.iter().filter(|c| !done(c)).map(name).collect();
    actions.sandbox = !actions.starts.is_empty();
    actions
}

/// The init containers' part. Answers whether the regular containers may run.
fn init(worker: &Worker, runtime: &RuntimePod, actions: &mut Actions) -> bool {
    let pod = &*worker.pod;
    let regular_ran = pod.spec.containers.iter().any(|c| last_run(runtime, &c.name) != LastRun::Never);
    for init in &pod.spec.init_containers {
        let last = last_run(runtime, &init.name);
        if is_sidecar(init) {
            match last {
                LastRun::Running => {
                    if let Some(kill) = unwell(worker, runtime, init, true) {
                        actions.kills.push(kill);
                        actions.starts.push(name(init));
                    }
                }
                _ => actions.starts.push(name(init)),
            }
            let passed =
                worker.probes.get(&(name(init), ProbeKind::Startup)).is_some_and(|p| p.passed == Some(true));
            let started = last == LastRun::Running && (init.startup_probe.is_none() || passed);
            if !started && !regular_ran {
                return false;
            }
            continue;
        }
        match last {
            LastRun::Exited(0) => {}
            _ if regular_ran => {}
            LastRun::Running => return false,
            LastRun::Exited(code) if !restarts(&pod.spec, init, code) => {
                actions.kill_pod = true;
                return false;
            }
            _ => {
                actions.starts.push(name(init));
                return false;
            }
        }
    }
    true
}

/// What is to be done for this pod, as its containers stand in `runtime`.
pub(super) fn actions(worker: &Worker, runtime: &RuntimePod) -> Actions {
    let pod = &*worker.pod;
    if !runtime.sandbox.as_ref().is_some_and(|s| s.ready) {
        return with_new_sandbox(pod, runtime);
    }
    let mut actions = Actions::default();
    if !init(worker, runtime, &mut actions) {
        return actions;
    }
    let mut kept = 0;
    for container in &pod.spec.containers {
        let last = last_run(runtime, &container.name);
        if last != LastRun::Running {
            if should_restart(&pod.spec, container, last, false) {
                actions.starts.push(name(container));
            }
            continue;
        }
        match unwell(worker, runtime, container, false) {
            None => kept += 1,
            Some(kill) => {
                let again = kill.probe.is_none() || restarts(&pod.spec, container, 1);
                actions.kills.push(kill);
                if again {
                    actions.starts.push(name(container));
                } else {
                    kept += 1;
                }
            }
        }
    }
    if kept == 0 && actions.starts.is_empty() {
        actions.kill_pod = true;
    }
    actions
}
