//! Watches that lose what they should tell, and processes that start from an old state.

use crate::{Health, ProcessId, Step, World, process::Arrival};
use kubestep_apiserver::LogEntry;
use kubestep_control::View;
use kubestep_model::tree::Vector;
use kubestep_model::{Kind, Revision};
use std::{sync::Arc, time::Duration};

impl World {
    pub(super) fn lose_watch(&mut self, process: ProcessId, kind: Kind, lost: bool) -> String {
        if lost {
            self.faults.lost.insert((process.clone(), kind));
            self.due.take(&Step::Deliver(process.clone(), kind));
            self.with_process(&process, |p| p.inbox.remove(&kind));
            return format!("You lose what the watch of {process} for {} tells.", kind.resource());
        }
        self.faults.lost.remove(&(process.clone(), kind));
        self.list_again(&process, kind);
        format!("You let the watch of {process} for {} begin anew.", kind.resource())
    }

    /// What is under way already arrives when it would have: events keep their order.
    pub(super) fn delay_watch(&mut self, process: ProcessId, kind: Kind, by: Duration) -> String {
        let resource = kind.resource();
        if by.is_zero() {
            self.faults.delayed.remove(&(process.clone(), kind));
            return format!("You let the watch of {process} for {resource} be as fast as ever.");
        }
        let text =
            format!("What the watch of {process} for {resource} tells arrives {} ms later.", by.as_millis());
        self.faults.delayed.insert((process, kind), by);
        text
    }

    /// What nobody remembers cannot be told: watches that are behind list again when they go on.
    /// Upstream: etcd's compaction, and client-go/tools/cache, Reflector, on `too old resource version` (v1.37).
    pub(super) fn cut_history(&mut self) -> String {
        let behind: Vec<(ProcessId, Kind)> = self
            .processes
            .iter()
            .flat_map(|(id, p)| p.seen.keys().map(|kind| (id.clone(), *kind)))
            .filter(|(id, kind)| self.faults.holds(id, *kind) || self.faults.is_deaf(id))
            .collect();
        for (id, kind) in &behind {
            self.with_process(id, |p| p.inbox.remove(kind));
            self.faults.too_old.insert((id.clone(), *kind));
        }
        match behind.len() {
            0 => "You cut the API server's history. No watch was behind.".into(),
            1 => "You cut the API server's history: one watch is too old to go on where it stopped.".into(),
            n => format!(
                "You cut the API server's history: {n} watches are too old to go on where they stopped."
            ),
        }
    }

    /// Watches of a process that may go on and are too old list again. Answers whether there was one.
    pub(crate) fn list_what_is_too_old(&mut self, id: &ProcessId) -> bool {
        if self.faults.is_deaf(id) {
            return false;
        }
        let old: Vec<Kind> = self
            .faults
            .too_old
            .iter()
            .filter(|(process, kind)| process == id && !self.faults.holds(id, *kind))
            .map(|(_, kind)| *kind)
            .chain(self.overrun(id))
            .collect();
        for kind in &old {
            self.faults.too_old.remove(&(id.clone(), *kind));
            self.list_again(id, *kind);
        }
        !old.is_empty()
    }

    /// The watches of a process that may go on, and whose next change has left the log while they waited.
    /// Upstream: etcd3, interpretWatchError, `too old resource version` (v1.37).
    fn overrun(&self, id: &ProcessId) -> Vec<Kind> {
        let oldest = self.store.oldest_revision();
        let Some(process) = self.processes.get(id) else { return vec![] };
        let left = |inbox: &Vector<Arc<Arrival>>| inbox.front().is_some_and(|a| a.entry.revision <= oldest);
        let waits =
            process.inbox.iter().filter(|(kind, inbox)| left(inbox) && !self.faults.holds(id, **kind));
        waits.map(|(kind, _)| *kind).collect()
    }

    pub(super) fn deafen(&mut self, process: ProcessId, deaf: bool) -> String {
        if deaf {
            self.due.retain(|s| !matches!(s, Step::Deliver(p, _) if *p == process));
            let text = format!("You cut off what {process} is told.");
            self.faults.deaf.insert(process);
            return text;
        }
        self.faults.deaf.remove(&process);
        self.list_what_is_too_old(&process);
        self.offer_deliveries(&process);
        format!("You let through what {process} is told.")
    }

    /// A list instead of a watch: what is different from what the process knows is told as one change each.
    /// Upstream: client-go/tools/cache, Reflector and Replace.
    fn list_again(&mut self, id: &ProcessId, kind: Kind) {
        let revision = self.store.revision();
        let Some(process) = self.processes.get(id).filter(|p| p.health == Health::Up) else { return };
        let known = process.view.clone();
        let (now_there, _) = self.list_for(id);
        let entries = differences(&known, &now_there, kind, revision, self.now);
        let at = self.now;
        self.with_process(id, |p| {
            p.inbox.insert(
                kind,
                entries.into_iter().map(|entry| Arc::new(Arrival { at, entry, cause: None })).collect(),
            );
            p.seen.insert(kind, revision);
        });
        self.offer_deliveries(id);
    }

    /// The process starts as if the API server it asks were behind; what happened since is told to it then.
    pub(super) fn restart_stale(&mut self, id: &ProcessId, behind: u64) -> String {
        self.crash(id);
        let oldest = self.store.revision().saturating_sub(behind);
        let entries: Vec<Arc<LogEntry>> = self.store.entries_after(oldest).cloned().collect();
        let (mut view, seen) = self.list_for(id);
        let mut missed: Vec<Arc<LogEntry>> = vec![];
        for entry in entries.iter().rev().filter(|e| seen.contains_key(&e.key.kind)) {
            if self.shows(id, entry) {
                view.apply(&entry.key, entry.old.clone());
                missed.push(entry.clone());
            }
        }
        let at = self.now;
        self.begin_with(id, view, seen.keys().map(|k| (*k, oldest)).collect());
        self.with_process(id, |p| {
            for entry in missed.into_iter().rev() {
                let inbox: &mut Vector<_> = p.inbox.entry(entry.key.kind).or_default();
                inbox.push_back(Arc::new(Arrival { at, entry, cause: None }));
            }
        });
        self.offer_deliveries(id);
        format!("You started {id} again with a state that is {behind} revisions old.")
    }

    /// Whether a process is shown an entry.
    fn shows(&self, id: &ProcessId, entry: &LogEntry) -> bool {
        let mine = |o: &Option<kubestep_model::Object>| crate::deliver::seen_by(id, o.as_ref()).is_some();
        mine(&entry.old) || mine(&entry.new)
    }
}

fn differences(
    known: &View,
    there: &View,
    kind: Kind,
    revision: Revision,
    at: kubestep_model::Instant,
) -> Vec<Arc<LogEntry>> {
    let entry = |key: &kubestep_model::Key, old, new| {
        let who = "kube-apiserver".into();
        Arc::new(LogEntry { revision, key: key.clone(), old, new, at, who, part: "", by: None })
    };
    let mut found = vec![];
    for object in there.objects_of(kind, None) {
        let key = object.key();
        let old = known.object(&key);
        if old != Some(object) {
            found.push(entry(&key, old.cloned(), Some(object.clone())));
        }
    }
    for object in known.objects_of(kind, None) {
        let key = object.key();
        if there.object(&key).is_none() {
            found.push(entry(&key, Some(object.clone()), None));
        }
    }
    found
}
