//! The kinds that loops read, one file per family, with the fields that are read; the rest is kept as written.

mod autoscaler;
mod batch;
mod core;
mod event;
mod network;
mod node;
mod pod;
mod pod_status;
mod policy;
mod quota;
mod revision;
mod stateful;
mod storage;
mod workload;

pub use autoscaler::*;
pub use batch::*;
pub use core::*;
pub use event::*;
pub use network::*;
pub use node::*;
pub use pod::*;
pub use pod_status::*;
pub use policy::*;
pub use quota::*;
pub use revision::*;
pub use stateful::*;
pub use storage::*;
pub use workload::*;
