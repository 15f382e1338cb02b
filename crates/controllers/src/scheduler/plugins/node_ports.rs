//! Host ports: each can be taken once on a node. Upstream: plugins/nodeports (v1.37).

use super::{
    super::{
        event::Event,
        node_info::{HostPort, NodeInfo, PodInfo, host_ports},
    },
    Before, Cycle, Plugin, Rejection, State,
};

/// See the module.
#[derive(Debug)]
pub struct NodePorts;

const ANY: &str = "0.0.0.0";

fn conflicts(a: &HostPort, b: &HostPort) -> bool {
    a.1 == b.1 && a.2 == b.2 && (a.0 == b.0 || a.0 == ANY || b.0 == ANY)
}

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        "NodePorts"
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        let wanted = host_ports(&cycle.pod.pod);
        if wanted.is_empty() { Before::Skip } else { Before::Look(State::Ports(wanted)) }
    }
    fn filter(&self, _cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let State::Ports(wanted) = state else { return Ok(()) };
        if wanted.iter().any(|w| node.ports.keys().any(|taken| conflicts(w, taken))) {
            return Err(Rejection::for_now("node(s) didn't have free ports for the requested pod ports"));
        }
        Ok(())
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(_) => true,
            Event::PodGone(gone) => {
                let freed = host_ports(gone);
                host_ports(&pod.pod).iter().any(|w| freed.iter().any(|f| conflicts(w, f)))
            }
            _ => false,
        }
    }
}
