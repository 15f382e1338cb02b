//! What may happen next, as plain values.

use crate::{ClientId, FlightId, ProcessId, TimerName};
use kubestep_model::{Key, Kind};
use std::sync::Arc;

/// One thing that may happen. At most one of each is due at any time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A process reads the next event of a kind from its watch.
    Deliver(ProcessId, Kind),
    /// Keys of a controller whose waiting time is over come into line.
    Wake(ProcessId, usize),
    /// A controller begins or goes on with a key.
    Think(ProcessId, usize, Key),
    /// The API server serves a request.
    Serve(FlightId),
    /// A timer of the scheduler or a kubelet has come.
    Timer(ProcessId, TimerName),
    /// Something happens in the container runtime of a node.
    Runtime(Arc<str>),
    /// A person's program goes on: it starts, its sleep or its watch ends.
    Client(ClientId),
    /// A controller that runs by time looks around.
    Period(ProcessId, usize),
}

impl Step {
    /// Whether it only waits for the clock: nothing that was done before makes it possible, only time.
    pub fn is_timer(&self) -> bool {
        matches!(self, Step::Wake(..) | Step::Timer(..) | Step::Runtime(_) | Step::Period(..))
    }
}
