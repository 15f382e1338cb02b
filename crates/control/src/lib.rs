//! What every controller stands on: the `Controller` trait, `Cx`, caches, queues, read-your-writes.
//!
//! A reconcile is a pure function of what it could see and what it has been told so far. It asks the API server
//! through [`Cx`]; a question that is not answered yet stops it, and it is run again from its start once the
//! answer is there. Nothing here can name the store: a controller sees caches and replies only.

mod agent;
mod controller;
mod cx;
mod note;
mod queue;
mod recorder;
mod runtime;
mod view;

pub use agent::{Agent, AgentCx, Input, Out, Ticket};
pub use controller::{Change, Controller, Wake, Watch};
pub use cx::{Cx, Done, Effect, Flow, Halt, Memory, Progress, Running, Told, WorkedOut, run};
pub use note::{EventNote, Note, reference};
pub use queue::{Limiter, Queue};
pub use recorder::{Recorder, Style};
pub use runtime::*;
pub use view::View;
