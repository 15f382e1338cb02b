//! Wishes about other pods and about nodes, read from manifests once.
//! Upstream: pkg/scheduler/framework, AffinityTerm, and component-helpers/scheduling/corev1/nodeaffinity (v1.37).

use kubestep_model::arrange::Gather;
use kubestep_model::{
    LabelSelector, Labels, Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod,
    text::{
        Selector,
        selector::{Operator, Requirement},
    },
};
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// One wish about other pods.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Term {
    pub namespaces: BTreeSet<Arc<str>>,
    /// Namespaces by label; matches nothing if none is given.
    pub namespace_selector: Selector,
    pub selector: Selector,
    pub topology_key: String,
    /// How much it counts; 0 for demands.
    pub weight: i64,
}

/// All wishes of one pod about other pods.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Terms {
    pub required_affinity: Vec<Term>,
    pub required_anti_affinity: Vec<Term>,
    pub preferred_affinity: Vec<Term>,
    pub preferred_anti_affinity: Vec<Term>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawTerm {
    label_selector: Option<LabelSelector>,
    namespaces: Option<Vec<String>>,
    topology_key: String,
    namespace_selector: Option<LabelSelector>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawWeighted {
    weight: i64,
    pod_affinity_term: RawTerm,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawAffinity {
    required_during_scheduling_ignored_during_execution: Option<Vec<RawTerm>>,
    preferred_during_scheduling_ignored_during_execution: Option<Vec<RawWeighted>>,
}

/// `None` reads as nothing, an empty selector as everything; one that cannot be read matches nothing.
pub fn selector(of: Option<&LabelSelector>) -> Selector {
    of.map_or_else(Selector::nothing, |s| s.to_selector().unwrap_or_else(|_| Selector::nothing()))
}

impl Term {
    fn new(raw: RawTerm, weight: i64, pod: &Pod) -> Self {
        let mut namespaces: BTreeSet<Arc<str>> =
            raw.namespaces.unwrap_or_default().into_iter().map(Into::into).gather();
        if namespaces.is_empty() && raw.namespace_selector.is_none() {
            namespaces.insert(pod.metadata.namespace.clone());
        }
        Term {
            namespaces,
            namespace_selector: selector(raw.namespace_selector.as_ref()),
            selector: selector(raw.label_selector.as_ref()),
            topology_key: raw.topology_key,
            weight,
        }
    }

    /// Whether pods with these labels are meant, in a namespace with this name and these labels.
    pub fn matches(&self, namespace: &str, labels: &Labels, namespace_labels: &Labels) -> bool {
        (self.namespaces.contains(namespace) || self.namespace_selector.matches(namespace_labels))
            && self.selector.matches(labels)
    }
}

fn read(value: Option<&Value>, pod: &Pod) -> (Vec<Term>, Vec<Term>) {
    let Some(value) = value else { return (vec![], vec![]) };
    let raw = RawAffinity::deserialize(value).unwrap_or_default();
    let required = raw.required_during_scheduling_ignored_during_execution.unwrap_or_default();
    let preferred = raw.preferred_during_scheduling_ignored_during_execution.unwrap_or_default();
    (
        required.into_iter().map(|t| Term::new(t, 0, pod)).collect(),
        preferred.into_iter().map(|w| Term::new(w.pod_affinity_term, w.weight, pod)).collect(),
    )
}

impl Terms {
    /// The wishes of a pod, if it has any.
    pub fn of(pod: &Pod) -> Option<Terms> {
        let affinity = pod.spec.affinity.as_ref()?;
        let (required_affinity, preferred_affinity) = read(affinity.pod_affinity.as_ref(), pod);
        let (required_anti_affinity, preferred_anti_affinity) =
            read(affinity.pod_anti_affinity.as_ref(), pod);
        let terms =
            Terms { required_affinity, required_anti_affinity, preferred_affinity, preferred_anti_affinity };
        (terms != Terms::default()).then_some(terms)
    }
}

fn requirement(line: &NodeSelectorRequirement) -> Option<Requirement> {
    let operator = match line.operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => Operator::GreaterThan,
        "Lt" => Operator::LessThan,
        _ => return None,
    };
    Requirement::new(&line.key, operator, line.values.clone()).ok()
}

/// Whether a node meets a term. An empty term, or one that cannot be read, is met by no node.
pub fn term_matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    if term.match_expressions.is_empty() && term.match_fields.is_empty() {
        return false;
    }
    let labels =
        term.match_expressions.iter().all(|r| requirement(r).is_some_and(|r| r.matches(node.labels())));
    labels
        && term.match_fields.iter().all(|field| {
            let same = |v: &String| **v == *node.metadata.name;
            match (field.key.as_str(), field.operator.as_str()) {
                ("metadata.name", "In") => field.values.iter().any(same),
                ("metadata.name", "NotIn") => !field.values.iter().any(same),
                _ => false,
            }
        })
}

/// Whether a node meets one of the terms.
pub fn selector_matches(selector: &NodeSelector, node: &Node) -> bool {
    selector.node_selector_terms.iter().any(|term| term_matches(term, node))
}

/// Whether a node meets a pod's nodeSelector and required node affinity. Upstream: GetRequiredNodeAffinity.
pub fn required_matches(pod: &Pod, node: &Node) -> bool {
    let labels = node.labels();
    pod.spec.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        && required(pod).is_none_or(|selector| selector_matches(selector, node))
}

/// A pod's required node affinity.
pub fn required(pod: &Pod) -> Option<&NodeSelector> {
    let node_affinity = pod.spec.affinity.as_ref()?.node_affinity.as_ref()?;
    node_affinity.required_during_scheduling_ignored_during_execution.as_ref()
}
