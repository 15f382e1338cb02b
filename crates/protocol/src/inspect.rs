//! The inspector: one object, and everything that can be asked about it.

use serde::{Deserialize, Serialize};

use crate::{At, Edit, FrameId, Gap, ImageAct, NodeAct, ObjectRef, Rich, Who};

/// The inspector's content; comes with every frame while an object is selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// The frame it belongs to.
    pub frame: FrameId,
    /// The object.
    pub object: ObjectRef,
    /// It does not exist at this moment ("not there yet", "deleted").
    pub absent: Option<Rich>,
    /// A few words at the right: "bound 0s ago, after 7m 31s".
    pub tag: Rich,
    /// spec and status side by side; `None` for kinds without the two.
    pub pair: Option<Pair>,
    /// The gap.
    pub gap: Option<Gap>,
    /// Its own deadline for closing a gap, in milliseconds, whether one is open or not (progressDeadlineSeconds).
    pub deadline: Option<u64>,
    /// The shown tab.
    pub body: Body,
}

/// spec and status in a few lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// What you write.
    pub spec: Vec<Fact>,
    /// What loops write.
    pub status: Vec<Fact>,
    /// "0 of 3".
    pub between: String,
}

/// One line of the pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// "replicas".
    pub name: String,
    /// "3".
    pub value: String,
    /// It is part of the gap.
    pub gap: bool,
}

/// The shown tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// Why.
    Why(Box<Why>),
    /// `kubectl describe`, as text.
    Describe(String),
    /// The object's lines.
    Yaml(Vec<YamlLine>),
    /// Events, newest first.
    Events(Vec<EventRow>),
    /// Writes, newest first.
    History(Vec<HistoryRow>),
    /// Requests, newest first.
    Audit(Vec<AuditRow>),
}

/// What stands at the top of Why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhyHead {
    /// Spec and status agree.
    #[default]
    Agreed,
    /// It moves: what comes next.
    Moving(Rich),
    /// What blocks it (teacher).
    Blocked(Rich),
    /// Nobody on this object says anything about the gap: since when, and until when that will last.
    Silent {
        /// "The Deployment has said nothing yet".
        words: Rich,
        /// Since when.
        since: At,
        /// "It will at 10m 01s, its deadline. Until then only the pod speaks."
        until: Rich,
    },
    /// No loop acts on this kind.
    NoLoop,
}

/// The Why tab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// At the top.
    pub head: WhyHead,
    /// The chain from you on, in order: who, and the word under the mark.
    pub strip: Vec<(Who, String)>,
    /// Where the chain stops: "registry". `None`: it does not.
    pub stops_at: Option<String>,
    /// Who says so, and where.
    pub speech: Option<Speech>,
    /// The words of the one who says why.
    pub quote: Option<Quote>,
    /// From the present back to the keystroke.
    pub chain: Vec<Link>,
    /// What would end it (teacher).
    pub ends: Vec<End>,
    /// A pod's scheduling attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// Of what counts its pods: how many were asked for and how many there were, oldest first.
    pub trace: Vec<TracePoint>,
}

/// From a time on so many were asked for, and there were so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct TracePoint {
    pub at: At,
    pub desired: u32,
    pub observed: u32,
}

/// Lanes of silence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speech {
    /// When the gap opened: the left end.
    pub from: At,
    /// One per speaker.
    pub lanes: Vec<Speaker>,
}

/// One who could speak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// "Deployment", "Pod x2k4p".
    pub name: String,
    /// Its mark.
    pub who: Who,
    /// When it spoke about this (at most the first and last 20).
    pub spoke: Vec<At>,
    /// "says it is late", "says nothing", "exit 0, then gone".
    pub words: String,
    /// It says something that helps.
    pub helps: bool,
    /// It speaks no more because it has ended (kubectl apply).
    pub ended: bool,
}

/// What Kubernetes says, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// "Pod x2k4p · status.containerStatuses[0].state.waiting".
    pub source: Rich,
    /// "written by the kubelet on node-3 15s ago".
    pub by: Rich,
    /// Literally.
    pub text: String,
}

