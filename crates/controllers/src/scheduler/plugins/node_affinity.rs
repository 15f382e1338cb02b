//! nodeSelector and node affinity. Upstream: plugins/nodeaffinity (v1.37).

use super::{
    super::{
        affinity::{required, required_matches, term_matches},
        event::{Event, NodePart},
        node_info::{NodeInfo, PodInfo},
    },
    Before, Cycle, Plugin, Rejection, State, normalize,
};
use kubestep_model::arrange::Gather;
use kubestep_model::{NodeSelectorTerm, Pod, PreferredSchedulingTerm};
use std::{collections::BTreeSet, sync::Arc};

/// See the module.
#[derive(Debug)]
pub struct NodeAffinity;

fn preferred(pod: &Pod) -> &[PreferredSchedulingTerm] {
    let node_affinity = pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    node_affinity.map_or(&[], |n| &n.preferred_during_scheduling_ignored_during_execution)
}

/// The nodes that a term names by `metadata.name In`; `None` if it names none that way.
fn named(term: &NodeSelectorTerm) -> Option<BTreeSet<Arc<str>>> {
    let mut names: Option<BTreeSet<Arc<str>>> = None;
    for field in term.match_fields.iter().filter(|f| f.key == "metadata.name" && f.operator == "In") {
        let these: BTreeSet<Arc<str>> = field.values.iter().map(|v| v.as_str().into()).gather();
        names = Some(match names {
            None => these,
            Some(so_far) => so_far.intersection(&these).cloned().collect(),
        });
    }
    names
}

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        "NodeAffinity"
    }
    fn weight(&self) -> i64 {
        2
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        let pod = &cycle.pod.pod;
        let required = required(pod);
        if required.is_none() && pod.spec.node_selector.is_empty() {
            return Before::Skip;
        }
        let terms = required.map_or(&[] as &[NodeSelectorTerm], |r| &r.node_selector_terms);
        let names: Option<Vec<BTreeSet<Arc<str>>>> = terms.iter().map(named).collect();
        match names {
            Some(sets) if !sets.is_empty() => {
                let all: BTreeSet<Arc<str>> = sets.into_iter().flatten().gather();
                if all.is_empty() {
                    return Before::Reject(Rejection::for_good("pod affinity terms conflict"));
                }
                Before::Only(all)
            }
            _ => Before::Look(State::None),
        }
    }
    fn filter(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        if node.node.as_ref().is_some_and(|n| required_matches(&cycle.pod.pod, n)) {
            return Ok(());
        }
        Err(Rejection::for_good("node(s) didn't match Pod's node affinity/selector"))
    }
    fn before_scores(&self, cycle: &Cycle<'_>, _nodes: &[Arc<NodeInfo>]) -> Option<State> {
        (!preferred(&cycle.pod.pod).is_empty()).then_some(State::None)
    }
    fn score(&self, cycle: &Cycle<'_>, _state: &State, node: &NodeInfo) -> i64 {
        let Some(node) = &node.node else { return 0 };
        let met = preferred(&cycle.pod.pod).iter().filter(|t| term_matches(&t.preference, node));
        met.map(|t| i64::from(t.weight)).fold(0, i64::saturating_add)
    }
    fn normalize(&self, _state: &State, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) {
        normalize(scores, false);
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(node) => required_matches(&pod.pod, node),
            Event::NodeChanged { part: NodePart::Label, old, new } => {
                required_matches(&pod.pod, new) && !required_matches(&pod.pod, old)
            }
            _ => false,
        }
    }
}
