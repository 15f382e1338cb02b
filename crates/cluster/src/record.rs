//! What one step did and why.

use crate::{ProcessId, TimerName};
use kubestep_control::{Note, Report};
use kubestep_model::{Instant, Key, Kind, Revision};
use std::sync::Arc;

/// Numbers records in the order in which they happened, from the world's beginning.
pub type RecordId = u64;

/// A committed change of one object.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct ChangeRef {
    pub key: Key,
    pub revision: Revision,
    pub kind: ChangeKind,
}

/// Added, modified or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum What {
    /// A person did something: its sentence.
    Act { text: String },
    /// A process read an event.
    Delivered { process: ProcessId, key: Key, revision: Revision, behind: usize },
    /// A controller looked at a key; what it asks next (`verb resource name`), or how it ended.
    Thought { controller: &'static str, key: Key, asks: Vec<String>, ended: Option<String> },
    /// The API server served a request.
    Served {
        who: Arc<str>,
        user: Arc<str>,
        verb: &'static str,
        key: Key,
        subresource: &'static str,
        code: u16,
        message: Option<String>,
        dry_run: bool,
    },
    /// The scheduler or a kubelet did something by the clock.
    ByClock { process: ProcessId, timer: TimerName },
    /// Containers changed on a node.
    Runtime { node: Arc<str>, reports: Vec<Report> },
    /// A command went on; its exit code when it ended.
    Client { line: String, exit: Option<i32> },
    /// Waiting keys came into line.
    Woke { controller: &'static str },
}

/// The code of a request that did not arrive.
pub const NOT_SERVED: u16 = 0;

/// The record of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number.
    pub id: RecordId,
    /// When it happened.
    pub at: Instant,
    /// The record that made it possible.
    pub cause: Option<RecordId>,
    /// What happened.
    pub what: What,
    /// Why, in the words of the loops.
    pub notes: Vec<Note>,
    /// Changes that were committed.
    pub changes: Vec<ChangeRef>,
}

impl Record {
    /// Whether people count it as a step: something visible changed, or a person acted, or a write did not arrive. Leases
    /// are background.
    pub fn visible(&self) -> bool {
        self.changes.iter().any(|c| c.key.kind != Kind::Lease)
            || self.is_lost_write()
            || matches!(&self.what, What::Act { text } if !text.is_empty())
            || matches!(&self.what, What::Runtime { reports, .. } if !reports.is_empty())
    }

    /// Whether somebody asked for a change, and the API server never heard of it. Nobody waits for events.
    fn is_lost_write(&self) -> bool {
        matches!(&self.what, What::Served { verb, key, code: NOT_SERVED, .. }
            if !["get", "list"].contains(verb) && ![Kind::Lease, Kind::Event].contains(&key.kind))
    }
}
