//! Processes: their caches, watches, queues and programs.

use crate::{RecordId, flight::ClientLimit};
use kubestep_apiserver::LogEntry;
use kubestep_control::{Change, Memory, Queue, Recorder, Running, Ticket, View};
use kubestep_controllers::{kubelet, scheduler};
use kubestep_model::tree::{OrdMap, Vector};
use kubestep_model::{Dice, Instant, Key, Kind, Reply, Request, Revision};
use std::{fmt, sync::Arc};

/// Names a process of the cluster.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessId {
    /// kube-controller-manager, with all controllers.
    Manager,
    /// A second kube-controller-manager, that does not know of the first.
    SecondManager,
    /// kube-scheduler.
    Scheduler,
    /// The kubelet of a node.
    Kubelet(Arc<str>),
}

impl ProcessId {
    /// Whether it is a controller manager.
    pub fn is_manager(&self) -> bool {
        matches!(self, ProcessId::Manager | ProcessId::SecondManager)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessId::Manager => f.write_str("kube-controller-manager"),
            ProcessId::SecondManager => f.write_str("the second kube-controller-manager"),
            ProcessId::Scheduler => f.write_str("kube-scheduler"),
            ProcessId::Kubelet(node) => write!(f, "kubelet {node}"),
        }
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Health {
    Up,
    Down,
}

/// An event that a watch holds for its process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) entry: Arc<LogEntry>,
    pub(crate) cause: Option<RecordId>,
}

/// A reconcile under way and the replies that are still missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// The reconcile as plain data.
    pub running: Running,
    /// The requests it waits for; empty when it can go on.
    pub asked: Arc<Vec<Request>>,
    /// Their replies, as far as they are there.
    pub replies: Vector<Option<Reply>>,
    /// The record that woke it.
    pub cause: Option<RecordId>,
}

/// One controller in the controller manager.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Keys in line, waiting, running.
    pub queue: Queue,
    /// Reconciles under way.
    pub working: OrdMap<Key, Arc<Work>>,
    /// Notifications it has not read because it is stopped.
    pub unread: Vector<(Change, Option<RecordId>)>,
    /// What it remembers.
    pub memory: Memory,
    /// The last write for each key and kind, for reading its own writes.
    pub(crate) wrote: OrdMap<(Key, Kind), Revision>,
    /// Why each key in line was put there.
    pub(crate) causes: OrdMap<Key, RecordId>,
    /// Keys whose reconcile is due to begin.
    pub(crate) starting: usize,
    /// Whether a person stopped it.
    pub stopped: bool,
    /// Its last act, for the loops view.
    pub last: Option<RecordId>,
    pub(crate) speech: Speech,
    /// Chance of its own.
    pub(crate) dice: Dice,
}

impl Loop {
    /// The last write for each key and kind.
    pub fn wrote(&self) -> impl Iterator<Item = (&(Key, Kind), &Revision)> {
        self.wrote.iter()
    }
}

/// What a component has said and what it still has to write. One event is written at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Speech {
    pub(crate) recorder: Recorder,
    pub(crate) waiting: Vector<Arc<(kubestep_control::EventNote, Option<RecordId>)>>,
    pub(crate) writing: Option<kubestep_control::EventNote>,
}

impl Speech {
    pub(crate) fn new(recorder: Recorder) -> Self {
        Speech { recorder, waiting: Vector::new(), writing: None }
    }
}

/// The name of a timer of one of the agents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum TimerName {
    Scheduler(scheduler::Timer),
    Kubelet(kubelet::Timer),
}

/// The program that a process runs.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Brain {
    Loops(Vec<Arc<Loop>>),
    Scheduler(Arc<scheduler::Scheduler>),
    Kubelet(Arc<kubelet::Kubelet>),
}

/// One process.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Whether it runs.
    pub health: Health,
    /// What it has been told.
    pub view: View,
    /// Up to which revision it has read each kind.
    pub seen: OrdMap<Kind, Revision>,
    pub(crate) inbox: OrdMap<Kind, Vector<Arc<Arrival>>>,
    /// Its program.
    pub brain: Brain,
    pub(crate) limits: OrdMap<Arc<str>, ClientLimit>,
    pub(crate) speech: Option<Speech>,
    pub(crate) next_ticket: Ticket,
    /// How often it was started.
    pub life: u32,
    pub(crate) dice: Dice,
    /// Its last act, for the loops view.
    pub last: Option<RecordId>,
}

impl Process {
    /// How many events of a kind it has not read.
    pub fn behind(&self, kind: Kind) -> usize {
        self.inbox.get(&kind).map_or(0, Vector::len)
    }
    /// How many events of all kinds it has not read.
    pub fn behind_all(&self) -> usize {
        self.inbox.values().map(Vector::len).sum()
    }
    /// The events of a kind that it has not read, oldest first.
    pub fn inbox(&self, kind: Kind) -> impl Iterator<Item = &LogEntry> {
        self.inbox.get(&kind).into_iter().flatten().map(|a| &*a.entry)
    }
    /// The controllers, if it runs any.
    pub fn loops(&self) -> impl Iterator<Item = &Loop> {
        if let Brain::Loops(loops) = &self.brain { Some(loops) } else { None }
            .into_iter()
            .flatten()
            .map(|l| &**l)
    }
}
