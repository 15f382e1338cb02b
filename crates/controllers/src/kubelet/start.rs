//! Starting a pod's containers, one after the other. Upstream: pkg/kubelet/kuberuntime, startContainer and doBackOff.

use super::{
    Cx, Kubelet, Uid, described,
    phase::is_sidecar,
    pod_reference,
    status::runs,
    worker::{Activity, KillPlan, Outcome},
};
use kubestep_control::{ContainerConfig, MemoryBounds, Order, RuntimeState, StartRefusal};
use kubestep_model::{Container, Instant, Pod, text::duration};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// A sync that stops and starts containers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Starting {
    /// Containers that must end first.
    pub(super) kills: Option<KillPlan>,
    /// A sandbox is to be made.
    pub(super) sandbox: bool,
    /// Still to be started.
    pub(super) left: VecDeque<Arc<str>>,
    /// Being started.
    pub(super) current: Option<Arc<str>>,
    /// Whether anything was done.
    pub(super) acted: bool,
    pub(super) failed: bool,
    /// Whether a pull was tried and refused.
    pub(super) pull_failed: bool,
    /// The first end of a back-off among the failures.
    pub(super) until: Option<Instant>,
}

/// A container of a pod by its name.
pub(super) fn container<'a>(pod: &'a Pod, name: &str) -> Option<&'a Container> {
    pod.spec.init_containers.iter().chain(&pod.spec.containers).find(|c| c.name == name)
}

impl Kubelet {
    pub(super) fn starting(&mut self, uid: &Uid) -> Option<&mut Starting> {
        match &mut self.worker(uid)?.activity {
            Activity::Starting(starting) => Some(starting),
            _ => None,
        }
    }

    /// Starts the next container, or ends the sync.
    pub(super) fn start_next(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        loop {
            let Some(starting) = self.starting(uid) else { return };
            let Some(name) = starting.left.pop_front() else {
                starting.current = None;
                return self.sync_done(cx, uid);
            };
            starting.current = Some(name.clone());
            starting.acted = true;
            if self.back_off(cx, uid, &name) {
                continue;
            }
            if self.ensure_image(cx, uid, &name) {
                return;
            }
        }
    }

    fn sync_done(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(starting) = self.starting(uid).cloned() else { return };
        if starting.pull_failed {
            self.look_for_pull_secrets(cx, uid);
        }
        let outcome = if starting.failed { Outcome::Failed(starting.until) } else { Outcome::Fine };
        self.complete(cx, uid, &outcome);
        if starting.acted && !starting.failed {
            self.relist_now(cx, uid);
        }
    }

    /// Whether the container must wait before it is started again after it ended.
    fn back_off(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>) -> bool {
        let now = cx.now;
        let seen = self.seen(uid);
        let ended =
            runs(&seen, name).into_iter().find(|c| c.state == RuntimeState::Exited).and_then(|c| c.finished);
        let (Some(worker), Some(ended)) = (self.worker(uid), ended) else { return false };
        let pod = worker.pod.clone();
        if !worker.crashes.is_in_backoff_since(name, ended.0, now.0) {
            worker.crashes.next(name, ended.0, now.0);
            return false;
        }
        let wait = Duration::from_nanos(u64::try_from(worker.crashes.get(name)).unwrap_or(0));
        let text = format!("Back-off restarting failed container {name} in pod {}", described(&pod));
        cx.event(pod_reference(&pod, Some(name)), "Warning", "BackOff", text);
        let wait_text = duration::go_string(worker.crashes.get(name));
        cx.because("kubelet.crash-loop", vec![("container", name.to_string()), ("wait", wait_text.clone())]);
        let message =
            format!("back-off {wait_text} restarting failed container={name} pod={}", described(&pod));
        self.start_failed(uid, name, "CrashLoopBackOff", &message, Some(ended + wait));
        true
    }

