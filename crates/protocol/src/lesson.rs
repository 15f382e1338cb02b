//! A lesson as the page shows it: its texts, and where the learner stands in it at the shown moment.

use crate::{At, Rich};
use serde::{Deserialize, Serialize};

/// The texts of a lesson in one language. They come once, with [`crate::Loaded`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonText {
    /// What links name: `read-a-green-exit-code`.
    pub id: String,
    /// `en`, `de`.
    pub language: String,
    /// The course, or the drills.
    pub part: String,
    /// The chapter; empty for drills.
    pub chapter: String,
    /// About how long it takes.
    pub minutes: u32,
    /// What the teacher says before the first step, a paragraph each. One that begins with `- ` is an item of a list.
    pub text: Vec<Rich>,
    /// The goals, in the order of [`LessonNow::goals`].
    pub goals: Vec<Rich>,
    /// The questions, in the order of [`LessonNow::answers`].
    pub predictions: Vec<PredictionText>,
    /// How many hints there are.
    pub hints: u32,
    /// How many steps the shown way takes.
    pub solution: u32,
    /// What is said when it is solved.
    pub debrief: Vec<Rich>,
}

/// A question that is asked before a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionText {
    /// The question.
    pub ask: Rich,
    /// What can be chosen; empty: the answer is typed.
    pub choices: Vec<Choice>,
}

/// An answer that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What [`crate::Command::Predict`] names.
    pub value: String,
    /// What is shown.
    pub words: Rich,
}

/// Where the learner stands at the shown moment. Going back takes all of it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonNow {
    /// One for each goal.
    pub goals: Vec<GoalNow>,
    /// When everything was done: show the debrief.
    pub solved: Option<At>,
    /// A trap was stepped into on this line of time; nothing can be solved on it. The way back is an earlier step.
    pub trapped: Option<Trapped>,
    /// The question that waits for an answer before the next step, if one does.
    pub asks: Option<u32>,
    /// What was answered; `None` where nothing was asked yet.
    pub answers: Vec<Option<Answered>>,
    /// The hints that were asked for.
    pub hints: Vec<Rich>,
    /// Whether another hint can be asked for now.
    pub more_hints: bool,
    /// How many steps of the shown way were shown.
    pub shown: u32,
    /// How often the learner has acted on the cluster.
    pub acts: u32,
}

/// How a goal stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalNow {
    /// Which.
    pub state: GoalState,
    /// How what it asks about stands in one word: "2". Empty where there is nothing to count.
    pub now: String,
}

/// The states of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GoalState {
    /// Not reached.
    #[default]
    Open,
    /// So since then; it counts from the second time on if it stays so.
    Holding(At, At),
    /// Reached then.
    Done(At),
    /// Something that had to stay so did not: lost on this line of time.
    Broken(At),
}

/// A trap that was stepped into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trapped {
    /// What the teacher says.
    pub words: Rich,
    /// When.
    pub at: At,
    /// The last step before it.
    pub back: u32,
    /// It was a way that the lesson does not want, not one that leads nowhere.
    pub forbidden: bool,
}

/// An answer that was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// What was answered; `None`: it was skipped.
    pub given: Option<String>,
    /// The true answer, in the words of its choice where there is one.
    pub truth: Rich,
    /// How it was scored.
    pub grade: Grade,
    /// Why it is so.
    pub because: Rich,
}

/// How an answer is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grade {
    /// It was skipped.
    #[default]
    Skipped,
    /// As it turned out.
    Right,
    /// A number near to it.
    Close,
    /// Otherwise.
    Wrong,
}
