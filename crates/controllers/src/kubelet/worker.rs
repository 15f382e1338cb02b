//! Pod workers: one per pod, one sync at a time. Upstream: pkg/kubelet/pod_workers.go.

use super::{Cx, Kubelet, Timer, Uid, probes::Probe, start::Starting, turns::Waiting, volumes::Volumes};
use kubestep_control::ProbeKind;
use kubestep_model::{Instant, Pod, PodStatus, text::backoff::Backoff};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A pod that is well is synced again after this long, jittered.
pub(super) const RESYNC: Duration = Duration::from_secs(60);
/// A pod whose sync failed.
const BACK_OFF: Duration = Duration::from_secs(10);

/// Where a pod is in its life on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Its containers are to run.
    Syncing,
    /// Its containers are to stop.
    Terminating,
    /// They have; what is left of it is cleaned up.
    Terminated,
    /// Nothing is left to do.
    Finished,
}

/// What a worker is at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Activity {
    Idle,
    /// Waits until the runtime was looked at after its last sync.
    Cache,
    /// Waits for volumes, since then.
    Volumes,
    /// Stops and starts containers of a running pod.
    Starting(Starting),
    /// All containers are being stopped; ids that still run.
    Stopping(Vec<Arc<str>>),
    StoppingSandbox,
    Unmounting,
}

/// Containers to stop in a running pod, then what follows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KillPlan {
    pub(super) left: Vec<Arc<str>>,
    /// The sandbox goes, too.
    pub(super) pod: bool,
}

/// Why a container is not started: the waiting reason and its message.
pub(super) type Reasons = BTreeMap<Arc<str>, (Arc<str>, Arc<str>)>;

/// The worker of one pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worker {
    pub(super) pod: Arc<Pod>,
    pub(super) stage: Stage,
    pub(super) activity: Activity,
    /// Something happened during the sync: sync again at once.
    pub(super) pending: bool,
    /// Place of the end of its last sync among relists and syncs; 0 before the first.
    pub(super) last_sync: u64,
    /// When that was.
    synced: Instant,
    /// When its volumes are unmounted, once its containers have ended.
    pub(super) unmounted: Instant,
    pub(super) due: Option<Instant>,
    /// Sidecars that are to end after others.
    pub(super) waiting: Vec<Waiting>,
    pub(super) reasons: Reasons,
    /// By container.
    pub(super) crashes: Backoff,
    /// By image, with the text of the last refusal.
    pub(super) pulls: Backoff,
    pub(super) pull_errors: BTreeMap<Arc<str>, Arc<str>>,
    /// Secrets for pulls that are asked for, and whether each is there, once that is known.
    pub(super) pull_secrets: Vec<(String, Option<bool>)>,
    pub(super) volumes: Volumes,
    pub(super) probes: BTreeMap<(Arc<str>, ProbeKind), Probe>,
    pub(super) started: Instant,
    /// Shortest grace period asked for so far.
    pub(super) grace: Option<i64>,
    /// The pod failed as a whole: reason and message.
    pub(super) failed: Option<(Arc<str>, Arc<str>)>,
    /// The API no longer holds it.
    pub(super) gone: bool,
    /// What the status manager was told last.
    pub(super) status: Option<Arc<PodStatus>>,
}

impl Worker {
    fn new(pod: Arc<Pod>, now: Instant) -> Self {
        Worker {
            pod,
            stage: Stage::Syncing,
            activity: Activity::Idle,
            pending: false,
            last_sync: 0,
            synced: Instant(0),
            unmounted: Instant(0),
            due: None,
            waiting: vec![],
            reasons: Reasons::new(),
            crashes: Backoff::default(),
            pulls: Backoff::default(),
            pull_errors: BTreeMap::new(),
            pull_secrets: vec![],
            volumes: Volumes::default(),
            probes: BTreeMap::new(),
            started: now,
            grace: None,
            failed: None,
            gone: false,
            status: None,
        }
    }
}

/// How a sync ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Fine,
    /// The pod goes on to its next stage.
    Next,
    /// Something failed; a back-off that is known ends then.
    Failed(Option<Instant>),
}

fn differs(old: &Pod, new: &Pod) -> bool {
    let (a, b) = (&old.metadata, &new.metadata);
    old.spec != new.spec
        || a.labels != b.labels
        || a.annotations != b.annotations
        || a.deletion_timestamp != b.deletion_timestamp
        || a.deletion_grace_period_seconds != b.deletion_grace_period_seconds
}

