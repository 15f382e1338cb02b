//! What was typed, and what was printed.

use serde::{Deserialize, Serialize};

use crate::{Id, ObjectRef};

/// Which stream a piece of output belongs to, and whose voice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    #[default]
    Out,
    /// Standard error.
    Err,
}

/// A piece of output; line ends are in the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chunk {
    /// Which stream.
    pub stream: Stream,
    /// The text, exactly as kubectl prints it.
    pub text: String,
    /// What some parts of it stand for, in order.
    pub marks: Vec<Marked>,
}

/// A part of a piece of output that stands for something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Marked {
    /// Where it begins, in bytes of the text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// For what.
    pub means: Meaning,
}

/// What a part of an output stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Meaning {
    /// An object that one can select.
    Object(ObjectRef),
    /// A state as it should be.
    Good,
    /// A state on its way.
    Waits,
    /// A state that nobody wants.
    Bad,
}

/// A command typed in a terminal, with its answer up to the shown moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub id: Id,
    /// Which terminal.
    pub terminal: u8,
    /// The line as typed.
    pub line: String,
    /// What was printed, at most the last 64 KiB, from the beginning of a line on; before it stands what is missing.
    pub output: Vec<Chunk>,
    /// `None` while it runs.
    pub exit: Option<i32>,
    /// It waits in virtual time.
    pub waits: bool,
    /// The step at which it began.
    pub step: u32,
}

/// The answer to Apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ApplyOut {
    /// `kubectl apply -f checkout.yaml`.
    pub line: String,
    /// What it printed.
    pub output: Vec<Chunk>,
    /// `None` while it runs.
    pub exit: Option<i32>,
    /// Where in the file the refusal points, line and column.
    pub place: Option<(u32, u32)>,
    /// Teacher: "Exit 0 told you". Only after an exit 0.
    pub told: Vec<String>,
    /// Teacher: "It did not tell you".
    pub not_told: Vec<String>,
    /// The step at which it was answered.
    pub step: u32,
}
