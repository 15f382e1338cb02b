//! Spreads pods of one kind over zones and nodes. Upstream: plugins/podtopologyspread (v1.37).

use super::{
    super::{
        affinity::required_matches,
        event::{Event, NodePart, PodPart},
        node_info::{Group, HOSTNAME, NodeInfo, PodInfo, ZONE},
    },
    Before, Cycle, MAX_SCORE, Plugin, Rejection, State, scaled,
    taint_toleration::tolerates,
};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    LabelSelector, Labels, Node, Pod, ReplicaSet, Service,
    text::Selector,
    text::selector::{Operator, Requirement},
};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, collections::BTreeSet, sync::Arc};

/// See the module.
#[derive(Debug)]
pub struct PodTopologySpread;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Raw {
    max_skew: i64,
    topology_key: String,
    when_unsatisfiable: String,
    label_selector: Option<LabelSelector>,
    min_domains: Option<i64>,
    node_affinity_policy: Option<String>,
    node_taints_policy: Option<String>,
    match_label_keys: Option<Vec<String>>,
}

/// One constraint, read.
#[derive(Clone, Debug)]
pub struct Constraint {
    max_skew: i64,
    key: String,
    selector: Selector,
    min_domains: i64,
    honour_affinity: bool,
    honour_taints: bool,
}

/// For the filter: the constraints, each with the matching pods by domain.
#[derive(Clone, Debug)]
pub struct Skews(Vec<(Constraint, BTreeMap<String, i64>)>);

/// A constraint for the score.
#[derive(Clone, Debug)]
struct Scored {
    constraint: Constraint,
    /// The matching pods by domain; of nodes they are counted when their turn comes.
    domains: BTreeMap<String, i64>,
    weight: f64,
    /// The groups of pods that are counted, where nodes are the domains.
    meant: Vec<Group>,
}

/// For the score.
#[derive(Clone, Debug)]
pub struct Scores {
    constraints: Vec<Scored>,
    /// Nodes that lack a topology key.
    ignored: BTreeSet<Arc<str>>,
}

fn read(constraint: &Value, pod: &Pod, action: &str) -> Option<Constraint> {
    let raw = Raw::deserialize(constraint).ok().filter(|raw| raw.when_unsatisfiable == action)?;
    let selector = super::super::affinity::selector(raw.label_selector.as_ref());
    let keys = raw.match_label_keys.unwrap_or_default();
    let labels: Labels =
        keys.iter().filter_map(|k| Some((k.clone(), pod.metadata.labels.get(k)?.clone()))).gather();
    let selector = if labels.is_empty() { selector } else { merge(&labels, &selector) };
    Some(Constraint {
        max_skew: raw.max_skew,
        key: raw.topology_key,
        selector,
        min_domains: raw.min_domains.unwrap_or(1),
        honour_affinity: raw.node_affinity_policy.as_deref().unwrap_or("Honor") == "Honor",
        honour_taints: raw.node_taints_policy.as_deref() == Some("Honor"),
    })
}

fn merge(labels: &Labels, selector: &Selector) -> Selector {
    let equals =
        labels.iter().filter_map(|(k, v)| Requirement::new(k, Operator::Equals, vec![v.clone()]).ok());
    Selector::of(equals.chain(selector.requirements().iter().cloned()).collect())
}

fn constraints(pod: &Pod, action: &str) -> Vec<Constraint> {
    pod.spec.topology_spread_constraints.iter().filter_map(|c| read(c, pod, action)).collect()
}

/// What a pod without constraints is spread by: nodes, then zones, among the pods of its services and replica set.
/// Upstream: buildDefaultConstraints with systemDefaultConstraints and DefaultSelector.
fn defaults(cycle: &Cycle<'_>) -> Vec<Constraint> {
    let pod = &cycle.pod.pod;
    let mut labels = Labels::new();
    for service in cycle.view.list::<Service>(Some(&pod.metadata.namespace)) {
        let wanted = &service.spec.selector;
        if !wanted.is_empty() && wanted.iter().all(|(k, v)| pod.metadata.labels.get(k) == Some(v)) {
            labels.extend(wanted.clone());
        }
    }
    let owner =
        pod.metadata.controller().filter(|o| o.kind == "ReplicaSet" && o.api_version.starts_with("apps/"));
    let set = owner.and_then(|o| cycle.view.get::<ReplicaSet>(&pod.metadata.namespace, &o.name));
    let of_set = set.map(|s| super::super::affinity::selector(s.spec.selector.as_ref()));
    let selector = merge(&labels, &of_set.unwrap_or_else(Selector::everything));
    if selector.is_empty() {
        return vec![];
    }
    let constraint = |key: &str, max_skew| Constraint {
        max_skew,
        key: key.to_owned(),
        selector: selector.clone(),
        min_domains: 1,
        honour_affinity: true,
        honour_taints: false,
    };
    vec![constraint(HOSTNAME, 3), constraint(ZONE, 5)]
}

