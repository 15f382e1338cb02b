//! What the page is told of a lesson.

use crate::{link::Saved, session::Session, words::marked};
use kubestep_lessons::{
    lesson::{Lesson, Prediction},
    predict::{Grade as Found, grade, right_choice},
    watch::{State, Watch},
};
use kubestep_model::Instant;
use kubestep_protocol::{
    Answered, Choice, GoalNow, GoalState, Grade, LessonNow, LessonText, ObjectRef, PredictionText, Rich,
    Span, Trapped,
};
use std::sync::Arc;

/// A text with marks, links to objects among them.
fn rich(text: &str) -> Rich {
    let mut found = Rich::default();
    let mut rest = text;
    while let Some((before, words, target, after)) = link(rest) {
        found.0.extend(marked(before).0);
        let (kind, name) = target.split_once('/').unwrap_or((target, ""));
        // Kinds outside namespaces are few in lessons.
        let namespace =
            if matches!(kind, "Node" | "Namespace" | "PersistentVolume") { "" } else { "default" };
        let object = ObjectRef { kind: kind.into(), namespace: namespace.into(), name: name.into() };
        found.0.push(Span::Object(object, words.into()));
        rest = after;
    }
    found.0.extend(marked(rest).0);
    found
}

/// The first link to an object: what stands before it, its words, its target, what follows.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](#")?;
    let start = text[..middle].rfind('[')?;
    let (target, after) = text[middle + 3..].split_once(')')?;
    Some((&text[..start], &text[start + 1..middle], target, after))
}

/// What the inspector should show.
pub(crate) fn select(lesson: &Lesson) -> Option<ObjectRef> {
    let (kind, name) = lesson.select.clone()?;
    Some(ObjectRef { kind, namespace: "default".into(), name })
}

/// The texts.
pub(crate) fn text(lesson: &Lesson) -> LessonText {
    let all = |list: &[String]| list.iter().map(|t| rich(t)).collect();
    let prediction = |p: &Prediction| PredictionText {
        ask: rich(&p.ask),
        choices: p
            .choices
            .iter()
            .map(|(value, words)| Choice { value: value.clone(), words: rich(words) })
            .collect(),
    };
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    LessonText {
        id: lesson.id.clone(),
        language: lesson.language.clone(),
        part: lesson.part.clone(),
        chapter: lesson.chapter.clone(),
        minutes: lesson.minutes,
        text: all(&lesson.text),
        goals: lesson.goals.iter().map(|g| rich(&g.say)).collect(),
        predictions: lesson.predictions.iter().map(prediction).collect(),
        hints: count(lesson.hints.len()),
        solution: count(lesson.solution.len()),
        debrief: all(&lesson.debrief),
    }
}

/// What the learner had put in, up to the moment that is looked at, since the lesson began.
fn inputs(session: &Session) -> &[Saved] {
    let saved = &session.track().saved;
    let end = if session.at_present() && session.peeking.is_none() {
        saved.len()
    } else {
        session.moment(session.step()).map_or(saved.len(), |m| m.inputs)
    };
    saved.get(session.scenario_inputs..end.min(saved.len())).unwrap_or_default()
}

fn all_inputs(session: &Session) -> &[Saved] {
    session.track().saved.get(session.scenario_inputs..).unwrap_or_default()
}

/// How many steps of the solution were shown.
pub(super) fn shown(session: &Session) -> usize {
    inputs(session).iter().filter(|s| matches!(s, Saved::Shown)).count()
}

fn watch(session: &Session) -> Option<Arc<Watch>> {
    let lesson = session.lesson.as_ref()?;
    let note = session.note();
    let mut watch = note.watch.clone()?;
    Arc::make_mut(&mut watch).follow(lesson, session.world(), &note.gaps);
    Some(watch)
}

/// The first question that has come up and was not answered. None while the solution is shown.
fn waiting(lesson: &Lesson, watch: &Watch, inputs: &[Saved]) -> Option<u32> {
    if inputs.iter().any(|s| matches!(s, Saved::Shown)) {
        return None;
    }
    let answered =
        |i: usize| inputs.iter().any(|s| matches!(s, Saved::Predicted { index, .. } if *index as usize == i));
    let due = (0..lesson.predictions.len()).find(|i| watch.due[*i].is_some() && !answered(*i))?;
    u32::try_from(due).ok()
}

