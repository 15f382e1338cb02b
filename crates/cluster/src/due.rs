//! What is due, and when: every enabled step once, in the order in which time brings it.

use crate::{RecordId, Step};
use kubestep_model::Instant;
use kubestep_model::tree::OrdMap;
use std::fmt;

/// Steps by time; of equal times, the one that was put in first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Due {
    by_time: OrdMap<(Instant, u64), Step>,
    by_step: OrdMap<Step, Slot>,
    next: u64,
}

/// When a step is due, its number, and the record that led to it, of timers of agents.
#[derive(Clone, PartialEq)]
struct Slot(Instant, u64, Option<RecordId>);

/// What led to a timer makes no difference later: fingerprints do not know it.
impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0, self.1).fmt(f)
    }
}

impl Due {
    /// Puts a step in at a time; one that is in already keeps the earlier time.
    pub(crate) fn put(&mut self, step: Step, at: Instant) {
        match self.by_step.get(&step) {
            Some(Slot(old, ..)) if *old <= at => {}
            Some(_) => self.put_exactly(step, at),
            None => self.put_caused(step, at, None),
        }
    }

    /// Puts a step in at this time, whatever its time was. What led to it is as before.
    pub(crate) fn put_exactly(&mut self, step: Step, at: Instant) {
        let cause = self.take(&step).and_then(|(_, cause)| cause);
        self.put_caused(step, at, cause);
    }

    /// Puts a step in that is not in, with what led to it.
    pub(crate) fn put_caused(&mut self, step: Step, at: Instant, cause: Option<RecordId>) {
        self.next += 1;
        self.by_step.insert(step.clone(), Slot(at, self.next, cause));
        self.by_time.insert((at, self.next), step);
    }

    /// Takes a step out; answers when it was due, and what led to it.
    pub(crate) fn take(&mut self, step: &Step) -> Option<(Instant, Option<RecordId>)> {
        let Slot(at, number, cause) = self.by_step.remove(step)?;
        self.by_time.remove(&(at, number));
        Some((at, cause))
    }

    /// When a step is due, if it is in.
    pub(crate) fn when(&self, step: &Step) -> Option<Instant> {
        self.by_step.get(step).map(|slot| slot.0)
    }

    /// Whether a step is in.
    pub(crate) fn contains(&self, step: &Step) -> bool {
        self.by_step.contains_key(step)
    }

    /// The step that comes next.
    pub(crate) fn first(&self) -> Option<(Instant, &Step)> {
        self.by_time.get_min().map(|((at, _), step)| (*at, step))
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Instant, &Step)> {
        self.by_time.iter().map(|((at, _), step)| (*at, step))
    }

    /// Takes out all steps that do not pass.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Step) -> bool) {
        let gone: Vec<Step> = self.by_step.keys().filter(|s| !keep(s)).cloned().collect();
        for step in gone {
            self.take(&step);
        }
    }
}
