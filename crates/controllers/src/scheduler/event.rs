//! What happens in the cluster that may make a waiting pod fit.
//! Upstream: pkg/scheduler/framework/events.go (v1.37).

use super::resources::{ResourceList, pod_requests};
use kubestep_model::arrange::Gather;
use kubestep_model::{Node, Object, Pod};
use std::cmp::Ordering;

/// Which part of a node changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NodePart {
    Taint,
    Allocatable,
    Label,
    Condition,
    Annotation,
}

/// Which part of a pod changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PodPart {
    Label,
    ScaleDown,
    GatesGone,
    Toleration,
    Other,
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum Event<'a> {
    NodeAdded(&'a Node),
    NodeChanged {
        part: NodePart,
        old: &'a Node,
        new: &'a Node,
    },
    NodeGone(&'a Node),
    /// A pod was seen on a node for the first time.
    PodPlaced(&'a Pod),
    /// A pod on a node changed.
    PodChanged {
        part: PodPart,
        old: &'a Pod,
        new: &'a Pod,
    },
    /// A pod on a node went away, or the scheduler gave up on an assumed one.
    PodGone(&'a Pod),
    /// A pod without a node changed.
    WaitingChanged {
        part: PodPart,
        old: &'a Pod,
        new: &'a Pod,
    },
    /// An object of another kind was added.
    OtherAdded(&'a Object),
    /// An object of another kind was changed.
    Other(&'a Object),
    /// It has waited for so long that it is tried again whatever happens.
    Timeout,
}

impl Event<'_> {
    /// The event's label, as upstream's metrics and logs name it.
    pub fn label(&self) -> String {
        let node = |part: NodePart| match part {
            NodePart::Taint => "NodeTaintUpdate",
            NodePart::Allocatable => "NodeAllocatableUpdate",
            NodePart::Label => "NodeLabelUpdate",
            NodePart::Condition => "NodeConditionUpdate",
            NodePart::Annotation => "NodeAnnotationUpdate",
        };
        let pod = |part: PodPart| match part {
            PodPart::Label => "LabelUpdate",
            PodPart::ScaleDown => "ScaleDown",
            PodPart::GatesGone => "SchedulingGatesEliminated",
            PodPart::Toleration => "TolerationUpdate",
            PodPart::Other => "Update",
        };
        match self {
            Event::NodeAdded(_) => "NodeAdd".into(),
            Event::NodeChanged { part, .. } => node(*part).into(),
            Event::NodeGone(_) => "NodeDelete".into(),
            Event::PodPlaced(_) => "AssignedPodAdd".into(),
            Event::PodChanged { part, .. } => format!("AssignedPod{}", pod(*part)),
            Event::PodGone(_) => "AssignedPodDelete".into(),
            Event::WaitingChanged { part, .. } => format!("UnscheduledPod{}", pod(*part)),
            Event::OtherAdded(object) => format!("{}Add", object.kind()),
            Event::Other(object) => format!("{}Update", object.kind()),
            Event::Timeout => "UnschedulableTimeout".into(),
        }
    }
}

/// Which parts of a node changed, as far as a waiting pod may care. Upstream: NodeSchedulingPropertiesChange.
pub fn node_parts(old: &Node, new: &Node) -> Vec<NodePart> {
    let statuses = |n: &Node| -> std::collections::BTreeMap<String, String> {
        n.status.conditions.iter().map(|c| (c.r#type.clone(), c.status.clone())).gather()
    };
    let mut parts = vec![];
    if old.spec.unschedulable && !new.spec.unschedulable {
        parts.push(NodePart::Taint);
    }
    if !same_amounts(&old.status.allocatable, &new.status.allocatable) {
        parts.push(NodePart::Allocatable);
    }
    if old.labels() != new.labels() {
        parts.push(NodePart::Label);
    }
    if old.spec.taints != new.spec.taints {
        parts.push(NodePart::Taint);
    }
    if statuses(old) != statuses(new) {
        parts.push(NodePart::Condition);
    }
    if old.metadata.annotations != new.metadata.annotations {
        parts.push(NodePart::Annotation);
    }
    parts
}

fn same_amounts(a: &ResourceList, b: &ResourceList) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((ka, va), (kb, vb))| ka == kb && va.cmp(vb) == Ordering::Equal)
}

/// Which parts of a pod changed. Upstream: PodSchedulingPropertiesChange.
pub fn pod_parts(old: &Pod, new: &Pod) -> Vec<PodPart> {
    let mut parts = vec![];
    if old.metadata.labels != new.metadata.labels {
        parts.push(PodPart::Label);
    }
    if old.spec.containers != new.spec.containers && scaled_down(old, new) {
        parts.push(PodPart::ScaleDown);
    }
    if !old.spec.scheduling_gates.is_empty() && new.spec.scheduling_gates.is_empty() {
        parts.push(PodPart::GatesGone);
    }
    if old.spec.tolerations.len() != new.spec.tolerations.len() {
        parts.push(PodPart::Toleration);
    }
    if parts.is_empty() {
        parts.push(PodPart::Other);
    }
    parts
}

fn scaled_down(old: &Pod, new: &Pod) -> bool {
    let (old, new) = (pod_requests(old, &Default::default()), pod_requests(new, &Default::default()));
    old.iter().any(|(name, amount)| new.get(name).is_none_or(|n| amount.milli_value() > n.milli_value()))
}
