//! The trait of a loop that works through keys.

use crate::{Cx, Flow, Memory, View};
use kubestep_model::{Key, Kind, Object};
use std::{fmt::Debug, time::Duration};

/// One change that an informer delivers: added (no old), modified, or deleted (no new).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Change {
    pub key: Key,
    pub old: Option<Object>,
    pub new: Option<Object>,
}

/// A key to look at, now or later. Upstream: workqueue Add and AddAfter.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Wake {
    pub key: Key,
    pub after: Duration,
}

impl Wake {
    /// At once.
    pub fn now(key: Key) -> Self {
        Wake { key, after: Duration::ZERO }
    }
    /// After a while.
    pub fn after(key: Key, after: Duration) -> Self {
        Wake { key, after }
    }
}

/// A kind that a controller watches, and which keys a change of it wakes.
#[derive(Debug)]
pub struct Watch {
    /// The kind.
    pub kind: Kind,
    /// The event handler. Sees the change and the cache after it.
    pub wakes: fn(&Change, &View) -> Vec<Wake>,
}

/// A loop that takes keys from a queue and makes the cluster a little more as wanted.
pub trait Controller: Sync + Debug {
    /// Short name, as in the loops view: `deployment`.
    fn name(&self) -> &'static str;
    /// Who asks, in the audit record: `deployment-controller`.
    fn actor(&self) -> &'static str;
    /// Who speaks, in events: `deployment-controller`. The same as `actor` unless upstream differs.
    fn event_source(&self) -> &'static str {
        self.actor()
    }
    /// What it watches.
    fn watches(&self) -> &'static [Watch];
    /// The event handler for every kind that somebody defined, if it watches those, too.
    fn of_defined(&self) -> Option<fn(&Change, &View) -> Vec<Wake>> {
        None
    }
    /// Whether a change is one that it made itself and need not hear of. Upstream: trackers of own writes.
    fn expected(&self, _change: &Change, _memory: &Memory) -> bool {
        false
    }
    /// Whether it is told of changes of a kind.
    fn hears(&self, kind: Kind) -> bool {
        self.watches().iter().any(|w| w.kind == kind) || (kind.is_defined() && self.of_defined().is_some())
    }
    /// The kind whose objects are its own: the first that it watches. `None`: it looks after objects of every kind.
    fn own(&self) -> Option<Kind> {
        self.watches().first().map(|w| w.kind)
    }
    /// How many keys it works on at the same time (upstream's default).
    fn workers(&self) -> usize {
        5
    }
    /// Kinds whose own writes it must have read before it looks at a key again.
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[]
    }
    /// How often a failing key is tried again before it is dropped; `None`: for ever.
    fn max_retries(&self) -> Option<u32> {
        None
    }
    /// First and longest wait of the rate limiter after failures (doubling).
    fn backoff(&self) -> (Duration, Duration) {
        (Duration::from_millis(5), Duration::from_secs(1000))
    }
    /// A key to look at whatever happens, again and again (for loops that run by time), with its period.
    fn period(&self) -> Option<Duration> {
        None
    }
    /// Looks at one key. Must be repeatable: no clock and no chance but from `cx`.
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow;
}
