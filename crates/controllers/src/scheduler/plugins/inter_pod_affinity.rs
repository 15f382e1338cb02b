//! Wishes about being near other pods, or far from them. Upstream: plugins/interpodaffinity (v1.37).

use super::{
    super::{
        affinity::{Term, Terms},
        event::{Event, NodePart, PodPart},
        node_info::{NodeInfo, PodInfo},
    },
    Before, Cycle, MAX_SCORE, Plugin, Rejection, State,
};
use kubestep_model::{Labels, Pod};
use std::{collections::BTreeMap, sync::Arc};

/// See the module.
#[derive(Debug)]
pub struct InterPodAffinity;

/// What a demand of a placed pod counts in the score. Upstream: DefaultHardPodAffinityWeight.
const HARD_WEIGHT: i64 = 1;

/// How much there is in each domain: topology key, its value, number.
type Domains = BTreeMap<String, BTreeMap<String, i64>>;

/// Matching pods by domain, for the filter.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Pods that the incoming one wants to be near to.
    affinity: Domains,
    /// Pods that the incoming one wants to be far from.
    anti_affinity: Domains,
    /// Pods that want to be far from the incoming one.
    existing: Domains,
}

/// Sums of weights by domain, for the score.
pub type Scores = Domains;

fn add(domains: &mut Domains, key: &str, labels: &Labels, amount: i64) {
    if let Some(value) = labels.get(key) {
        let count = domains.entry(key.to_owned()).or_default().entry(value.clone()).or_insert(0);
        *count = count.saturating_add(amount);
    }
}

fn count(domains: &Domains, key: &str, labels: &Labels) -> i64 {
    labels.get(key).and_then(|value| domains.get(key)?.get(value)).copied().unwrap_or(0)
}

/// Looks up the labels of namespaces, but only where a term needs them.
fn namespace_labels(cycle: &Cycle<'_>, terms: &[Term], namespace: &str) -> Labels {
    if terms
        .iter()
        .all(|t| t.namespace_selector.requirements().is_empty() && !t.namespace_selector.is_empty())
    {
        return Labels::new();
    }
    cycle.namespace_labels(namespace)
}

fn matches_all(cycle: &Cycle<'_>, terms: &[Term], namespace: &str, labels: &Labels) -> bool {
    let of = namespace_labels(cycle, terms, namespace);
    !terms.is_empty() && terms.iter().all(|t| t.matches(namespace, labels, &of))
}

fn own_terms<'a>(cycle: &Cycle<'a>) -> Option<&'a Terms> {
    cycle.pod.terms.as_deref()
}

/// Upstream: getExistingAntiAffinityCounts.
fn existing(cycle: &Cycle<'_>) -> Domains {
    let mut found = Domains::new();
    let group = &cycle.pod.group;
    let of = cycle.namespace_labels(&group.namespace);
    for node in cycle.cache.nodes_with_required_anti_affinity() {
        let pods = node.with_required_anti_affinity.iter().filter_map(|uid| node.pods.get(uid));
        for term in pods.filter_map(|p| p.terms.as_deref()).flat_map(|t| &t.required_anti_affinity) {
            if term.matches(&group.namespace, &group.labels, &of) {
                add(&mut found, &term.topology_key, node.labels(), 1);
            }
        }
    }
    found
}

/// Upstream: getIncomingAffinityAntiAffinityCounts.
fn incoming(cycle: &Cycle<'_>, counts: &mut Counts) {
    let Some(terms) = own_terms(cycle) else { return };
    let (near, far) = (&terms.required_affinity, &terms.required_anti_affinity);
    if near.is_empty() && far.is_empty() {
        return;
    }
    for (group, nodes) in cycle.cache.groups() {
        let is_near = matches_all(cycle, near, &group.namespace, &group.labels);
        let of = namespace_labels(cycle, far, &group.namespace);
        let far: Vec<&Term> =
            far.iter().filter(|t| t.matches(&group.namespace, &group.labels, &of)).collect();
        if !is_near && far.is_empty() {
            continue;
        }
        for (node, number) in nodes {
            for term in near.iter().filter(|_| is_near) {
                add(&mut counts.affinity, &term.topology_key, node.labels(), number);
            }
            for term in &far {
                add(&mut counts.anti_affinity, &term.topology_key, node.labels(), number);
            }
        }
    }
}

/// Upstream: satisfyPodAffinity.
fn near_enough(cycle: &Cycle<'_>, counts: &Counts, labels: &Labels) -> bool {
    let terms = own_terms(cycle).map_or(&[] as &[Term], |t| &t.required_affinity);
    if terms.iter().any(|t| !labels.contains_key(&t.topology_key)) {
        return false;
    }
    if terms.iter().all(|t| count(&counts.affinity, &t.topology_key, labels) > 0) {
        return true;
    }
    // The first pod of a group that wants to be together has nobody to be near to but itself.
    let group = &cycle.pod.group;
    counts.affinity.is_empty() && matches_all(cycle, terms, &group.namespace, &group.labels)
}

