//! Whether a node has room, and how much it would have left. Upstream: plugins/noderesources, Fit with the
//! LeastAllocated strategy (v1.37).

use super::{
    super::{
        event::{Event, NodePart, PodPart},
        node_info::{NodeInfo, PodInfo},
        resources::Resources,
    },
    Cycle, MAX_SCORE, Plugin, Rejection, State,
};
use kubestep_model::Node;
use std::{borrow::Cow, sync::Arc};

/// See the module.
#[derive(Debug)]
pub struct NodeResourcesFit;

/// What is missing, and whether the node could never have it. Upstream: fitsRequest.
fn missing(wanted: &Resources, node: &NodeInfo) -> Vec<(Cow<'static, str>, bool)> {
    let mut lacks = vec![];
    if i64::try_from(node.pods.len()).unwrap_or(i64::MAX).saturating_add(1) > node.allocatable.pods {
        lacks.push(("Too many pods".into(), false));
    }
    if wanted.is_zero() {
        return lacks;
    }
    let (can, used) = (&node.allocatable, &node.requested);
    let mut check = |name: &str, wanted: i64, can: i64, used: i64| {
        if wanted > 0 && wanted > can.saturating_sub(used) {
            lacks.push((format!("Insufficient {name}").into(), wanted > can));
        }
    };
    check("cpu", wanted.milli_cpu, can.milli_cpu, used.milli_cpu);
    check("memory", wanted.memory, can.memory, used.memory);
    check("ephemeral-storage", wanted.ephemeral_storage, can.ephemeral_storage, used.ephemeral_storage);
    for (name, amount) in &wanted.scalar {
        check(name, *amount, can.get(name), used.get(name));
    }
    lacks
}

fn fits_empty(pod: &PodInfo, node: &Node) -> bool {
    missing(&pod.requests, &NodeInfo::of(Arc::new(node.clone()))).is_empty()
}

/// Whether a node has more of anything the pod asks for. Upstream: haveAnyRequestedResourcesIncreased.
fn grew(pod: &PodInfo, old: &Node, new: &Node) -> bool {
    let (old, new) = (Resources::of(&old.status.allocatable), Resources::of(&new.status.allocatable));
    let wanted = &pod.requests;
    new.pods > old.pods
        || wanted.milli_cpu > 0 && new.milli_cpu > old.milli_cpu
        || wanted.memory > 0 && new.memory > old.memory
        || wanted.ephemeral_storage > 0 && new.ephemeral_storage > old.ephemeral_storage
        || wanted.scalar.keys().any(|name| new.get(name) > old.get(name))
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        "NodeResourcesFit"
    }
    fn weight(&self) -> i64 {
        1
    }
    fn filter(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let lacks = missing(&cycle.pod.requests, node);
        if lacks.is_empty() {
            return Ok(());
        }
        let resolvable = !lacks.iter().any(|(_, never)| *never);
        Err(Rejection { reasons: lacks.into_iter().map(|(reason, _)| reason).collect(), resolvable })
    }
    fn score(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> i64 {
        let (pod, used, can) = (&cycle.pod.scored, &node.scored, &node.allocatable);
        let pairs = [
            (used.milli_cpu.saturating_add(pod.milli_cpu), can.milli_cpu),
            (used.memory.saturating_add(pod.memory), can.memory),
        ];
        let (mut sum, mut count) = (0, 0);
        for (requested, capacity) in pairs.into_iter().filter(|(_, capacity)| *capacity > 0) {
            count += 1;
            if requested <= capacity {
                sum += i64::try_from(
                    (i128::from(capacity) - i128::from(requested)) * i128::from(MAX_SCORE)
                        / i128::from(capacity),
                )
                .unwrap_or(0);
            }
        }
        if count == 0 { 0 } else { sum / count }
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(node) => fits_empty(pod, node),
            Event::NodeChanged { part: NodePart::Allocatable, old, new } => {
                fits_empty(pod, new) && grew(pod, old, new)
            }
            Event::PodGone(_) => true,
            Event::PodChanged { part: PodPart::ScaleDown, .. } => true,
            Event::WaitingChanged { part: PodPart::ScaleDown, new, .. } => new.metadata.uid == *pod.uid(),
            _ => false,
        }
    }
}
