//! What became of a script's steps, and how a recording of it went in time.

use kubestep_model::Instant;
use std::{collections::BTreeMap, time::Duration};

/// What became of one step or one kubectl line.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Done {
    pub step: usize,
    pub at: Duration,
    pub took: Duration,
    pub command: String,
    /// Exit code, standard output and standard error of a kubectl line.
    pub output: Option<(i32, String, String)>,
    pub matched: Option<bool>,
    pub note: Option<String>,
}

/// How a recording went in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// The session's first moment, if the recording says which it was.
    pub first: Option<Instant>,
    /// Its lines, in the order of their records.
    pub lines: Vec<PacedLine>,
    /// The nodes that pods were bound to, one after the other: by the pod's name, or by what its name was drawn from.
    pub nodes: BTreeMap<String, Vec<String>>,
}

/// When one line of a recording began, how long it took, and what it said.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct PacedLine {
    pub at: Duration,
    pub took: Duration,
    pub command: String,
}