impl Constraint {
    /// Upstream: matchNodeInclusionPolicies.
    fn counts_node(&self, pod: &Pod, node: &Node) -> bool {
        let hard = |effect: &str| matches!(effect, "NoSchedule" | "NoExecute");
        (!self.honour_affinity || required_matches(pod, node))
            && (!self.honour_taints
                || node
                    .spec
                    .taints
                    .iter()
                    .filter(|t| hard(&t.effect))
                    .all(|taint| pod.spec.tolerations.iter().any(|t| tolerates(t, taint))))
    }

    /// Whether pods of a group are counted: those that are going away are not. Upstream: countPodsMatchSelector.
    fn counts(&self, group: &Group, namespace: &str) -> bool {
        !self.selector.is_empty()
            && !group.terminating
            && *group.namespace == *namespace
            && self.selector.matches(&group.labels)
    }

    fn count(&self, node: &NodeInfo, namespace: &str) -> i64 {
        let groups = node.groups.iter().filter(|(group, _)| self.counts(group, namespace));
        groups.map(|(_, n)| i64::from(*n)).sum()
    }
}

fn has_all(labels: &Labels, keys: impl IntoIterator<Item = impl AsRef<str>>) -> bool {
    keys.into_iter().all(|key| labels.contains_key(key.as_ref()))
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        "PodTopologySpread"
    }
    fn weight(&self) -> i64 {
        2
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        let pod = &cycle.pod.pod;
        let constraints = constraints(pod, "DoNotSchedule");
        if constraints.is_empty() {
            return Before::Skip;
        }
        let mut found: Vec<_> = constraints.into_iter().map(|c| (c, BTreeMap::new())).collect();
        for info in cycle.cache.nodes() {
            let Some(node) = &info.node else { continue };
            if !has_all(node.labels(), found.iter().map(|(c, _)| &c.key)) {
                continue;
            }
            for (constraint, domains) in &mut found {
                if constraint.counts_node(pod, node) {
                    let value = node.labels().get(&constraint.key).cloned().unwrap_or_default();
                    *domains.entry(value).or_insert(0) += constraint.count(info, &pod.metadata.namespace);
                }
            }
        }
        Before::Look(State::Spread(Skews(found)))
    }
    fn filter(&self, cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let State::Spread(Skews(constraints)) = state else { return Ok(()) };
        for (constraint, domains) in constraints {
            let Some(value) = node.labels().get(&constraint.key) else {
                let reason = "node(s) didn't match pod topology spread constraints (missing required label)";
                return Err(Rejection::for_good(reason));
            };
            let few = i64::try_from(domains.len()).unwrap_or(i64::MAX) < constraint.min_domains;
            let least = if few { 0 } else { domains.values().min().copied().unwrap_or(i64::from(i32::MAX)) };
            let itself = i64::from(constraint.selector.matches(&cycle.pod.pod.metadata.labels));
            let here = domains.get(value).copied().unwrap_or(0);
            if here.saturating_add(itself).saturating_sub(least) > constraint.max_skew {
                return Err(Rejection::for_now("node(s) didn't match pod topology spread constraints"));
            }
        }
        Ok(())
    }
    fn before_scores(&self, cycle: &Cycle<'_>, nodes: &[Arc<NodeInfo>]) -> Option<State> {
        let scores = scores(cycle, nodes)?;
        Some(State::SpreadScores(scores))
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "upstream reckons in floats here"
    )]
    fn score(&self, _cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> i64 {
        let State::SpreadScores(scores) = state else { return 0 };
        if scores.ignored.contains(&node.name) {
            return 0;
        }
        let mut sum = 0.0;
        for Scored { constraint, domains, weight, meant } in &scores.constraints {
            let count: Option<i64> = if constraint.key == HOSTNAME {
                let counted = || node.groups.iter().filter(|(group, _)| meant.contains(group));
                node.has_hostname.then(|| counted().map(|(_, n)| i64::from(*n)).sum())
            } else {
                let value = node.labels().get(&constraint.key);
                value.map(|value| domains.get(value).copied().unwrap_or(0))
            };
            if let Some(count) = count {
                sum += count as f64 * weight + constraint.max_skew.saturating_sub(1) as f64;
            }
        }
        sum.round() as i64
    }
    fn normalize(&self, state: &State, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) {
        let State::SpreadScores(of) = state else { return };
        let counted = |i: usize| nodes.get(i).is_some_and(|n| !of.ignored.contains(&n.name));
        let known: Vec<i64> =
            scores.iter().enumerate().filter(|(i, _)| counted(*i)).map(|(_, s)| *s).collect();
        let (least, most) =
            (known.iter().copied().min().unwrap_or(0), known.iter().copied().max().unwrap_or(0));
        for (i, score) in scores.iter_mut().enumerate() {
            *score = match (counted(i), most) {
                (false, _) => 0,
                (true, 0) => MAX_SCORE,
                (true, most) => scaled(most.saturating_add(least).saturating_sub(*score), most),
            };
        }
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        hint(pod, event)
    }
}

