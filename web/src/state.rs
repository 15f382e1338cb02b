//! Everything the page knows, and the one pure function that changes it.
//!
//! Two halves, kept apart: [`Ui`] is the person's (drafts, selection, open panels, theme; never rewound), the rest is
//! the engine's last word (replaced, never edited). [`reduce`] takes a state and a message and gives a state and the
//! effects to perform; it touches no browser, so it is tested natively.

mod embed;
mod engine;
mod files;
mod keys;
mod lesson;
mod msg;
mod outside;
mod prefs;
mod run;
mod terminal;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_run;
mod time;
mod ui;

use std::rc::Rc;
use std::sync::Arc;

use kubestep_protocol::*;

pub use embed::Embed;
pub use files::{File, name_problem};
pub use keys::{KEY_MAP, KeyPress, is_single_key};
pub use lesson::{CourseEntry, LessonMsg, Progress};
pub use msg::{Effect, FileMsg, Msg, TermMsg, TimeMsg};
pub use prefs::{Prefs, StoredDraft};
pub use run::StoredRun;
pub use terminal::{TERMINALS, ends};
pub use time::Speed;

/// How the simulator is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Health {
    /// Its worker is being loaded.
    #[default]
    Starting,
    /// It answers.
    Ready,
    /// It stopped and is being started again; so many times in a row.
    Restarting(u8),
    /// It cannot be started.
    Gone,
}

/// The row above the columns.
#[derive(Clone, Debug, PartialEq)]
pub enum Banner {
    /// The simulator stopped and was started again at this step; the request that was under way.
    Restarted(u32, Option<Command>, String),
    /// It cannot be started.
    Dead(String),
    /// A link could not be opened.
    Link(LinkRefused),
    /// Drafts will not survive a reload.
    NoStorage,
    /// The run of before the reload was put back, at this step.
    Back(u32),
    /// Something the engine has to say.
    Notice(Notice),
}

/// What floats over the page; at most one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// *Break it*.
    Break,
    /// Faults.
    Faults,
    /// A node's menu.
    Node(Id),
    /// An image's menu.
    Image(Id),
    /// What an image's process does.
    Behaviour(Id),
    /// A pod's menu.
    Pod(Id),
    /// *Until…*
    Until,
    /// *Who moves next*.
    Moves,
    /// *Share*.
    Share,
    /// The list of keys.
    Keys,
    /// What is modelled.
    Models,
    /// ⋯ on narrow screens.
    More,
    /// All steps.
    Steps,
    /// The map of lessons.
    Course,
    /// The file in front: its name, closing it, those that were closed.
    File,
}

/// Objects or Loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// The board.
    #[default]
    Objects,
    /// The loops around the API server.
    Loops,
}

/// Which panel a phone shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phone {
    /// The board.
    #[default]
    Cluster,
    /// The inspector.
    Why,
    /// The file.
    File,
    /// The terminal.
    Terminal,
}

/// When single keys act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SingleKeys {
    /// Everywhere but in text fields and menus.
    #[default]
    On,
    /// Only while the time panel has the focus.
    Time,
    /// Never.
    Off,
}

/// A column whose width can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The file.
    Desired,
    /// The inspector.
    Inspect,
}

impl Column {
    /// 50 columns of code and the ruler must always fit.
    pub fn least(self) -> u32 {
        match self {
            Column::Desired => 388,
            Column::Inspect => 396,
        }
    }
}

/// An item of the board's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// An object's row.
    Row(Id),
    /// A pod.
    Pod(Id),
    /// The line that folds the quiet kinds.
    Others,
}

/// The person's half.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ui {
    /// The editor's files.
    pub files: Rc<Vec<File>>,
    /// Which is in front.
    pub front: usize,
    /// The names of files that came and that the person has closed.
    pub closed: Rc<Vec<Rc<str>>>,
    /// What is kept between visits.
    pub prefs: Prefs,
    /// Objects or loops.
    pub view: View,
    /// At 720 to 1239 px: the inspector instead of the file.
    pub side_inspect: bool,
    /// The phone's panel.
    pub phone: Phone,
    /// The terminal is open.
    pub dock: bool,
    /// The inspector is wide.
    pub wide: bool,
    /// What floats.
    pub open: Option<Open>,
    /// The selected object.
    pub selected: Option<ObjectRef>,
    /// The inspector's tab.
    pub tab: Tab,
    /// Which scheduling attempt is shown; the last if none is chosen.
    pub attempt: Option<usize>,
    /// The board's item that Tab reaches.
    pub item: Option<Item>,
    /// Rows whose children are folded.
    pub folded: Rc<Vec<Id>>,
    /// The quiet kinds are shown.
    pub others: bool,
    /// The lesson's text stands before the file.
    pub lesson: bool,
    /// The terminal's input line.
    pub input: Rc<str>,
    /// The lines of which it is the next: a text behind `<<`, an open quote. Each with its end.
    pub above: Rc<str>,
    /// Lines typed before, newest last.
    pub typed: Rc<Vec<Rc<str>>>,
    /// Where in `typed` we are, counted from the end; 0: a new line.
    pub typed_at: usize,
    /// What stood in the line before one searched the lines typed before.
    pub searched_from: Option<Rc<str>>,
    /// Choices that Tab found.
    pub choices: Rc<Vec<String>>,
    /// The terminal that is shown, if it is open.
    pub terminal: u8,
    /// The next press of × closes the terminal, in the past too.
    pub closing: bool,
    /// Terminals that were opened here; those with lines are told by the lines.
    pub opened: Rc<Vec<u8>>,
    /// What stood in the other terminals' lines, and what had been typed there.
    pub shelved: Rc<Vec<(u8, Rc<str>, Rc<Vec<Rc<str>>>)>>,
    /// The window's width and height.
    pub window: (u32, u32),
    /// The widths of the file and the inspector, where the person changed them.
    pub widths: (Option<u32>, Option<u32>),
}

