//! From the API server's log to the caches: watches, and which keys a change wakes.

use crate::{
    Brain, ChangeRef, Latencies, Loop, ProcessId, RecordId, Step, What, World, agents::Told,
    process::Arrival, record::ChangeKind, world::Trace,
};
use kubestep_apiserver::LogEntry;
use kubestep_control::{Change, Controller, View};
use kubestep_controllers::ALL;
use kubestep_model::arrange::Gather;
use kubestep_model::{Instant, Kind, Pod, Revision};
use std::{collections::BTreeSet, sync::Arc};

/// Kinds that the controller manager watches.
pub(crate) fn manager_kinds() -> BTreeSet<Kind> {
    ALL.iter().flat_map(|c| c.watches()).map(|w| w.kind).gather()
}

impl World {
    /// Tells watchers what was committed after a revision. The record being written is the cause of all that follows.
    pub(crate) fn publish(&mut self, after: Revision, trace: &mut Trace) {
        let entries: Vec<Arc<LogEntry>> = self.store.entries_after(after).cloned().collect();
        let cause = Some(self.next_record);
        for entry in entries {
            let kind = match (&entry.old, &entry.new) {
                (None, _) => ChangeKind::Added,
                (_, Some(_)) => ChangeKind::Modified,
                (_, None) => ChangeKind::Deleted,
            };
            trace.changes.push(ChangeRef { key: entry.key.clone(), revision: entry.revision, kind });
            self.wake_watching_clients(&entry);
            for process in self.watchers(&entry) {
                self.send(&process, entry.clone(), cause);
            }
        }
    }

    fn watchers(&self, entry: &LogEntry) -> Vec<ProcessId> {
        let mut found = vec![];
        let kind = entry.key.kind;
        if manager_watches(kind) {
            let managers = [ProcessId::Manager, ProcessId::SecondManager].into_iter();
            found.extend(managers.filter(|id| self.processes.contains_key(id)));
        }
        if kubestep_controllers::scheduler::WATCHES.contains(&kind) {
            found.push(ProcessId::Scheduler);
        }
        match kind {
            Kind::Pod => {
                let of = |o: &Option<kubestep_model::Object>| {
                    o.as_ref().and_then(|o| o.get::<Pod>()).map(|p| p.spec.node_name.clone())
                };
                let nodes: BTreeSet<_> =
                    [of(&entry.old), of(&entry.new)].into_iter().flatten().filter(|n| !n.is_empty()).gather();
                found.extend(nodes.into_iter().map(ProcessId::Kubelet));
            }
            Kind::Node => found.push(ProcessId::Kubelet(entry.key.name.clone())),
            _ => {}
        }
        found
    }

    fn send(&mut self, id: &ProcessId, entry: Arc<LogEntry>, cause: Option<RecordId>) {
        let kind = entry.key.kind;
        let watch = (id.clone(), kind);
        let deaf = self.faults.lost.contains(&watch) || self.faults.too_old.contains(&watch);
        if !self.is_up(id) || deaf {
            return;
        }
        let row = match id {
            ProcessId::Kubelet(_) if kind == Kind::Pod => self.latencies.node,
            _ => self.latencies.delivery,
        };
        let at = self.now + Latencies::draw(row, &mut self.dice, "delivery") + self.faults.late(id, kind);
        let first = self.with_process(id, |p| {
            let inbox = p.inbox.entry(kind).or_default();
            let at = inbox.back().map_or(at, |a| a.at.max(at));
            inbox.push_back(Arc::new(Arrival { at, entry, cause }));
            (inbox.len() == 1).then_some(at)
        });
        if let Some(Some(at)) = first {
            self.offer_delivery(id, kind, at);
        }
    }

    /// Puts the next delivery of a watch in line, unless a fault holds it.
    pub(crate) fn offer_delivery(&mut self, id: &ProcessId, kind: Kind, at: Instant) {
        if !self.faults.holds(id, kind) && !self.faults.is_deaf(id) {
            self.due.put(Step::Deliver(id.clone(), kind), at);
        }
    }

    /// Puts the first event of each watch in line, for a process whose watches were held.
    pub(crate) fn offer_deliveries(&mut self, id: &ProcessId) {
        let heads: Vec<(Kind, Instant)> = self
            .processes
            .get(id)
            .into_iter()
            .flat_map(|p| p.inbox.iter().filter_map(|(k, inbox)| inbox.front().map(|a| (*k, a.at))))
            .collect();
        for (kind, at) in heads {
            self.offer_delivery(id, kind, at);
        }
    }

