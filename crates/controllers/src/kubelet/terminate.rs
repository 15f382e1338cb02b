//! The end of a pod on its node. Upstream: Kubelet.SyncTerminatingPod and SyncTerminatedPod.

use super::{
    Cx, Kubelet, Timer, Uid, pod_reference,
    worker::{Activity, Outcome, Stage},
};
use kubestep_control::{Order, RuntimeState};
use kubestep_model::{ContainerState, ContainerStateTerminated, ContainerStatus};
use std::{sync::Arc, time::Duration};

/// The wait for unmounted volumes looks again after this long.
const UNMOUNT_POLL: Duration = Duration::from_millis(300);
/// Volumes are unmounted so long after the last container has ended: two loops of 100 ms each, some time within them.
const UNMOUNT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(180));

impl Kubelet {
    /// Stops everything that runs in the pod.
    pub(super) fn sync_terminating(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let seen = self.seen(uid);
        let gone = self.workers.get(uid).is_some_and(|w| w.gone);
        if !gone && let Some(status) = self.told_status(cx, uid, &seen, false) {
            self.set_status(cx, uid, status);
        }
        self.stop_probes_but_readiness(cx, uid);
        let Some(worker) = self.worker(uid) else { return };
        let pod = worker.pod.clone();
        let grace = worker.grace.or(pod.spec.termination_grace_period_seconds).unwrap_or(30);
        let running: Vec<(Arc<str>, Arc<str>)> = seen
            .containers
            .values()
            .filter(|c| c.state == RuntimeState::Running)
            .map(|c| (c.id.clone(), c.name.clone()))
            .collect();
        if running.is_empty() {
            return self.stop_the_sandbox(cx, uid);
        }
        worker.waiting.clear();
        worker.activity = Activity::Stopping(running.iter().map(|(id, _)| id.clone()).collect());
        for (id, name) in running {
            cx.event(
                pod_reference(&pod, Some(&name)),
                "Normal",
                "Killing",
                format!("Stopping container {name}"),
            );
            cx.because("kubelet.stop", vec![("container", name.to_string()), ("grace", grace.to_string())]);
            self.stop_container(cx, &pod, &name, &id, grace);
        }
    }

    pub(super) fn stop_the_sandbox(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let has_sandbox = self.runtime.get(uid).is_some_and(|r| r.sandbox.as_ref().is_some_and(|s| s.ready));
        if let Some(worker) = self.worker(uid) {
            worker.activity = Activity::StoppingSandbox;
        }
        if has_sandbox {
            cx.order(Order::StopSandbox { pod: uid.clone() })
        } else {
            self.all_stopped(cx, uid)
        }
    }

    /// Nothing runs any more: say how the pod ended.
    pub(super) fn all_stopped(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.stop_probes(cx, uid);
        let stopped = self.runtime.get(uid).cloned().unwrap_or_default();
        let gone = self.workers.get(uid).is_some_and(|w| w.gone);
        let status = self.told_status(cx, uid, &stopped, true);
        let unmount = UNMOUNT.0 + Self::jitter(cx, "kubelet.unmount", UNMOUNT.1);
        if let Some(worker) = self.worker(uid) {
            worker.stage = Stage::Terminated;
            worker.unmounted = cx.now + unmount;
        }
        if !gone && let Some(status) = status {
            self.set_status(cx, uid, status);
        }
        self.complete(cx, uid, &Outcome::Next);
    }

    /// Cleans up after a pod whose containers have ended.
    pub(super) fn sync_terminated(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let seen = self.seen(uid);
        let gone = self.workers.get(uid).is_some_and(|w| w.gone);
        if !gone && let Some(status) = self.told_status(cx, uid, &seen, true) {
            self.set_status(cx, uid, status);
        }
        let Some(worker) = self.worker(uid) else { return };
        if worker.volumes.mounted() && worker.unmounted > cx.now {
            worker.activity = Activity::Unmounting;
            return cx.wake_at(Timer::Pod(uid.clone()), cx.now + UNMOUNT_POLL);
        }
        self.finished(cx, uid);
    }

    /// The pod's volumes are unmounted: nothing of it is left but its record.
    pub(super) fn finished(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        worker.stage = Stage::Finished;
        worker.volumes.unmount();
        let gone = worker.gone;
        self.complete(cx, uid, &Outcome::Fine);
        if gone {
            return self.drop_worker(cx, uid);
        }
        self.say_ended(cx, uid);
        self.writer.finish(uid);
        self.write_status(cx);
    }

    /// Every container has an end and the pod a final phase, even where nobody saw it.
    /// Upstream: status manager, TerminatePod.
    fn say_ended(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.workers.get(uid) else { return };
        let Some(mut status) = worker.status.as_deref().cloned() else { return };
        let init = &mut status.init_container_statuses;
        let initialized = worker.pod.spec.init_containers.is_empty()
            || status.container_statuses.iter().any(has_run)
            || init.last().is_some_and(|s| s.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0));
        if initialized {
            status.container_statuses.iter_mut().for_each(lost);
        }
        let known = init.iter().rposition(has_run).map_or(0, |i| i + 1);
        init.iter_mut().take(known).for_each(lost);
        if !matches!(status.phase.as_str(), "Succeeded" | "Failed") {
            status.phase = "Failed".into();
        }
        self.set_status(cx, uid, status);
    }

    /// The node does not take the pod: it fails at once. Upstream: Kubelet.rejectPod.
    pub(super) fn reject(&mut self, cx: &mut Cx<'_>, uid: &Uid, reason: &str, message: &str) {
        let Some(worker) = self.worker(uid) else { return };
        let pod = worker.pod.clone();
        worker.stage = Stage::Finished;
        let status = kubestep_model::PodStatus {
            phase: "Failed".into(),
            reason: reason.into(),
            message: format!("Pod was rejected: {message}"),
            observed_generation: pod.metadata.generation,
            qos_class: pod.status.qos_class.clone(),
            conditions: pod.status.conditions.clone(),
            start_time: Some(cx.now.to_time()),
            ..Default::default()
        };
        cx.event(pod_reference(&pod, None), "Warning", reason, message.into());
        cx.because("kubelet.rejected", vec![("reason", reason.into())]);
        self.set_status(cx, uid, status);
        self.writer.finish(uid);
        self.write_status(cx);
    }
}

fn has_run(status: &ContainerStatus) -> bool {
    status.state.running.is_some()
        || status.state.terminated.is_some()
        || status.last_state.terminated.is_some()
}

/// A container whose end was not seen counts as failed.
fn lost(status: &mut ContainerStatus) {
    if status.state.terminated.is_some() {
        return;
    }
    let terminated = ContainerStateTerminated {
        exit_code: 137,
        reason: "ContainerStatusUnknown".into(),
        message: "The container could not be located when the pod was terminated".into(),
        ..Default::default()
    };
    status.state = ContainerState { terminated: Some(terminated), ..Default::default() };
}
