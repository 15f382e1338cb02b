//! Daemon sets: a pod on every node that fits.
//!
//! Upstream: pkg/controller/daemon (v1.37): daemon_controller.go, update.go, util/daemonset_util.go. Upstream's
//! expectations are the runtime's read-your-writes here. Left out: metrics.

mod fit;
mod manage;
mod nodes;
mod revisions;
mod rolling;
mod sentences;
mod status;
mod wakes;

pub use sentences::SENTENCES;

use crate::{
    claim::{Owner, claim_pods_for},
    order::sort_by_less,
    stop::{Step, Stop, flow},
    whole,
};
use kubestep_control::{Controller, Cx, Done, Flow, Watch};
use kubestep_model::{
    ControllerRevision, DaemonSet, Key, Kind, LabelSelector, Node, NodeSelector, Pod, Whole, text::Selector,
};
use std::collections::BTreeMap;

/// The daemon set controller.
#[derive(Debug)]
pub struct DaemonSetController;

static WATCHES: [Watch; 4] = [
    Watch { kind: DaemonSet::KIND, wakes: wakes::daemon_set },
    Watch { kind: Kind::Pod, wakes: wakes::pod },
    Watch { kind: Kind::Node, wakes: wakes::node },
    Watch { kind: ControllerRevision::KIND, wakes: wakes::nothing },
];

impl Controller for DaemonSetController {
    fn name(&self) -> &'static str {
        "daemonset"
    }
    fn actor(&self) -> &'static str {
        "daemon-set-controller"
    }
    fn event_source(&self) -> &'static str {
        "daemonset-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        2
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Pod, DaemonSet::KIND]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(set) = whole::get::<DaemonSet>(cx.view(), &key.namespace, &key.name) else {
            cx.because("ds.gone", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        };
        let step = sync_daemon_set(cx, &set);
        flow(cx, step)
    }
}

/// Who owns what this set makes.
fn owner(set: &DaemonSet) -> Owner<'_> {
    Owner { kind: DaemonSet::KIND, meta: &set.metadata }
}

fn who(set: &DaemonSet) -> (&'static str, String) {
    ("who", set.metadata.name.to_string())
}

/// A set's pods by the node that they are for. Upstream: getNodesToDaemonPods.
type ByNode<'p> = BTreeMap<String, Vec<&'p Pod>>;

/// One pass. Upstream: syncDaemonSet.
fn sync_daemon_set(cx: &mut Cx<'_>, set: &DaemonSet) -> Step<Done> {
    if set.spec.selector.as_ref().is_some_and(LabelSelector::is_empty) {
        let text = "This daemon set is selecting all pods. A non-empty selector is required.";
        cx.because("ds.selects-all", vec![who(set)]);
        cx.event(&set.to_object(), "Warning", "SelectingAll", text.into());
        return Ok(Done::Settled);
    }
    if set.metadata.is_terminating() {
        cx.because("ds.deleting", vec![who(set)]);
        return Ok(Done::Settled);
    }
    let history = revisions::construct(cx, set)?;
    let hash = revisions::hash_of(&history.current).to_owned();
    let nodes: Vec<&Node> = cx.list::<Node>(None).collect();
    let pods = by_node(claim_own(cx, set)?);
    let failure = match update(cx, set, &nodes, &pods, &hash, &history.old) {
        Ok(()) => None,
        Err(Stop::Failed(status)) => Some(status),
        Err(halt) => return Err(halt),
    };
    let written = status::update(cx, set, &nodes, &pods, &hash);
    match (failure, written) {
        (Some(failure), Ok(_) | Err(Stop::Failed(_))) => Err(failure.into()),
        (_, written) => written,
    }
}

/// Upstream: updateDaemonSet.
fn update(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    nodes: &[&Node],
    pods: &ByNode<'_>,
    hash: &str,
    old: &[ControllerRevision],
) -> Step<()> {
    // Own writes of this pass have to be read before pods of old templates are counted.
    let wrote = manage::manage(cx, set, nodes, pods, hash)?;
    if !wrote && set.spec.update_strategy.r#type == "RollingUpdate" {
        rolling::update(cx, set, nodes, pods, hash)?;
    }
    revisions::clean_up(cx, set, pods, old)
}

/// Upstream: getDaemonPods.
fn claim_own<'a>(cx: &mut Cx<'a>, set: &DaemonSet) -> Step<Vec<&'a Pod>> {
    let selector = match set.spec.selector.as_ref().map(|selector| selector.to_selector()) {
        Some(Ok(selector)) => selector,
        _ => Selector::nothing(),
    };
    let view = cx.view();
    let here = |pod: &&'a Pod| pod.metadata.namespace == set.metadata.namespace;
    let ours = view.owned_by::<Pod>(&set.metadata.uid).filter(here);
    let candidates: Vec<&'a Pod> = ours.chain(view.owned_by::<Pod>("").filter(here)).collect();
    claim_pods_for(cx, owner(set), candidates, |meta| selector.matches(&meta.labels))
}

fn by_node(pods: Vec<&Pod>) -> ByNode<'_> {
    let mut found = ByNode::new();
    for pod in pods {
        if pod.is_terminal() && pod.metadata.is_terminating() {
            continue;
        }
        if let Some(node) = target(pod) {
            found.entry(node).or_default().push(pod);
        }
    }
    for pods in found.values_mut() {
        sort_by_less(pods, |a, b| goes_before(a, b));
    }
    found
}

/// The node that a pod runs on or is for. Upstream: util.GetTargetNodeName.
fn target(pod: &Pod) -> Option<String> {
    if !pod.spec.node_name.is_empty() {
        return Some(pod.spec.node_name.to_string());
    }
    let required: &NodeSelector = crate::scheduler::affinity::required(pod)?;
    let fields = required.node_selector_terms.iter().flat_map(|term| &term.match_fields);
    let named = |field: &kubestep_model::NodeSelectorRequirement| match field.values.as_slice() {
        [name] if field.key == "metadata.name" && field.operator == "In" => Some(name.clone()),
        _ => None,
    };
    fields.into_iter().find_map(named)
}

/// Assigned pods first, then the older. Upstream: podByCreationTimestampAndPhase.
fn goes_before(a: &Pod, b: &Pod) -> bool {
    let key = |pod: &Pod| {
        (pod.spec.node_name.is_empty(), pod.metadata.creation_timestamp, pod.metadata.name.clone())
    };
    key(a) < key(b)
}

/// Whether a pod is of the present template. Upstream: util.IsPodUpdated.
fn is_updated(pod: &Pod, hash: &str, set: &DaemonSet) -> bool {
    let label = |name: &str| pod.metadata.labels.get(name).map(String::as_str);
    let generation = fit::template_generation(set);
    label(revisions::HASH) == Some(hash)
        || generation.is_some_and(|generation| label(fit::GENERATION_LABEL) == Some(&generation.to_string()))
}

#[cfg(test)]
mod tests;
