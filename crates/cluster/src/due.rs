//! What is due, and when: every enabled step once, in the order in which time brings it.

use crate::Step;
use kubestep_model::Instant;
use kubestep_model::tree::OrdMap;

/// Steps by time; of equal times, the one that was put in first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Due {
    by_time: OrdMap<(Instant, u64), Step>,
    by_step: OrdMap<Step, (Instant, u64)>,
    next: u64,
}

impl Due {
    /// Puts a step in at a time; one that is in already keeps the earlier time.
    pub(crate) fn put(&mut self, step: Step, at: Instant) {
        match self.by_step.get(&step) {
            Some((old, _)) if *old <= at => {}
            _ => self.put_exactly(step, at),
        }
    }

    /// Puts a step in at this time, whatever its time was.
    pub(crate) fn put_exactly(&mut self, step: Step, at: Instant) {
        self.take(&step);
        self.next += 1;
        let slot = (at, self.next);
        self.by_step.insert(step.clone(), slot);
        self.by_time.insert(slot, step);
    }

    /// Takes a step out; answers when it was due.
    pub(crate) fn take(&mut self, step: &Step) -> Option<Instant> {
        let slot = self.by_step.remove(step)?;
        self.by_time.remove(&slot);
        Some(slot.0)
    }

    /// When a step is due, if it is in.
    pub(crate) fn when(&self, step: &Step) -> Option<Instant> {
        self.by_step.get(step).map(|(at, _)| *at)
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
