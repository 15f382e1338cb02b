//! The kinds that loops read, one file per family, with the fields that are read; the rest is kept as written.

mod core;
mod event;
mod network;
mod node;
mod pod;
mod pod_status;
mod quota;
mod revision;
mod workload;

pub use core::*;
pub use event::*;
pub use network::*;
pub use node::*;
pub use pod::*;
pub use pod_status::*;
pub use quota::*;
pub use revision::*;
pub use workload::*;
