//! What the page asks of the engine.

use serde::{Deserialize, Serialize};

use crate::{Id, ObjectRef};

/// The number of a request, counted up by the page. Answers name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommandId(pub u32);

/// The number of a frame, counted up by the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub u32);

/// The number of a timeline. The first is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BranchId(pub u32);

/// A moment: after so many steps of a branch. Step 0 is the session's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// Which timeline.
    pub branch: BranchId,
    /// How many steps have been made.
    pub step: u32,
}

/// One message from the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its number.
    pub id: CommandId,
    /// What is asked.
    pub command: Command,
}

/// A file of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doc {
    /// `checkout.yaml`.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// Everything the page can ask.
///
/// Commands marked *act* are inputs of the session: they are put at the shown moment; when that lies in the past a new
/// branch begins. Commands marked *run* move on from the shown moment, in slices (`Engine::idle`), until they end with
/// [`crate::Update::Done`]. Where the branch already has a next step and nothing was changed, a run replays it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// First message of a page: answered by [`crate::Update::Hello`]. Nothing is loaded yet.
    Hello,
    /// The page has drawn this frame and can take another.
    Drawn(FrameId),
    /// The page's frame is not the base of the delta it got: send a whole one.
    Whole,

    /// Starts a scenario from its first moment. Answered by [`crate::Update::Loaded`] and a frame.
    LoadScenario(String),
    /// Opens a shared link: the fragment's text without `#`. Answered by `Loaded` or [`crate::Update::LinkRefused`].
    LoadLink(String),
    /// After the engine was started anew: puts back what the last [`crate::Update::Kept`] held, at this moment.
    Restore {
        /// The text of `Kept`.
        save: String,
        /// Where the page stood.
        moment: Moment,
    },
    /// Hands over the Markdown files of lessons by their paths, so that they, and links into them, can be opened. Later
    /// ones replace earlier ones of the same path.
    Lessons {
        /// The files.
        sources: Vec<Doc>,
        /// In which language they are shown.
        language: String,
    },
    /// The file with Kubernetes' own descriptions of fields, fetched because [`crate::Update::WantsDescriptions`] asked for
    /// it; empty if it could not be fetched.
    Descriptions(String),
    /// Starts a lesson from its first moment, by its id. Its files have been handed over with `Lessons`. Answered by
    /// [`crate::Update::Loaded`] and a frame. The same command starts it anew (Reset).
    LoadLesson(String),
    /// *Act.* Answers the question that waits; `None` skips it.
    Predict {
        /// Which.
        index: u32,
        /// A choice's value, or what was typed.
        answer: Option<String>,
    },
    /// *Act.* Asks for the next hint.
    Hint,
    /// *Act.* Plays the next step of the solution, marked, on a line of time of its own that begins where the lesson does.
    /// Where it edits a file, [`crate::Update::Files`] says how it reads now.
    ShowMe,
    /// Makes a link to the shown moment. Answered by [`crate::Update::Shared`].
    Share {
        /// The editor's files, so that the link opens with the same drafts.
        files: Vec<Doc>,
    },

    /// Reads a draft without committing anything. Answered by [`crate::Update::Checked`] with the same version.
    Check {
        /// The file.
        doc: Doc,
        /// The page's version of the draft; older answers are dropped.
        version: u32,
    },
    /// What could be broken in this file. Answered by [`crate::Update::BreakMenu`].
    BreakMenu {
        /// The file.
        doc: Doc,
    },
    /// *Act.* `kubectl apply -f <name>`; the words go to the frame's `apply`.
    Apply {
        /// The file.
        doc: Doc,
    },
    /// *Act.* A line typed in a terminal, beginning with `kubectl`; the words go to the frame's `terminal`.
    Kubectl {
        /// Which terminal; 0 is the page's own.
        terminal: u8,
        /// The line as typed.
        line: String,
        /// The editor's files: a command may name one with `-f`.
        files: Vec<Doc>,
    },
    /// *Act.* Ctrl-C in a terminal: ends the command that waits there.
    Interrupt {
        /// Which terminal.
        terminal: u8,
    },
    /// Tab in a terminal. Answered by [`crate::Update::Completions`].
    Complete {
        /// Which terminal.
        terminal: u8,
        /// The line so far, up to the cursor.
        line: String,
    },

    /// *Run.* One visible change; with `inner`, one delivery, thought or request.
    Step {
        /// Expert view.
        inner: bool,
    },
    /// Shows the moment before.
    Back,
    /// Shows the next moment of this branch, if there is one.
    Forward,
    /// Shows a moment; acting there would start a branch.
    Seek(Moment),
    /// Shows a moment while the handle is being dragged: nothing is remembered. Ended by `Seek`.
    Peek(Moment),
    /// *Run.* Until the controller that moves next has settled its key.
    Reconcile,
    /// *Run.* Until Converged or Stalled, one virtual hour, or 10,000 steps.
    UntilCalm,
    /// *Run.* So many virtual milliseconds.
    Advance {
        /// How long.
        millis: u64,
    },
    /// *Run.* One slice of playing: at most so much virtual time and so many steps. The page sends the next one itself.
    Play {
        /// At most this much virtual time.
        millis: u64,
        /// At most this many steps.
        steps: u32,
    },
    /// *Run.* Until something comes true, with the same bounds as `UntilCalm`.
    Until(Until),
    /// Ends the run that is going on; its `Done` says so.
    Pause,

    /// *Act.* Switches a fault of the frame's `faults` on or off.
    Fault {
        /// Its id.
        id: String,
        /// Whether it should be.
        on: bool,
    },
    /// *Act.* Something about a node.
    Node(NodeAct),
    /// *Act.* Something about the registry.
    Image(ImageAct),
    /// *Act.* Something about one pod.
    Pod {
        /// Which.
        pod: ObjectRef,
        /// What.
        act: PodAct,
    },
    /// *Act.* The labelled what-if: the check of immutable selectors off (`true`) or on.
    WhatIf(bool),
    /// The person's limit for the age of a gap, in milliseconds. Colours, and `Until::PastLimit`.
    Limit {
        /// How long a gap may be open.
        millis: u64,
    },

    /// The inspector shows this object and this tab from now on; [`crate::Update::Details`] comes with every frame.
    Select {
        /// `None` closes the inspector.
        object: Option<ObjectRef>,
        /// Which tab.
        tab: Tab,
    },
    /// The sentences of these steps of the shown branch (at most 500). Answered by [`crate::Update::Sentences`].
    Sentences {
        /// The first step.
        from: u32,
        /// One past the last.
        to: u32,
    },
    /// Who could move next. Answered by [`crate::Update::Moves`].
    Moves,
    /// *Act.* Somebody moves before his turn; by the id of a [`crate::MoveRow`].
    Choose(String),
    /// Looks through other orders of what may happen from the shown moment on, until one comes to another end than the
    /// order by time; the session is then led there, and [`crate::Update::Shared`] links to it. In slices, within a
    /// budget; ended by any other act, run or `Pause`. [`crate::Update::Notice`] says what came of it.
    Race,
    /// Sends one request to a Service, as a program in the cluster would, and says what comes of it in a
    /// [`crate::Update::Notice`]. Nothing in the cluster changes.
    Send(ObjectRef),
    /// Goes over to another timeline, at its last moment.
    Branch(BranchId),
    /// The hash of the shown world. Answered by [`crate::Update::Hashed`].
    Hash,
    /// Throws away every kept snapshot: what is shown next is computed again from the inputs.
    DropSnapshots,
    /// The table of latencies. Answered by [`crate::Update::Latencies`].
    Latencies,
    /// What stands at a place of a file. Answered by [`crate::Update::Field`].
    Field {
        /// The file.
        doc: Doc,
        /// Line, counted from 1.
        line: u32,
        /// Column, counted from 1.
        column: u32,
    },
}

