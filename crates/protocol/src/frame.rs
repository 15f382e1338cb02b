//! One moment of the cluster as the page draws it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{At, CommandId, FrameId, Id, LessonNow, Moment, ObjectRef, Rich, Sentence, Timeline, Who};

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

/// The difference between what is asked for and what is, of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gap {
    /// What is asked for: "3".
    pub want: String,
    /// What is: "0".
    pub have: String,
    /// "0 of 3".
    pub measure: String,
    /// Since when it has been open without a break.
    pub opened: At,
    /// When its measure last got better.
    pub moved: At,
    /// The object's own deadline, in milliseconds after `opened` (progressDeadlineSeconds).
    pub deadline: Option<u64>,
}

/// How far an object is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Life {
    /// It is there.
    #[default]
    There,
    /// It has a deletionTimestamp.
    Terminating,
    /// It was deleted at this very step; gone at the next.
    Gone,
}

/// The boxes of a slot bar, by how they are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slots {
    /// As asked.
    pub full: u32,
    /// Filled by an old revision.
    pub old: u32,
    /// Not filled.
    pub gap: u32,
    /// More than asked for.
    pub extra: u32,
}

/// An object in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub object: ObjectRef,
    /// The row that owns it (controller owner).
    pub owner: Option<Id>,
    /// A few words beside the kind: "wants 1.9.2", "1.9.1 · rev 1", "paused".
    pub tag: String,
    /// How many are asked for, where that is a number.
    pub want: Option<u32>,
    /// The slot bar.
    pub slots: Option<Slots>,
    /// What there is, in words: "0 new, 3 old", "3 ready, 1 not", "2 of 3 pods used".
    pub has: String,
    /// A Service's or another selector, as kubectl prints it.
    pub selector: Option<String>,
    /// A Service's members by node: what its EndpointSlices say.
    pub members: Vec<Members>,
    /// The gap.
    pub gap: Option<Gap>,
    /// How far in its life.
    pub life: Life,
    /// No loop acts on this kind here.
    pub no_loop: bool,
}

/// Members of a Service on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Members {
    /// The node's number.
    pub node: Id,
    /// Endpoints that are ready there.
    pub ready: u32,
    /// Endpoints that are not.
    pub not_ready: u32,
}

/// How a pod or a container looks. The order is the one in which a crowd is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PodLook {
    /// Not scheduled, or nothing started yet.
    #[default]
    Pending,
    /// It waits for something that may not come (hatched).
    Waiting,
    /// It ended badly and waits to start again.
    Crashed,
    /// Running, not ready (half).
    Running,
    /// Running and ready (full).
    Ready,
    /// It is being ended.
    Terminating,
    /// It has done its work.
    Finished,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pod {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub object: ObjectRef,
    /// The end of the name that tells it from its siblings: `x2k4p`; the whole name where there is none.
    pub suffix: String,
    /// The row that owns it; `None`: nobody does.
    pub owner: Option<Id>,
    /// The node it is bound to.
    pub node: Option<Id>,
    /// How it looks.
    pub look: PodLook,
    /// Its state as kubectl's STATUS column has it, or "Running, ready": at most two short lines.
    pub words: String,
    /// Its containers, init containers first.
    pub containers: Vec<Container>,
    /// Services that select it, by row number, each with whether the pod's endpoint is ready there.
    pub services: Vec<(Id, bool)>,
    /// Labels as `key=value`.
    pub labels: Vec<String>,
    /// When it was created.
    pub created: At,
    /// The gap.
    pub gap: Option<Gap>,
    /// How far in its life.
    pub life: Life,
}

/// A container of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its image as written.
    pub image: String,
    /// How it looks.
    pub look: PodLook,
    /// `Waiting: ImagePullBackOff`, `Running`, `Terminated: Error (1)`.
    pub words: String,
    /// How often it was started again.
    pub restarts: u32,
    /// An init container.
    pub init: bool,
}