impl Kubelet {
    /// The API says something new about a pod of this node.
    pub(super) fn pod_told(&mut self, cx: &mut Cx<'_>, old: Option<Arc<Pod>>, new: Option<Arc<Pod>>) {
        let Some(pod) = new else {
            if let Some(old) = old {
                self.pod_gone(cx, &old.metadata.uid);
            }
            return;
        };
        let uid = pod.metadata.uid.clone();
        if let Some(old) = old.filter(|o| o.metadata.uid != uid) {
            self.pod_gone(cx, &old.metadata.uid);
        }
        let Some(worker) = self.worker(&uid) else { return self.pod_added(cx, pod) };
        let changed = differs(&worker.pod, &pod);
        let gates = worker.pod.spec.readiness_gates.iter().any(|g| {
            worker.pod.condition(&g.condition_type).map(|c| &c.status)
                != pod.condition(&g.condition_type).map(|c| &c.status)
        });
        worker.pod = pod.clone();
        self.writer.told(&uid, &pod);
        self.reconcile_status(cx, &uid);
        if pod.metadata.is_terminating() {
            self.end_pod(cx, &uid, pod.metadata.deletion_grace_period_seconds);
        } else if changed || gates {
            self.update(cx, &uid);
        }
        self.write_status(cx);
    }

    fn pod_added(&mut self, cx: &mut Cx<'_>, pod: Arc<Pod>) {
        let uid = pod.metadata.uid.clone();
        let mut worker = Worker::new(pod.clone(), cx.now);
        if let Some(start) = pod.status.start_time {
            worker.started = start.instant();
        }
        self.writer.added(&uid, &pod);
        if pod.is_terminal() {
            worker.stage = Stage::Terminating;
        }
        let rejected =
            if pod.metadata.is_terminating() || pod.is_terminal() { None } else { self.admit(cx, &pod) };
        self.workers.insert(uid.clone(), Arc::new(worker));
        if let Some((reason, message)) = rejected {
            return self.reject(cx, &uid, &reason, &message);
        }
        if pod.metadata.is_terminating() {
            return self.end_pod(cx, &uid, pod.metadata.deletion_grace_period_seconds);
        }
        self.update(cx, &uid);
    }

    /// A pod is no longer in the API: it ends, and nobody is told.
    fn pod_gone(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.writer.forget(uid);
        let Some(worker) = self.worker(uid) else { return };
        worker.gone = true;
        if worker.stage == Stage::Finished {
            return self.drop_worker(cx, uid);
        }
        self.end_pod(cx, uid, Some(1));
    }

    /// The pod's containers are to stop.
    pub(super) fn end_pod(&mut self, cx: &mut Cx<'_>, uid: &Uid, grace: Option<i64>) {
        let Some(worker) = self.worker(uid) else { return };
        let grace = grace.or(worker.pod.spec.termination_grace_period_seconds).unwrap_or(30).max(1);
        let shorter = worker.grace.is_none_or(|g| grace < g);
        if shorter {
            worker.grace = Some(grace);
        }
        match worker.stage {
            Stage::Syncing => {
                worker.stage = Stage::Terminating;
                let (waits, mounted) =
                    (matches!(worker.activity, Activity::Volumes), worker.volumes.mounted());
                if waits {
                    // The wait is cut short: the sync fails, or goes on to its end if nothing is missing.
                    worker.pending = true;
                    return if mounted {
                        cx.cancel(Timer::Pod(uid.clone()));
                        self.sync_containers(cx, uid)
                    } else {
                        self.complete(cx, uid, &Outcome::Failed(None))
                    };
                }
                if worker.activity != Activity::Cache {
                    self.update(cx, uid);
                }
            }
            // What is being stopped goes on with the grace it was given: upstream's SyncTerminatingPod (v1.37) does not
            // see that its context is cancelled. The next sync has less.
            Stage::Terminating if shorter => self.update(cx, uid),
            Stage::Terminating => {}
            Stage::Terminated => self.update(cx, uid),
            Stage::Finished => {
                self.writer.finish(uid);
                self.write_status(cx);
            }
        }
    }

    /// Something is new for this pod: sync it, now or as soon as the running sync ends.
    pub(super) fn update(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let Some(worker) = self.worker(uid) else { return };
        if worker.stage == Stage::Finished {
            return;
        }
        if worker.activity == Activity::Idle { self.begin(cx, uid) } else { worker.pending = true }
    }