    /// A process reads the next event of a kind.
    pub(crate) fn deliver(&mut self, id: &ProcessId, kind: Kind, trace: &mut Trace) -> What {
        let taken = self.with_process(id, |p| {
            let inbox = p.inbox.get_mut(&kind)?;
            let arrival = inbox.pop_front()?;
            let next = inbox.front().map(|a| a.at);
            let behind = inbox.len();
            p.seen.insert(kind, arrival.entry.revision);
            let new = seen_by(id, arrival.entry.new.as_ref());
            let old = p.view.apply(&arrival.entry.key, new.clone());
            Some((arrival, next, behind, old, new))
        });
        let Some(Some((arrival, next, behind, old, new))) = taken else {
            return What::Act { text: String::new() };
        };
        trace.cause = arrival.cause;
        if let Some(at) = next {
            self.offer_delivery(id, kind, at);
        }
        let (key, revision) = (arrival.entry.key.clone(), arrival.entry.revision);
        // A watch that is filtered (a kubelet's) may hold events about objects it never showed.
        if old.is_some() || new.is_some() {
            let change = Change { key: key.clone(), old, new };
            if id.is_manager() {
                self.notify_loops(id, &change);
            } else {
                self.tell(id, Told::Changed(change), trace);
            }
        }
        What::Delivered { process: id.clone(), key, revision, behind }
    }

    fn notify_loops(&mut self, id: &ProcessId, change: &Change) {
        let (now, cause) = (self.now, self.next_record);
        self.with_process(id, |p| {
            let view = p.view.clone();
            let Brain::Loops(loops) = &mut p.brain else { return };
            for (i, controller) in ALL.iter().enumerate() {
                if !controller.hears(change.key.kind) {
                    continue;
                }
                if let Some(state) = loops.get_mut(i).map(Arc::make_mut) {
                    if state.stopped {
                        state.unread.push_back((change.clone(), Some(cause)));
                    } else {
                        enqueue(*controller, state, change, &view, now, Some(cause));
                    }
                }
            }
        });
        for (i, controller) in ALL.iter().enumerate() {
            if controller.hears(change.key.kind) {
                self.offer_work(id, i);
            }
        }
    }

    /// A controller that was stopped reads what it has missed.
    pub(crate) fn read_backlog(&mut self, id: &ProcessId, controller: usize) {
        let now = self.now;
        self.with_process(id, |p| {
            let view = p.view.clone();
            let Brain::Loops(loops) = &mut p.brain else { return };
            let (Some(state), Some(program)) =
                (loops.get_mut(controller).map(Arc::make_mut), ALL.get(controller))
            else {
                return;
            };
            while let Some((change, cause)) = state.unread.pop_front() {
                enqueue(*program, state, &change, &view, now, cause);
            }
        });
        self.offer_work(id, controller);
    }
}

fn manager_watches(kind: Kind) -> bool {
    ALL.iter().any(|c| c.hears(kind))
}

/// Runs a controller's event handlers for a change.
pub(crate) fn enqueue(
    controller: &dyn Controller,
    state: &mut Loop,
    change: &Change,
    view: &View,
    now: Instant,
    cause: Option<RecordId>,
) {
    if controller.expected(change, &state.memory) {
        return;
    }
    let own = controller.watches().iter().filter(|w| w.kind == change.key.kind).map(|w| w.wakes);
    let defined = controller.of_defined().filter(|_| change.key.kind.is_defined());
    for wakes in own.chain(defined) {
        for wake in wakes(change, view) {
            if let Some(cause) = cause {
                state.causes.insert(wake.key.clone(), cause);
            }
            if wake.after.is_zero() {
                state.queue.add(wake.key);
            } else {
                state.queue.add_at(wake.key, now + wake.after);
            }
        }
    }
}

/// What a filtered watch shows: a kubelet sees the pods of its node only.
pub(crate) fn seen_by(
    id: &ProcessId,
    object: Option<&kubestep_model::Object>,
) -> Option<kubestep_model::Object> {
    let object = object?;
    if let (ProcessId::Kubelet(node), Some(pod)) = (id, object.get::<Pod>())
        && pod.spec.node_name != *node
    {
        return None;
    }
    Some(object.clone())
}
