//! How far a run has come in a lesson: goals, traps, hints, predictions; followed from step to step.

use crate::lesson::{Lesson, Mood};
use kubestep_cluster::World;
use kubestep_insight::Gaps;
use kubestep_model::Instant;

/// How a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not so. For goals that only have to stay: nothing was broken yet.
    Open,
    /// So since then, but not for long enough.
    Holding(Instant),
    /// Reached then.
    Done(Instant),
    /// Lost then, for good on this line of time.
    Broken(Instant),
}

/// Where a run stands in its lesson. Cloning is cheap enough to keep one for every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// One for each goal.
    pub goals: Vec<State>,
    /// When each trap was stepped into.
    pub traps: Vec<Option<Instant>>,
    /// Since when each hint can be asked for.
    pub hints: Vec<Option<Instant>>,
    /// Since when each prediction is due.
    pub due: Vec<Option<Instant>>,
    /// When everything was done.
    pub solved: Option<Instant>,
}

impl Watch {
    /// At the lesson's beginning.
    pub fn begin(lesson: &Lesson, world: &World, gaps: &Gaps) -> Self {
        let mut watch = Watch {
            goals: vec![State::Open; lesson.goals.len()],
            traps: vec![None; lesson.traps.len()],
            hints: vec![None; lesson.hints.len()],
            due: vec![None; lesson.predictions.len()],
            solved: None,
        };
        watch.follow(lesson, world, gaps);
        watch
    }

    /// After a step, or when time has passed.
    pub fn follow(&mut self, lesson: &Lesson, world: &World, gaps: &Gaps) {
        let now = world.now();
        let is_so = |question: &crate::question::Question| question.holds(world, gaps);
        for (goal, state) in lesson.goals.iter().zip(&mut self.goals) {
            *state = match (*state, goal.mood) {
                (State::Done(_) | State::Broken(_), _) => *state,
                (State::Holding(since), Mood::Is) if now.since(since) >= goal.hold => {
                    State::Done(since + goal.hold)
                }
                (before, Mood::Is) => match (is_so(&goal.question), before) {
                    (true, _) if goal.hold.is_zero() => State::Done(now),
                    (true, State::Holding(since)) => State::Holding(since),
                    (true, _) => State::Holding(now),
                    (false, _) => State::Open,
                },
                (_, Mood::Once) if is_so(&goal.question) => State::Done(now),
                (_, Mood::Always) if !is_so(&goal.question) => State::Broken(now),
                (_, Mood::Never) if is_so(&goal.question) => State::Broken(now),
                (before, _) => before,
            };
        }
        for (trap, at) in lesson.traps.iter().zip(&mut self.traps) {
            if at.is_none() && self.solved.is_none() && is_so(&trap.question) {
                *at = Some(now);
            }
        }
        let whens = lesson.hints.iter().map(|h| h.when.as_ref()).zip(&mut self.hints);
        let whens = whens.chain(lesson.predictions.iter().map(|p| p.when.as_ref()).zip(&mut self.due));
        for (when, at) in whens {
            if at.is_none() && when.is_none_or(is_so) {
                *at = Some(now);
            }
        }
        self.finish(lesson, now);
    }

    /// Goals that only have to stay are done with the last of the others.
    fn finish(&mut self, lesson: &Lesson, now: Instant) {
        let stays = |mood: Mood| matches!(mood, Mood::Always | Mood::Never);
        let mut reached = lesson.goals.iter().zip(&self.goals).filter(|(g, _)| !stays(g.mood));
        if !reached.all(|(_, s)| matches!(s, State::Done(_))) {
            return;
        }
        for (_, state) in lesson.goals.iter().zip(&mut self.goals).filter(|(g, _)| stays(g.mood)) {
            if *state == State::Open {
                *state = State::Done(now);
            }
        }
        let all = self.goals.iter().all(|s| matches!(s, State::Done(_)));
        if self.solved.is_none() && all && self.traps.iter().all(Option::is_none) {
            self.solved = Some(now);
        }
    }

    /// The first trap that was stepped into.
    pub fn trapped(&self) -> Option<usize> {
        let at = |i: &usize| self.traps.get(*i).copied().flatten();
        (0..self.traps.len()).filter(|i| at(i).is_some()).min_by_key(|i| at(i))
    }
}