impl Ui {
    /// What is typed in the terminal, with the lines above.
    fn line(&self) -> Rc<str> {
        format!("{}{}", self.above, self.input).into()
    }

    /// One column, and a finger.
    pub fn is_phone(&self) -> bool {
        self.window.0 < 720
    }

    /// A dialog covers the page.
    pub fn has_dialog(&self) -> bool {
        matches!(self.open, Some(Open::Models | Open::Keys | Open::Course | Open::Behaviour(_)))
    }
}

/// The whole page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The person's half.
    pub ui: Ui,
    /// How the simulator is.
    pub health: Health,
    /// What it offers.
    pub hello: Option<Rc<Hello>>,
    /// What is open.
    pub loaded: Rc<Loaded>,
    /// The picture.
    pub frame: Option<Rc<Frame>>,
    /// Rows and pods that went away at the last single steps and keep their place.
    pub ghosts: Rc<Ghosts>,
    /// The inspector's content.
    pub details: Option<Rc<Details>>,
    /// The sentences so far, of the shown branch.
    pub steps: Rc<Vec<StepLine>>,
    /// What *Break it* offers.
    pub breaks: Rc<Vec<BreakItem>>,
    /// Who could move next.
    pub moves: Rc<Vec<MoveRow>>,
    /// The link that was asked for.
    pub shared: Option<Rc<Shared>>,
    /// The link was copied, or could not be.
    pub copied: Option<bool>,
    /// Recomputing from the start gave the same hash, or not.
    pub recomputed: Option<bool>,
    /// The row above the columns.
    pub banner: Option<Rc<Banner>>,
    /// How long things take.
    pub latencies: Rc<Vec<(String, u64)>>,
    /// What `Restore` takes.
    pub kept: Option<Rc<str>>,
    /// Requests that were not answered yet.
    pub pending: Rc<Vec<(CommandId, Command)>>,
    /// Presses of Apply that wait for the one before.
    pub applies: u32,
    /// Playing.
    pub playing: bool,
    /// The worker listens.
    pub line: bool,
    /// A session is open in it.
    pub open: bool,
    /// What was asked while there was none.
    pub queue: Rc<Vec<Command>>,
    /// The next number.
    pub next: u32,
    /// A link to open once the simulator answers.
    pub link: Option<Rc<str>>,
    /// A moment to show once the present one is drawn: the last of several drags.
    pub peek: Option<Moment>,
    /// The run that was stored before the page was loaded.
    pub run: Option<Rc<StoredRun>>,
    /// It is being put back, at this step.
    pub back: Option<u32>,
    /// The place of the browser's history to open once the simulator answers.
    pub place: Option<Rc<StoredRun>>,
    /// A place was gone back to and is not open yet.
    pub going: bool,
    /// What was opened is there.
    pub settled: bool,
    /// What stands in the address.
    pub address: Rc<str>,
    /// The person has acted or moved on since the start.
    pub acted: bool,
    /// The map of lessons, once it was fetched.
    pub course: Option<Rc<Vec<CourseEntry>>>,
    /// What was done in lessons.
    pub progress: Rc<Progress>,
    /// The lesson to open once there is a map, and the step to show then.
    pub wanted: Option<String>,
    /// The step of the address.
    pub wanted_step: Option<u32>,
    /// The files of the open lesson, for an engine that is started anew.
    pub lesson_docs: Rc<Vec<Doc>>,
    /// The open lesson is to be shown in another language, where it is.
    pub translated: bool,
    /// Kubernetes' descriptions were asked for.
    pub described: bool,
    /// The place that is asked about once they are there.
    pub help: Option<(u32, u32)>,
    /// What this page is as a figure in somebody's page.
    pub embed: Option<Rc<Embed>>,
    /// The manifest that came with the address, until its cluster is there.
    pub manifest: Option<Rc<str>>,
    /// How the last act or run came to its end, and why it was refused: for the page around a figure.
    pub ended: (&'static str, Rc<str>),
    /// A link to open again once its lesson's files are there.
    pub again: Option<Rc<str>>,
    /// Files that came with a link or scenario the person left have to be told from drafts: the drafts of before.
    pub stored: Rc<Vec<StoredDraft>>,
}

