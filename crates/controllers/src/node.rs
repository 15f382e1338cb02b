//! The controllers of nodes: addresses for pods, taints, and what happens when a node falls silent.

mod ipam;
mod lifecycle;
mod taint_eviction;
mod ttl;
mod zones;

pub use ipam::NodeIpam;
pub use lifecycle::NodeLifecycle;
pub use taint_eviction::TaintEviction;
pub use ttl::Ttl;

use crate::sentences::Sentence;

/// Who asks, for all of them but `ttl`.
const ACTOR: &str = "node-controller";

/// What the codes of this module mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "node.cidr",
        text: "The node controller gives {node} the pod addresses {cidr}.",
        upstream: "pkg/controller/nodeipam/ipam/range_allocator.go, updateCIDRsAllocation",
    },
    Sentence {
        code: "node.ttl",
        text: "The ttl controller notes on {node} how long its kubelet may cache secrets.",
        upstream: "pkg/controller/ttl/ttl_controller.go, updateNodeIfNeeded",
    },
    Sentence {
        code: "node.taint",
        text: "The node controller brings the taints of {node} in line with its conditions.",
        upstream: "pkg/controller/nodelifecycle/node_lifecycle_controller.go, doNoScheduleTaintingPass",
    },
    Sentence {
        code: "node.silent",
        text: "{node} has not renewed its lease for {seconds}s: the node controller marks it Unknown.",
        upstream: "pkg/controller/nodelifecycle/node_lifecycle_controller.go, tryUpdateNodeHealth",
    },
    Sentence {
        code: "node.no-execute",
        text: "The node controller marks {node} so that pods leave it when their tolerance ends.",
        upstream: "pkg/controller/nodelifecycle/node_lifecycle_controller.go, doNoExecuteTaintingPass",
    },
    Sentence {
        code: "taint.evict",
        text: "Pod {pod} does not tolerate the taints of {node} any longer: it is deleted.",
        upstream: "pkg/controller/tainteviction/taint_eviction.go, deletePodHandler",
    },
    Sentence {
        code: "taint.tolerates",
        text: "Pod {pod} tolerates the taints of {node} for {seconds}s more.",
        upstream: "pkg/controller/tainteviction/taint_eviction.go, processPodOnNode",
    },
];