/// Upstream: initPreScoreState and PreScore.
#[expect(clippy::cast_precision_loss, reason = "upstream reckons in floats here")]
fn scores<'a>(cycle: &Cycle<'_>, nodes: &'a [Arc<NodeInfo>]) -> Option<Scores> {
    let pod = &cycle.pod.pod;
    // Without constraints of the pod's own, nodes without a zone are spread by name all the same.
    let all_keys = !pod.spec.topology_spread_constraints.is_empty();
    let constraints = if all_keys { constraints(pod, "ScheduleAnyway") } else { defaults(cycle) };
    if constraints.is_empty() {
        return None;
    }
    let keys: Vec<String> = constraints.iter().map(|c| c.key.clone()).collect();
    let usable = |node: &NodeInfo| !all_keys || has_all(node.labels(), &keys);
    let ignored: BTreeSet<Arc<str>> = nodes.iter().filter(|n| !usable(n)).map(|n| n.name.clone()).gather();
    let mut found = vec![];
    for constraint in constraints {
        if constraint.key == HOSTNAME {
            let weight = ((nodes.len() - ignored.len()) as f64 + 2.0).ln();
            let groups = cycle.cache.groups().map(|(group, _)| group);
            let counted = groups.filter(|group| constraint.counts(group, &pod.metadata.namespace));
            let meant = counted.cloned().collect();
            found.push(Scored { constraint, domains: BTreeMap::new(), weight, meant });
            continue;
        }
        if constraint.key == ZONE && !nodes.iter().any(|n| n.has_zone) {
            continue;
        }
        let value = |n: &'a NodeInfo| n.labels().get(&constraint.key);
        let domains: BTreeSet<Option<&String>> =
            nodes.iter().filter(|n| usable(n)).map(|n| value(n)).gather();
        // Where no node has the label, the constraint says nothing of any.
        if domains.iter().all(Option::is_none) {
            continue;
        }
        let weight = (domains.len() as f64 + 2.0).ln();
        let mut counts: BTreeMap<String, i64> =
            domains.into_iter().flatten().map(|v| (v.clone(), 0)).gather();
        if !counts.is_empty() {
            let groups = cycle.cache.groups();
            let counted = groups.filter(|(group, _)| constraint.counts(group, &pod.metadata.namespace));
            for (info, number) in counted.flat_map(|(_, nodes)| nodes).filter(|(n, _)| usable(n)) {
                let count = info.labels().get(&constraint.key).and_then(|v| counts.get_mut(v));
                if let (Some(count), Some(node)) = (count, &info.node)
                    && constraint.counts_node(pod, node)
                {
                    *count += number;
                }
            }
        }
        found.push(Scored { constraint, domains: counts, weight, meant: vec![] });
    }
    Some(Scores { constraints: found, ignored })
}

/// Upstream: isSchedulableAfterPodChange and isSchedulableAfterNodeChange.
fn hint(pod: &PodInfo, event: &Event<'_>) -> bool {
    let constraints = constraints(&pod.pod, "DoNotSchedule");
    let meant = |other: &Pod| {
        other.metadata.namespace == pod.pod.metadata.namespace
            && constraints.iter().any(|c| c.selector.matches(&other.metadata.labels))
    };
    let usable = |node: &Node| has_all(node.labels(), constraints.iter().map(|c| &c.key));
    match event {
        Event::WaitingChanged { part: PodPart::Label, new, .. } => new.metadata.uid == *pod.uid(),
        Event::PodPlaced(placed) => meant(placed),
        Event::PodGone(gone) => meant(gone),
        Event::PodChanged { part: PodPart::Label, old, new } => meant(old) != meant(new),
        Event::NodeAdded(node) | Event::NodeGone(node) => usable(node),
        Event::NodeChanged { part: NodePart::Label, old, new } => {
            (usable(old) || usable(new))
                && constraints.iter().any(|c| old.labels().get(&c.key) != new.labels().get(&c.key))
        }
        Event::NodeChanged { part: NodePart::Taint, new, .. } => usable(new),
        _ => false,
    }
}
