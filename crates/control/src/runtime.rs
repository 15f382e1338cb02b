//! What a kubelet and the container runtime of its node say to each other.

use std::sync::Arc;

/// An order to the container runtime.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Order {
    /// Make the sandbox of a pod. Answered by `Report::SandboxReady`.
    RunSandbox { pod: Arc<str> },
}

/// What the container runtime tells the kubelet.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Report {
    SandboxReady { pod: Arc<str>, ip: Arc<str> },
}
