//! A pod's class of service.

use crate::{Container, PodSpec, Quantity};
use std::collections::BTreeMap;

const COUNTED: [&str; 2] = ["cpu", "memory"];

/// Guaranteed if every container's limits equal its requests for cpu and memory, BestEffort if none are set,
/// Burstable otherwise.
///
/// Upstream: pkg/apis/core/helper/qos, ComputePodQOS (v1.37).
pub fn class(spec: &PodSpec) -> &'static str {
    if let Some(whole) = spec.rest.get("resources").filter(|r| r.is_object()) {
        let of = |part: &str| serde_json::from_value(whole[part].clone()).unwrap_or_default();
        let (requests, limits): (BTreeMap<String, Quantity>, BTreeMap<String, Quantity>) =
            (of("requests"), of("limits"));
        if !counted(&requests).is_empty() || !counted(&limits).is_empty() {
            return of_sums(&counted(&requests), &counted(&limits), limited(&limits));
        }
    }
    let (mut requests, mut limits, mut all_limited) = (BTreeMap::new(), BTreeMap::new(), true);
    for container in spec.containers.iter().chain(&spec.init_containers) {
        add(&mut requests, &container.resources.requests);
        all_limited &= limited_container(container);
        add(&mut limits, &container.resources.limits);
    }
    of_sums(&requests, &limits, all_limited)
}

fn of_sums(
    requests: &BTreeMap<&str, Quantity>,
    limits: &BTreeMap<&str, Quantity>,
    all_limited: bool,
) -> &'static str {
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let equal = requests.len() == limits.len()
        && requests.iter().all(|(name, want)| limits.get(name).is_some_and(|limit| limit.cmp(want).is_eq()));
    if all_limited && equal { "Guaranteed" } else { "Burstable" }
}

fn limited_container(container: &Container) -> bool {
    limited(&container.resources.limits)
}

fn limited(limits: &BTreeMap<String, Quantity>) -> bool {
    COUNTED.iter().all(|name| limits.get(*name).is_some_and(|q| q.sign() > 0))
}

fn counted(amounts: &BTreeMap<String, Quantity>) -> BTreeMap<&'static str, Quantity> {
    let mut sums = BTreeMap::new();
    add(&mut sums, amounts);
    sums
}

/// Adds what is above zero of cpu and memory.
fn add(sums: &mut BTreeMap<&'static str, Quantity>, amounts: &BTreeMap<String, Quantity>) {
    for name in COUNTED {
        if let Some(amount) = amounts.get(name).filter(|q| q.sign() > 0) {
            sums.entry(name).and_modify(|sum| *sum = sum.add(amount)).or_insert_with(|| amount.clone());
        }
    }
}
