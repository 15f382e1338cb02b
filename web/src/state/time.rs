//! The time controls.

use std::rc::Rc;

use kubestep_protocol::*;

use super::{Effect, State, TimeMsg};

/// How many virtual seconds pass in one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(pub u32);

impl Default for Speed {
    fn default() -> Self {
        Speed(60)
    }
}

/// The steps one slice of playing may make, so that a picture comes often.
const SLICE_STEPS: u32 = 40;

impl State {
    pub(super) fn time(&mut self, msg: TimeMsg, todo: &mut Vec<Effect>) {
        match msg {
            TimeMsg::Step => self.run(Command::Step { inner: false }, todo),
            TimeMsg::StepInside => self.run(Command::Step { inner: true }, todo),
            TimeMsg::Reconcile => self.run(Command::Reconcile, todo),
            TimeMsg::Calm => self.run(Command::UntilCalm, todo),
            TimeMsg::Advance(millis) => self.run(Command::Advance { millis }, todo),
            TimeMsg::Until(until) => {
                self.ui.open = None;
                self.run(Command::Until(until), todo);
            }
            TimeMsg::Back => self.run(Command::Back, todo),
            TimeMsg::Forward => self.run(Command::Forward, todo),
            TimeMsg::Play => self.play(todo),
            TimeMsg::Speed(speed) => {
                self.ui.prefs.speed = speed;
                todo.push(Effect::StorePrefs(self.ui.prefs.clone()));
            }
            TimeMsg::Tick(elapsed) => self.tick(elapsed, todo),
            TimeMsg::Drag(step) => self.drag(step, todo),
            TimeMsg::Seek(step) => {
                self.peek = None;
                let moment = Moment { step, ..self.moment() };
                self.run(Command::Seek(moment), todo);
            }
            TimeMsg::Branch(id) => self.run(Command::Branch(id), todo),
            TimeMsg::Neighbour(newer) => self.neighbour(newer, todo),
            TimeMsg::Drawn(id) => self.drawn(id, todo),
        }
    }

    /// Ends what is going on and begins this.
    fn run(&mut self, command: Command, todo: &mut Vec<Effect>) {
        self.stop_playing(todo);
        self.ask(command, todo);
    }

    pub(super) fn stop_playing(&mut self, todo: &mut Vec<Effect>) {
        if self.playing || self.running() {
            self.playing = false;
            self.ask(Command::Pause, todo);
        }
    }

    fn play(&mut self, todo: &mut Vec<Effect>) {
        if self.running() {
            self.stop_playing(todo);
        } else if self.frame.is_some() {
            self.playing = true;
            todo.push(Effect::NextSlice);
        }
    }

    /// While playing: as much virtual time as has really passed, times the speed.
    fn tick(&mut self, elapsed: f64, todo: &mut Vec<Effect>) {
        if !self.playing || self.waits_for(|c| matches!(c, Command::Play { .. })) {
            return;
        }
        // A tab that was in the background does not catch up.
        let elapsed = elapsed.clamp(1.0, 100.0);
        let millis = (elapsed * f64::from(self.ui.prefs.speed.0)).round() as u64;
        self.ask(Command::Play { millis: millis.max(1), steps: SLICE_STEPS }, todo);
    }

    pub(super) fn played(&mut self, stop: &Stop, todo: &mut Vec<Effect>) {
        match stop {
            Stop::Finished | Stop::Steps | Stop::Waits => todo.push(Effect::NextSlice),
            _ => self.playing = false,
        }
    }

    fn drag(&mut self, step: u32, todo: &mut Vec<Effect>) {
        self.playing = false;
        let moment = Moment { step, ..self.moment() };
        if moment == self.moment() {
            self.peek = None;
        } else if self.waits_for(|c| matches!(c, Command::Peek(_))) {
            self.peek = Some(moment);
        } else {
            self.ask(Command::Peek(moment), todo);
        }
    }

    fn drawn(&mut self, id: FrameId, todo: &mut Vec<Effect>) {
        self.ask(Command::Drawn(id), todo);
        if let Some(moment) = self.peek.take() {
            self.ask(Command::Peek(moment), todo);
        }
    }

    /// Timelines in order of their numbers.
    fn neighbour(&mut self, newer: bool, todo: &mut Vec<Effect>) {
        let Some(frame) = self.frame.clone() else { return };
        let here = frame.head.moment.branch;
        let others = frame.timeline.branches.iter().map(|b| b.id);
        let there =
            if newer { others.filter(|b| *b > here).min() } else { others.filter(|b| *b < here).max() };
        if let Some(id) = there {
            self.run(Command::Branch(id), todo);
        }
    }

    /// The object with the oldest gap gets the inspector.
    pub(super) fn oldest_gap(&mut self, todo: &mut Vec<Effect>) {
        let Some(frame) = self.frame.as_ref() else { return };
        let rows = frame.rows.iter().filter_map(|r| r.gap.as_ref().map(|g| (g.opened, r.object.clone())));
        let pods = frame.pods.iter().filter_map(|p| p.gap.as_ref().map(|g| (g.opened, p.object.clone())));
        let oldest = frame.head.verdict.object.clone();
        if let Some(object) = oldest.or_else(|| rows.chain(pods).min_by_key(|(at, _)| *at).map(|(_, o)| o)) {
            self.select(object, todo);
        }
    }

    pub(super) fn link_msg(&mut self, msg: &super::Msg, todo: &mut Vec<Effect>) {
        match msg {
            super::Msg::Copy => {
                if let Some(shared) = &self.shared {
                    todo.push(Effect::Copy(shared.text.clone()));
                }
            }
            super::Msg::Copied(yes) => self.copied = Some(*yes),
            super::Msg::Recompute => {
                self.recomputed = None;
                self.ask(Command::DropSnapshots, todo);
            }
            _ => {}
        }
    }

    pub(super) fn scenario(&mut self, id: String, todo: &mut Vec<Effect>) {
        self.stop_playing(todo);
        self.banner = None;
        self.stored = Rc::default();
        self.ask(Command::LoadScenario(id), todo);
    }
}
