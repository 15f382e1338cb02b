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
        // What was reached before this step is reached, whatever the step does.
        for (goal, state) in lesson.goals.iter().zip(&mut self.goals) {
            if let State::Holding(since) = *state
                && now.since(since) >= goal.hold
            {
                *state = State::Done(since + goal.hold);
            }
        }
        self.finish(lesson);
        for (goal, state) in lesson.goals.iter().zip(&mut self.goals) {
            *state = match (*state, goal.mood) {
                (State::Done(_) | State::Broken(_), _) => *state,
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
        self.finish(lesson);
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
    }

    /// Goals that only have to stay are done with the last of the others.
    fn finish(&mut self, lesson: &Lesson) {
        let stays = |mood: Mood| matches!(mood, Mood::Always | Mood::Never);
        let reached = lesson.goals.iter().zip(&self.goals).filter(|(g, _)| !stays(g.mood));
        let times: Option<Vec<Instant>> =
            reached.map(|(_, s)| if let State::Done(at) = s { Some(*at) } else { None }).collect();
        let Some(last) = times.and_then(|t| t.into_iter().max()) else { return };
        for (_, state) in lesson.goals.iter().zip(&mut self.goals).filter(|(g, _)| stays(g.mood)) {
            if *state == State::Open {
                *state = State::Done(last);
            }
        }
        let all = self.goals.iter().all(|s| matches!(s, State::Done(_)));
        if self.solved.is_none() && all && self.traps.iter().all(Option::is_none) {
            self.solved = Some(last);
        }
    }

    /// The first trap that was stepped into.
    pub fn trapped(&self) -> Option<usize> {
        let at = |i: &usize| self.traps.get(*i).copied().flatten();
        (0..self.traps.len()).filter(|i| at(i).is_some()).min_by_key(|i| at(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        lesson::{Lesson, Source},
        stage::{Bare, run_until},
    };
    use std::time::Duration;

    fn lesson(goals: &str) -> Lesson {
        let text = format!(
            "---\ntitle: T\n---\n\nText.\n\n```yaml file a.yaml\nkind: Pod\n```\n\n```yaml goal\nsay: Three.\nis: nodes ready == 3\nhold: 20s\n```\n\n\
             {goals}\n\n```yaml predict\nask: How many?\nanswer: nodes count\nbecause: So.\n```\n\n\
             ```yaml solution\n- wait: 1\n```\n\n## End\n\nText.\n"
        );
        let sources = [Source { path: "a.md".into(), text }];
        Lesson::read("a.md", &sources, "en").expect("a lesson")
    }

    /// Follows a cluster in which nothing happens, and answers how it stands after so many seconds.
    fn after(lesson: &Lesson, seconds: u64) -> Watch {
        let world = World::boot(&lesson.start_world());
        let gaps = Gaps::begin(&world);
        let mut watch = Watch::begin(lesson, &world, &gaps);
        let end = world.now() + Duration::from_secs(seconds);
        let mut sees = |w: &World, g: &Gaps, _: Option<&kubestep_cluster::Record>| watch.follow(lesson, w, g);
        run_until(&mut Bare { world, gaps, sees: &mut sees }, end);
        watch
    }

    #[test]
    fn a_goal_is_reached_when_it_has_held_and_others_with_it() {
        let stays = lesson("```yaml goal\nsay: None is lost.\nalways: nodes count == 3\n```");
        assert!(matches!(after(&stays, 10).goals[..], [State::Holding(_), State::Open]));
        let done = after(&stays, 25);
        let State::Done(at) = done.goals[0] else { panic!("{done:?}") };
        assert_eq!((done.goals[1], done.solved), (State::Done(at), Some(at)));
        let broken = after(&lesson("```yaml goal\nsay: Never.\nnever: nodes count == 3\n```"), 25);
        assert!(matches!(broken.goals[1], State::Broken(_)) && broken.solved.is_none());
    }

    #[test]
    fn a_trap_keeps_a_run_from_being_solved() {
        let trapped = lesson("```yaml forbid\nsay: No.\nif: nodes count == 3\n```");
        let found = after(&trapped, 25);
        assert_eq!((found.trapped(), found.solved), (Some(0), None));
        let free = lesson("```yaml forbid\nsay: No.\nif: nodes age >= 1h\n```");
        let found = after(&free, 25);
        assert!(found.trapped().is_none() && found.solved.is_some(), "{found:?}");
    }
}
