//! Keeps a pod that names a node to that node. Upstream: plugins/nodename (v1.37).

use super::{
    super::{
        event::Event,
        node_info::{NodeInfo, PodInfo},
    },
    Cycle, Plugin, Rejection, State,
};

/// See the module.
#[derive(Debug)]
pub struct NodeName;

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        "NodeName"
    }
    fn filter(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let wanted = &cycle.pod.pod.spec.node_name;
        if wanted.is_empty() || *wanted == node.name {
            return Ok(());
        }
        Err(Rejection::for_good("node(s) didn't match the requested node name"))
    }
    fn hint(&self, _pod: &PodInfo, event: &Event<'_>) -> bool {
        matches!(event, Event::NodeAdded(_))
    }
}
