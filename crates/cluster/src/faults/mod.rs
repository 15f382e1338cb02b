//! Faults as data in the world: they rewind with it.

mod requests;
mod watches;

pub use requests::Trouble;
pub(crate) use requests::heard;

use crate::{Asker, Brain, Health, Mood, ProcessId, Step, World};
use kubestep_controllers::ALL;
use kubestep_model::Kind;
use kubestep_model::tree::{OrdMap, OrdSet};
use std::{fmt, sync::Arc, time::Duration};

/// Faults that are in force.
#[derive(Clone, Default, PartialEq)]
pub struct Faults {
    /// Watches that deliver nothing for now.
    pub held: OrdSet<(ProcessId, Kind)>,
    /// Nodes that nothing reaches and from which nothing comes.
    pub cut: OrdSet<Arc<str>>,
    /// Controllers look at a key before they have read what they wrote for it.
    pub forgets_writes: bool,
    /// Processes that crash after so many more writes.
    pub crash_after: OrdMap<ProcessId, u32>,
    /// What becomes of the next requests of a process, and of how many.
    pub requests: OrdMap<ProcessId, (Trouble, u32)>,
    /// What becomes of the next writes that come from outside, from a person's programs, and of how many.
    pub programs: Option<(Trouble, u32)>,
    /// How much longer everything takes that a process sends or is told.
    pub slow: OrdMap<ProcessId, Duration>,
    /// Watches whose events are lost: their process learns of them only when it lists again.
    pub lost: OrdSet<(ProcessId, Kind)>,
    /// Watches that were behind when the history was cut: they have to list again before they go on.
    pub too_old: OrdSet<(ProcessId, Kind)>,
    /// Processes whose requests do not arrive, though they are told everything.
    pub mute: OrdSet<ProcessId>,
    /// Processes that are told nothing, though their requests arrive.
    pub deaf: OrdSet<ProcessId>,
    /// The API server answers nobody.
    pub api_away: bool,
    /// Watches whose events arrive so much later.
    pub delayed: OrdMap<(ProcessId, Kind), Duration>,
    /// How much longer everything takes that a person's programs send or are told.
    pub programs_slow: Duration,
}