/// What has gone but keeps its place until the person moves on by more than one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ghosts {
    /// Rows.
    pub rows: Vec<Arc<Row>>,
    /// Pods.
    pub pods: Vec<Arc<Pod>>,
}

/// A line of the Steps log.
#[derive(Clone, Debug, PartialEq)]
pub enum StepLine {
    /// A step.
    Step(Rc<Sentence>),
    /// What a run said at its end, after this step.
    Said(u32, Rich),
}

/// The next state and what has to be done. Total: any message in any state has an answer.
pub fn reduce(state: &State, msg: Msg) -> (State, Vec<Effect>) {
    let mut next = state.clone();
    let mut todo = Vec::new();
    next.take(msg, &mut todo);
    (next, todo)
}

impl State {
    fn take(&mut self, msg: Msg, todo: &mut Vec<Effect>) {
        if self.forbids(&msg) {
            return;
        }
        match msg {
            Msg::Start(prefs, stored, fragment) => self.start(prefs, stored, fragment, todo),
            Msg::Stored(query, run, progress) => {
                self.query(&query);
                self.embed = Embed::of(&query).map(Rc::new);
                self.run = run.map(Rc::new);
                self.progress = Rc::new(progress);
            }
            Msg::Lesson(msg) => self.lessons(msg, todo),
            Msg::EngineReady => {
                self.line = true;
                self.ask(Command::Hello, todo);
            }
            Msg::Engine(updates) => {
                for update in updates {
                    self.update(update, todo);
                }
            }
            Msg::EngineDied(why) => self.died(why, todo),
            Msg::Descriptions(text) => {
                self.ask(Command::Descriptions(text), todo);
                if let Some((line, column)) = self.help.take() {
                    self.ask_help(line, column, todo);
                }
            }
            Msg::NoStorage => self.banner = Some(Rc::new(Banner::NoStorage)),
            Msg::Resized(width, height) => {
                self.ui.window = (width, height);
                todo.push(Effect::Look);
            }
            Msg::Fragment(text) => self.fragment(&text, todo),
            Msg::Went(run, drafts) => self.went(run, drafts, todo),
            Msg::Time(msg) => self.time(msg, todo),
            Msg::File(msg) => self.file(msg, todo),
            Msg::Term(msg) => self.term(msg, todo),
            Msg::Key(press) => self.key(press, todo),
            Msg::Scenario(id) => self.scenario(id, todo),
            Msg::Act(command) => self.act(command, todo),
            Msg::End(act) => self.end(act, todo),
            Msg::Share => self.share(todo),
            Msg::Copy | Msg::Copied(_) | Msg::Recompute => self.link_msg(&msg, todo),
            Msg::CopyText(text) => todo.push(Effect::CopyText(text)),
            Msg::TryAgain => self.try_again(todo),
            Msg::Outside(text) => self.asked_from_outside(&text, todo),
            other => self.panels(other, todo),
        }
    }

    /// Sends a command; its number stays in `pending` until `Done`.
    pub(crate) fn ask(&mut self, command: Command, todo: &mut Vec<Effect>) {
        use Command::*;
        if self.health == Health::Gone {
            return;
        }
        let opens = matches!(
            command,
            LoadScenario(_)
                | LoadLink(_)
                | LoadLesson(_)
                | Lessons { .. }
                | Restore { .. }
                | Limit { .. }
                | Drawn(_)
                | Whole
        );
        if !(command == Hello || self.line && (self.open || opens)) {
            Rc::make_mut(&mut self.queue).push(command);
            return;
        }
        self.acted |= run::moves_on(&command);
        let id = CommandId(self.next);
        self.next += 1;
        if !matches!(command, Command::Drawn(_)) {
            Rc::make_mut(&mut self.pending).push((id, command.clone()));
        }
        todo.push(Effect::Send(Request { id, command }));
    }

    /// Whether a request of this sort is under way.
    pub fn waits_for(&self, sort: impl Fn(&Command) -> bool) -> bool {
        self.pending.iter().any(|(_, c)| sort(c))
    }

    /// A run is going on.
    pub fn running(&self) -> bool {
        use Command::*;
        self.playing
            || self.waits_for(|c| {
                matches!(c, Step { .. } | Reconcile | UntilCalm | Advance { .. } | Play { .. } | Until(_))
            })
    }

    /// The shown moment.
    pub fn moment(&self) -> Moment {
        self.frame.as_ref().map_or_else(Moment::default, |f| f.head.moment)
    }

    /// The file in front.
    pub fn front(&self) -> Option<&File> {
        self.ui.files.get(self.ui.front)
    }
}
