//! One moment of the cluster as the page draws it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    ApplyOut, At, CommandId, Entry, FrameId, Id, Image, LessonNow, Loop, Moment, Node, ObjectRef, Pod, Rich,
    Row, Sentence, Timeline, Who,
};

/// A whole picture. Lists are sorted by id, which is the order of creation; shared rows make deltas cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The small part that changes at every step.
    pub head: Head,
    /// Objects that own or select something, and every object that is not a pod, node or event.
    pub rows: Vec<Arc<Row>>,
    /// Pods.
    pub pods: Vec<Arc<Pod>>,
    /// Nodes.
    pub nodes: Vec<Arc<Node>>,
    /// Images the registry has, and those that were asked for in vain.
    pub images: Vec<Arc<Image>>,
    /// Controllers, scheduler, kubelets.
    pub loops: Vec<Arc<Loop>>,
    /// What was said in the terminals up to this moment.
    pub terminal: Vec<Arc<Entry>>,
    /// The faults menu.
    pub faults: Vec<Arc<FaultItem>>,
    /// The score.
    pub timeline: Timeline,
}

/// What is different at every step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of this frame.
    pub id: FrameId,
    /// What is shown.
    pub moment: Moment,
    /// The last step of the shown branch. `moment.step < last`: we look at the past.
    pub last: u32,
    /// The clock.
    pub now: At,
    /// What the clock counts from: the moment a scenario was handed to the person. Earlier is history (−14m).
    pub zero: At,
    /// The API server's last revision.
    pub revision: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The sentence of the shown step.
    pub sentence: Sentence,
    /// Rows, pods and nodes that this step touched.
    pub touched: Vec<ObjectRef>,
    /// The last `Apply`, as of this moment.
    pub apply: Option<Arc<ApplyOut>>,
    /// The API server's last lines, newest first, at most 12.
    pub log: Vec<LogLine>,
    /// The teacher's answer to "Which loop is getting nowhere?"; empty: every loop does its part.
    pub nowhere: Rich,
    /// The what-if is on: marked on every panel.
    pub what_if: bool,
    /// A run is going on.
    pub running: Option<CommandId>,
    /// The host whose images the registry shows (`registry.example.com`).
    pub registry: String,
    /// Nothing is left that could move without a person, not even a timer.
    pub quiet: bool,
    /// Where the learner stands in the lesson that was started.
    pub lesson: Option<Arc<LessonNow>>,
}

/// The verdict's kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VerdictKind {
    /// No gap.
    #[default]
    Converged,
    /// A gap, and something can still move.
    Converging,
    /// A gap, and all that is left is waiting.
    Stalled,
}

/// Always in sight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which.
    pub kind: VerdictKind,
    /// Converged: since when there is no gap. Converging: since when the oldest gap is open. Stalled: since when its measure has not moved.
    pub since: Option<At>,
    /// When the oldest gap opened.
    pub opened: Option<At>,
    /// The object with the oldest gap.
    pub object: Option<ObjectRef>,
    /// Where the gap stands: "1 of 2 ready".
    pub measure: String,
    /// The teacher: "because the registry has no `checkout:1.9.2`." or "but the Service selects nothing."
    pub because: Rich,
    /// The teacher's second sentence, left out where there is no room.
    pub more: Rich,
    /// The cluster's own word about that object: `Progressing=False ProgressDeadlineExceeded`. Empty: it says nothing.
    pub said: String,
}

/// One line of the API server's log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogLine {
    /// The revision.
    pub revision: u64,
    /// Who wrote.
    pub who: Who,
    /// "pod x2k4p", "BackOff ×46".
    pub what: String,
    /// The step.
    pub step: u32,
}

/// One entry of the faults menu.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FaultItem {
    /// Its number, for the order.
    pub id: Id,
    /// What [`crate::Command::Fault`] names.
    pub key: String,
    /// "Hold the watch of the scheduler".
    pub name: String,
    /// "its cache stays as it is".
    pub note: String,
    /// Which part of the cluster it troubles: entries of a group follow each other.
    pub group: String,
    /// It is on.
    pub on: bool,
    /// It is shown to those who search for it: nothing that it would trouble is there.
    pub rare: bool,
}
