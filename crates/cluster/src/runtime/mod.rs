//! The container runtime of a node: containers are timers with an exit code, images are rows of a table.
//!
//! What the kubelet makes of its answers is the kubelet's; nothing here writes a pod's status. The texts of failed
//! pulls and starts are those of containerd 2.2.

mod machine;
mod process;
mod program;
mod registry;
mod sha256;

#[cfg(test)]
mod tests;

pub use kubestep_control::NodeSpec;
pub use machine::Machine;
pub(crate) use program::{is_known, parse};
pub use registry::{Image, MEBIBYTE, Mood, Registry};