/// How a node looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeLook {
    /// Ready.
    #[default]
    Ready,
    /// Ready, and takes no new pods.
    Cordoned,
    /// Ready, with a taint that keeps pods away.
    Tainted,
    /// The API says NotReady or Unknown.
    NotReady,
    /// Its machine is stopped; the API may not know yet.
    Stopped,
    /// Its Node object is gone; pods that were bound to it are still there.
    Removed,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// Its number.
    pub id: Id,
    /// `node-1`.
    pub name: String,
    /// How it looks.
    pub look: NodeLook,
    /// "Ready", "cordoned", "Ready, stopped 12s ago" without the time: what the API and the machine say.
    pub words: Rich,
    /// The machine is stopped (whatever the API says).
    pub stopped: bool,
    /// `spec.unschedulable`.
    pub cordoned: bool,
    /// Taints as kubectl prints them.
    pub taints: Vec<String>,
    /// Pods bound to it that have not ended.
    pub pods: u32,
    /// Requested cpu, per mille of what is allocatable.
    pub cpu: u16,
    /// Requested memory, per mille of what is allocatable.
    pub memory: u16,
    /// "2 of 4 cpu".
    pub room: String,
}

/// What the registry answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageLook {
    /// It has it.
    #[default]
    There,
    /// It has not, and was or may be asked.
    Missing,
    /// It has it, and takes long.
    Slow,
    /// It does not give it.
    Denied,
}

/// An image at the registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// Its number.
    pub id: Id,
    /// The whole reference, for commands.
    pub reference: String,
    /// Without the host: `checkout:1.9.2`.
    pub name: String,
    /// What the registry answers.
    pub look: ImageLook,
    /// "pulls in 1 s · runs until stopped"; "not there" for a missing one.
    pub words: String,
    /// How often it was asked for.
    pub asked: u32,
    /// When it will next be asked for.
    pub next: Option<At>,
}

/// What a loop does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LoopState {
    /// Nothing to do.
    #[default]
    Idle,
    /// It has notifications to read.
    Reading,
    /// Keys are in its queue.
    Queued,
    /// It has decided and will ask.
    Asking,
    /// It waits for the clock.
    Waiting,
    /// Somebody stopped it.
    Stopped,
    /// It crashed and will start again.
    Crashed,
    /// Its watch is held.
    Held,
}

/// A control loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Loop {
    /// Its number.
    pub id: Id,
    /// Who.
    pub who: Who,
    /// `deployment`, `kubelet`, `garbage collector`.
    pub name: String,
    /// `node-2` for a kubelet; else empty.
    pub detail: String,
    /// What it does.
    pub state: LoopState,
    /// The teacher says that it is getting nowhere.
    pub stuck: bool,
    /// "Deployment, ReplicaSet, Pod".
    pub watches: String,
    /// The revision its cache has seen.
    pub seen: u64,
    /// How many events of its kinds lie between the cache and the API server.
    pub behind: u32,
    /// Notifications its own listener has not read.
    pub unread: u32,
    /// Keys in its queue, the first eight, as short names.
    pub queue: Vec<String>,
    /// How many keys there are in all.
    pub queued: u32,
    /// Its last act, and when: "made x2k4p".
    pub did: Option<(At, String)>,
    /// "0 of 3 new pods ready", "clock: next pull in 3m 40s".
    pub waits: Rich,
    /// The request it is about to send, or has sent: "PATCH event, ×47".
    pub asks: Option<Ask>,
    /// How many copies of it run; 1 as usual.
    pub copies: u8,
}

/// A request of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// "CREATE pod".
    pub words: String,
    /// It is on its way; else it is only decided.
    pub sent: bool,
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
    /// What was printed, at most the last 64 KiB.
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

/// One entry of the faults menu.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FaultItem {
    /// Its number, for the order.
    pub id: Id,
    /// What [`crate::Command::Fault`] names.
    pub key: String,
    /// "Hold the watch of the scheduler".
    pub name: String,
    /// "its cache stays at revision 431".
    pub note: String,
    /// Which part of the cluster it troubles: entries of a group follow each other.
    pub group: String,
    /// It is on.
    pub on: bool,
}
