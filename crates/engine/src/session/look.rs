//! Which world is looked at: the present, a step of the past, one that is only glanced at, a moment between two steps.

use super::Session;
use kubestep_model::Instant;

impl Session {
    /// Looks at a step for good.
    pub(crate) fn seek(&mut self, step: usize) {
        self.leave_peek();
        self.between = false;
        self.shown = self.history.seek(step);
        if self.history.at_present() {
            self.look_at_present();
        }
    }
    /// Looks at a step for a moment.
    pub(crate) fn peek(&mut self, step: usize) {
        let step = step.min(self.history.last());
        self.peeking = Some(step);
        let last = step == self.history.last();
        let world = if last { self.history.live().clone() } else { self.history.world_at(step) };
        let before = std::mem::replace(&mut self.shown, world);
        self.stood.get_or_insert(before);
    }
    /// Looks again at what was looked at before a step was looked at for a moment. Whatever is done or run on happens
    /// there, not at the step that was only looked at: else it could not be made again from what is kept.
    pub(crate) fn end_peek(&mut self) {
        self.peeking = None;
        if let Some(stood) = self.stood.take() {
            self.shown = stood;
        }
    }
    /// Goes over to another branch. Whether there is one.
    pub(crate) fn switch(&mut self, branch: usize) -> bool {
        let there = branch < self.history.branches().len();
        if there {
            self.history.switch(branch);
            self.look_at_present();
        }
        there
    }
    /// Whether the present is looked at, and nothing of this branch lies ahead.
    pub(crate) fn at_present(&self) -> bool {
        self.history.at_present() && !self.between
    }
    /// Looks at the last step as it was made, not at the present, which may be later.
    pub(crate) fn seek_before_present(&mut self) {
        let last = self.history.last();
        self.seek(last);
        self.shown = self.history.world_at(last);
        self.between = true;
    }
    /// Lets time pass in the past, where the next step of this branch comes later than this.
    pub(crate) fn wait_in_past(&mut self, end: Instant) {
        while let Some((_, step)) = self.shown.next().filter(|(due, _)| *due <= end) {
            self.shown.advance(&step);
        }
        self.shown.idle_until(end);
        self.between = true;
    }

    /// Throws kept worlds away; the one that is looked at is made again.
    pub(crate) fn drop_worlds(&mut self) {
        self.end_peek();
        self.history.drop_worlds();
        if self.at_present() {
            self.look_at_present();
            return;
        }
        let now = self.shown.now();
        self.shown = self.history.world_at(self.step());
        if self.between {
            self.wait_in_past(now);
        }
    }

    fn leave_peek(&mut self) {
        self.peeking = None;
        self.stood = None;
    }

    pub(super) fn look_at_present(&mut self) {
        self.leave_peek();
        self.between = false;
        self.shown = self.history.live().clone();
    }

    /// Shows the present, after a run or an act.
    pub(crate) fn show_present(&mut self) {
        self.look_at_present();
    }
}
