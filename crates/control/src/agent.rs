//! The trait of programs with a shape of their own: the scheduler and the kubelets.
//!
//! An agent is a value that is told things one at a time and answers with what it wants done. It has the same
//! senses as a controller (a cache, replies, the clock, dice) but keeps its own state between them.

use crate::{Change, EventNote, Note, Order, Report, View};
use kubestep_model::{Dice, Instant, ObjectReference, Reply, Request, Verb};
use std::{collections::BTreeMap, fmt::Debug};

/// Names one request of an agent that is in flight.
pub type Ticket = u64;

/// What an agent is told.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Input<T> {
    /// It was (re)started and its caches are filled; `view` holds all it watches.
    Started,
    /// A watched object changed; the view holds the state after it.
    Changed(Change),
    Answered {
        ticket: Ticket,
        request: Request,
        reply: Reply,
    },
    /// A timer that it set has come.
    Due(T),
    /// The container runtime of its node says something (kubelets only).
    Runtime(Report),
}

/// What an agent wants done, in order.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Out<T: Ord> {
    pub asks: Vec<(Ticket, Request)>,
    /// Timers set (with their time) or taken back (`None`).
    pub timers: BTreeMap<T, Option<Instant>>,
    pub orders: Vec<Order>,
    pub events: Vec<EventNote>,
    pub notes: Vec<Note>,
}

/// What an agent can see and do while it is told one thing.
#[derive(Debug)]
pub struct AgentCx<'a, T: Ord> {
    /// The time.
    pub now: Instant,
    /// Everything its process has been told.
    pub view: &'a View,
    /// Chance of its own.
    pub dice: &'a mut Dice,
    /// Numbers for requests; never used twice.
    pub next_ticket: &'a mut Ticket,
    /// What it wants done.
    pub out: Out<T>,
}

impl<T: Ord + Clone> AgentCx<'_, T> {
    /// Sends a request; the reply comes later as `Input::Answered` with this ticket.
    pub fn ask(&mut self, verb: Verb) -> Ticket {
        *self.next_ticket += 1;
        self.out.asks.push((*self.next_ticket, verb.into()));
        *self.next_ticket
    }
    /// Sets a timer; an earlier one of the same name is replaced.
    pub fn wake_at(&mut self, timer: T, at: Instant) {
        self.out.timers.insert(timer, Some(at));
    }
    /// Takes a timer back.
    pub fn cancel(&mut self, timer: T) {
        self.out.timers.insert(timer, None);
    }
    /// Gives an order to the container runtime.
    pub fn order(&mut self, order: Order) {
        self.out.orders.push(order);
    }
    /// Tells the cluster something about an object.
    pub fn event(&mut self, regarding: ObjectReference, r#type: &'static str, reason: &str, message: String) {
        self.out.events.push(EventNote { regarding, r#type, reason: reason.into(), message, action: "" });
    }
    /// As [`AgentCx::event`], for components whose events say what was being done.
    pub fn event_of(
        &mut self,
        action: &'static str,
        regarding: ObjectReference,
        r#type: &'static str,
        reason: &str,
        message: String,
    ) {
        self.out.events.push(EventNote { regarding, r#type, reason: reason.into(), message, action });
    }
    /// Says why something is done or left.
    pub fn because(&mut self, code: &'static str, about: Vec<(&'static str, String)>) {
        self.out.notes.push(Note { code, about });
    }
}

/// A program with a shape of its own.
pub trait Agent: Clone + Debug + PartialEq {
    /// The names of its timers.
    type Timer: Clone + Debug + Ord;
    /// Short name, as in the loops view: `scheduler`, `kubelet`.
    fn name(&self) -> &'static str;
    /// Who asks, in the audit record: `kube-scheduler`, `kubelet node-1`.
    fn actor(&self) -> String;
    /// Who speaks, in events: component and host.
    fn event_source(&self) -> (String, String);
    /// Tells it one thing. Total: unknown tickets and timers are ignored.
    fn on(&mut self, cx: &mut AgentCx<'_, Self::Timer>, input: Input<Self::Timer>);
}
