//! Faults as data in the world: they rewind with it.

use crate::{Asker, Brain, Health, ProcessId, Step, World};
use imbl::{OrdMap, OrdSet};
use kubestep_controllers::ALL;
use kubestep_model::Kind;
use std::sync::Arc;

/// Faults that are in force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Watches that deliver nothing for now.
    pub held: OrdSet<(ProcessId, Kind)>,
    /// Nodes that nothing reaches and from which nothing comes.
    pub cut: OrdSet<Arc<str>>,
    /// Controllers look at a key before they have read what they wrote for it.
    pub forgets_writes: bool,
    /// Processes that crash after so many more writes.
    pub crash_after: OrdMap<ProcessId, u32>,
}

impl Faults {
    /// Whether a watch is held.
    pub fn holds(&self, process: &ProcessId, kind: Kind) -> bool {
        self.held.contains(&(process.clone(), kind))
    }
    /// Whether a process is cut off from the API server.
    pub fn is_cut(&self, process: &ProcessId) -> bool {
        matches!(process, ProcessId::Kubelet(node) if self.cut.contains(node))
    }
}

/// A fault that a person causes or ends.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FaultAct {
    /// A watch delivers nothing, or goes on.
    Hold { process: ProcessId, kind: Kind, held: bool },
    /// One controller stops reading, or goes on.
    Stop { controller: String, stopped: bool },
    /// A process ends at once.
    Crash { process: ProcessId },
    /// A process that ended is started again.
    Restart { process: ProcessId },
    /// A process crashes after so many more of its writes.
    CrashAfter { process: ProcessId, writes: u32 },
}

impl World {
    /// Causes or ends a fault; answers its sentence.
    pub(crate) fn fault(&mut self, act: FaultAct) -> String {
        match act {
            FaultAct::Hold { process, kind, held: true } => {
                self.due.take(&Step::Deliver(process.clone(), kind));
                let text = format!("You hold the watch of {process} for {}.", kind.resource());
                self.faults.held.insert((process, kind));
                text
            }
            FaultAct::Hold { process, kind, held: false } => {
                self.faults.held.remove(&(process.clone(), kind));
                self.offer_deliveries(&process);
                format!("You let the watch of {process} for {} go on.", kind.resource())
            }
            FaultAct::Stop { controller, stopped } => self.stop_controller(&controller, stopped),
            FaultAct::Crash { process } => {
                self.crash(&process);
                format!("You crashed {process}.")
            }
            FaultAct::Restart { process } => {
                self.restart(&process);
                format!("You started {process} again.")
            }
            FaultAct::CrashAfter { process, writes } => {
                let text = format!("{process} will crash after {writes} more writes.");
                self.faults.crash_after.insert(process, writes);
                text
            }
        }
    }

    /// What if controllers did not wait for their own writes? For searches: upstream has no such switch.
    pub fn forget_writes(&mut self) {
        self.faults.forgets_writes = true;
    }

    fn stop_controller(&mut self, name: &str, stopped: bool) -> String {
        let Some(index) = ALL.iter().position(|c| c.name() == name) else {
            return format!("There is no controller \"{name}\".");
        };
        let id = ProcessId::Manager;
        self.with_loop(&id, index, |l| l.stopped = stopped);
        if stopped {
            self.due.retain(
                |s| !matches!(s, Step::Think(_, i, _) | Step::Wake(_, i) | Step::Period(_, i) if *i == index),
            );
            self.with_loop(&id, index, |l| {
                l.starting = 0;
                let keys: Vec<_> = l.working.keys().cloned().collect();
                l.working.clear();
                for key in keys {
                    l.queue.finish(&key);
                    l.queue.add(key);
                }
            });
            format!("You stopped the {name} controller.")
        } else {
            if let Some(period) = ALL.get(index).and_then(|c| c.period()) {
                self.due.put(Step::Period(id.clone(), index), self.now + period);
            }
            self.read_backlog(&id, index);
            format!("You let the {name} controller go on.")
        }
    }

    /// A process ends: its caches, queues, memory and replies are gone. Requests that were sent are still served.
    pub(crate) fn crash(&mut self, id: &ProcessId) {
        self.due.retain(|s| !belongs(s, id));
        let gone: Vec<Step> = self.timer_causes.keys().filter(|s| belongs(s, id)).cloned().collect();
        for step in gone {
            self.timer_causes.remove(&step);
        }
        self.with_process(id, |p| {
            p.health = Health::Down;
            p.inbox.clear();
            p.view = Default::default();
            p.seen.clear();
            if let Brain::Loops(loops) = &mut p.brain {
                for l in loops.iter_mut().map(std::sync::Arc::make_mut) {
                    l.working.clear();
                    l.queue = Default::default();
                    l.unread.clear();
                    l.memory.clear();
                    l.wrote.clear();
                    l.causes.clear();
                    l.starting = 0;
                }
            }
        });
    }

    /// Counts a write of a process that is to crash after some.
    pub(crate) fn count_write(&mut self, asker: &Asker, wrote: bool) {
        let (Asker::Controller { process, .. } | Asker::Agent { process, .. }) = asker else { return };
        if !wrote {
            return;
        }
        match self.faults.crash_after.get(process).copied() {
            None => {}
            Some(n) if n > 1 => drop(self.faults.crash_after.insert(process.clone(), n - 1)),
            Some(_) => {
                self.faults.crash_after.remove(process);
                self.crash(&process.clone());
            }
        }
    }
}

fn belongs(step: &Step, id: &ProcessId) -> bool {
    match step {
        Step::Deliver(p, _)
        | Step::Wake(p, _)
        | Step::Think(p, _, _)
        | Step::Timer(p, _)
        | Step::Period(p, _) => p == id,
        Step::Serve(_) | Step::Runtime(_) | Step::Client(_) => false,
    }
}
