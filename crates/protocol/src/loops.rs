//! What is drawn of the control loops.

use serde::{Deserialize, Serialize};

use crate::{At, Id, Rich, Who};

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
    /// The fault that stops it, or that it starts again from; empty where there is none.
    pub fault: String,
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
