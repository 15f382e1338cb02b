//! The status manager: what is to be said about each pod, and its writes, one at a time.
//! Upstream: pkg/kubelet/status/status_manager.go.

use super::{
    Ask, Cx, Kubelet, Timer, Uid, as_pod, patch,
    status::{OWN, condition},
    worker::Stage,
};
use crate::kubelet::conditions::Said;
use kubestep_model::tree::{OrdMap, Vector};
use kubestep_model::{Answer, DeleteOptions, Key, Kind, PatchKind, Pod, PodStatus, Reply, Subresource, Verb};
use std::{sync::Arc, time::Duration};

/// Writes that failed are tried again after this long.
const BATCH: Duration = Duration::from_secs(10);

/// What the API is known to hold and what it is to hold, for one pod.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    pod: Arc<Pod>,
    wanted: Option<Arc<PodStatus>>,
    version: u64,
    written: u64,
    /// The pod has ended here: it may be deleted once its status is written.
    finished: bool,
}

/// The status manager's memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Writer {
    entries: OrdMap<Uid, Entry>,
    queue: Vector<Uid>,
    /// The pod whose write is in flight.
    busy: Option<(Uid, u64)>,
    failed: Vector<Uid>,
}

impl Writer {
    /// The API holds this version of a pod. One whose deletion was asked for and answered is no longer looked at.
    pub(super) fn told(&mut self, uid: &Uid, pod: &Arc<Pod>) {
        if let Some(entry) = self.entries.get_mut(uid)
            && entry.pod.metadata.revision() <= pod.metadata.revision()
        {
            entry.pod = pod.clone();
        }
    }

    /// A pod came to this node.
    pub(super) fn added(&mut self, uid: &Uid, pod: &Arc<Pod>) {
        let entry = Entry { pod: pod.clone(), wanted: None, version: 0, written: 0, finished: false };
        self.entries.insert(uid.clone(), entry);
    }

