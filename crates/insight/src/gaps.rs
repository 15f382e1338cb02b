//! All open gaps of a world and their ages, followed from step to step.

use crate::{Measure, measure};
use kubestep_cluster::{ChangeKind, ChangeRef, World};
use kubestep_model::tree::{OrdMap, OrdSet};
use kubestep_model::{Instant, Key, Object};
use std::sync::Arc;

/// One open gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its size.
    pub measure: Measure,
    /// Since when it has been open without a break.
    pub opened: Instant,
    /// When it last got smaller.
    pub moved: Instant,
}

/// The open gaps by object. Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    /// Shared: every step keeps its gaps, and each of them copies the way to what has changed.
    open: OrdMap<Key, Arc<Gap>>,
    /// The same in the order of their age; of equals, the one highest in the chain of owners, then the first by name.
    by_age: OrdSet<(Instant, u8, Key)>,
    /// When a gap last opened, got smaller or closed.
    moved: Instant,
    /// Since when there has been none, if there is none.
    closed: Instant,
    /// When somebody last asked for something, or a node came.
    touched: Instant,
}

impl Gaps {
    /// The gaps of a world that was just started; their ages count from now.
    pub fn begin(world: &World) -> Self {
        let mut gaps = Gaps { moved: world.now(), closed: world.now(), ..Gaps::default() };
        for object in world.store().all() {
            gaps.look(&object.key(), Some(object), world.now());
        }
        gaps
    }

    /// The gaps after a step that made these changes.
    pub fn follow(&mut self, world: &World, changes: &[ChangeRef]) {
        let was_open = !self.open.is_empty();
        if changes.iter().any(|change| asks(world, change)) {
            self.touched = world.now();
        }
        for change in changes {
            self.look(&change.key, world.store().get(&change.key), world.now());
        }
        if was_open && self.open.is_empty() {
            self.closed = world.now();
        }
    }

    fn look(&mut self, key: &Key, object: Option<&Object>, now: Instant) {
        let Some(fresh) = object.and_then(measure) else {
            if let Some(old) = self.open.remove(key) {
                self.by_age.remove(&(old.opened, rank(key), key.clone()));
                self.moved = now;
            }
            return;
        };
        let gap = match self.open.get(key) {
            None => {
                self.by_age.insert((now, rank(key), key.clone()));
                self.moved = now;
                Gap { measure: fresh, opened: now, moved: now }
            }
            Some(old) if old.measure == fresh => return,
            Some(old) => {
                let better = fresh.distance < old.measure.distance;
                if better {
                    self.moved = now;
                }
                Gap { measure: fresh, opened: old.opened, moved: if better { now } else { old.moved } }
            }
        };
        self.open.insert(key.clone(), Arc::new(gap));
    }

    /// An object's gap.
    pub fn get(&self, key: &Key) -> Option<&Gap> {
        self.open.get(key).map(|gap| &**gap)
    }

    /// All open gaps.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Gap)> {
        self.open.iter().map(|(key, gap)| (key, &**gap))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Since when there has been none.
    pub fn closed_since(&self) -> Instant {
        self.closed
    }

    /// When a gap last opened, got smaller or closed.
    pub fn last_moved(&self) -> Instant {
        self.moved
    }

    /// When a gap last opened, got smaller or closed, or somebody asked for something.
    pub(crate) fn last_news(&self) -> Instant {
        self.moved.max(self.touched)
    }

    /// The gap that has been open longest; of equals, the one highest in the chain of owners, then the first by name.
    pub fn oldest(&self) -> Option<(&Key, &Gap)> {
        let (_, _, key) = self.by_age.get_min()?;
        self.open.get_key_value(key).map(|(key, gap)| (key, &**gap))
    }
}

/// Whether a change is one that a person or a program from outside asked for, or a node that came.
fn asks(world: &World, change: &ChangeRef) -> bool {
    let person = |who: &str| matches!(who, "kubectl" | "order" | "declare" | "statefile" | "gitops-agent");
    (change.kind == ChangeKind::Added && change.key.kind == kubestep_model::Kind::Node)
        || world.store().entry(change.revision).is_some_and(|entry| person(&entry.who))
}

/// Deployments speak for their ReplicaSets, CronJobs for their jobs, all owners for their pods.
fn rank(key: &Key) -> u8 {
    use kubestep_model::Kind;
    match key.kind {
        Kind::Deployment => 0,
        Kind::ReplicaSet => 1,
        Kind::Pod => 2,
        Kind::Other(row) => match row.kind {
            "CronJob" => 0,
            "StatefulSet" | "DaemonSet" | "ReplicationController" | "Job" => 1,
            _ => 3,
        },
        _ => 3,
    }
}
