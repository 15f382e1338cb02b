//! Prefers nodes on which the pod makes cpu and memory more evenly used.
//! Upstream: plugins/noderesources, BalancedAllocation (v1.37).

use super::{super::node_info::NodeInfo, Cycle, MAX_SCORE, Plugin, State};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub struct BalancedAllocation;

/// 100 if cpu and memory are used in equal parts, less the further apart they are.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "upstream reckons in floats here"
)]
fn evenness(pairs: [(i64, i64); 2]) -> i64 {
    let known: Vec<f64> = pairs
        .into_iter()
        .filter(|(_, can)| *can != 0)
        .map(|(used, can)| (used as f64 / can as f64).min(1.0))
        .collect();
    let deviation = if let [a, b] = known[..] { ((a - b) / 2.0).abs() } else { 0.0 };
    ((1.0 - deviation) * MAX_SCORE as f64) as i64
}

impl Plugin for BalancedAllocation {
    fn name(&self) -> &'static str {
        "NodeResourcesBalancedAllocation"
    }
    fn weight(&self) -> i64 {
        1
    }
    fn before_scores(&self, cycle: &Cycle<'_>, _nodes: &[Arc<NodeInfo>]) -> Option<State> {
        let wanted = &cycle.pod.requests;
        (wanted.milli_cpu != 0 || wanted.memory != 0).then_some(State::None)
    }
    /// 75 where the pod changes nothing, more where it evens the node out.
    fn score(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> i64 {
        let (pod, used, can) = (&cycle.pod.requests, &node.requested, &node.allocatable);
        let before = evenness([(used.milli_cpu, can.milli_cpu), (used.memory, can.memory)]);
        let after = evenness([
            (used.milli_cpu.saturating_add(pod.milli_cpu), can.milli_cpu),
            (used.memory.saturating_add(pod.memory), can.memory),
        ]);
        (MAX_SCORE * 3 / 2 + after - before) / 2
    }
}
