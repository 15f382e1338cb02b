//! `kubestep lesson check`: a lesson proves itself, or says what is wrong with it.
//!
//! Its start does not meet its goals; its solution does, and they stay met; a wrong way does not. Each hint can be
//! reached, each prediction has a true answer which the engine finds, no text names what never was, and every
//! translation is complete.

mod corpus;
mod steps;
mod texts;
mod unwritten;

use crate::{
    lesson::{Lesson, Mood, Prediction, Problem, Source},
    predict::{right_choice, truth},
    stage::{Bare, Files, Stage, perform, run_until},
    watch::{State, Watch},
};
use corpus::Corpus;
use kubestep_cluster::{Record, World};
use kubestep_insight::Gaps;
use kubestep_model::arrange::Arrange;
use std::time::Duration;
pub use unwritten::unwritten;

/// How long doing nothing is tried where hints wait for the clock, and where not.
const IDLE: Duration = Duration::from_secs(15 * 60);
const SHORT_IDLE: Duration = Duration::from_secs(60);
/// How long the goals have to stay met after the solution.
const AFTER: Duration = Duration::from_secs(30);

/// What a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// The true answers of the predictions, in their order.
    pub truths: Vec<String>,
    /// The title.
    pub title: String,
}

/// Checks the lesson at a path, with its translations into these languages.
pub fn check(path: &str, sources: &[Source], languages: &[&str]) -> Report {
    let lesson = match Lesson::read(path, sources, "en") {
        Ok(lesson) => lesson,
        Err(problems) => return Report { problems, ..Report::default() },
    };
    let mut report = Report { title: lesson.title.clone(), ..Report::default() };
    let mut corpus = Corpus::of(&lesson);
    if !(Checking { lesson: &lesson, report: &mut report, corpus: &mut corpus }.run()) {
        // Nothing that is said after this would be of the lesson that is meant.
        return report;
    }
    steps::check(&lesson, &corpus, &mut report.problems);
    texts::check(&lesson, &corpus, &mut report.problems);
    for language in languages {
        match Lesson::read(path, sources, language) {
            Ok(translation) => {
                let first = report.problems.len();
                texts::check(&translation, &corpus, &mut report.problems);
                let other = crate::lesson::translated(path, language);
                report.problems[first..].iter_mut().for_each(|p| p.path.clone_from(&other));
            }
            Err(problems) => report.problems.extend(problems),
        }
    }
    report
}

struct Checking<'c> {
    lesson: &'c Lesson,
    report: &'c mut Report,
    corpus: &'c mut Corpus,
}

/// A world at some moment of a run, with the files as they then were.
#[derive(Clone)]
struct At {
    world: World,
    gaps: Gaps,
    files: Files,
    watch: Watch,
}