    /// The pod is no longer in the API.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.entries.remove(uid);
        self.queue.retain(|u| u != uid);
    }

    /// The pod has ended on this node: from now on its final phase may be said, so that it is written again even
    /// where nothing else changed.
    pub(super) fn finish(&mut self, uid: &Uid) {
        if let Some(entry) = self.entries.get_mut(uid).filter(|e| !e.finished) {
            entry.finished = true;
            entry.version += 1;
        }
        self.enqueue(uid);
    }

    /// Whether somebody else says otherwise about a pod than was last written. Upstream: needsReconcile.
    fn is_contradicted(&self, uid: &Uid) -> bool {
        let Some(entry) = self.entries.get(uid).filter(|e| e.version <= e.written) else { return false };
        let Some(wanted) = &entry.wanted else { return false };
        let own = wanted.conditions.iter().filter(|c| OWN.contains(&c.r#type.as_str()));
        own.into_iter().any(|c| entry.pod.condition(&c.r#type).is_none_or(|held| held.status != c.status))
    }

    fn enqueue(&mut self, uid: &Uid) {
        if self.entries.contains_key(uid) && !self.queue.contains(uid) {
            self.queue.push_back(uid.clone());
        }
    }
}

/// Keeps the times of conditions whose status is the same as before.
fn keep_times(status: &mut PodStatus, old: &PodStatus, now: kubestep_model::Time) {
    for new in status.conditions.iter_mut().filter(|c| OWN.contains(&c.r#type.as_str())) {
        let same = old.conditions.iter().find(|c| c.r#type == new.r#type && c.status == new.status);
        new.last_transition_time = same.map_or(Some(now), |c| c.last_transition_time);
    }
}

impl Kubelet {
    /// Says how a pod is; written as soon as the writer is free, if it is news.
    pub(super) fn set_status(&mut self, cx: &mut Cx<'_>, uid: &Uid, mut status: PodStatus) {
        let Some(worker) = self.worker(uid) else { return };
        let old = worker.status.clone().unwrap_or_else(|| Arc::new(worker.pod.status.clone()));
        keep_times(&mut status, &old, cx.now.to_time());
        if worker.status.is_some() && *old == status {
            return;
        }
        let status = Arc::new(status);
        worker.status = Some(status.clone());
        if let Some(entry) = self.writer.entries.get_mut(uid) {
            entry.version += 1;
            entry.wanted = Some(status);
        }
        self.writer.enqueue(uid);
        self.write_status(cx);
    }

    /// The API holds something else about a pod than was written: it is written again with the next batch.
    pub(super) fn reconcile_status(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let busy = self.writer.busy.as_ref().is_some_and(|(u, _)| u == uid);
        if busy || self.writer.failed.contains(uid) || !self.writer.is_contradicted(uid) {
            return;
        }
        self.writer.failed.push_back(uid.clone());
        let period = i64::try_from(BATCH.as_nanos()).unwrap_or(i64::MAX);
        let past = cx.now.nanos_since(self.began).max(0);
        cx.wake_at(Timer::Status, kubestep_model::Instant(self.began.0 + (past / period + 1) * period));
    }

    /// A sandbox was made: the pod is ready to start containers. Upstream: Kubelet.OnPodSandboxReady.
    pub(super) fn say_sandbox_ready(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.workers.get(uid) else { return };
        let mut status = PodStatus::clone(worker.status.as_deref().unwrap_or(&worker.pod.status));
        let mut ready = condition(&worker.pod, OWN[0], Said::new(true, "", ""));
        // The sync speaks for the version of the pod that it began with.
        ready.observed_generation = status.observed_generation;
        match status.conditions.iter_mut().find(|c| c.r#type == OWN[0]) {
            Some(old) => *old = ready,
            None => status.conditions.push(ready),
        }
        self.set_status(cx, uid, status);
    }

    /// Starts the next write, if none is in flight.
    pub(super) fn write_status(&mut self, cx: &mut Cx<'_>) {
        while self.writer.busy.is_none() {
            let Some(uid) = self.writer.queue.pop_front() else { return };
            self.write_one(cx, &uid);
        }
    }

    fn write_one(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let stage = self.workers.get(uid).map_or(Stage::Finished, |w| w.stage);
        let Some(entry) = self.writer.entries.get(uid) else { return };
        let pod = entry.pod.clone();
        let key = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
        if let Some(wanted) = entry.wanted.as_ref().filter(|_| entry.version > entry.written) {
            let version = entry.version;
            let merged = merge(&pod.status, wanted, stage < Stage::Terminated);
            if let Some(patch) = patch::status_patch(&pod, &merged) {
                let (kind, subresource) = (PatchKind::Strategic, Subresource::Status);
                let ticket = cx.ask(Verb::Patch { key, subresource, kind, patch: Arc::new(patch) });
                self.asks.insert(ticket, Ask::Status(uid.clone()));
                return self.now_busy(cx, uid, version);
            }
            if let Some(entry) = self.writer.entries.get_mut(uid) {
                entry.written = version;
            }
        }
        let Some(entry) = self.writer.entries.get(uid) else { return };
        if entry.finished && pod.metadata.is_terminating() {
            // Somebody else may have deleted it at once, as a pod that has ended is.
            let version = entry.version;
            let ticket = cx.ask(Verb::Get { key, subresource: Subresource::None });
            self.asks.insert(ticket, Ask::Look(uid.clone()));
            self.now_busy(cx, uid, version);
        }
    }

    /// Deletes a pod that has ended here and is to go; answers whether there is one.
    fn delete_finished(&mut self, cx: &mut Cx<'_>, uid: &Uid) -> bool {
        let Some(entry) = self.writer.entries.get(uid) else { return false };
        let (pod, version) = (entry.pod.clone(), entry.version);
        if !entry.finished || !pod.metadata.is_terminating() {
            return false;
        }
        let options = DeleteOptions {
            grace_period_seconds: Some(0),
            uid: Some(uid.clone()),
            ..DeleteOptions::default()
        };
        let key = Key::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
        cx.because("kubelet.delete", vec![("pod", pod.metadata.name.to_string())]);
        let ticket = cx.ask(Verb::Delete { key, options });
        self.asks.insert(ticket, Ask::Delete(uid.clone()));
        self.now_busy(cx, uid, version);
        true
    }

    /// What the API holds of a pod that is to be deleted.
    pub(super) fn pod_looked_at(&mut self, cx: &mut Cx<'_>, uid: &Uid, reply: Reply) {
        self.writer.busy = None;
        match reply {
            Ok(Answer::Object { object, .. }) if object.meta().uid == *uid => {
                if let Some(pod) = as_pod(&object) {
                    self.writer.told(uid, &pod);
                }
                if self.delete_finished(cx, uid) {
                    return;
                }
            }
            Ok(_) => self.writer.forget(uid),
            Err(status) if status.is_not_found() => self.writer.forget(uid),
            Err(_) => self.write_failed(cx, uid),
        }
        self.after_write(cx);
    }

    fn now_busy(&mut self, cx: &mut Cx<'_>, uid: &Uid, version: u64) {
        self.writer.busy = Some((uid.clone(), version));
        cx.wake_at(Timer::Status, cx.now + BATCH);
    }

    /// The API answered a status write.
    pub(super) fn status_written(&mut self, cx: &mut Cx<'_>, uid: &Uid, reply: Reply) {
        let version = self.writer.busy.take().filter(|(u, _)| u == uid).map(|(_, v)| v);
        match reply {
            Ok(Answer::Object { object, .. }) => {
                if let Some(pod) = as_pod(&object) {
                    self.writer.told(uid, &pod);
                }
                if let (Some(entry), Some(version)) = (self.writer.entries.get_mut(uid), version) {
                    entry.written = entry.written.max(version);
                }
                let up_to_date = self.writer.entries.get(uid).is_some_and(|e| e.version <= e.written);
                if up_to_date && self.delete_finished(cx, uid) {
                    return;
                }
                self.writer.enqueue(uid);
            }
            Err(status) if status.is_not_found() => self.writer.forget(uid),
            _ => self.write_failed(cx, uid),
        }
        self.after_write(cx);
    }

    /// The API answered the last delete.
    pub(super) fn pod_deleted(&mut self, cx: &mut Cx<'_>, uid: &Uid, reply: Reply) {
        self.writer.busy = None;
        match reply {
            Ok(_) => self.writer.forget(uid),
            Err(status) if status.is_not_found() => self.writer.forget(uid),
            Err(_) => self.write_failed(cx, uid),
        }
        self.after_write(cx);
    }

    fn write_failed(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.writer.failed.push_back(uid.clone());
        cx.wake_at(Timer::Status, cx.now + BATCH);
    }

    fn after_write(&mut self, cx: &mut Cx<'_>) {
        self.write_status(cx);
        if self.writer.busy.is_none() && self.writer.failed.is_empty() {
            cx.cancel(Timer::Status);
        }
    }

    /// Failed and unanswered writes are tried again.
    pub(super) fn status_batch(&mut self, cx: &mut Cx<'_>) {
        let failed = std::mem::take(&mut self.writer.failed);
        for uid in failed.into_iter().chain(self.writer.busy.take().map(|(uid, _)| uid)) {
            if self.writer.is_contradicted(&uid)
                && let Some(entry) = self.writer.entries.get_mut(&uid)
            {
                entry.version += 1;
            }
            self.writer.enqueue(&uid);
        }
        self.write_status(cx);
    }
}

/// What the API is to hold: conditions of others stay, and a pod does not end before its containers have.
/// Upstream: mergePodStatus.
fn merge(held: &PodStatus, wanted: &PodStatus, may_run: bool) -> PodStatus {
    let mut status = wanted.clone();
    let others = |c: &&kubestep_model::PodCondition| !OWN.contains(&c.r#type.as_str());
    let mut conditions: Vec<_> = held.conditions.iter().filter(others).cloned().collect();
    conditions.extend(wanted.conditions.iter().filter(|c| !others(c)).cloned());
    status.conditions = conditions;
    status.qos_class.clone_from(&held.qos_class);
    let ends = |s: &PodStatus| matches!(s.phase.as_str(), "Succeeded" | "Failed");
    if may_run && ends(wanted) && !ends(held) {
        status.phase.clone_from(&held.phase);
        status.reason.clone_from(&held.reason);
        status.message.clone_from(&held.message);
    }
    status
}