    /// Notes that a container could not be started. What comes after a failed init container is left.
    pub(super) fn start_failed(
        &mut self,
        uid: &Uid,
        name: &Arc<str>,
        reason: &str,
        message: &str,
        until: Option<Instant>,
    ) {
        let Some(worker) = self.worker(uid) else { return };
        worker.reasons.insert(name.clone(), (reason.into(), message.into()));
        let init = worker.pod.spec.init_containers.iter().any(|c| *c.name == **name && !is_sidecar(c));
        let Activity::Starting(starting) = &mut worker.activity else { return };
        starting.failed = true;
        starting.current = None;
        starting.until = match (starting.until, until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if init {
            starting.left.clear();
        }
    }

    /// The image is there: make the container's configuration and start it.
    pub(super) fn start_container(&mut self, cx: &mut Cx<'_>, uid: &Uid, name: &Arc<str>) {
        let Some(worker) = self.workers.get(uid).cloned() else { return };
        let pod = worker.pod.clone();
        let Some(container) = container(&pod, name) else { return };
        let env = match self.configuration(cx, uid, container) {
            None => return,
            Some(Err(text)) => {
                cx.event(pod_reference(&pod, Some(name)), "Warning", "Failed", format!("Error: {text}"));
                cx.because(
                    "kubelet.config-missing",
                    vec![("container", name.to_string()), ("what", text.clone())],
                );
                self.start_failed(uid, name, "CreateContainerConfigError", &text, None);
                return self.start_next(cx, uid);
            }
            Some(Ok(env)) => env,
        };
        let seen = self.seen(uid);
        let attempt =
            runs(&seen, name).first().map_or_else(|| old_restarts(&worker, name), |c| c.attempt + 1);
        let config = ContainerConfig {
            pod: uid.clone(),
            name: name.clone(),
            attempt,
            image: container.image.as_str().into(),
            command: container.command.iter().chain(&container.args).cloned().collect(),
            files: worker.volumes.files_of(container),
            env,
            memory: MemoryBounds {
                limit: container.resources.limits.get("memory").map(|q| q.value()),
                request: container.resources.requests.get("memory").map_or(0, |q| q.value()),
                qos: pod.status.qos_class.to_string(),
            },
        };
        cx.order(Order::Start(Arc::new(config)));
    }

    /// The runtime has started a container, or could not.
    pub(super) fn start_done(
        &mut self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        name: &Arc<str>,
        result: Result<Arc<str>, StartRefusal>,
    ) {
        let Some(worker) = self.worker(uid) else { return };
        let pod = worker.pod.clone();
        let about = pod_reference(&pod, Some(name));
        let created = matches!(&result, Ok(_) | Err(StartRefusal { id: Some(_), .. }));
        if created {
            cx.event(about.clone(), "Normal", "Created", "Container created".into());
        }
        match result {
            Ok(id) => {
                worker.reasons.remove(name);
                cx.event(about, "Normal", "Started", "Container started".into());
                cx.because("kubelet.started", vec![("container", name.to_string())]);
                if self.post_start(cx, uid, name, &id) {
                    return;
                }
            }
            Err(StartRefusal { text, .. }) => {
                cx.event(about, "Warning", "Failed", format!("Error: {text}"));
                cx.because(
                    "kubelet.start-failed",
                    vec![("container", name.to_string()), ("text", text.to_string())],
                );
                let reason = if created { "RunContainerError" } else { "CreateContainerError" };
                self.start_failed(uid, name, reason, &text, None);
            }
        }
        self.start_next(cx, uid);
    }
}

/// A container that the runtime no longer knows counts on from what the status says.
fn old_restarts(worker: &super::worker::Worker, name: &str) -> i32 {
    let status = worker.status.as_deref().unwrap_or(&worker.pod.status);
    let all = status.container_statuses.iter().chain(&status.init_container_statuses);
    let ran = |s: &&kubestep_model::ContainerStatus| {
        s.name == name && (s.state.terminated.is_some() || s.last_state.terminated.is_some())
    };
    all.filter(ran).map(|s| s.restart_count + 1).next().unwrap_or(0)
}
