//! Whether room could be made for a pod by ending less important ones, and where.
//! Upstream: plugins/defaultpreemption and framework/preemption (v1.37).

use super::{
    cache::Cache,
    cycle::{Nominated, filter_with_nominated, prepare},
    fit_error::{Diagnosis, Refusal},
    node_info::PodInfo,
    plugins::{Cycle, Rejection},
};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Dice, Time};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A node on which room can be made, and the pods that would have to go, most important first.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Candidate {
    pub node: Arc<str>,
    pub victims: Vec<Arc<PodInfo>>,
    /// How many of them a disruption budget protects.
    pub violations: usize,
}

/// At least so many candidates are looked for. Upstream: MinCandidateNodesAbsolute.
const LEAST_CANDIDATES: usize = 100;

/// Upstream: DefaultPreemption.PostFilter. Answers the text for the message and the chosen candidate.
pub fn preempt(
    cycle: &Cycle<'_>,
    nominated: &Nominated,
    diagnosis: &Diagnosis,
    dice: &mut Dice,
) -> (String, Option<Candidate>) {
    if !diagnosis.before.is_empty() {
        return ("not found".to_owned(), None);
    }
    match find(cycle, nominated, diagnosis, dice) {
        Ok(candidate) => {
            let (node, number) = (&candidate.node, candidate.victims.len());
            let text =
                format!("found a potential placement for pod on node {node}, preempting {number} victims");
            (format!("preemption: {text}"), Some(candidate))
        }
        Err(text) => (format!("preemption: {text}"), None),
    }
}

fn find(
    cycle: &Cycle<'_>,
    nominated: &Nominated,
    diagnosis: &Diagnosis,
    dice: &mut Dice,
) -> Result<Candidate, String> {
    eligible(cycle)?;
    let mut statuses: BTreeMap<Arc<str>, Refusal> = BTreeMap::new();
    let mut candidates: Vec<Candidate> = vec![];
    let resolvable = diagnosis.nodes.iter().filter(|(_, refusal)| refusal.rejection.resolvable);
    let names: BTreeSet<&Arc<str>> = resolvable.map(|(name, _)| name).gather();
    let wanted = LEAST_CANDIDATES.max(names.len() / 10);
    for name in cycle.cache.order().iter().filter(|name| names.contains(name)) {
        match victims_on(cycle, nominated, name) {
            Ok(candidate) => candidates.push(candidate),
            Err(refusal) => drop(statuses.insert(name.clone(), refusal)),
        }
        if candidates.len() >= wanted {
            break;
        }
    }
    let hopeless = Rejection::for_good("Preemption is not helpful for scheduling");
    let absent = Refusal { plugin: "DefaultPreemption", rejection: hopeless };
    pick(candidates, dice).ok_or_else(|| Diagnosis::of_nodes(diagnosis.all, &statuses, Some(&absent)))
}

/// Whether the pod may push others aside. Upstream: PodEligibleToPreemptOthers.
pub(super) fn eligible(cycle: &Cycle<'_>) -> Result<(), String> {
    let pod = &cycle.pod.pod;
    if pod.spec.preemption_policy.as_deref() == Some("Never") {
        return Err("not eligible due to preemptionPolicy=Never.".into());
    }
    let nominated = cycle.cache.node(&pod.status.nominated_node_name);
    let leaving = |p: &Arc<PodInfo>| {
        p.priority() < cycle.pod.priority()
            && p.pod.metadata.is_terminating()
            && p.pod
                .condition("DisruptionTarget")
                .is_some_and(|c| c.status == "True" && c.reason == "PreemptionByScheduler")
    };
    if nominated.is_some_and(|node| node.pods.values().any(leaving)) {
        return Err("not eligible due to a terminating pod on the nominated node.".into());
    }
    Ok(())
}

/// More important first: greater priority, then longer running. Upstream: util.MoreImportantPod.
fn importance(pod: &PodInfo) -> (Reverse<i32>, Time, Arc<str>) {
    let start = pod.pod.status.start_time.unwrap_or(Time(i64::MAX));
    (Reverse(pod.priority()), start, pod.uid().clone())
}

/// Upstream: SelectVictimsOnNode.
fn victims_on(cycle: &Cycle<'_>, nominated: &Nominated, name: &Arc<str>) -> Result<Candidate, Refusal> {
    let refuse = |reason: &'static str| Refusal {
        plugin: "DefaultPreemption",
        rejection: Rejection::for_good(reason),
    };
    let mut cache = cycle.cache.clone();
    let on_node = cycle.cache.node(name).map(|n| n.pods.clone()).unwrap_or_default();
    let mut weaker: Vec<Arc<PodInfo>> =
        on_node.values().filter(|p| p.priority() < cycle.pod.priority()).cloned().collect();
    if weaker.is_empty() {
        return Err(refuse("No preemption victims found for incoming pod"));
    }
    for pod in &weaker {
        cache.remove_pod(pod.uid());
    }
    fits(cycle, &cache, nominated, name)?;
    weaker.arrange_by_key(|pod| importance(pod));
    let (protected, free) = super::budgets::split(cycle.view, weaker);
    let protected_uids: BTreeSet<Arc<str>> = protected.iter().map(|p| p.uid().clone()).gather();
    let mut victims = vec![];
    // Each gets its place back if the pod still fits; those that a budget protects first.
    for pod in protected.into_iter().chain(free) {
        cache.place(name, pod.clone(), false);
        if fits(cycle, &cache, nominated, name).is_err() {
            cache.remove_pod(pod.uid());
            victims.push(pod);
        }
    }
    victims.arrange_by_key(|pod| importance(pod));
    let violations = victims.iter().filter(|p| protected_uids.contains(p.uid())).count();
    Ok(Candidate { node: name.clone(), victims, violations })
}

fn fits(cycle: &Cycle<'_>, cache: &Cache, nominated: &Nominated, name: &Arc<str>) -> Result<(), Refusal> {
    let what_if = Cycle { cache, ..*cycle };
    let prepared = prepare(&what_if)?;
    let Some(node) = cache.node(name) else { return Ok(()) };
    filter_with_nominated(&what_if, &prepared, nominated, node)
}

/// The candidate that does least harm; among equals by lot. Upstream: pickOneNodeForPreemption, which walks a map.
fn pick(candidates: Vec<Candidate>, dice: &mut Dice) -> Option<Candidate> {
    let harm = |c: &Candidate| {
        let highest = c.victims.first().map_or(i32::MIN, |v| v.priority());
        let sum: i64 = c.victims.iter().map(|v| i64::from(v.priority()) + i64::from(i32::MAX) + 1).sum();
        let tops = c.victims.iter().filter(|v| v.priority() == highest);
        let earliest = tops.filter_map(|v| v.pod.status.start_time).min();
        (c.violations, highest, sum, c.victims.len(), Reverse(earliest))
    };
    let least = candidates.iter().map(harm).min()?;
    let mut best: Vec<Candidate> = candidates.into_iter().filter(|c| harm(c) == least).collect();
    let number = u32::try_from(best.len()).unwrap_or(u32::MAX);
    let drawn = if number > 1 { dice.below("scheduler-preempt", number) } else { 0 };
    Some(best.swap_remove(usize::try_from(drawn).unwrap_or(0)))
}
