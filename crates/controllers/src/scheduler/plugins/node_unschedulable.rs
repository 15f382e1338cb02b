//! Keeps pods away from cordoned nodes. Upstream: plugins/nodeunschedulable (v1.37).

use super::{
    super::{
        event::{Event, NodePart, PodPart},
        node_info::{NodeInfo, PodInfo},
    },
    Cycle, Plugin, Rejection, State,
    taint_toleration::tolerates,
};
use kubestep_model::{Pod, Taint};

/// See the module.
#[derive(Debug)]
pub struct NodeUnschedulable;

fn tolerated(pod: &Pod) -> bool {
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        effect: "NoSchedule".into(),
        ..Taint::default()
    };
    pod.spec.tolerations.iter().any(|t| tolerates(t, &taint))
}

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        "NodeUnschedulable"
    }
    fn filter(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let cordoned = node.node.as_ref().is_some_and(|n| n.spec.unschedulable);
        if cordoned && !tolerated(&cycle.pod.pod) {
            return Err(Rejection::for_good("node(s) were unschedulable"));
        }
        Ok(())
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(node) => !node.spec.unschedulable,
            Event::NodeChanged { part: NodePart::Taint, old, new } => {
                old.spec.unschedulable && !new.spec.unschedulable
            }
            Event::WaitingChanged { part: PodPart::Toleration, new, .. } => {
                new.metadata.uid == *pod.uid() && tolerated(new)
            }
            _ => false,
        }
    }
}
