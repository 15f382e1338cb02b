//! What the pods of a node ask for. Upstream: describeNodeResource (v1.37).

use super::Page;
use crate::printers::age;
use kubestep_model::{Container, Instant, Node, Object, Pod, Quantity};
use std::collections::BTreeMap;

type Resources = BTreeMap<String, Quantity>;

pub(super) fn describe(page: &mut Page, node: &Node, pods: &[Object], now: Instant) {
    let pods: Vec<&Pod> = pods.iter().filter_map(|o| o.get::<Pod>()).collect();
    let status = &node.status;
    let whole = if status.allocatable.is_empty() { &status.capacity } else { &status.allocatable };
    page.field(0, "Non-terminated Pods", format!("({} in total)", pods.len()));
    page.line(1, "Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge");
    page.line(1, "---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
    let (mut all_requests, mut all_limits) = (Resources::new(), Resources::new());
    for pod in pods {
        let (requests, limits) = (of_pod(pod, requests), of_pod(pod, limits));
        let cells = [("cpu", &requests), ("cpu", &limits), ("memory", &requests), ("memory", &limits)];
        let cells: Vec<String> = cells.iter().map(|(name, of)| share(of, whole, name)).collect();
        let meta = &pod.metadata;
        page.line(
            1,
            format!(
                "{}\t{}\t\t{}\t{}",
                meta.namespace,
                meta.name,
                cells.join("\t"),
                age(meta.creation_timestamp, now)
            ),
        );
        add(&mut all_requests, &requests);
        add(&mut all_limits, &limits);
    }
    page.line(0, "Allocated resources:");
    page.line(1, "(Total limits may be over 100 percent, i.e., overcommitted.)");
    page.line(1, "Resource\tRequests\tLimits");
    page.line(1, "--------\t--------\t------");
    let huge = whole.keys().map(String::as_str).filter(|n| n.starts_with("hugepages-"));
    for name in ["cpu", "memory", "ephemeral-storage"].into_iter().chain(huge) {
        page.line(
            1,
            format!("{name}\t{}\t{}", share(&all_requests, whole, name), share(&all_limits, whole, name)),
        );
    }
    let plain = |n: &&String| {
        !matches!(n.as_str(), "cpu" | "memory" | "ephemeral-storage" | "pods") && !n.starts_with("hugepages-")
    };
    for name in whole.keys().filter(plain) {
        page.line(1, format!("{name}\t{}\t{}", amount(&all_requests, name), amount(&all_limits, name)));
    }
}

fn amount(of: &Resources, name: &str) -> Quantity {
    of.get(name).cloned().unwrap_or_default()
}

/// An amount and how much of the whole it is, as `250m (12%)`.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn share(of: &Resources, whole: &Resources, name: &str) -> String {
    let (part, whole) = (amount(of, name), amount(whole, name));
    let value = |q: &Quantity| if name == "cpu" { q.milli_value() } else { q.value() };
    let percent = if value(&whole) == 0 { 0.0 } else { value(&part) as f64 / value(&whole) as f64 * 100.0 };
    format!("{part} ({}%)", percent as i64)
}

fn requests(c: &Container) -> &Resources {
    &c.resources.requests
}

fn limits(c: &Container) -> &Resources {
    &c.resources.limits
}

fn add(sum: &mut Resources, more: &Resources) {
    for (name, amount) in more {
        let next = sum.get(name).map_or_else(|| amount.clone(), |have| have.add(amount));
        sum.insert(name.clone(), next);
    }
}

fn at_least(sum: &mut Resources, other: &Resources) {
    for (name, amount) in other {
        if sum.get(name).is_none_or(|have| have.cmp(amount).is_lt()) {
            sum.insert(name.clone(), amount.clone());
        }
    }
}

/// What a whole pod asks for: its containers and sidecars together, or its largest init container if that is more.
/// Upstream: k8s.io/component-helpers/resource, PodRequests.
fn of_pod(pod: &Pod, of: fn(&Container) -> &Resources) -> Resources {
    let mut sum = Resources::new();
    pod.spec.containers.iter().for_each(|c| add(&mut sum, of(c)));
    let (mut sidecars, mut init) = (Resources::new(), Resources::new());
    for container in &pod.spec.init_containers {
        let mut now = of(container).clone();
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut sum, of(container));
            add(&mut sidecars, of(container));
            now = sidecars.clone();
        } else {
            add(&mut now, &sidecars);
        }
        at_least(&mut init, &now);
    }
    at_least(&mut sum, &init);
    add(&mut sum, &pod.spec.overhead);
    sum
}
