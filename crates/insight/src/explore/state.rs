//! What makes two worlds the same for a search: everything that a loop which is awake can read or will be told, without
//! clocks and counters. Names that were drawn, uids, versions and times count by their order only.

use super::moves::waits_shortly;
use super::words::{Lexicon, Text};
use kubestep_cluster::{Asker, Brain, Flight, Health, Process, ProcessId, Step, World, loops::scheduler};
use kubestep_model::arrange::Gather;
use kubestep_model::{Kind, Revision};
use std::collections::BTreeSet;

/// Reads worlds of one search.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// The store's revision when the search began: what is older is the same in all worlds.
    base: Revision,
    /// The kinds that loops which are awake watch.
    kinds: BTreeSet<Kind>,
    /// The process whose orders are searched.
    subject: ProcessId,
}

/// The process whose orders are searched: the scheduler where it runs, else the controller manager.
pub(super) fn subject(world: &World) -> ProcessId {
    let runs = world.process(&ProcessId::Scheduler).is_some_and(|p| p.health == Health::Up);
    if runs { ProcessId::Scheduler } else { ProcessId::Manager }
}

/// Whether the asker of a request has ended, so that nobody hears the reply.
pub(super) fn is_dead(world: &World, flight: &Flight) -> bool {
    let Some(process) = flight.asker.process() else { return false };
    world.process(process).is_none_or(|p| p.life != flight.life)
}

impl Reader {
    pub(super) fn new(world: &World) -> Self {
        let awake = world.loops().filter(|(_, l)| !l.stopped);
        let mut kinds: BTreeSet<Kind> =
            awake.flat_map(|(c, _)| c.watches()).map(|w| w.kind).filter(|k| *k != Kind::Event).collect();
        let subject = subject(world);
        if subject == ProcessId::Scheduler {
            kinds.extend(scheduler::WATCHES);
        }
        Reader { base: world.store().revision(), kinds, subject }
    }

    /// Whether somebody who is awake hears what a watch tells a process.
    pub(super) fn hears(&self, process: &ProcessId, kind: Kind) -> bool {
        self.subject == *process && self.reads(kind)
    }

    /// Whether a loop that is awake reads this kind.
    pub(super) fn reads(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// A fingerprint of a world.
    pub(super) fn print(&self, world: &World, lexicon: &mut Lexicon) -> u128 {
        let mut text = Text::new(lexicon, world.store(), self.base);
        text.objects(world.store().all().filter(|o| self.reads(o.kind())));
        if let Some(process) = world.process(&self.subject) {
            self.process(&mut text, world, process);
        }
        for (_, flight) in world.flights().filter(|(_, f)| !matches!(f.asker, Asker::Events { .. })) {
            let asker = (!is_dead(world, flight)).then(|| match &flight.asker {
                // The numbers of its requests count by their order only.
                Asker::Agent { process, .. } => process.to_string(),
                other => format!("{other:?}"),
            });
            text.add(&(&flight.request.verb, asker));
        }
        let thinks =
            world.due().map(|(_, s)| s).filter(|s| matches!(s, Step::Think(_, _, k) if !k.name.is_empty()));
        text.add(&thinks.gather::<BTreeSet<_>>());
        text.print(world.store(), self.base)
    }

    /// The cache, what is on its way to it, and the queues.
    fn process(&self, text: &mut Text<'_>, world: &World, process: &Process) {
        text.objects(process.view.iter().filter(|(k, _)| self.reads(k.kind)).map(|(_, o)| o));
        for kind in &self.kinds {
            for entry in process.inbox(*kind) {
                text.add(&entry.key);
                entry.new.iter().for_each(|o| text.object(o));
            }
        }
        if let Brain::Scheduler(scheduler) = &process.brain {
            text.add(&scheduler.essence());
        }
        for (program, state) in world.loops().filter(|(_, l)| !l.stopped) {
            let failed = state
                .queue
                .delayed()
                .filter(|(k, at)| waits_shortly(world, program.name(), state, k, **at))
                .map(|(k, _)| k);
            text.add(&state.queue.ready().collect::<Vec<_>>());
            text.add(&state.queue.dirty().collect::<Vec<_>>());
            text.add(&failed.collect::<Vec<_>>());
            text.add(&state.memory);
            let awaited = |kind: &Kind| program.reads_own_writes().contains(kind);
            for ((key, kind), revision) in state.wrote().filter(|((_, kind), _)| awaited(kind)) {
                let unread = process.inbox(*kind).filter(|e| e.revision <= *revision).count();
                if unread > 0 {
                    text.add(&(key, kind, unread));
                }
            }
            for (key, work) in &state.working {
                text.add(&(key, &work.asked, &work.replies, &work.running.told));
                // What a controller reads it watches, too.
                let read = |kind: Kind| program.watches().iter().any(|w| w.kind == kind);
                text.objects(work.running.view.iter().filter(|(k, _)| read(k.kind)).map(|(_, o)| o));
            }
        }
    }
}
