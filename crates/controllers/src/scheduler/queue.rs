//! The scheduler's three queues: pods to be tried now, pods in back-off, pods that wait for something to happen.
//! Upstream: pkg/scheduler/backend/queue (v1.37), with queueing hints and popping from the back-off queue.

use super::node_info::PodInfo;
use kubestep_model::Instant;
use kubestep_model::tree::{OrdMap, OrdSet};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// The first back-off; it doubles with each attempt. Upstream: DefaultPodInitialBackoffDuration.
pub const FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// The longest back-off. Upstream: DefaultPodMaxBackoffDuration.
pub const LONGEST_BACKOFF: Duration = Duration::from_secs(10);
/// Back-offs end on whole seconds. Upstream: backoffQOrderingWindowDuration.
const WINDOW: i64 = 1_000_000_000;
/// How long a pod waits at most before it is tried whatever happens. Upstream: DefaultPodMaxInUnschedulablePodsDuration.
pub const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Where a waiting pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// To be tried as soon as its turn comes.
    Active,
    /// To be tried when its back-off ends, or earlier if nothing else is to do.
    Backoff,
    /// Tried, and waits for an event that may help.
    Unschedulable,
}

/// Order of the active queue: greatest priority, then longest in line. Upstream: PrioritySort.
type Rank = (i64, Instant, u64, Arc<str>);

/// A pod that waits for a node.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Waiting {
    pub info: Arc<PodInfo>,
    /// When it came into line, or was last tried.
    pub since: Instant,
    pub attempts: u32,
    /// How often plugins found no node for it.
    pub unschedulable: u32,
    /// How often in a row it failed otherwise.
    pub errors: u32,
    /// The plugins that rejected nodes in the last attempt.
    pub rejectors: Arc<BTreeSet<&'static str>>,
    pub place: Place,
    /// Held back by scheduling gates.
    pub gated: bool,
    number: u64,
}

impl Waiting {
    fn rank(&self) -> Rank {
        (-i64::from(self.info.priority()), self.since, self.number, self.info.uid().clone())
    }

    /// When its back-off ends, cut to the window. Upstream: getBackoffTime.
    pub fn backoff_until(&self) -> Instant {
        let count = if self.errors > 0 { self.errors } else { self.unschedulable };
        let doubled =
            (1..count).try_fold(FIRST_BACKOFF, |wait, _| (wait * 2 < LONGEST_BACKOFF).then_some(wait * 2));
        let wait = if count == 0 { Duration::ZERO } else { doubled.unwrap_or(LONGEST_BACKOFF) };
        window(self.since + wait)
    }

    /// Upstream: isPodBackingoff.
    fn is_backing_off(&self, now: Instant) -> bool {
        self.backoff_until() >= window(now)
    }
}

fn window(at: Instant) -> Instant {
    Instant(at.0 - at.0.rem_euclid(WINDOW))
}

/// See the module. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// By uid.
    pods: OrdMap<Arc<str>, Waiting>,
    active: OrdSet<Rank>,
    backoff: OrdSet<(Instant, Rank)>,
    unschedulable: OrdSet<Rank>,
    next_number: u64,
}

impl Queue {
    /// A pod that waits, by uid.
    pub fn get(&self, uid: &str) -> Option<&Waiting> {
        self.pods.get(uid)
    }

    /// The pods in one place, in the order in which they are tried.
    pub fn in_place(&self, place: Place) -> Vec<&Waiting> {
        let uids: Vec<&Arc<str>> = match place {
            Place::Active => self.active.iter().map(|r| &r.3).collect(),
            Place::Backoff => self.backoff.iter().map(|(_, r)| &r.3).collect(),
            Place::Unschedulable => self.unschedulable.iter().map(|r| &r.3).collect(),
        };
        uids.into_iter().filter_map(|uid| self.pods.get(uid)).collect()
    }

    /// How many pods stand in one place.
    pub fn len(&self, place: Place) -> usize {
        match place {
            Place::Active => self.active.len(),
            Place::Backoff => self.backoff.len(),
            Place::Unschedulable => self.unschedulable.len(),
        }
    }

    /// Whether no pod waits anywhere.
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    /// A new pod comes into line.
    pub fn add(&mut self, info: Arc<PodInfo>, now: Instant) {
        if self.pods.contains_key(info.uid()) {
            return;
        }
        self.next_number += 1;
        let waiting = Waiting {
            info,
            since: now,
            attempts: 0,
            unschedulable: 0,
            errors: 0,
            rejectors: Arc::default(),
            place: Place::Active,
            gated: false,
            number: self.next_number,
        };
        self.put(waiting, Place::Active);
    }

