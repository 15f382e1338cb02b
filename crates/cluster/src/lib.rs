//! The world: processes, nodes, clock, faults; `enabled()` and `step()`; history and causes.
//!
//! A cluster is a value, a step is a value. [`World::step`] is total: a step that is not possible changes nothing.

mod acts;
mod agents;
mod boot;
mod clients;
mod deliver;
mod due;
mod exec;
mod faults;
mod flight;
mod hash;
mod history;
mod latency;
mod load;
mod logs;
mod process;
mod record;
mod runtime;
mod serve;
mod step;
#[cfg(test)]
mod tests;
mod think;
mod traffic;
mod world;

pub use acts::{Act, NodeAct, Pods};
pub use boot::Start;
pub use clients::{ClientId, ClientState};
pub use faults::{FaultAct, Faults, Trouble};
pub use flight::{Asker, Flight, FlightId};
pub use history::{Branch, History, Input, InputKind, Moment, Session};
pub use kubestep_apiserver::{Actor, Audit, LogEntry, Settings, Store, add_owners, roles_allow};
pub use kubestep_control as control;
pub use kubestep_controllers as loops;
pub use latency::Latencies;
pub use load::Load;
pub use process::{Brain, Health, Loop, Process, ProcessId, TimerName, Work};
pub use record::{ChangeKind, ChangeRef, NOT_SERVED, Record, RecordId, What};
pub use runtime::{Image, MEBIBYTE, Machine, Mood, NodeSpec, Registry};
pub use step::Step;
pub use traffic::{Heard, Reached, Sent, to_service};
pub use world::World;
