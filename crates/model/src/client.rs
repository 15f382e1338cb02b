//! Programs that a person starts, such as a kubectl command: what they ask for and what they are told.
//!
//! A client is a straight-line function that is run again from its start against what it was told so far,
//! as a reconcile is. So a waiting command is plain data: it is stepped, shown and rewound with the world.

mod text;

pub use text::{Print, Text};

use crate::{Instant, Key, Kind, Object, Reply, Request, Revision};
use std::{
    fmt::{self, Debug},
    sync::Arc,
    time::Duration,
};

/// What a client asks for before it can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientAsk {
    /// One request to the API server.
    Api(Request),
    /// The next events of a kind after a revision. Answered as soon as there is one, or at `until`.
    Watch {
        /// The kind that is watched.
        kind: Kind,
        /// One namespace, or all.
        namespace: Option<Arc<str>>,
        /// Only this name.
        name: Option<Arc<str>>,
        /// Events after this revision.
        from: Revision,
        /// When to give up.
        until: Option<Instant>,
        /// Whether the objects show who owns which fields.
        owners: bool,
    },
    /// Which kinds people have defined. Answered at once: clients keep what the API's discovery says.
    Discover,
    /// Nothing for a while.
    Sleep(Duration),
    /// Nothing for a while; then it begins anew and knows nothing of what it was told. For programs that go on for ever.
    Again(Duration),
    /// Text that a container printed, from its node. Answered by `ClientTold::Text`; before each line stand the nanosecond
    /// at which it was printed ([`Instant`]) and a tab.
    Logs { pod: Key, container: Arc<str>, previous: bool },
    /// A command in a container. Answered by `ClientTold::Text`.
    Exec { pod: Key, container: Arc<str>, command: Vec<String> },
}

/// What happened to one object, as a watch tells it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum WatchEvent {
    Added(Object),
    Modified(Object),
    Deleted(Object),
}

/// What a client is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientTold {
    /// The API server's answer.
    Reply(Reply),
    /// Events up to a revision; empty when `until` was reached.
    Events { events: Vec<WatchEvent>, revision: Revision },
    /// The definitions that are stored.
    Definitions(Arc<Vec<Object>>),
    /// The sleep ended.
    Slept,
    /// A container's text and the exit code of what ran; or why there is none.
    Text(Result<(String, i32), String>),
}

/// One thing that was asked and answered, and when the answer came.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct ClientTurn {
    pub ask: ClientAsk,
    pub told: ClientTold,
    pub at: Instant,
}

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Stream {
    Out,
    Err,
}

/// What a part of the output stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sense {
    /// An object, by its name.
    Object(Key),
    /// A state as it should be.
    Good,
    /// A state on its way.
    Waits,
    /// A state that nobody wants.
    Bad,
}

/// A part of the output that stands for something, so that a page can link and colour it without reading the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins in the chunk's text, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// For what.
    pub means: Sense,
}

impl Span {
    /// Moves it to where it stands when so many bytes before it are cut off; whether all of it is still there.
    pub fn begin_after(&mut self, cut: usize) -> bool {
        let cut = u32::try_from(cut).unwrap_or(u32::MAX);
        let (start, end) = (self.start.checked_sub(cut), self.end.checked_sub(cut));
        (self.start, self.end) = (start.unwrap_or(0), end.unwrap_or(0));
        start.is_some()
    }
}

/// A piece of output. A text that is printed when it is read has its own spans.
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Chunk {
    pub stream: Stream,
    pub text: Text,
    pub spans: Vec<Span>,
}

/// As a piece is shown: two worlds whose programs printed the same have the same fingerprint, whenever it was made.
impl Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let later = if self.spans.is_empty() { self.text.spans() } else { vec![] };
        let spans = if later.is_empty() { &self.spans } else { &later };
        let mut shown = f.debug_struct("Chunk");
        shown.field("stream", &self.stream).field("text", &self.text).field("spans", spans).finish()
    }
}

/// Where a client stands: everything it printed since its start, and what it waits for or its exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientProgress {
    /// All output since the start.
    pub output: Vec<Chunk>,
    /// The ask it waits for, or its exit code.
    pub next: Result<i32, ClientAsk>,
    /// What is left of it, if that is less than all.
    pub rest: Option<Rest>,
}

/// What is left of a program that needs some of what it was told no more: it goes on as if it had begun later.
#[derive(Clone, Debug)]
pub struct Rest {
    /// What is left.
    pub program: Arc<dyn Client>,
    /// So many of the turns it needs no more.
    pub turns: usize,
    /// So many pieces of its output stand.
    pub printed: usize,
    /// When it came to this place.
    pub at: Instant,
}

/// Two programs that got to the same place by the same turns are the same.
impl PartialEq for Rest {
    fn eq(&self, other: &Rest) -> bool {
        (self.turns, self.printed, self.at) == (other.turns, other.printed, other.at)
    }
}

/// A program that a person starts.
pub trait Client: Debug + Send + Sync {
    /// Runs from the start against what it was told so far. Pure: the same turns give the same progress.
    fn run(&self, started: Instant, told: &[ClientTurn]) -> ClientProgress;
    /// The command line as a person would type it.
    fn line(&self) -> String;
    /// The name under which its requests stand in the audit record, as `kubectl`.
    fn user_agent(&self) -> &str {
        "kubectl"
    }
    /// Whether it reads the API's schemas before its first request, which takes a while.
    fn reads_schemas(&self) -> bool {
        false
    }
}
