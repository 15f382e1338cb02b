//! What is drawn of objects: rows of the tree, pods, nodes, images.

use serde::{Deserialize, Serialize};

use crate::{At, Id, ObjectRef, Rich};

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
    /// What its process does that is not as usual: keys of its row and their values, for the form.
    pub behaviour: Vec<(String, String)>,
    /// How often it was asked for.
    pub asked: u32,
    /// When it will next be asked for.
    pub next: Option<At>,
}
