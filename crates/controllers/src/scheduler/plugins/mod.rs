//! The scheduler's plugins: each says which nodes will not do and how good the others are.
//! Upstream: pkg/scheduler/framework/plugins and the default profile (v1.37).

pub mod balanced_allocation;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod no_op;
pub mod node_affinity;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod pod_topology_spread;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_restrictions;

use super::{
    cache::Cache,
    event::Event,
    node_info::{NodeInfo, PodInfo},
};
use kubestep_control::View;
use kubestep_model::{Labels, Namespace};
use std::{borrow::Cow, collections::BTreeSet, fmt::Debug, sync::Arc};

/// The greatest score a plugin gives. Upstream: MaxNodeScore.
pub const MAX_SCORE: i64 = 100;
/// The name of the plugin that holds gated pods back.
pub const SCHEDULING_GATES: &str = "SchedulingGates";

/// Why a node will not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The texts that are counted in the message.
    pub reasons: Vec<Cow<'static, str>>,
    /// Whether it could help if pods left the node.
    pub resolvable: bool,
}

impl Rejection {
    /// Nothing that leaves the node could help. Upstream: UnschedulableAndUnresolvable.
    pub fn for_good(reason: impl Into<Cow<'static, str>>) -> Self {
        Rejection { reasons: vec![reason.into()], resolvable: false }
    }
    /// Could help. Upstream: Unschedulable.
    pub fn for_now(reason: impl Into<Cow<'static, str>>) -> Self {
        Rejection { reasons: vec![reason.into()], resolvable: true }
    }
}

/// What is looked at in one attempt.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Cycle<'a> {
    pub cache: &'a Cache,
    pub view: &'a View,
    pub pod: &'a PodInfo,
}

impl Cycle<'_> {
    /// The labels of a namespace.
    pub fn namespace_labels(&self, namespace: &str) -> Labels {
        self.view.get::<Namespace>("", namespace).map(|n| n.metadata.labels.clone()).unwrap_or_default()
    }
}

/// What a plugin works out once for all nodes.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub enum State {
    #[default]
    None,
    PodAffinity(inter_pod_affinity::Counts),
    PodAffinityScores(inter_pod_affinity::Scores),
    Spread(pod_topology_spread::Skews),
    SpreadScores(pod_topology_spread::Scores),
    Ports(Vec<super::node_info::HostPort>),
    /// The pod's images, and what each counts on a node that has it.
    Images(Vec<(String, i64)>),
    Claims(volume_binding::Claims),
    /// Claims that one pod alone may use, and the nodes on which they are in use.
    Exclusive(Vec<String>, Vec<Arc<str>>),
}

/// What a plugin says before the nodes are looked at.
#[derive(Clone, Debug)]
pub enum Before {
    /// It has nothing to say in this attempt.
    Skip,
    /// It looks at each node.
    Look(State),
    /// Only these nodes come into question.
    Only(BTreeSet<Arc<str>>),
    /// No node will do.
    Reject(Rejection),
}

/// A part of the scheduler's judgement.
pub trait Plugin: Sync + Debug {
    /// Its name, as in upstream's configuration.
    fn name(&self) -> &'static str;
    /// How much its score counts; 0 if it gives none.
    fn weight(&self) -> i64 {
        0
    }
    /// Before the nodes are looked at. Upstream: PreFilter.
    fn before(&self, _cycle: &Cycle<'_>) -> Before {
        Before::Look(State::None)
    }
    /// Whether a node will do. Upstream: Filter.
    fn filter(&self, _cycle: &Cycle<'_>, _state: &State, _node: &NodeInfo) -> Result<(), Rejection> {
        Ok(())
    }
    /// Before the nodes that will do are scored; `None` if it gives no score this time. Upstream: PreScore.
    fn before_scores(&self, _cycle: &Cycle<'_>, _nodes: &[Arc<NodeInfo>]) -> Option<State> {
        Some(State::None)
    }
    /// How good a node is. Upstream: Score.
    fn score(&self, _cycle: &Cycle<'_>, _state: &State, _node: &NodeInfo) -> i64 {
        0
    }
    /// Brings the scores into 0 to 100. Upstream: NormalizeScore.
    fn normalize(&self, _state: &State, _nodes: &[Arc<NodeInfo>], _scores: &mut [i64]) {}
    /// Whether an event may make a pod fit that this plugin rejected. Upstream: QueueingHintFn.
    fn hint(&self, _pod: &PodInfo, _event: &Event<'_>) -> bool {
        false
    }
}

/// The plugins of the default profile, in its order.
pub static PLUGINS: &[&dyn Plugin] = &[
    &no_op::SchedulingGates,
    &node_unschedulable::NodeUnschedulable,
    &node_name::NodeName,
    &taint_toleration::TaintToleration,
    &node_affinity::NodeAffinity,
    &node_ports::NodePorts,
    &node_resources_fit::NodeResourcesFit,
    &volume_restrictions::VolumeRestrictions,
    &volume_binding::VolumeBinding,
    &pod_topology_spread::PodTopologySpread,
    &inter_pod_affinity::InterPodAffinity,
    &no_op::DynamicResources,
    &balanced_allocation::BalancedAllocation,
    &image_locality::ImageLocality,
];

/// A plugin by its name.
pub fn plugin(name: &str) -> Option<&'static dyn Plugin> {
    PLUGINS.iter().copied().find(|p| p.name() == name)
}

/// Scales scores so that the greatest becomes 100, or with `reverse` the least. Upstream: DefaultNormalizeScore.
pub fn normalize(scores: &mut [i64], reverse: bool) {
    let greatest = scores.iter().copied().max().unwrap_or(0);
    for score in scores {
        let scaled = if greatest == 0 { 0 } else { scaled(*score, greatest) };
        *score = if reverse { MAX_SCORE - scaled } else { scaled };
    }
}

/// A part of the greatest score, cut to a whole number.
fn scaled(part: i64, whole: i64) -> i64 {
    i64::try_from(i128::from(MAX_SCORE) * i128::from(part) / i128::from(whole)).unwrap_or(i64::MAX)
}
