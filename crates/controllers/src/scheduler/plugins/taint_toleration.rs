//! Keeps pods away from taints that they do not tolerate. Upstream: plugins/tainttoleration and
//! component-helpers/scheduling/corev1 (v1.37).

use super::{
    super::{
        event::{Event, NodePart, PodPart},
        node_info::{NodeInfo, PodInfo},
    },
    Cycle, Plugin, Rejection, State, normalize,
};
use kubestep_model::{Node, Pod, Taint, Toleration};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct TaintToleration;

/// Whether a toleration covers a taint. Upstream: Toleration.ToleratesTaint.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    let numbers = || Some((taint.value.parse::<i64>().ok()?, toleration.value.parse::<i64>().ok()?));
    match toleration.operator.as_str() {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        "Lt" => numbers().is_some_and(|(taint, bound)| taint < bound),
        "Gt" => numbers().is_some_and(|(taint, bound)| taint > bound),
        _ => false,
    }
}

/// The first taint that keeps the pod away.
fn untolerated<'a>(pod: &Pod, node: &'a Node) -> Option<&'a Taint> {
    let mut hard =
        node.spec.taints.iter().filter(|t| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute"));
    hard.find(|taint| !pod.spec.tolerations.iter().any(|t| tolerates(t, taint)))
}

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        "TaintToleration"
    }
    fn weight(&self) -> i64 {
        3
    }
    fn filter(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let taint = node.node.as_ref().and_then(|n| untolerated(&cycle.pod.pod, n));
        taint.map_or(Ok(()), |_| Err(Rejection::for_good("node(s) had untolerated taint(s)")))
    }
    fn score(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> i64 {
        let soft = |t: &&Toleration| t.effect.is_empty() || t.effect == "PreferNoSchedule";
        let tolerations: Vec<&Toleration> = cycle.pod.pod.spec.tolerations.iter().filter(soft).collect();
        let taints = node.node.iter().flat_map(|n| &n.spec.taints).filter(|t| t.effect == "PreferNoSchedule");
        let count = taints.filter(|taint| !tolerations.iter().any(|t| tolerates(t, taint))).count();
        i64::try_from(count).unwrap_or(i64::MAX)
    }
    fn normalize(&self, _state: &State, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) {
        normalize(scores, true);
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(node) => untolerated(&pod.pod, node).is_none(),
            Event::NodeChanged { part: NodePart::Taint, old, new } => {
                untolerated(&pod.pod, old).is_some() && untolerated(&pod.pod, new).is_none()
            }
            Event::WaitingChanged { part: PodPart::Toleration, new, .. } => new.metadata.uid == *pod.uid(),
            _ => false,
        }
    }
}
