//! Which pods a disruption budget protects. Upstream: filterPodsWithPDBViolation (v1.37).

use super::{kinds::BUDGET, node_info::PodInfo};
use kubestep_control::View;
use kubestep_model::{LabelSelector, Object};
use serde::Deserialize;
use std::{collections::BTreeMap, sync::Arc};

type Pods = Vec<Arc<PodInfo>>;

/// Splits pods into those whose end would break a budget, and the others; each budget's allowance is used up in order.
pub(super) fn split(view: &View, pods: Pods) -> (Pods, Pods) {
    let mut allowed: BTreeMap<String, i64> = BTreeMap::new();
    pods.into_iter().partition(|pod| {
        let mut violates = false;
        for object in view.objects_of(BUDGET, Some(&pod.pod.metadata.namespace)) {
            let Object::Custom(budget) = object else { continue };
            let selector = budget.rest.get("spec").and_then(|s| s.get("selector"));
            let selector = selector.and_then(|s| LabelSelector::deserialize(s).ok());
            // An empty selector means nothing here.
            if !selector.is_some_and(|s| !s.is_empty() && s.matches(&pod.pod.metadata.labels)) {
                continue;
            }
            let status = budget.rest.get("status");
            let disrupted = status.and_then(|s| s.get("disruptedPods")?.get(&*pod.pod.metadata.name));
            if disrupted.is_some() {
                continue;
            }
            let given = status.and_then(|s| s.get("disruptionsAllowed")?.as_i64()).unwrap_or(0);
            let left = allowed.entry(budget.metadata.name.to_string()).or_insert(given);
            *left -= 1;
            violates |= *left < 0;
        }
        violates
    })
}