/// Where Kubernetes itself says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// A field of an object.
    Field(ObjectRef, String, String),
    /// An event about an object: reason, and when last.
    Event(ObjectRef, String, At),
    /// The output of a command.
    Output(String),
    /// Nobody.
    #[default]
    Nobody,
}

/// One link of the chain of causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Who.
    pub who: Who,
    /// When.
    pub at: At,
    /// The step, where it is one.
    pub step: Option<u32>,
    /// "the ReplicaSet wanted 1 pod and had 0." The page puts "because" before all but the first.
    pub words: Rich,
    /// Where it is said.
    pub said: Said,
    /// The person's act at the end, with file and line if it came from one.
    pub key: Option<(String, u32)>,
}

/// Something that would end the gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The button: "Push checkout:1.9.2".
    pub label: String,
    /// "the next pull succeeds".
    pub then: String,
    /// What it does.
    pub act: EndAct,
}

/// What a remedy's button does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndAct {
    /// The registry.
    Image(ImageAct),
    /// A node.
    Node(NodeAct),
    /// Puts this line into the terminal's prompt.
    Kubectl(String),
    /// Changes a file of the editor.
    Edit(String, Edit),
    /// Switches a fault off.
    Fault(String),
    /// Nothing one can press.
    None,
}

/// One scheduling attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When.
    pub at: At,
    /// "no node fits", "node-5".
    pub result: String,
    /// What started it: "the pod was new", "two nodes were added".
    pub why: String,
    /// Names of the filters, in the order they are asked; the last may be "8 others".
    pub filters: Vec<String>,
    /// One per node.
    pub filtered: Vec<Filtered>,
    /// Names and weights of the scores.
    pub scores: Vec<(String, u32)>,
    /// Nodes that passed.
    pub scored: Vec<Scored>,
    /// What was said about it: the event.
    pub quote: Option<Quote>,
    /// The teacher.
    pub note: Rich,
}

/// What the filters said of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filtered {
    /// The node.
    pub node: String,
    /// One per filter.
    pub cells: Vec<FilterCell>,
}

/// One filter's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterCell {
    /// It fits.
    Pass,
    /// It does not, and why: "cpu: wants 1500m, has 500m".
    Fail(String),
    /// An earlier filter had said no.
    NotAsked,
}

/// What the scores said of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scored {
    /// The node.
    pub node: String,
    /// One per score, already times its weight.
    pub cells: Vec<i64>,
    /// Their sum.
    pub sum: i64,
    /// "bound", "tie", "".
    pub result: String,
    /// It won.
    pub won: bool,
}

/// A line of the object as YAML.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YamlLine {
    /// The line, with its indent.
    pub text: String,
    /// The value before this step, where it changed; `Some("")` for a new field.
    pub was: Option<String>,
    /// Who wrote it last.
    pub who: Option<Who>,
    /// "you, 12m ago", "deployment", "default".
    pub writer: Rich,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Normal or Warning.
    pub kind: String,
    /// Its reason.
    pub reason: String,
    /// About which object, where it is not the selected one.
    pub about: Option<ObjectRef>,
    /// How often.
    pub count: u32,
    /// When last.
    pub last: At,
    /// From whom.
    pub from: String,
    /// Its message.
    pub message: String,
}

/// A write to the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// Who.
    pub who: Who,
    /// When.
    pub at: At,
    /// The step.
    pub step: u32,
    /// "`status.updatedReplicas` 0 → 1. Revision 409."
    pub words: Rich,
}

/// A request about the object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// Who asked.
    pub who: Who,
    /// The program, as it calls itself: `deployment-controller`.
    pub agent: String,
    /// In whose name, if it is not the person at the terminal: `bob`, `system:serviceaccount:kube-system:job-controller`.
    pub user: String,
    /// When it was answered.
    pub at: At,
    /// The step.
    pub step: u32,
    /// What was asked: `patch`, `update status`.
    pub verb: String,
    /// The answer's code: 200, 409; 0 where the request did not arrive.
    pub code: u32,
    /// What came of it: the refusal's words, "revision 409", "nothing changed".
    pub words: String,
}
