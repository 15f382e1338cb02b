//! Kubernetes' nouns: kinds, metadata, quantities, selectors, YAML in and out, verbs and statuses. Values only.
//!
//! This crate does no I/O, knows no clock and draws no chance. Objects follow the encoding rules of the Go
//! structs they stand for (what is left out when empty, what is `null`), so that reading and writing an object
//! that a real API server stored gives equal JSON.

pub mod arrange;
pub mod client;
pub mod cron;
pub mod defined;
pub mod dice;
mod go;
pub mod kind;
pub mod kinds;
pub mod meta;
pub mod object;
pub mod patch;
pub mod resources;
pub mod schema;
mod shared;
pub mod status;
pub mod text;
pub mod time;
pub mod tree;
pub mod verb;
mod whole;
pub mod yaml;

pub use dice::Dice;
pub use go::{GoValue, Look, Named, Seen, Several, put, to_json};
pub use kind::Kind;
pub use kinds::*;
pub use meta::{ObjectMeta, OwnerReference};
pub use object::{Custom, Key, Object, Resource};
pub use shared::Shared;
pub use status::{Cause, Reason, Status};
pub use text::{IntOrString, LabelSelector, Quantity};
pub use time::{Instant, MicroTime, Time};
pub use verb::{
    Answer, Body, DeleteOptions, ListOptions, PatchKind, Propagation, Reply, Request, Subresource, User, Verb,
};
pub use whole::Whole;

/// A sorted map of short texts, as labels and annotations are.
pub type Labels = std::collections::BTreeMap<String, String>;

/// The number of one committed write; the store's clock. Printed as `metadata.resourceVersion`.
pub type Revision = u64;
