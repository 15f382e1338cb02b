//! In which order the containers of a pod with sidecars end: first the main ones, then the sidecars, the last first.
//! Upstream: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go (v1.37). There a sidecar waits no longer than its
//! grace period lasts; here it waits until those before it have ended, which is two seconds later at most.

use super::{
    Cx, Kubelet, Uid,
    hooks::LEAST_GRACE,
    phase::is_sidecar,
    worker::{Activity, Worker},
};
use kubestep_control::{Order, RuntimePod};
use kubestep_model::Instant;
use std::sync::Arc;

/// A sidecar that is to be stopped when its turn comes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Waiting {
    id: Arc<str>,
    name: Arc<str>,
    grace: i64,
    since: Instant,
}

/// Whether a container has to wait for others of a pod that is being stopped.
fn must_wait(worker: &Worker, runtime: &RuntimePod, name: &str) -> bool {
    let Activity::Stopping(left) = &worker.activity else { return false };
    let inits = &worker.pod.spec.init_containers;
    let Some(place) = inits.iter().position(|c| is_sidecar(c) && *c.name == *name) else { return false };
    let before = |other: &str| {
        worker.pod.spec.containers.iter().any(|c| *c.name == *other)
            || inits.iter().skip(place + 1).any(|c| is_sidecar(c) && *c.name == *other)
    };
    left.iter().filter_map(|id| runtime.containers.get(id)).any(|c| before(&c.name))
}

impl Kubelet {
    /// Stops a container whose hook is done, or lets it wait for its turn.
    pub(super) fn stop_in_turn(
        &mut self,
        cx: &mut Cx<'_>,
        uid: &Uid,
        name: &Arc<str>,
        id: &Arc<str>,
        grace: i64,
    ) {
        let now = cx.now;
        let runtime = self.runtime.get(uid).cloned().unwrap_or_default();
        if let Some(worker) = self.worker(uid).filter(|w| grace > 0 && must_wait(w, &runtime, name)) {
            let waiting = Waiting { id: id.clone(), name: name.clone(), grace, since: now };
            cx.because("kubelet.wait-turn", vec![("container", name.to_string())]);
            return worker.waiting.push(waiting);
        }
        cx.order(Order::Stop { pod: uid.clone(), id: id.clone(), grace: grace.max(LEAST_GRACE) });
    }

    /// Another container has ended: those whose turn it is now are stopped.
    pub(super) fn next_turns(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let now = cx.now;
        let runtime = self.runtime.get(uid).cloned().unwrap_or_default();
        let Some(worker) = self.worker(uid).filter(|w| !w.waiting.is_empty()) else { return };
        let (later, ready): (Vec<Waiting>, Vec<Waiting>) = std::mem::take(&mut worker.waiting)
            .into_iter()
            .partition(|waiting| must_wait(worker, &runtime, &waiting.name));
        worker.waiting = later;
        for Waiting { id, grace, since, .. } in ready {
            let waited = i64::try_from(now.since(since).as_secs()).unwrap_or(grace);
            let grace = grace.saturating_sub(waited).max(LEAST_GRACE);
            cx.order(Order::Stop { pod: uid.clone(), id, grace });
        }
    }
}
