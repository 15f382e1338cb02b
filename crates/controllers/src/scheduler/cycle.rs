//! One attempt: which nodes will do, which of them is best. Upstream: pkg/scheduler/schedule_one.go (v1.37).

use super::{
    attempt::Attempt,
    fit_error::{Diagnosis, Refusal},
    node_info::{NodeInfo, PodInfo},
    plugins::{Before, Cycle, PLUGINS, Plugin, Rejection, State},
};
use kubestep_model::Dice;
use kubestep_model::arrange::Gather;
use kubestep_model::tree::OrdMap;
use std::{collections::BTreeSet, sync::Arc};

/// At least so many nodes that will do are looked for. Upstream: minFeasibleNodesToFind.
const LEAST_NODES: usize = 100;

/// Pods for which preemption makes room, by uid, with the node that was chosen for them.
pub type Nominated = OrdMap<Arc<str>, (Arc<str>, Arc<PodInfo>)>;

/// Why no node was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// There are no nodes at all.
    NoNodes,
    /// No node will do.
    Fit(Box<Diagnosis>),
}

/// What the plugins worked out before the nodes are looked at.
#[derive(Debug)]
pub struct Prepared {
    states: Vec<(&'static dyn Plugin, State)>,
    /// Only these nodes come into question, and who says so.
    only: Option<(BTreeSet<Arc<str>>, BTreeSet<&'static str>)>,
}

/// Asks all plugins before the nodes are looked at. Upstream: RunPreFilterPlugins.
pub fn prepare(cycle: &Cycle<'_>) -> Result<Prepared, Refusal> {
    let mut prepared = Prepared { states: vec![], only: None };
    for plugin in PLUGINS.iter().copied() {
        match plugin.before(cycle) {
            Before::Skip => {}
            Before::Look(state) => prepared.states.push((plugin, state)),
            Before::Reject(rejection) => return Err(Refusal { plugin: plugin.name(), rejection }),
            Before::Only(names) => {
                prepared.states.push((plugin, State::None));
                let (nodes, by) = prepared.only.take().unwrap_or_else(|| (names.clone(), BTreeSet::new()));
                let nodes: BTreeSet<Arc<str>> = nodes.intersection(&names).cloned().gather();
                let by: BTreeSet<&'static str> = by.into_iter().chain([plugin.name()]).gather();
                if nodes.is_empty() {
                    let list = by.iter().copied().collect::<Vec<_>>().join(" ");
                    let reason = format!("node(s) didn't satisfy plugin(s) [{list}] simultaneously");
                    return Err(Refusal { plugin: plugin.name(), rejection: Rejection::for_good(reason) });
                }
                prepared.only = Some((nodes, by));
            }
        }
    }
    Ok(prepared)
}

/// Asks all filters about a node; the first that refuses it answers. Upstream: RunFilterPlugins.
pub fn filter(cycle: &Cycle<'_>, prepared: &Prepared, node: &NodeInfo) -> Result<(), Refusal> {
    for (plugin, state) in &prepared.states {
        if let Err(rejection) = plugin.filter(cycle, state, node) {
            return Err(Refusal { plugin: plugin.name(), rejection });
        }
    }
    Ok(())
}

/// As `filter`, with the pods counted in for which preemption has made room there, and again without them.
/// Upstream: RunFilterPluginsWithNominatedPods.
pub fn filter_with_nominated(
    cycle: &Cycle<'_>,
    prepared: &Prepared,
    nominated: &Nominated,
    node: &NodeInfo,
) -> Result<(), Refusal> {
    let comes_first =
        |other: &PodInfo| other.priority() >= cycle.pod.priority() && other.uid() != cycle.pod.uid();
    let there: Vec<&Arc<PodInfo>> = nominated
        .values()
        .filter(|(at, pod)| *at == node.name && comes_first(pod))
        .map(|(_, pod)| pod)
        .collect();
    if !there.is_empty() {
        let mut cache = cycle.cache.clone();
        for pod in there {
            cache.place(&node.name, pod.clone(), true);
        }
        let with = Cycle { cache: &cache, ..*cycle };
        let prepared = prepare(&with)?;
        if let Some(node) = cache.node(&node.name) {
            filter(&with, &prepared, node)?;
        }
    }
    filter(cycle, prepared, node)
}

/// How many nodes that will do are enough. Upstream: numFeasibleNodesToFind.
fn enough(all: usize) -> usize {
    if all < LEAST_NODES {
        return all;
    }
    let percentage = 50usize.saturating_sub(all / 125).max(5);
    (all * percentage / 100).max(LEAST_NODES)
}

/// Finds the nodes that will do; `start` says with which node to begin. Upstream: findNodesThatFitPod.
pub fn find(
    cycle: &Cycle<'_>,
    nominated: &Nominated,
    start: &mut usize,
    attempt: &mut Attempt,
) -> Result<Vec<Arc<NodeInfo>>, Failure> {
    let order = cycle.cache.order().clone();
    if order.is_empty() {
        return Err(Failure::NoNodes);
    }
    let mut diagnosis = Box::new(Diagnosis { all: order.len(), ..Diagnosis::default() });
    let prepared = match prepare(cycle) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            diagnosis.before = refusal.rejection.reasons.join(", ");
            diagnosis.rejectors.insert(refusal.plugin);
            diagnosis.absent = Some(refusal);
            return Err(Failure::Fit(diagnosis));
        }
    };
    let names = match &prepared.only {
        None => order.clone(),
        Some((names, by)) => {
            let list = by.iter().copied().collect::<Vec<_>>().join(" ");
            let rejection = Rejection::for_good(format!("node(s) didn't satisfy plugin(s) [{list}]"));
            let plugin = by.iter().next().copied().unwrap_or_default();
            diagnosis.absent = Some(Refusal { plugin, rejection });
            diagnosis.rejectors.extend(by);
            let known = |name: &&Arc<str>| cycle.cache.node(name).is_some_and(|n| n.node.is_some());
            Arc::new(names.iter().filter(known).cloned().collect())
        }
    };
    if let Some(node) = promised(cycle, &prepared, nominated) {
        attempt.row(&node, None);
        return Ok(vec![node]);
    }
    let wanted = enough(names.len());
    let mut found = vec![];
    for i in 0..names.len() {
        if found.len() >= wanted {
            break;
        }
        let name = names.get((*start + i) % names.len());
        let Some(node) = name.and_then(|name| cycle.cache.node(name)) else { continue };
        match filter_with_nominated(cycle, &prepared, nominated, node) {
            Ok(()) => {
                attempt.row(node, None);
                found.push(node.clone());
            }
            Err(refusal) => {
                attempt.row(node, Some(refusal.clone()));
                diagnosis.rejectors.insert(refusal.plugin);
                diagnosis.nodes.insert(node.name.clone(), refusal);
            }
        }
    }
    *start = (*start + found.len() + diagnosis.nodes.len()) % order.len();
    if found.is_empty() { Err(Failure::Fit(diagnosis)) } else { Ok(found) }
}

