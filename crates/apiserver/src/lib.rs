//! One function from (store, request, now) to (store, reply): decode, default, admit, validate, commit a revision, remember events, audit.
//!
//! The store is a value: [`serve`] takes one and answers with the next. Nothing here knows a clock or draws chance
//! but from what it is handed, and no input makes it panic.

mod admission;
mod aggregation;
mod apply;
mod audit;
mod base64;
mod bootstrap;
mod chunk;
pub mod conversion;
mod create;
mod decode;
mod defaults;
mod defined;
mod delete;
mod eviction;
mod ip_allocation;
mod patching;
mod rbac;
mod read;
mod refuse;
mod scale;
mod serve;
mod service_fields;
mod status_patch;
mod store;
mod strategy;
#[cfg(test)]
mod tests;
mod token;
mod turn;
mod update;
mod validation;
pub mod vectors;
mod warnings;
mod watch;

pub use apply::add_owners;
pub use audit::{Actor, Audit};
pub use bootstrap::first_objects;
pub use defined::{SETTLING, waits_for_definition};
pub use rbac::lets as roles_allow;
pub use serve::{Outcome, Settings, check, serve};
pub use store::{LOG_LENGTH, LogEntry, Store, Write};
