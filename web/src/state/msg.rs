//! What can happen on the page, and what has to be done outside it.

use std::rc::Rc;

use kubestep_protocol::*;

use super::*;

/// Everything that can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// The page starts: what was stored, and the address' fragment.
    Start(Prefs, Vec<StoredDraft>, String),
    /// Before that: the address' query, the stored run, what was done in lessons.
    Stored(String, Option<StoredRun>, Progress),
    /// Lessons.
    Lesson(LessonMsg),
    /// The worker listens.
    EngineReady,
    /// Updates came.
    Engine(Vec<Update>),
    /// The worker died without a word, or could not be loaded.
    EngineDied(String),
    /// Kubernetes' descriptions were fetched; empty if they could not be.
    Descriptions(String),
    /// Storage was refused.
    NoStorage,
    /// The fragment changed.
    Fragment(String),
    /// Back or Forward has come to a place, whose drafts these are.
    Went(StoredRun, Vec<StoredDraft>),
    /// The window has this size now.
    Resized(u32, u32),

    /// The time controls.
    Time(TimeMsg),
    /// The files.
    File(FileMsg),
    /// The terminal.
    Term(TermMsg),
    /// A key that no field took.
    Key(KeyPress),

    /// Shows an object in the inspector.
    Select(ObjectRef),
    /// Another tab of the inspector.
    Tab(Tab),
    /// Another scheduling attempt.
    Attempt(usize),
    /// The board's item that has the focus now.
    Focused(Item),
    /// Folds or unfolds a row's children.
    Fold(Id),
    /// Shows or hides the quiet kinds.
    Others,
    /// Objects or Loops.
    View(View),
    /// The left column at middle widths.
    Side(bool),
    /// The phone's panel.
    Phone(Phone),
    /// Opens or closes the terminal.
    Dock,
    /// Widens or narrows the inspector.
    Widen,
    /// Another width of a column; `None`: as the page is made.
    Width(Column, Option<u32>),
    /// Light or dark.
    Theme,
    /// Another language is asked for.
    Learn(&'static str),
    /// Its words are there.
    Speaks(&'static str),
    /// The teacher speaks or is silent.
    Teacher,
    /// When single keys act.
    Keys(SingleKeys),
    /// The limit, in milliseconds.
    Limit(u64),
    /// Opens a menu, or closes it if it is the open one.
    Open(Open),
    /// Closes what floats; the focus goes to this element.
    Close(Option<&'static str>),
    /// The person has turned to something else: what floats closes, the focus is theirs.
    Away,
    /// Puts the banner away.
    Dismiss,

    /// Another scenario.
    Scenario(String),
    /// An act of the person in the cluster.
    Act(Command),
    /// A remedy's button.
    End(EndAct),
    /// Makes a link.
    Share,
    /// Copies the link.
    Copy,
    /// Copies a text as it is.
    CopyText(String),
    /// It was copied, or not.
    Copied(bool),
    /// Throws the snapshots away and compares the hash.
    Recompute,
    /// Sends again what was under way when the simulator stopped.
    TryAgain,
    /// The page around a figure asks for something.
    Outside(String),
}

/// The time controls.
#[derive(Clone, Debug, PartialEq)]
pub enum TimeMsg {
    /// One write.
    Step,
    /// One inner step.
    StepInside,
    /// One back.
    Back,
    /// One forward.
    Forward,
    /// One reconcile.
    Reconcile,
    /// Until calm.
    Calm,
    /// So many milliseconds.
    Advance(u64),
    /// Until something.
    Until(Until),
    /// Play or pause.
    Play,
    /// Another speed.
    Speed(Speed),
    /// A picture was drawn so many milliseconds after the last; while playing the next slice is due.
    Tick(f64),
    /// The handle was moved to this step and is still held.
    Drag(u32),
    /// The handle was let go, or moved by a key.
    Seek(u32),
    /// Another timeline.
    Branch(BranchId),
    /// The older or the newer timeline.
    Neighbour(bool),
    /// A frame was drawn.
    Drawn(FrameId),
}

/// The files.
#[derive(Clone, Debug, PartialEq)]
pub enum FileMsg {
    /// The text of a file changed.
    Draft(usize, String),
    /// The pause after typing is over.
    CheckDue(u32),
    /// Another file comes to the front.
    Front(usize),
    /// A new file.
    New,
    /// Another name for the file in front; one that cannot be is not taken.
    Rename(String),
    /// Closes the file in front, unless it is the only one.
    Close,
    /// Opens a file again that came and was closed.
    Reopen(Rc<str>),
    /// Puts back what the file was.
    Reset,
    /// Apply.
    Apply,
    /// An entry of *Break it*.
    Break(usize),
    /// Takes the last one back.
    Unbreak,
    /// The remedy of a problem.
    Remedy(Edit),
    /// What stands at this line and column of the front file?
    Help(u32, u32),
    /// Goes to a place in the front file, or in the named one.
    Go(Option<String>, u32, u32),
}

/// The terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TermMsg {
    /// The line changed.
    Input(String),
    /// Enter.
    Enter,
    /// An older (`true`) or newer line.
    History(bool),
    /// Tab.
    Complete,
    /// Ctrl-R: an older line that holds what is typed from now on.
    Search,
    /// Ctrl-C.
    Interrupt,
    /// One more terminal.
    New,
    /// Shows this one, if it is open.
    Go(u8),
    /// Closes the one that is shown.
    Close,
}

/// What has to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send to the engine.
    Send(Request),
    /// Start another worker.
    Restart,
    /// Say `Drawn` once the frame is on the screen.
    Drawn(FrameId),
    /// Ask for `Tick` with the next picture.
    NextSlice,
    /// Ask for `CheckDue` after a pause.
    CheckLater(u32),
    /// Fetch the file with Kubernetes' descriptions.
    FetchDescriptions,
    /// Keep these preferences.
    StorePrefs(Prefs),
    /// Keep these files of this scenario.
    StoreDrafts(String, Vec<StoredDraft>),
    /// Keep this run, or none.
    StoreRun(Option<StoredRun>),
    /// What was opened has a place in the browser's history, with this to find it again: a place of its own, or the one that is shown.
    Place(Option<StoredRun>, bool),
    /// Keep what was done in lessons.
    StoreProgress(Progress),
    /// Fetch the words of a language; `Speaks` follows.
    Learn(&'static str),
    /// Fetch the map of lessons.
    FetchCourse,
    /// Fetch the files of a lesson.
    FetchLesson(String, Vec<String>),
    /// Give the focus to the element with this id.
    Focus(String),
    /// Write this where commands are typed.
    Line(Rc<str>),
    /// Remember what has the focus, and give it to the element with this id, which floats.
    Into(String),
    /// Give the focus back to what had it before something floated; else to the element with this id.
    Return(String),
    /// Show a place in the editor, with the focus if asked.
    Go(u32, u32, bool),
    /// Show what is known of the field under the cursor.
    Help(Option<FieldDoc>),
    /// Copy a text; `Copied` follows.
    Copy(String),
    /// Copy a text as it is; `Copied` follows.
    CopyText(String),
    /// Put this into the address.
    Address(String),
    /// Draw the page in this look (attributes on the root and the body).
    Look,
}
