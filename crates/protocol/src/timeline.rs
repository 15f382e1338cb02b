//! The score: one lane per loop, a mark per step, the age of the oldest gap below.

use serde::{Deserialize, Serialize};

use crate::{At, BranchId, Moment, Rich, Who};

/// Everything the time panel draws, for the shown branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// In order of first use; a mark names its lane by place. Lanes are only ever appended.
    pub lanes: Vec<Lane>,
    /// One per step, `marks[i]` is step `i + 1`. Also of steps after the shown moment.
    pub marks: Vec<Mark>,
    /// When the oldest gap changed: from `from` on, the oldest gap is open since `opened`. In order of `from`.
    pub gaps: Vec<GapSpan>,
    /// Things with a known time: deadlines.
    pub flags: Vec<Flag>,
    /// All timelines of this session but the shown one.
    pub branches: Vec<Branch>,
}

/// A lane of the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Whose.
    pub who: Who,
    /// `deployment`, `kubelet`.
    pub name: String,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When.
    pub at: At,
    /// Which lane moved.
    pub lane: u8,
    /// The step is a commit in the API server's store (its lane gets a mark, too).
    pub stored: bool,
}

/// The oldest gap from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapSpan {
    /// Since when this holds.
    pub from: At,
    /// When the oldest gap opened; `None`: no gap.
    pub opened: Option<At>,
}

/// A time with a name, drawn as a flag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flag {
    /// When.
    pub at: At,
    /// `deadline 10m`.
    pub name: String,
}

/// An earlier timeline that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its number.
    pub id: BranchId,
    /// The moment of the shown (or another) branch at which it parts.
    pub from: Moment,
    /// What was done first there: "ReplicaSet scaled by hand".
    pub name: String,
    /// Steps since it parted.
    pub steps: u32,
    /// When it ends.
    pub ends: At,
}

/// The text twin of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Which step; 0 for the start.
    pub step: u32,
    /// When.
    pub at: At,
    /// Who moved.
    pub who: Who,
    /// "The kubelet on node-2 could not pull …". Without "Step n.", which the page puts before it.
    pub words: Rich,
    /// The deliveries and thoughts that led to it, in order.
    pub inside: Vec<Rich>,
}
