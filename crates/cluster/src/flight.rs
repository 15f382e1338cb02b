//! Requests on their way to the API server.

use crate::{ClientId, ProcessId, RecordId};
use kubestep_apiserver::Actor;
use kubestep_control::Ticket;
use kubestep_model::{Instant, Key, Request};
use std::{sync::Arc, time::Duration};

/// Names a request in flight.
pub type FlightId = u64;

/// Who waits for the reply.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Asker {
    /// A reconcile: which of its requests this is.
    Controller {
        process: ProcessId,
        controller: usize,
        key: Key,
        slot: usize,
    },
    Agent {
        process: ProcessId,
        ticket: Ticket,
    },
    /// The event recorder of a process or of one of its controllers.
    Events {
        process: ProcessId,
        controller: Option<usize>,
    },
    Client(ClientId),
}

impl Asker {
    /// The process that asks, if it is one of the cluster's.
    pub fn process(&self) -> Option<&ProcessId> {
        match self {
            Asker::Controller { process, .. }
            | Asker::Agent { process, .. }
            | Asker::Events { process, .. } => Some(process),
            Asker::Client(_) => None,
        }
    }
}

/// A request in flight.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Flight {
    pub asker: Asker,
    /// Which life of the process it was sent in; a later one hears no answer to it.
    pub life: u32,
    pub request: Arc<Request>,
    pub actor: Actor,
    pub sent: Instant,
    pub cause: Option<RecordId>,
}

impl Flight {
    /// What it asks for, as `patch pods/status web-x2k4p`.
    pub fn words(&self) -> String {
        crate::think::describe(&self.request)
    }
}

/// A client's own limit on its requests. Upstream: client-go/util/flowcontrol, token bucket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClientLimit {
    full_at: Instant,
}

impl ClientLimit {
    pub(crate) fn new() -> Self {
        ClientLimit { full_at: Instant(0) }
    }
    /// Takes a token of a bucket with so many a second and such a burst; answers how long to wait for it.
    pub(crate) fn reserve(&mut self, now: Instant, per_second: u32, burst: u32) -> Duration {
        let token = Duration::from_secs(1) / per_second.max(1);
        self.full_at = self.full_at.max(now) + token;
        self.full_at.since(now + token * burst)
    }
}
