//! Whether a node should run a set's pod, and what that pod looks like.
//! Upstream: daemon_controller.go, NodeShouldRunDaemonPod; util/daemonset_util.go (v1.37).

use super::revisions::HASH;
use crate::{
    pods::from_template,
    scheduler::{affinity::required_matches, plugins::taint_toleration::tolerates},
};
use kubestep_model::{
    DaemonSet, Node, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec,
    Toleration, Whole,
};

/// Upstream: DeprecatedTemplateGeneration, as annotation of the set and as label of its pods.
const GENERATION: &str = "deprecated.daemonset.template.generation";
pub(super) const GENERATION_LABEL: &str = "pod-template-generation";

/// Taints of nodes in trouble, which a daemon's pod bears.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
const NO_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Upstream: AddOrUpdateDaemonPodTolerations.
fn tolerate(spec: &mut PodSpec) {
    for (key, effect) in TOLERATED.into_iter().chain(spec.host_network.then_some(NO_NETWORK)) {
        let toleration = Toleration {
            key: key.into(),
            operator: "Exists".into(),
            effect: effect.into(),
            ..Default::default()
        };
        let same = |t: &Toleration| {
            (&t.key, &t.effect, &t.operator, &t.value)
                == (&toleration.key, &toleration.effect, &toleration.operator, &toleration.value)
        };
        match spec.tolerations.iter_mut().find(|t| same(t)) {
            Some(there) => *there = toleration,
            None => spec.tolerations.push(toleration),
        }
    }
}

/// How often the template has changed, as an old field counts it. Upstream: GetTemplateGeneration.
pub(super) fn template_generation(set: &DaemonSet) -> Option<i64> {
    set.metadata.annotations.get(GENERATION)?.parse().ok()
}

/// Whether the node should run a pod of the set, and whether one that is there may stay.
/// Upstream: NodeShouldRunDaemonPod.
pub(super) fn should_run(set: &DaemonSet, node: &Node) -> (bool, bool) {
    let template = &set.spec.template;
    let wanted = &template.spec.node_name;
    if !wanted.is_empty() && *wanted != node.metadata.name {
        return (false, false);
    }
    let mut spec = template.spec.clone();
    tolerate(&mut spec);
    let pod = Pod { spec: spec.into(), ..Default::default() };
    if !required_matches(&pod, node) {
        return (false, false);
    }
    let untolerated = |effects: &[&str]| {
        let counts = node.spec.taints.iter().filter(|taint| effects.contains(&taint.effect.as_str()));
        counts.into_iter().any(|taint| !pod.spec.tolerations.iter().any(|t| tolerates(t, taint)))
    };
    if untolerated(&["NoExecute", "NoSchedule"]) {
        (false, !untolerated(&["NoExecute"]))
    } else {
        (true, true)
    }
}

/// A new pod for a node. Upstream: CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity.
pub(super) fn new_pod(set: &DaemonSet, node: &str, hash: &str) -> Pod {
    let mut template = set.spec.template.clone();
    tolerate(&mut template.spec);
    if let Some(generation) = template_generation(set) {
        template.metadata.labels.insert(GENERATION_LABEL.into(), generation.to_string());
    }
    template.metadata.labels.insert(HASH.into(), hash.into());
    let named = NodeSelectorRequirement {
        key: "metadata.name".into(),
        operator: "In".into(),
        values: vec![node.into()],
        ..Default::default()
    };
    let term = NodeSelectorTerm { match_fields: vec![named], ..Default::default() };
    let affinity = template.spec.affinity.get_or_insert_default();
    let of_nodes: &mut NodeAffinity = affinity.node_affinity.get_or_insert_default();
    let required: &mut NodeSelector =
        of_nodes.required_during_scheduling_ignored_during_execution.get_or_insert_default();
    required.node_selector_terms = vec![term];
    from_template(&template, DaemonSet::KIND, &set.metadata)
}
