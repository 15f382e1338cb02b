//! Whether the node takes a pod that was bound to it. Upstream: pkg/kubelet/lifecycle/predicate.go.

use super::{Cx, Kubelet, worker::Stage};
use kubestep_model::{Key, Kind, Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Quantity, Toleration};
use std::{collections::BTreeMap, sync::Arc};

/// What a pod asks for: the sum of its containers, or its largest init container.
fn request(pod: &Pod, resource: &str, read: fn(&Quantity) -> i64) -> i64 {
    let of = |c: &kubestep_model::Container| c.resources.requests.get(resource).map_or(0, read);
    let own: i64 = pod.spec.containers.iter().map(of).fold(0, i64::saturating_add);
    let init = pod.spec.init_containers.iter().map(of).max().unwrap_or(0);
    own.max(init).saturating_add(pod.spec.overhead.get(resource).map_or(0, read))
}

fn tolerates(toleration: &Toleration, key: &str, value: &str, effect: &str) -> bool {
    let key_fits = toleration.key == key || (toleration.key.is_empty() && toleration.operator == "Exists");
    let value_fits = toleration.operator == "Exists" || toleration.value == value;
    key_fits && value_fits && (toleration.effect.is_empty() || toleration.effect == effect)
}

fn holds(requirement: &NodeSelectorRequirement, have: Option<&String>) -> bool {
    let number = |t: &String| t.parse::<i64>().ok();
    let compared = || Some((have.and_then(number)?, requirement.values.first().and_then(number)?));
    match requirement.operator.as_str() {
        "In" => have.is_some_and(|v| requirement.values.contains(v)),
        "NotIn" => have.is_none_or(|v| !requirement.values.contains(v)),
        "Exists" => have.is_some(),
        "DoesNotExist" => have.is_none(),
        "Gt" => compared().is_some_and(|(a, b)| a > b),
        "Lt" => compared().is_some_and(|(a, b)| a < b),
        _ => false,
    }
}

fn term_matches(term: &NodeSelectorTerm, node: &Node, name: &String) -> bool {
    let any = !term.match_expressions.is_empty() || !term.match_fields.is_empty();
    any && term.match_expressions.iter().all(|r| holds(r, node.metadata.labels.get(&r.key)))
        && term.match_fields.iter().all(|r| r.key == "metadata.name" && holds(r, Some(name)))
}

fn wants_node(pod: &Pod, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    if pod.spec.node_selector.iter().any(|(k, v)| labels.get(k) != Some(v)) {
        return false;
    }
    let affinity = pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    let required = affinity.and_then(|a| a.required_during_scheduling_ignored_during_execution.as_ref());
    let name = node.metadata.name.to_string();
    required.is_none_or(|s| s.node_selector_terms.iter().any(|t| term_matches(t, node, &name)))
}

/// A resource, how its amounts are read, and what the node has of it.
type Row = (&'static str, fn(&Quantity) -> i64, i64);

impl Kubelet {
    /// Why the node does not take this pod, if it does not: reason and message.
    pub(super) fn admit(&self, cx: &Cx<'_>, pod: &Arc<Pod>) -> Option<(Arc<str>, String)> {
        if pod.status.start_time.is_some() {
            // It was taken before this kubelet was restarted.
            return None;
        }
        if let Some(refusal) = self.without_room(pod) {
            return Some(refusal);
        }
        let node = cx.view.object(&Key::new(Kind::Node, "", self.name())).and_then(|o| o.get::<Node>())?;
        if !wants_node(pod, node) {
            return Some((
                "NodeAffinity".into(),
                "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector".into(),
            ));
        }
        let unbearable = node
            .spec
            .taints
            .iter()
            .filter(|t| t.effect == "NoExecute")
            .any(|t| !pod.spec.tolerations.iter().any(|tol| tolerates(tol, &t.key, &t.value, &t.effect)));
        let message = "Predicate TaintToleration failed: node(s) had untolerated taint(s)";
        unbearable.then(|| ("TaintToleration".into(), message.into()))
    }

    fn without_room(&self, pod: &Pod) -> Option<(Arc<str>, String)> {
        let spec = &self.info.spec;
        let rows: [Row; 3] = [
            ("cpu", Quantity::milli_value, spec.cpu.milli_value()),
            ("memory", Quantity::value, spec.memory.value()),
            ("ephemeral-storage", Quantity::value, 100 << 30),
        ];
        let others = || {
            self.workers
                .values()
                .filter(|w| w.stage < Stage::Terminated && !w.pod.is_terminal())
                .map(|w| &w.pod)
        };
        let refusal = |name: &str, requested: i64, used: i64, capacity: i64| {
            let text = format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            );
            Some((format!("OutOf{name}").into(), text))
        };
        let count = i64::try_from(others().count()).unwrap_or(i64::MAX);
        if count >= spec.pods {
            return refusal("pods", 1, count, spec.pods);
        }
        let mut wanted: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
        for (name, read, capacity) in rows {
            let requested = request(pod, name, read);
            if requested > 0 {
                let used = others().map(|p| request(p, name, read)).fold(0, i64::saturating_add);
                wanted.insert(name, (requested, used, capacity));
            }
        }
        ["cpu", "memory", "ephemeral-storage"].into_iter().find_map(|name| {
            let (requested, used, capacity) = *wanted.get(name)?;
            if requested.saturating_add(used) > capacity {
                refusal(name, requested, used, capacity)
            } else {
                None
            }
        })
    }
}
