//! The true answer of a prediction: a copy of the world is run on. And how an answer is scored, kindly.

use crate::{
    lesson::Prediction,
    question::Over,
    stage::{Bare, Files, Stage, perform},
};
use kubestep_cluster::{Record, What, World};
use kubestep_insight::Gaps;
use kubestep_model::Kind;

/// How good an answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// As it turned out.
    Right,
    /// A number near to it.
    Close,
    /// Otherwise.
    Wrong,
}

/// So many steps at most until somebody writes.
const MOST_STEPS: u32 = 200_000;

/// What the answer is, from this world on. Errors: why there is none.
pub fn truth(prediction: &Prediction, world: &World, gaps: &Gaps, files: &Files) -> Result<String, String> {
    let mut over = Over::new(&prediction.answer, world);
    let mut files = files.clone();
    let looks_on = prediction.answer.looks_on();
    let (world, gaps) = {
        let mut sees = |world: &World, gaps: &Gaps, _: Option<&Record>| {
            if looks_on {
                over.see(world, gaps);
            }
        };
        sees(world, gaps, None);
        let mut stage = Bare { world: world.clone(), gaps: gaps.clone(), sees: &mut sees };
        for step in &prediction.steps {
            let done = perform(&mut stage, step, &mut files);
            // A command that is refused may be what the question is about.
            if let Err(why) = done
                && !prediction.answer.is_exit()
            {
                return Err(why);
            }
        }
        if prediction.answer.is_next() {
            return next_writer(&mut stage).ok_or_else(|| "nobody writes any more".into());
        }
        (stage.world, stage.gaps)
    };
    over.end(&world, &gaps).ok_or_else(|| "the question has no answer there".into())
}

/// Who writes next: `deployment-controller`, `kube-scheduler`, `kubelet`. Events and leases are not counted.
fn next_writer(stage: &mut Bare<'_>) -> Option<String> {
    for _ in 0..MOST_STEPS {
        let (_, step) = stage.world.next()?;
        let record = stage.world.advance(&step);
        if let What::Served { who, .. } = &record.what
            && record.changes.iter().any(|c| !matches!(c.key.kind, Kind::Event | Kind::Lease))
        {
            let who: &str = who;
            let node = stage.world().machines().any(|(name, _)| who.ends_with(&**name));
            return Some(if node { "kubelet".into() } else { who.into() });
        }
    }
    None
}

/// Which choice is the right one: the one with this value, or for lengths of time and ratios the nearest.
pub fn right_choice(prediction: &Prediction, truth: &str) -> Option<usize> {
    let exact = prediction.choices.iter().position(|(value, _)| value.eq_ignore_ascii_case(truth));
    if exact.is_some() || !prediction.answer.is_time() {
        return exact;
    }
    let want: i64 = truth.parse().ok()?;
    let far = |value: &str| crate::question::number(value).map(|n| (n - want).abs());
    let all = prediction.choices.iter().enumerate().filter_map(|(i, (value, _))| Some((far(value)?, i)));
    all.min().map(|(_, i)| i)
}

/// Scores an answer: a choice's value, or what was typed.
pub fn grade(prediction: &Prediction, given: &str, truth: &str) -> Grade {
    let given = given.trim();
    if !prediction.choices.is_empty() {
        let chosen = prediction.choices.iter().position(|(value, _)| value == given);
        return if chosen.is_some() && chosen == right_choice(prediction, truth) {
            Grade::Right
        } else {
            Grade::Wrong
        };
    }
    if given.eq_ignore_ascii_case(truth) {
        return Grade::Right;
    }
    match (crate::question::number(given), truth.parse::<i64>()) {
        (Some(a), Ok(b)) if a == b => Grade::Right,
        (Some(a), Ok(b)) if (a - b).abs() <= 1.max(b.abs() / 10) => Grade::Close,
        _ => Grade::Wrong,
    }
}
