//! kube-scheduler: finds a node for each pod that has none.
//!
//! Upstream: pkg/scheduler (v1.37). One attempt at a time; bindings are requests in flight, and a pod counts on its
//! node from the moment it is chosen, so that nothing is promised twice. Left out: profiles besides the default one,
//! extenders, dynamic resources, gang scheduling, metrics.

pub mod affinity;
pub mod attempt;
mod bind;
mod budgets;
pub mod cache;
pub mod cycle;
mod essence;
pub mod event;
pub mod fit_error;
mod handlers;
pub mod kinds;
pub mod node_info;
pub mod plugins;
mod preempt_now;
pub mod preemption;
pub mod queue;
pub mod resources;
pub mod sentences;
pub mod vectors;
mod volumes;

pub use attempt::{Attempt, NodeRow};

/// How much the score of a plugin counts; 0 if it gives none.
pub fn weight(plugin: &str) -> u32 {
    let found = plugins::PLUGINS.iter().find(|p| p.name() == plugin);
    found.and_then(|p| u32::try_from(p.weight()).ok()).unwrap_or(0)
}

use cache::Cache;
use cycle::Nominated;
use kubestep_control::{Agent, AgentCx, Input, Ticket};
use kubestep_model::tree::{OrdMap, Vector};
use kubestep_model::{Instant, Kind, Pod};
use queue::{LONGEST_WAIT, Place, Queue, Waiting};
use std::{sync::Arc, time::Duration};

/// The kinds that it watches.
pub const WATCHES: &[Kind] = &[
    Kind::Namespace,
    Kind::Node,
    Kind::Pod,
    Kind::ReplicaSet,
    Kind::Service,
    kinds::CLAIM,
    kinds::VOLUME,
    kinds::CLASS,
    kinds::BUDGET,
];

/// Its timers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The next attempt.
    Cycle,
    /// A back-off ends.
    Backoff,
    /// Pods that have waited for long are tried again.
    Flush,
    /// Whether the volumes of placed pods are bound is looked at.
    Volumes,
}

/// How often pods that have waited for long are looked for. Upstream: flushUnschedulablePodsLeftover.
const FLUSH_PERIOD: Duration = Duration::from_secs(30);
/// So many attempts are kept for each pod.
const KEPT_ATTEMPTS: usize = 4;

/// A request in flight.
#[derive(Clone, Debug, PartialEq)]
enum Flight {
    /// A pod is bound to a node.
    Bind { waiting: Arc<Waiting>, node: Arc<str> },
    /// A pod that has to make room for another gets its condition; then it is deleted.
    Condemn { victim: Arc<Pod>, room: Room },
    /// A volume or a claim of a placed pod is written, before the pod is bound.
    Volume { pod: Arc<str> },
    /// A pod is deleted to make room for another.
    Delete { victim: Arc<Pod>, room: Room },
}

/// For whom room is made, and where.
#[derive(Clone, Debug, PartialEq)]
struct Room {
    preemptor: Arc<str>,
    node: Arc<str>,
    /// The victim that is asked when all others have been.
    last: Option<Arc<Pod>>,
}

/// The scheduler's whole state. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduler {
    cache: Cache,
    queue: Queue,
    nominated: Nominated,
    flights: OrdMap<Ticket, Flight>,
    /// By uid, the latest last.
    attempts: OrdMap<Arc<str>, Vector<Arc<Attempt>>>,
    /// With which node the next attempt begins.
    start_node: usize,
    started: Instant,
    /// Whether the next attempt waits for its turn.
    cycle_set: bool,
    /// The request that says why the last attempt failed: the next waits for its answer. Upstream: updatePod, which
    /// is called by the loop itself unless SchedulerAsyncAPICalls is on; it is off in v1.37.
    telling: Option<Ticket>,
    backoff_set: Option<Instant>,
    flush_set: Option<Instant>,
    /// Placed pods whose volumes are being bound, by uid.
    binding: OrdMap<Arc<str>, Arc<volumes::Work>>,
}

/// What it can see and do.
pub(crate) type Sight<'a, 'b> = &'a mut AgentCx<'b, Timer>;

impl Scheduler {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last attempts to place a pod, the latest last.
    pub fn attempts(&self, pod_uid: &str) -> impl Iterator<Item = &Arc<Attempt>> {
        self.attempts.get(pod_uid).into_iter().flatten()
    }
    /// The pods in one of the queues, in their order.
    pub fn waiting(&self, place: Place) -> Vec<&Waiting> {
        self.queue.in_place(place)
    }
    /// Where a pod waits, if it does.
    pub fn place_of(&self, pod_uid: &str) -> Option<Place> {
        self.queue.get(pod_uid).map(|w| w.place)
    }
    /// The nodes with what is asked of them.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Sets the timers that the queues need.
    fn arrange(&mut self, cx: Sight<'_, '_>) {
        if self.queue.has_next() && !self.cycle_set && self.telling.is_none() {
            self.cycle_set = true;
            cx.wake_at(Timer::Cycle, cx.now);
        }
        let backoff = self.queue.next_flush();
        set(cx, Timer::Backoff, &mut self.backoff_set, backoff);
        let flush = self.queue.longest_waiting().map(|since| self.next_flush_after(since + LONGEST_WAIT));
        set(cx, Timer::Flush, &mut self.flush_set, flush);
    }

    /// The first look for pods that waited for long at or after a moment.
    fn next_flush_after(&self, at: Instant) -> Instant {
        let period = i64::try_from(FLUSH_PERIOD.as_nanos()).unwrap_or(i64::MAX);
        let past = at.nanos_since(self.started).max(0);
        Instant(self.started.0 + (past / period + 1) * period)
    }
}

fn set(cx: Sight<'_, '_>, timer: Timer, known: &mut Option<Instant>, wanted: Option<Instant>) {
    if *known == wanted {
        return;
    }
    *known = wanted;
    match wanted {
        Some(at) => cx.wake_at(timer, at),
        None => cx.cancel(timer),
    }
}

impl Agent for Scheduler {
    type Timer = Timer;

    fn name(&self) -> &'static str {
        "scheduler"
    }
    fn actor(&self) -> String {
        "kube-scheduler".into()
    }
    fn event_source(&self) -> (String, String) {
        ("default-scheduler".into(), "default-scheduler-vm".into())
    }
    fn on(&mut self, cx: &mut AgentCx<'_, Timer>, input: Input<Timer>) {
        match input {
            Input::Started => self.start(cx),
            Input::Changed(change) => self.changed(cx, &change),
            Input::Answered { ticket, reply, .. } => self.answered(cx, ticket, &reply),
            Input::Due(Timer::Cycle) => self.cycle_set = false,
            Input::Due(Timer::Backoff) => {
                self.backoff_set = None;
                self.queue.flush_backoff(cx.now);
            }
            Input::Due(Timer::Flush) => {
                self.flush_set = None;
                self.flush(cx);
            }
            Input::Due(Timer::Volumes) => self.check_volumes(cx),
            Input::Runtime(_) => {}
        }
        // One attempt at a time: further pods wait for their turn.
        if !self.cycle_set && self.telling.is_none() {
            self.schedule_one(cx);
        }
        self.arrange(cx);
    }
}

#[cfg(test)]
mod tests;