impl Checking<'_> {
    fn problem(&mut self, line: usize, text: String, remedy: &str) {
        let path = self.lesson.path.clone();
        self.report.problems.push(Problem { path, line, text, remedy: remedy.into() });
    }

    /// Whether it could be begun at all.
    fn run(&mut self) -> bool {
        let Some(begin) = self.begin() else { return false };
        let mut seen = begin.watch.clone();
        self.idle(&begin, &mut seen);
        self.solve(&begin, &mut seen);
        for (wrong, line) in self.lesson.wrong.iter().zip(&self.lesson.lines.wrong) {
            let (end, _) = self.play(&begin, wrong, &mut vec![]);
            let end = self.wait(end, self.hold());
            if end.watch.solved.is_some() {
                let remedy = "Make the goals stricter, or take the wrong way out.";
                self.problem(*line, "This wrong way meets the goals.".into(), remedy);
            }
            merge(&mut seen, &end.watch);
        }
        for (trap, at) in self.lesson.traps.iter().zip(&seen.traps) {
            if at.is_none() {
                let remedy = "Add a block wrong that steps into it, or mend its question.";
                self.problem(trap.line, "Nothing steps into this trap.".into(), remedy);
            }
        }
        for (hint, at) in self.lesson.hints.iter().zip(&seen.hints) {
            if at.is_none() {
                let remedy = "Mend its `when:`, or add a block wrong that leads there.";
                self.problem(hint.line, "This hint cannot be reached.".into(), remedy);
            }
        }
        true
    }

    /// The longest that a goal has to hold.
    fn hold(&self) -> Duration {
        self.lesson.goals.iter().map(|g| g.hold).max().unwrap_or_default() + Duration::from_secs(2)
    }

    /// What the learner begins with; `None` where it cannot be played.
    fn begin(&mut self) -> Option<At> {
        let world = World::boot(&self.lesson.start_world());
        let gaps = Gaps::begin(&world);
        self.corpus.store(&world);
        let watch = Watch::begin(self.lesson, &world, &gaps);
        let at = At { world, gaps, files: self.lesson.files.clone(), watch };
        let (mut at, failed) = self.play(&at, &self.lesson.start, &mut vec![]);
        if let Some(why) = failed.into_iter().next() {
            let line = self.lesson.lines.start;
            self.problem(
                line,
                format!("The start cannot be played: {}.", why.trim_end_matches('.')),
                "Mend the block start.",
            );
            return None;
        }
        // Only now the lesson begins.
        at.watch = Watch::begin(self.lesson, &at.world, &at.gaps);
        Some(at)
    }

    /// Plays steps; answers where they lead and what could not be done. `due` gets the moments of predictions.
    fn play(
        &mut self,
        from: &At,
        steps: &[crate::script::ScriptStep],
        due: &mut Vec<(usize, At)>,
    ) -> (At, Vec<String>) {
        let mut at = from.clone();
        let mut failed = vec![];
        for step in steps {
            let before = at.files.clone();
            failed.extend(steps::vain(step, &at.world));
            let result;
            (at, result) = self.stretch(at, due, &before, |stage, files| perform(stage, step, files));
            failed.extend(result.err());
        }
        (at, failed)
    }

    /// One stretch of a run, with everything followed.
    fn stretch<T>(
        &mut self,
        at: At,
        due: &mut Vec<(usize, At)>,
        before: &Files,
        go: impl FnOnce(&mut dyn Stage, &mut Files) -> T,
    ) -> (At, T) {
        let (lesson, corpus) = (self.lesson, &mut *self.corpus);
        let At { world, gaps, mut files, mut watch } = at;
        let mut sees = |world: &World, gaps: &Gaps, record: Option<&Record>| {
            let was = watch.due.clone();
            watch.follow(lesson, world, gaps);
            if let Some(record) = record {
                corpus.record(world, record);
            }
            for (i, (old, new)) in was.iter().zip(&watch.due).enumerate() {
                if old.is_none() && new.is_some() {
                    let (world, gaps) = (world.clone(), gaps.clone());
                    due.push((i, At { world, gaps, files: before.clone(), watch: watch.clone() }));
                }
            }
        };
        let mut stage = Bare { world, gaps, sees: &mut sees };
        let result = go(&mut stage, &mut files);
        let Bare { world, gaps, .. } = stage;
        corpus.commands(&world);
        (At { world, gaps, files, watch }, result)
    }

    fn wait(&mut self, at: At, span: Duration) -> At {
        let end = at.world.now() + span;
        self.stretch(at, &mut vec![], &Files::new(), |stage, _| run_until(stage, end)).0
    }

    /// Doing nothing does not solve it.
    fn idle(&mut self, begin: &At, seen: &mut Watch) {
        let waits = |q: &crate::question::Question| q.by_clock();
        let long = self.lesson.hints.iter().any(|h| h.when.as_ref().is_some_and(waits));
        let end = self.wait(begin.clone(), if long { IDLE } else { SHORT_IDLE.max(self.hold()) });
        merge(seen, &end.watch);
        if end.watch.solved.is_some() {
            let remedy = "Let the start be further from the goals, or make the goals stricter.";
            self.problem(0, "The start already meets the goals: doing nothing solves it.".into(), remedy);
        }
        if let Some(trap) = end.watch.trapped() {
            let line = self.lesson.traps[trap].line;
            self.problem(line, "Doing nothing steps into this trap.".into(), "Mend its question.");
        }
    }

    fn solve(&mut self, begin: &At, seen: &mut Watch) {
        let mut due: Vec<(usize, At)> = begin
            .watch
            .due
            .iter()
            .enumerate()
            .filter(|(_, at)| at.is_some())
            .map(|(i, _)| (i, begin.clone()))
            .collect();
        let (end, failed) = self.play(begin, &self.lesson.solution, &mut due);
        // What follows from the first is no other fault.
        if let Some(why) = failed.into_iter().next() {
            // Nothing can be undone where there was one version only; then it is the start that lacks something.
            let remedy = if why.contains("no rollout history found") {
                "Undo needs two revisions: let the block start make a second one."
            } else {
                "Mend the block solution."
            };
            let line = self.lesson.lines.solution;
            self.problem(
                line,
                format!("The solution cannot be played: {}.", why.trim_end_matches('.')),
                remedy,
            );
        }
        let end = self.wait(end, self.hold());
        self.solved(&end);
        let after = self.wait(end, AFTER);
        for (i, goal) in self.lesson.goals.iter().enumerate() {
            let stays = goal.mood == Mood::Is && matches!(after.watch.goals[i], State::Done(_));
            if stays && !goal.question.holds(&after.world, &after.gaps) {
                let remedy = "Let the solution end where it stays so, or write `once:` instead of `is:`.";
                self.problem(goal.line, "After the solution this goal does not stay met.".into(), remedy);
            }
        }
        merge(seen, &after.watch);
        self.predictions(&due);
    }

    fn solved(&mut self, end: &At) {
        if let Some(trap) = end.watch.trapped() {
            let line = self.lesson.traps[trap].line;
            self.problem(line, "The solution steps into this trap.".into(), "Mend its question.");
        }
        for (goal, state) in self.lesson.goals.iter().zip(end.watch.goals.clone()) {
            if !matches!(state, State::Done(_)) {
                let now = goal.question.now(&end.world, &end.gaps);
                let how = match state {
                    State::Holding(since) => {
                        format!(
                            "so for {} s of {} s",
                            end.world.now().since(since).as_secs(),
                            goal.hold.as_secs()
                        )
                    }
                    State::Broken(_) => "it was broken on the way".into(),
                    _ => "it is not so".into(),
                };
                let text = format!("The solution does not meet this goal: {how}; it ends with `{now}`.");
                self.problem(goal.line, text, "Mend the solution or the goal.");
            }
        }
    }

    fn predictions(&mut self, due: &[(usize, At)]) {
        for (i, prediction) in self.lesson.predictions.iter().enumerate() {
            let Some((_, at)) = due.iter().find(|(n, _)| *n == i) else {
                let remedy = "Mend its `when:` so that it comes true on the way of the solution.";
                self.problem(prediction.line, "This prediction is never asked.".into(), remedy);
                continue;
            };
            match truth(prediction, &at.world, &at.gaps, &at.files) {
                Ok(found) => {
                    self.choices(prediction, &found);
                    self.report.truths.push(found);
                }
                Err(why) => {
                    let text = format!("This prediction has no true answer: {why}.");
                    self.problem(prediction.line, text, "Mend its `do:` or its `answer:`.");
                }
            }
        }
    }

    fn choices(&mut self, prediction: &Prediction, truth: &str) {
        let choices = &prediction.choices;
        if choices.is_empty() {
            return;
        }
        let (line, n) = (prediction.line, choices.len());
        if right_choice(prediction, truth).is_none() {
            let text = format!("The true answer is {truth}, and no choice says so.");
            self.problem(line, text, "Add it to the choices.");
        }
        let mut values: Vec<&String> = choices.iter().map(|(v, _)| v).collect();
        values.arrange();
        values.dedup();
        if n < 2 || values.len() < n {
            let remedy = "Give two or more different values.";
            self.problem(line, "The question cannot be failed: its choices do not differ.".into(), remedy);
        }
    }
}

/// What one run reached, another may have missed.
fn merge(seen: &mut Watch, other: &Watch) {
    let pairs = seen.traps.iter_mut().zip(&other.traps).chain(seen.hints.iter_mut().zip(&other.hints));
    for (a, b) in pairs {
        *a = a.or(*b);
    }
}

#[cfg(test)]
mod tests;