    /// Puts a pod in a place; one with scheduling gates stays aside. Upstream: SchedulingGates.PreEnqueue.
    fn put(&mut self, mut waiting: Waiting, place: Place) {
        waiting.gated = !waiting.info.pod.spec.scheduling_gates.is_empty();
        waiting.place = if waiting.gated { Place::Unschedulable } else { place };
        if waiting.gated {
            waiting.rejectors = Arc::new(BTreeSet::from([super::plugins::SCHEDULING_GATES]));
        }
        let rank = waiting.rank();
        match waiting.place {
            Place::Active => drop(self.active.insert(rank)),
            Place::Backoff => drop(self.backoff.insert((waiting.backoff_until(), rank))),
            Place::Unschedulable => drop(self.unschedulable.insert(rank)),
        }
        self.pods.insert(waiting.info.uid().clone(), waiting);
    }

    /// Takes a pod out of line.
    pub fn remove(&mut self, uid: &str) -> Option<Waiting> {
        let waiting = self.pods.remove(uid)?;
        let rank = waiting.rank();
        match waiting.place {
            Place::Active => drop(self.active.remove(&rank)),
            Place::Backoff => drop(self.backoff.remove(&(waiting.backoff_until(), rank))),
            Place::Unschedulable => drop(self.unschedulable.remove(&rank)),
        }
        Some(waiting)
    }

    /// Whether there is a pod to be tried now.
    pub fn has_next(&self) -> bool {
        !self.active.is_empty() || self.next_backoff().is_some()
    }

    /// With an empty active queue pods in back-off are tried early, unless the last attempt failed by an error.
    fn next_backoff(&self) -> Option<&Arc<str>> {
        self.backoff
            .iter()
            .map(|(_, rank)| &rank.3)
            .find(|uid| self.pods.get(*uid).is_some_and(|w| w.errors == 0))
    }

    /// Takes the pod whose turn it is. Upstream: activeQueue.pop.
    pub fn pop(&mut self) -> Option<Waiting> {
        let uid = self.active.iter().next().map(|r| &r.3).or_else(|| self.next_backoff())?.clone();
        let mut waiting = self.remove(&uid)?;
        waiting.attempts = waiting.attempts.saturating_add(1);
        Some(waiting)
    }

    /// Puts a pod back that was tried in vain. Upstream: AddUnschedulableIfNotPresent.
    pub fn add_unschedulable(
        &mut self,
        mut waiting: Waiting,
        rejectors: BTreeSet<&'static str>,
        now: Instant,
    ) {
        if self.pods.contains_key(waiting.info.uid()) {
            return;
        }
        waiting.since = now;
        let failed = rejectors.is_empty();
        if failed {
            waiting.errors = waiting.errors.saturating_add(1);
        } else {
            waiting.unschedulable = waiting.unschedulable.saturating_add(1);
            waiting.errors = 0;
        }
        waiting.rejectors = Arc::new(rejectors);
        self.put(waiting, if failed { Place::Backoff } else { Place::Unschedulable });
    }

    /// A waiting pod's newer state; where it stands does not change.
    pub fn update(&mut self, info: Arc<PodInfo>) -> bool {
        let Some(mut waiting) = self.remove(info.uid()) else { return false };
        waiting.info = info;
        let place = waiting.place;
        self.put(waiting, place);
        true
    }

    /// Moves pods that wait for an event into line: into back-off while that lasts. Answers how many moved.
    /// Upstream: movePodsToActiveOrBackoffQueue.
    pub fn move_where(&mut self, now: Instant, worth: impl Fn(&Waiting) -> bool) -> usize {
        let chosen: Vec<Arc<str>> = self
            .in_place(Place::Unschedulable)
            .into_iter()
            .filter(|w| worth(w))
            .map(|w| w.info.uid().clone())
            .collect();
        for uid in &chosen {
            self.requeue(uid, now);
        }
        chosen.len()
    }

    /// Moves one pod into line.
    pub fn requeue(&mut self, uid: &str, now: Instant) {
        if let Some(waiting) = self.remove(uid) {
            let place = if waiting.is_backing_off(now) { Place::Backoff } else { Place::Active };
            self.put(waiting, place);
        }
    }

    /// Moves pods whose back-off has ended into line. Upstream: flushBackoffQCompleted.
    pub fn flush_backoff(&mut self, now: Instant) {
        let over: Vec<Arc<str>> = self
            .backoff
            .iter()
            .take_while(|(until, _)| *until < window(now))
            .map(|(_, rank)| rank.3.clone())
            .collect();
        for uid in over {
            if let Some(waiting) = self.remove(&uid) {
                self.put(waiting, Place::Active);
            }
        }
    }

    /// When the next back-off ends.
    pub fn next_flush(&self) -> Option<Instant> {
        self.backoff.get_min().map(|(until, _)| *until + Duration::from_secs(1))
    }

    /// Since when the pod that has waited longest for an event has waited.
    pub fn longest_waiting(&self) -> Option<Instant> {
        self.unschedulable.iter().map(|r| r.1).min()
    }
}