/// Fingerprints are made of this: what came to it later stands in it only where it is in force.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Faults");
        all.field("held", &self.held)
            .field("cut", &self.cut)
            .field("forgets_writes", &self.forgets_writes)
            .field("crash_after", &self.crash_after)
            .field("requests", &self.requests)
            .field("programs", &self.programs)
            .field("slow", &self.slow)
            .field("lost", &self.lost)
            .field("too_old", &self.too_old)
            .field("mute", &self.mute)
            .field("deaf", &self.deaf)
            .field("api_away", &self.api_away);
        if !self.delayed.is_empty() {
            all.field("delayed", &self.delayed);
        }
        if !self.programs_slow.is_zero() {
            all.field("programs_slow", &self.programs_slow);
        }
        all.finish()
    }
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
    /// Whether nothing is delivered to a process.
    pub(crate) fn is_deaf(&self, process: &ProcessId) -> bool {
        self.is_cut(process) || self.deaf.contains(process)
    }
    /// How much longer everything takes for a process.
    pub(crate) fn extra(&self, process: Option<&ProcessId>) -> Duration {
        process.map_or(self.programs_slow, |p| self.slow.get(p).copied().unwrap_or_default())
    }
    /// How much later the events of a watch arrive.
    pub(crate) fn late(&self, process: &ProcessId, kind: Kind) -> Duration {
        let own = self.delayed.get(&(process.clone(), kind)).copied().unwrap_or_default();
        own + self.extra(Some(process))
    }
    /// Whether no fault is in force that ends only when somebody ends it.
    pub fn is_none(&self) -> bool {
        *self == Faults::default()
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
    /// A process crashes after so many more of its writes; of none: it does not.
    CrashAfter { process: ProcessId, writes: u32 },
    /// Something becomes of the next requests of a process; of none: all is well again.
    Requests { process: ProcessId, trouble: Trouble, next: u32 },
    /// Something becomes of the next writes of a person's programs; of none: all is well again.
    Programs { trouble: Trouble, next: u32 },
    /// Everything takes longer for a process; nothing: as long as ever.
    Slow { process: ProcessId, by: Duration },
    /// The events of a watch are lost, or its process lists again and reads on.
    Lose { process: ProcessId, kind: Kind, lost: bool },
    /// Each event of a watch arrives so much later; nothing: as soon as ever.
    Delay { process: ProcessId, kind: Kind, by: Duration },
    /// Everything takes longer for a person's programs; nothing: as long as ever.
    SlowPrograms { by: Duration },
    /// The requests of a process do not arrive, or do again.
    Mute { process: ProcessId, mute: bool },
    /// A process is told nothing, or everything again.
    Deafen { process: ProcessId, deaf: bool },
    /// The API server forgets what happened: a watch that is behind cannot go on where it stopped.
    CutHistory,
    /// The API server is away, or back.
    ApiServer { away: bool },
    /// A process ends and starts again with a state of the cluster that is so many revisions old.
    RestartStale { process: ProcessId, behind: u64 },
    /// A second controller manager starts beside the first, or ends.
    SecondManager { running: bool },
    /// The registry answers otherwise.
    Registry(Mood),
    /// All clocks jump ahead, as after a long sleep of the machine.
    ClockJump { by: Duration },
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
                if self.list_what_is_too_old(&process) {
                    return format!(
                        "You let the watch of {process} for {} go on: its revision is too old (410 Gone), so it lists again.",
                        kind.resource()
                    );
                }
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
                if writes == 0 {
                    self.faults.crash_after.remove(&process);
                    return format!("{process} will not crash by itself.");
                }
                let more =
                    if writes == 1 { "one more write".into() } else { format!("{writes} more writes") };
                let text = format!("{process} will crash after {more}.");
                self.faults.crash_after.insert(process, writes);
                text
            }
            FaultAct::Requests { process, trouble, next } => self.trouble(process, trouble, next),
            FaultAct::Programs { trouble, next } => self.trouble_programs(trouble, next),
            FaultAct::Slow { process, by } => self.slow_down(process, by),
            FaultAct::Lose { process, kind, lost } => self.lose_watch(process, kind, lost),
            FaultAct::Delay { process, kind, by } => self.delay_watch(process, kind, by),
            FaultAct::SlowPrograms { by } => self.slow_programs(by),
            FaultAct::Mute { process, mute } => self.mute(process, mute),
            FaultAct::Deafen { process, deaf } => self.deafen(process, deaf),
            FaultAct::CutHistory => self.cut_history(),
            FaultAct::ApiServer { away } => {
                self.faults.api_away = away;
                if away {
                    "You cut the API server off.".into()
                } else {
                    "You let the API server answer again.".into()
                }
            }
            FaultAct::RestartStale { process, behind } => self.restart_stale(&process, behind),
            FaultAct::SecondManager { running: true } => {
                self.start_process(ProcessId::SecondManager);
                "You started a second controller manager.".into()
            }
            FaultAct::SecondManager { running: false } => {
                self.crash(&ProcessId::SecondManager);
                self.processes.remove(&ProcessId::SecondManager);
                "You stopped the second controller manager.".into()
            }
            FaultAct::Registry(mood) => {
                self.registry.1 = mood;
                requests::sentence_of(mood)
            }
            FaultAct::ClockJump { by } => {
                self.now = self.now + by;
                format!("You let all clocks jump {} seconds ahead.", by.as_secs())
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
        // A process that starts lists everything.
        let old: Vec<_> = self.faults.too_old.iter().filter(|(p, _)| p == id).cloned().collect();
        for watch in &old {
            self.faults.too_old.remove(watch);
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
