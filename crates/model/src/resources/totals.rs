//! The requests and limits of a whole pod.
//!
//! Upstream: k8s.io/component-helpers/resource, PodRequests and PodLimits (v1.37).

use super::{Amounts, add};
use crate::{Container, Pod, PodSpec};

/// What the pod asks for: all its containers at once, or its greediest moment while it starts; and its overhead.
pub fn requests(pod: &Pod) -> Amounts {
    let mut sums = aggregate(&pod.spec, |c| &c.resources.requests);
    overlay_pod_level(&mut sums, &pod.spec, "requests");
    add(&mut sums, &pod.spec.overhead);
    sums
}

/// What the pod may use at most; overhead is added where there is a limit.
pub fn limits(pod: &Pod) -> Amounts {
    let mut sums = aggregate(&pod.spec, |c| &c.resources.limits);
    overlay_pod_level(&mut sums, &pod.spec, "limits");
    for (name, amount) in &pod.spec.overhead {
        if let Some(sum) = sums.get_mut(name).filter(|sum| !sum.is_zero()) {
            *sum = sum.add(amount);
        }
    }
    sums
}

fn aggregate(spec: &PodSpec, of: fn(&Container) -> &Amounts) -> Amounts {
    let mut sums = Amounts::new();
    for container in &spec.containers {
        add(&mut sums, of(container));
    }
    let mut sidecars = Amounts::new();
    let mut starting = Amounts::new();
    for container in &spec.init_containers {
        let own = of(container);
        let at_once = if container.restart_policy.as_deref() == Some("Always") {
            add(&mut sums, own);
            add(&mut sidecars, own);
            sidecars.clone()
        } else {
            let mut both = own.clone();
            add(&mut both, &sidecars);
            both
        };
        raise(&mut starting, &at_once);
    }
    raise(&mut sums, &starting);
    sums
}

/// Takes the greater of two amounts, name by name.
fn raise(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        if sums.get(name).is_none_or(|sum| amount.cmp(sum).is_gt()) {
            sums.insert(name.clone(), amount.clone());
        }
    }
}

/// What is set for the pod as a whole stands in place of the sum.
fn overlay_pod_level(sums: &mut Amounts, spec: &PodSpec, part: &str) {
    let Some(whole) = spec.rest.get("resources") else { return };
    let amounts: Amounts = serde_json::from_value(whole[part].clone()).unwrap_or_default();
    let counted = |name: &String| matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-");
    sums.extend(amounts.into_iter().filter(|(name, _)| counted(name)));
}