    /// Begins a sync once the runtime was looked at after the last one.
    fn begin(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        let (seen, relisted) = (self.seen_at(uid), self.last_tick(cx.now));
        let Some(worker) = self.worker(uid) else { return };
        worker.pending = false;
        if seen < worker.last_sync && relisted <= worker.synced {
            worker.activity = Activity::Cache;
            self.waiting.insert(uid.clone());
            return self.want_relist(cx);
        }
        self.run(cx, uid);
    }

    /// The worker's sync, by its stage.
    pub(super) fn run(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.waiting.remove(uid);
        let Some(worker) = self.worker(uid) else { return };
        // What the relist that was awaited has found as well is another update, once this sync has ended.
        worker.pending &= worker.stage == Stage::Syncing;
        worker.activity = Activity::Idle;
        match worker.stage {
            Stage::Syncing => self.sync_pod(cx, uid),
            Stage::Terminating => self.sync_terminating(cx, uid),
            Stage::Terminated => self.sync_terminated(cx, uid),
            Stage::Finished => {}
        }
    }

    /// A sync has ended; when is the next one? Upstream: podWorkers.completeWork.
    pub(super) fn complete(&mut self, cx: &mut Cx<'_>, uid: &Uid, outcome: &Outcome) {
        let now = cx.now;
        let order = self.next_order();
        let Some(worker) = self.worker(uid) else { return };
        worker.activity = Activity::Idle;
        (worker.last_sync, worker.synced) = (order, now);
        let pending = std::mem::take(&mut worker.pending);
        if worker.stage == Stage::Finished {
            return self.schedule(cx, uid, None);
        }
        let wait = match outcome {
            Outcome::Next => Duration::ZERO,
            Outcome::Fine => Self::jittered(cx, "kubelet.resync", RESYNC),
            Outcome::Failed(until) => {
                let span = until.map_or(BACK_OFF, |at| at.since(now)).min(RESYNC);
                Self::jittered(cx, "kubelet.back-off", span)
            }
        };
        let deadline = self.deadline(uid).filter(|at| *at > now);
        self.schedule(cx, uid, deadline.into_iter().chain([now + wait]).min());
        if pending {
            self.update(cx, uid);
        }
    }

    /// When the pod has been active for as long as it may.
    fn deadline(&self, uid: &Uid) -> Option<Instant> {
        let worker = self.workers.get(uid).filter(|w| w.stage == Stage::Syncing)?;
        let seconds = u64::try_from(worker.pod.spec.active_deadline_seconds?).ok()?;
        Some(worker.started + Duration::from_secs(seconds))
    }

    fn schedule(&mut self, cx: &mut Cx<'_>, uid: &Uid, at: Option<Instant>) {
        let Some(worker) = self.worker(uid) else { return };
        let old = std::mem::replace(&mut worker.due, at);
        if let Some(old) = old {
            self.work.remove(&(old, uid.clone()));
        }
        if let Some(at) = at {
            self.work.insert((at, uid.clone()));
        }
        self.set_sync_timer(cx);
    }

    fn set_sync_timer(&mut self, cx: &mut Cx<'_>) {
        match self.work.get_min() {
            Some((at, _)) => cx.wake_at(Timer::Sync, Self::at_phase((*at).max(cx.now), self.sync_phase)),
            None => cx.cancel(Timer::Sync),
        }
    }

    /// Once a second, pods whose time has come are synced.
    pub(super) fn sync_tick(&mut self, cx: &mut Cx<'_>) {
        while let Some((at, uid)) = self.work.get_min().cloned() {
            if at > cx.now {
                break;
            }
            self.work.remove(&(at, uid.clone()));
            if let Some(worker) = self.worker(&uid) {
                worker.due = None;
            }
            self.update(cx, &uid);
        }
        self.set_sync_timer(cx);
    }

    /// Forgets a pod that has ended and is no longer in the API.
    pub(super) fn drop_worker(&mut self, cx: &mut Cx<'_>, uid: &Uid) {
        self.schedule(cx, uid, None);
        self.stop_probes(cx, uid);
        self.workers.remove(uid);
        self.waiting.remove(uid);
        if self.runtime.contains_key(uid) {
            cx.order(kubestep_control::Order::RemovePod { pod: uid.clone() });
        }
        self.unseen.remove(uid);
    }
}
