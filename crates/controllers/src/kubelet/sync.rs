//! The sync of a pod whose containers are to run. Upstream: Kubelet.SyncPod and kuberuntime's SyncPod.

use super::{
    Cx, Kubelet, Uid,
    actions::{Actions, Kill, actions},
    pod_reference,
    start::Starting,
    worker::{Activity, KillPlan, Outcome, Stage},
};
use kubestep_control::{Order, ProbeKind, RuntimeState};
use kubestep_model::Pod;
use std::sync::Arc;

impl Kubelet {
    /// The beginning of a sync: say how the pod is, then see to its volumes.
    pub(super) fn sync_pod(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let seen = self.seen(uid);
        let Some(status) = self.told_status(cx, uid, &seen, false) else { return };
        let ended = matches!(status.phase.as_str(), "Succeeded" | "Failed");
        self.set_status(cx, uid, status);
        self.trigger_probes(cx, uid);
        if ended {
            if let Some(worker) = self.worker(uid) {
                worker.stage = Stage::Terminating;
            }
            return self.complete(cx, uid, &Outcome::Next);
        }
        if self.volumes_ready(uid) {
            return self.sync_containers(cx, uid);
        }
        self.await_volumes(cx, uid);
    }

    /// The rest of a sync, once the volumes are there.
    pub(super) fn sync_containers(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.ensure_probes(cx, uid);
        let seen = self.seen(uid);
        let Some(worker) = self.workers.get(uid).cloned() else { return };
        let Actions { kill_pod, sandbox, kills, starts } = actions(&worker, &seen);
        let mut starting = Starting { sandbox, left: starts.into(), ..Starting::default() };
        if kill_pod && !sandbox {
            starting.left.clear();
        }
        let kills: Vec<Kill> = if kill_pod {
            let running = seen.containers.values().filter(|c| c.state == RuntimeState::Running);
            let message = |name: &str| format!("Stopping container {name}");
            running
                .map(|c| Kill {
                    id: c.id.clone(),
                    name: c.name.clone(),
                    message: message(&c.name),
                    probe: None,
                })
                .collect()
        } else {
            kills
        };
        if sandbox && seen.sandbox.is_some() {
            let text = "Pod sandbox changed, it will be killed and re-created.";
            cx.event(pod_reference(&worker.pod, None), "Normal", "SandboxChanged", text.into());
        }
        starting.acted = kill_pod || sandbox || !kills.is_empty();
        self.set_activity(uid, Activity::Starting(starting));
        if kills.is_empty() && !kill_pod {
            return self.after_kills(cx, uid);
        }
        let plan = KillPlan { left: kills.iter().map(|k| k.id.clone()).collect(), pod: kill_pod };
        let pod = worker.pod.clone();
        for kill in kills {
            self.kill_in_running_pod(cx, &pod, &kill);
        }
        self.hold_starting(uid, plan);
        self.kills_done(cx, uid);
    }

    fn hold_starting(&mut self, uid: &Uid, plan: KillPlan) {
        if let Some(worker) = self.worker(uid)
            && let Activity::Starting(starting) = &mut worker.activity
        {
            starting.kills = Some(plan);
        }
    }

    fn set_activity(&mut self, uid: &Uid, activity: Activity) {
        if let Some(worker) = self.worker(uid) {
            worker.activity = activity;
        }
    }

    fn kill_in_running_pod(&mut self, cx: &mut Cx<'_>, pod: &Arc<Pod>, kill: &Kill) {
        let container =
            pod.spec.containers.iter().chain(&pod.spec.init_containers).find(|c| *c.name == *kill.name);
        let own = container.and_then(|c| match kill.probe {
            Some(ProbeKind::Liveness) => c.liveness_probe.as_ref(),
            Some(ProbeKind::Startup) => c.startup_probe.as_ref(),
            _ => None,
        });
        let grace = own
            .and_then(|p| p.termination_grace_period_seconds)
            .or(pod.spec.termination_grace_period_seconds)
            .unwrap_or(30);
        cx.event(pod_reference(pod, Some(&kill.name)), "Normal", "Killing", kill.message.clone());
        if let Some(probe) = kill.probe {
            let kind = if probe == ProbeKind::Liveness { "liveness" } else { "startup" };
            cx.because(
                "kubelet.unhealthy",
                vec![("container", kill.name.to_string()), ("probe", kind.into())],
            );
        }
        self.stop_container(cx, pod, &kill.name, &kill.id, grace);
    }

    /// Goes on once all containers that had to end have ended.
    pub(super) fn kills_done(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        let Activity::Starting(starting) = &mut worker.activity else { return };
        let Some(plan) = starting.kills.as_mut().filter(|p| p.left.is_empty()) else { return };
        if plan.pod {
            plan.pod = false;
            cx.order(Order::StopSandbox { pod: uid.clone() });
            return;
        }
        starting.kills = None;
        self.after_kills(cx, uid);
    }

    fn after_kills(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        let Activity::Starting(starting) = &mut worker.activity else { return };
        if std::mem::take(&mut starting.sandbox) {
            let pod = worker.pod.clone();
            cx.because("kubelet.sandbox", vec![("pod", pod.metadata.name.to_string())]);
            cx.order(Order::RunSandbox { pod: uid.clone(), host_network: pod.spec.host_network });
            return;
        }
        self.start_next(cx, uid);
    }

    /// The runtime has made the sandbox.
    pub(super) fn sandbox_made(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        if self.workers.get(uid).is_some_and(|w| matches!(w.activity, Activity::Starting(_))) {
            self.say_sandbox_ready(cx, uid);
            self.start_next(cx, uid);
        }
    }

    /// The runtime has stopped the sandbox.
    pub(super) fn sandbox_stopped(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        match self.workers.get(uid).map(|w| &w.activity) {
            Some(Activity::StoppingSandbox) => self.all_stopped(cx, uid),
            Some(Activity::Starting(starting)) if starting.kills.is_some() => self.kills_done(cx, uid),
            _ => {}
        }
    }

    /// The runtime has stopped a container, as it was told to.
    pub(super) fn container_stopped(&mut self, cx: &mut Cx<'_>, uid: &Uid, id: &Arc<str>) {
        let Some(worker) = self.worker(uid) else { return };
        match &mut worker.activity {
            Activity::Stopping(left) => {
                left.retain(|i| i != id);
                if left.is_empty() {
                    return self.stop_the_sandbox(cx, uid);
                }
                self.next_turns(cx, uid);
            }
            Activity::Starting(starting) => {
                if let Some(plan) = &mut starting.kills {
                    plan.left.retain(|i| i != id);
                }
                self.kills_done(cx, uid);
            }
            _ => {}
        }
    }
}
