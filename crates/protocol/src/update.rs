//! What the engine answers.

use serde::{Deserialize, Serialize};

use crate::{
    At, BreakItem, Checked, CommandId, Delta, Details, Doc, FieldDoc, Frame, LessonText, Moment, ObjectRef,
    Rich, Sentence, VerdictKind, Who,
};

/// One answer. A command may have several, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// The engine is there: what it models and what it offers.
    Hello(Hello),
    /// A whole picture.
    Frame(Box<Frame>),
    /// What changed since the frame it names.
    Delta(Box<Delta>),
    /// The inspector's content for the frame just sent.
    Details(Box<Details>),
    /// A scenario or link was opened; its frame follows.
    Loaded(Loaded),
    /// A link cannot be opened. What was shown stays.
    LinkRefused(LinkRefused),
    /// Something that is shown names descriptions of Kubernetes' fields: the page fetches their file. Sent once.
    WantsDescriptions,
    /// A step of a lesson's solution changed these files, or `kubectl edit` opens them: the editor shows them so.
    Files(Vec<Doc>),
    /// The session as it now is: what `Restore` takes. After every act.
    Kept(String),
    /// The answer to `Share`.
    Shared(Shared),
    /// The answer to `Check`.
    Checked(Checked),
    /// The answer to `BreakMenu`.
    BreakMenu(Vec<BreakItem>),
    /// The answer to `Complete`.
    Completions(Completions),
    /// The answer to `Sentences`.
    Sentences(Vec<Sentence>),
    /// The answer to `Hash`.
    Hashed {
        /// Of which moment.
        moment: Moment,
        /// In hexadecimal.
        hash: String,
    },
    /// The answer to `Moves`: by the time at which they are due; the first is the one that Step takes. At most 200.
    Moves(Vec<MoveRow>),
    /// The answer to `Latencies`.
    Latencies(Vec<(String, u64)>),
    /// A command has ended; for a run, why it stopped. Every request but `Drawn` gets exactly one.
    Done {
        /// Which.
        id: CommandId,
        /// Why.
        stop: Stop,
        /// Steps made.
        steps: u32,
    },
    /// Something to say in one row above the columns.
    Notice(Notice),
    /// The engine ended by an assertion of its own; sent by the worker's panic hook, it is its last message.
    Broken(Broken),
    /// The answer to `Field`: `None` where no field of Kubernetes stands.
    Field(Option<FieldDoc>),
}

/// What the engine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// `Kubernetes v1.37`.
    pub models: String,
    /// The engine's own version.
    pub version: String,
    /// The link formats it reads, newest first.
    pub formats: Vec<u32>,
    /// What can be started, in order; the first is the opening story.
    pub scenarios: Vec<Scenario>,
}

/// An entry of the scenario list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// What `LoadScenario` names: `P05`.
    pub id: String,
    /// "Start here", "Stuck", "Who owns what".
    pub group: String,
    /// "A tag that does not exist".
    pub title: String,
    /// "One letter wrong, and silence".
    pub blurb: String,
    /// About how long it takes.
    pub minutes: u32,
}

/// A session has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The scenario it began from; empty for none.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// The editor's files.
    pub files: Vec<Doc>,
    /// Which file is in front.
    pub front: u32,
    /// What the inspector should show.
    pub select: Option<ObjectRef>,
    /// The teacher, before the first step: "Press **Apply**. Then **Step**, and watch who moves."
    pub opening: Rich,
    /// How it came about.
    pub by: LoadedBy,
    /// A replay that ended with another hash than the link says: from which step on it differs.
    pub differs: Option<Rich>,
    /// The lesson that it is part of.
    pub lesson: Option<Box<LessonText>>,
}

/// How a session was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadedBy {
    /// `LoadScenario`: the files replace drafts of another scenario.
    #[default]
    Scenario,
    /// `LoadLink`: the files are the link's.
    Link,
    /// `Restore`: the page keeps its drafts.
    Restore,
}

/// Why a link cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkRefused {
    /// It is not whole, or not a link: how, and the scenario it names if that can be read.
    Damaged {
        /// "About a third of it is missing".
        words: String,
        /// Scenario id.
        scenario: Option<String>,
    },
    /// It was made by a newer version.
    Newer {
        /// Its format.
        format: u32,
        /// The formats this engine reads.
        reads: Vec<u32>,
    },
    /// It asks for more than this page allows (steps, size).
    TooLarge(String),
    /// It leads into a lesson whose files were not handed over: fetch them, send `Lessons`, and open the link again.
    Lesson(String),
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// What stands behind `#`: begins with the format number.
    pub text: String,
    /// The moment it holds.
    pub moment: Moment,
    /// The hash of the world there.
    pub hash: String,
}

/// The answer to Tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completions {
    /// The line that was asked about.
    pub line: String,
    /// The line with what is certain added.
    pub completed: String,
    /// The choices for the last word, where there is more than one; at most 50.
    pub choices: Vec<String>,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It did what was asked.
    Finished,
    /// Calm, with this verdict.
    Calm(VerdictKind),
    /// One virtual hour has passed.
    Hour,
    /// 10,000 steps were made.
    Steps,
    /// Nothing is left that could move.
    Quiet,
    /// What was waited for came true, in words.
    True(Rich),
    /// `Pause`, or another command came.
    Interrupted,
    /// The command waits in virtual time (`rollout status`).
    Waits,
    /// It cannot be done, and why ("No step before this one").
    Refused(Rich),
}

/// Something that may happen next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRow {
    /// What `Choose` names.
    pub id: String,
    /// Who would move.
    pub who: Who,
    /// "The scheduler reads: Pod x2k4p changed."
    pub words: Rich,
    /// When it would happen by itself.
    pub due: At,
    /// It only waits for the clock.
    pub timer: bool,
}

/// Something to say once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What.
    pub words: Rich,
    /// It needs attention, not only information.
    pub warns: bool,
}

/// What the panic hook can say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// The assertion's message.
    pub message: String,
    /// File and line.
    pub place: String,
}