/// The question that waits at the moment that is looked at.
pub(crate) fn asks(session: &Session) -> Option<u32> {
    let lesson = session.lesson.as_ref()?;
    waiting(lesson, &*watch(session)?, inputs(session))
}

/// The same for the present, without a look at the clock.
pub(crate) fn asks_live(session: &Session) -> Option<u32> {
    let lesson = session.lesson.as_ref()?;
    let watch = session.track().notes.last()?.watch.as_ref()?;
    waiting(lesson, watch, all_inputs(session))
}

/// The hint that can be asked for next.
pub(super) fn next_hint(session: &Session) -> Option<usize> {
    let watch = watch(session)?;
    let used = inputs(session).iter().filter(|s| matches!(s, Saved::Hinted)).count();
    watch.hints.get(used).copied().flatten().map(|_| used)
}

/// Where the learner stands.
pub(crate) fn now(session: &Session) -> Option<LessonNow> {
    let lesson = session.lesson.as_ref()?;
    let watch = watch(session)?;
    let inputs = inputs(session);
    let hints = inputs.iter().filter(|s| matches!(s, Saved::Hinted)).count();
    let beside = |s: &&Saved| matches!(s, Saved::Predicted { .. } | Saved::Hinted | Saved::Shown);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(LessonNow {
        goals: goals(session, lesson, &watch),
        solved: watch.solved.map(|at| session.at(at)),
        trapped: trapped(session, lesson, &watch),
        asks: asks(session),
        answers: (0..lesson.predictions.len()).map(|i| answered(lesson, inputs, i)).collect(),
        hints: lesson.hints.iter().take(hints).map(|h| rich(&h.say)).collect(),
        more_hints: next_hint(session).is_some(),
        shown: count(shown(session)),
        acts: count(inputs.iter().filter(|s| !beside(s)).count()),
    })
}

fn goals(session: &Session, lesson: &Lesson, watch: &Watch) -> Vec<GoalNow> {
    let at = |instant: Instant| session.at(instant);
    let one = |(goal, state): (&kubestep_lessons::lesson::Goal, &State)| GoalNow {
        state: match state {
            State::Open => GoalState::Open,
            State::Holding(since) => GoalState::Holding(at(*since), at(*since + goal.hold)),
            State::Done(then) => GoalState::Done(at(*then)),
            State::Broken(then) => GoalState::Broken(at(*then)),
        },
        now: goal.question.now(session.world(), &session.note().gaps),
    };
    lesson.goals.iter().zip(&watch.goals).map(one).collect()
}

fn trapped(session: &Session, lesson: &Lesson, watch: &Watch) -> Option<Trapped> {
    let index = watch.trapped()?;
    let at = watch.traps.get(index).copied().flatten()?;
    let trap = lesson.traps.get(index)?;
    let notes = &session.track().notes;
    let inside = |n: &crate::session::Note| {
        n.watch.as_ref().is_some_and(|w| w.traps.get(index).is_some_and(Option::is_some))
    };
    let first = notes.iter().position(inside).unwrap_or(notes.len());
    Some(Trapped {
        words: rich(&trap.say),
        at: session.at(at),
        back: u32::try_from(first.saturating_sub(1)).unwrap_or(0),
        forbidden: trap.forbidden,
    })
}

fn answered(lesson: &Lesson, inputs: &[Saved], index: usize) -> Option<Answered> {
    let prediction = lesson.predictions.get(index)?;
    inputs.iter().rev().find_map(|s| match s {
        Saved::Predicted { index: i, answer, truth } if *i as usize == index => {
            let choice = right_choice(prediction, truth).and_then(|i| prediction.choices.get(i));
            Some(Answered {
                given: answer.clone(),
                truth: choice.map_or_else(|| Rich::words(truth.as_str()), |(_, words)| rich(words)),
                grade: match answer.as_ref().map(|a| grade(prediction, a, truth)) {
                    None => Grade::Skipped,
                    Some(Found::Right) => Grade::Right,
                    Some(Found::Close) => Grade::Close,
                    Some(Found::Wrong) => Grade::Wrong,
                },
                because: rich(&prediction.because),
            })
        }
        _ => None,
    })
}