/// The inspector's tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tab {
    /// The chain of causes, the blocker, who says so.
    #[default]
    Why,
    /// `kubectl describe`.
    Describe,
    /// The object with what changed at this step and who wrote it.
    Yaml,
    /// Events of this object and of what it owns.
    Events,
    /// Every write to this object.
    History,
    /// Every request about this object, whether or not it changed anything.
    Audit,
}

/// What a run may wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// Somebody says something about the gap: a condition changes or a new event appears on an object of its chain.
    Spoken,
    /// A gap is older than the person's limit.
    PastLimit,
    /// This object changes.
    Changes(ObjectRef),
    /// This loop acts.
    Moves(Id),
    /// A question in kubectl's words is true: `pods -l app=checkout ready == 3`.
    Question(String),
}

/// What can be done to nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeAct {
    /// One more node of the usual size.
    Add,
    /// Its machine stops: the kubelet goes silent.
    Stop(String),
    /// Its machine starts again.
    Start(String),
    /// `kubectl cordon`.
    Cordon(String),
    /// `kubectl uncordon`.
    Uncordon(String),
    /// Stops it and deletes its Node object.
    Remove(String),
}

/// What can be done to images in the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageAct {
    /// The registry has it from now on.
    Push(String),
    /// The registry has it no longer.
    Remove(String),
    /// A pull of it takes so many milliseconds.
    Slow(String, u64),
    /// Pulls of it are denied (`true`) or allowed.
    Deny(String, bool),
    /// What its process does from now on: keys of a row of the registry, with their values as typed; what is not named
    /// is as usual. Containers that run go on as they began.
    Behave(String, Vec<(String, String)>),
}

/// What can be done to a pod outside the API, and the two things people do to it with kubectl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PodAct {
    /// `kubectl delete pod`.
    Delete,
    /// `kubectl label pod KEY=VALUE --overwrite`; without a value the label is taken away.
    Label(String, Option<String>),
    /// A container ends now with this exit code; the first one if no name is given.
    Crash(Option<String>, i32),
    /// The readiness probe of its containers answers so from now on; `None` as the image says.
    Probe(Option<bool>),
    /// All pods with its labels share so many thousandths of a core from now on.
    Load(u32),
}