/// The node that the pod was promised, if it will do: then no other is looked at. Upstream: evaluateNominatedNode.
fn promised(cycle: &Cycle<'_>, prepared: &Prepared, nominated: &Nominated) -> Option<Arc<NodeInfo>> {
    let name = cycle.pod.pod.status.nominated_node_name.as_str();
    let node = cycle.cache.node(name).filter(|node| node.node.is_some())?;
    filter_with_nominated(cycle, prepared, nominated, node).ok()?;
    Some(node.clone())
}

/// Each plugin's scores, weighted, one for each node. Upstream: RunScorePlugins.
fn columns(cycle: &Cycle<'_>, nodes: &[Arc<NodeInfo>]) -> Vec<(&'static str, Vec<i64>)> {
    let mut all = vec![];
    for plugin in PLUGINS.iter().filter(|p| p.weight() > 0) {
        let Some(state) = plugin.before_scores(cycle, nodes) else { continue };
        let mut scores: Vec<i64> = nodes.iter().map(|node| plugin.score(cycle, &state, node)).collect();
        plugin.normalize(&state, nodes, &mut scores);
        for score in &mut scores {
            *score = score.saturating_mul(plugin.weight());
        }
        all.push((plugin.name(), scores));
    }
    all
}

/// The scores of one node.
fn row(columns: &[(&'static str, Vec<i64>)], node: usize) -> impl Iterator<Item = (&'static str, i64)> {
    columns.iter().filter_map(move |(name, scores)| Some((*name, *scores.get(node)?)))
}

/// Each node's scores, weighted, by plugin.
pub fn score(cycle: &Cycle<'_>, nodes: &[Arc<NodeInfo>]) -> Vec<Vec<(&'static str, i64)>> {
    let columns = columns(cycle, nodes);
    (0..nodes.len()).map(|node| row(&columns, node).collect()).collect()
}

/// Chooses among the nodes that will do: the best, by lot if there are several. Upstream: prioritizeNodes, selectHost.
pub fn choose(
    cycle: &Cycle<'_>,
    nodes: &[Arc<NodeInfo>],
    attempt: &mut Attempt,
    dice: &mut Dice,
) -> Option<Arc<str>> {
    if let [only] = nodes {
        return Some(only.name.clone());
    }
    let mut best: Vec<Arc<str>> = vec![];
    let mut most = i64::MIN;
    let columns = columns(cycle, nodes);
    let mut rows = attempt.rows();
    for (i, node) in nodes.iter().enumerate() {
        let total = row(&columns, i).map(|(_, score)| score).sum();
        rows.score(&node.name, &mut row(&columns, i), total);
        if total > most {
            most = total;
            best.clear();
        }
        if total == most {
            best.push(node.name.clone());
        }
    }
    if best.len() < 2 {
        return best.pop();
    }
    let drawn = dice.below("scheduler-tie", u32::try_from(best.len()).unwrap_or(u32::MAX));
    attempt.tied.clone_from(&best);
    best.get(usize::try_from(drawn).unwrap_or(0)).cloned()
}