impl Plugin for InterPodAffinity {
    fn name(&self) -> &'static str {
        "InterPodAffinity"
    }
    fn weight(&self) -> i64 {
        2
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        let mut counts = Counts { existing: existing(cycle), ..Counts::default() };
        incoming(cycle, &mut counts);
        let demands = own_terms(cycle)
            .is_some_and(|t| !t.required_affinity.is_empty() || !t.required_anti_affinity.is_empty());
        if counts.existing.is_empty() && !demands {
            return Before::Skip;
        }
        Before::Look(State::PodAffinity(counts))
    }
    fn filter(&self, cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let State::PodAffinity(counts) = state else { return Ok(()) };
        let labels = node.labels();
        if !near_enough(cycle, counts, labels) {
            return Err(Rejection::for_good("node(s) didn't match pod affinity rules"));
        }
        let far = own_terms(cycle).map_or(&[] as &[Term], |t| &t.required_anti_affinity);
        if far.iter().any(|t| count(&counts.anti_affinity, &t.topology_key, labels) > 0) {
            return Err(Rejection::for_now("node(s) didn't match pod anti-affinity rules"));
        }
        if counts.existing.keys().any(|key| count(&counts.existing, key, labels) > 0) {
            return Err(Rejection::for_now("node(s) didn't satisfy existing pods anti-affinity rules"));
        }
        Ok(())
    }
    fn before_scores(&self, cycle: &Cycle<'_>, _nodes: &[Arc<NodeInfo>]) -> Option<State> {
        let scores = scores(cycle);
        (!scores.is_empty()).then_some(State::PodAffinityScores(scores))
    }
    fn score(&self, _cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> i64 {
        let State::PodAffinityScores(scores) = state else { return 0 };
        scores.keys().map(|key| count(scores, key, node.labels())).sum()
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "upstream reckons in floats here"
    )]
    fn normalize(&self, _state: &State, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) {
        let most = scores.iter().copied().max().unwrap_or(0);
        let least = scores.iter().copied().min().unwrap_or(0);
        for score in scores {
            let part = (*score).saturating_sub(least) as f64 / most.saturating_sub(least) as f64;
            *score = if most > least { (MAX_SCORE as f64 * part) as i64 } else { 0 };
        }
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        hint(pod, event)
    }
}

/// Upstream: PreScore with processExistingPod.
fn scores(cycle: &Cycle<'_>) -> Scores {
    let mut found = Scores::new();
    if let Some(own) = own_terms(cycle)
        && !(own.preferred_affinity.is_empty() && own.preferred_anti_affinity.is_empty())
    {
        for (group, nodes) in cycle.cache.groups() {
            let meant: Vec<(&Term, i64)> = [(&own.preferred_affinity, 1), (&own.preferred_anti_affinity, -1)]
                .into_iter()
                .flat_map(|(terms, sign)| {
                    let of = namespace_labels(cycle, terms, &group.namespace);
                    let fits = move |t: &&Term| t.matches(&group.namespace, &group.labels, &of);
                    terms.iter().filter(fits).map(move |t| (t, t.weight.saturating_mul(sign)))
                })
                .collect();
            if meant.is_empty() {
                continue;
            }
            for (node, number) in nodes {
                for (term, weight) in &meant {
                    add(&mut found, &term.topology_key, node.labels(), weight.saturating_mul(number));
                }
            }
        }
    }
    let group = &cycle.pod.group;
    let of = cycle.namespace_labels(&group.namespace);
    for node in cycle.cache.nodes_with_affinity() {
        for terms in node.with_affinity.iter().filter_map(|uid| node.pods.get(uid)?.terms.as_deref()) {
            let all = [
                (&terms.required_affinity, HARD_WEIGHT, true),
                (&terms.preferred_affinity, 1, false),
                (&terms.preferred_anti_affinity, -1, false),
            ];
            for (terms, factor, hard) in all {
                for term in terms.iter().filter(|t| t.matches(&group.namespace, &group.labels, &of)) {
                    let amount = if hard { factor } else { factor.saturating_mul(term.weight) };
                    add(&mut found, &term.topology_key, node.labels(), amount);
                }
            }
        }
    }
    found
}

/// Whether a pod is meant by one of the terms; namespaces by name only, as upstream's hints ask for no labels.
fn meant(terms: &[Term], pod: &Pod) -> bool {
    let none = Labels::new();
    terms.iter().any(|t| t.matches(&pod.metadata.namespace, &pod.metadata.labels, &none))
}

fn meant_by_all(terms: &[Term], pod: &Pod) -> bool {
    let none = Labels::new();
    !terms.is_empty() && terms.iter().all(|t| t.matches(&pod.metadata.namespace, &pod.metadata.labels, &none))
}

/// Upstream: isSchedulableAfterPodChange and isSchedulableAfterNodeChange.
fn hint(pod: &PodInfo, event: &Event<'_>) -> bool {
    let none = Terms::default();
    let terms = pod.terms.as_deref().unwrap_or(&none);
    let (near, far) = (&terms.required_affinity, &terms.required_anti_affinity);
    let wants_distance_to_us =
        |other: &Pod| Terms::of(other).is_some_and(|t| meant(&t.required_anti_affinity, &pod.pod));
    match event {
        Event::WaitingChanged { part: PodPart::Label, new, .. } => new.metadata.uid == *pod.uid(),
        Event::PodPlaced(placed) => meant_by_all(near, placed),
        Event::PodChanged { part: PodPart::Label, old, new } => {
            meant_by_all(near, new) && !meant_by_all(near, old) || meant(far, old) && !meant(far, new)
        }
        Event::PodGone(gone) => meant(far, gone) || wants_distance_to_us(gone),
        Event::NodeAdded(node) => {
            let labels = node.labels();
            near.iter().chain(far).any(|t| labels.contains_key(&t.topology_key))
                || near.is_empty() && far.is_empty()
        }
        Event::NodeChanged { part: NodePart::Label, old, new } => {
            let (old, new) = (old.labels(), new.labels());
            let became = |t: &Term| {
                new.contains_key(&t.topology_key) && old.get(&t.topology_key) != new.get(&t.topology_key)
            };
            let changed = |t: &Term| old.get(&t.topology_key) != new.get(&t.topology_key);
            near.iter().any(became) || far.iter().any(changed) || near.is_empty() && far.is_empty()
        }
        _ => false,
    }
}
