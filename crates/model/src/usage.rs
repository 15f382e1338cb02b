//! What an object uses of a quota, and what a pod asks for in all.
//!
//! Upstream: pkg/quota/v1/evaluator/core and component-helpers/resource (v1.37).

use crate::{Container, Instant, Kind, Object, Pod, Quantity, ResourceQuota, Service, text::Format};
use std::{cmp::Ordering, collections::BTreeMap, time::Duration};

/// Amounts by resource name.
pub type Amounts = BTreeMap<String, Quantity>;

/// Which side of `resources` is summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Side {
    Requests,
    Limits,
}

fn add(to: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = to.get(name).map_or_else(|| amount.clone(), |have| have.add(amount));
        to.insert(name.clone(), sum);
    }
}

fn raise(to: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        if to.get(name).is_none_or(|have| have.cmp(amount) == Ordering::Less) {
            to.insert(name.clone(), amount.clone());
        }
    }
}

fn of_container(container: &Container, side: Side) -> Amounts {
    match side {
        Side::Limits => container.resources.limits.clone(),
        Side::Requests => {
            let mut amounts = container.resources.requests.clone();
            for (name, limit) in &container.resources.limits {
                amounts.entry(name.clone()).or_insert_with(|| limit.clone());
            }
            amounts
        }
    }
}

/// What a pod asks for, or is limited to, in all: its containers together, or more if an init container needs more.
/// Sidecars (init containers that are restarted) count beside both.
pub fn pod_amounts(pod: &Pod, side: Side) -> Amounts {
    let mut total = Amounts::new();
    for container in &pod.spec.containers {
        add(&mut total, &of_container(container, side));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in &pod.spec.init_containers {
        let own = of_container(container, side);
        let mut at_that_time = sidecars.clone();
        add(&mut at_that_time, &own);
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut total, &own);
            sidecars = at_that_time.clone();
        }
        raise(&mut most, &at_that_time);
    }
    raise(&mut total, &most);
    if side == Side::Requests || !total.is_empty() {
        add(&mut total, &pod.spec.overhead);
    }
    total
}

fn one() -> Quantity {
    Quantity::new(1, Format::DecimalSI)
}

/// Whether a pod still takes room: not ended, and not past the end of its grace.
fn takes_room(pod: &Pod, now: Instant) -> bool {
    let over = |pod: &Pod| {
        let (Some(at), Some(grace)) = (pod.metadata.deletion_timestamp, pod.metadata.deletion_grace_period_seconds) else { return false };
        now > at.instant() + Duration::from_secs(u64::try_from(grace).unwrap_or(0))
    };
    !pod.is_terminal() && !over(pod)
}

fn of_pod(pod: &Pod, now: Instant) -> Amounts {
    let mut usage = Amounts::from([("count/pods".to_string(), one())]);
    if !takes_room(pod, now) {
        return usage;
    }
    usage.insert("pods".into(), one());
    for (name, amount) in pod_amounts(pod, Side::Requests) {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-") {
            usage.insert(name.clone(), amount.clone());
        }
        usage.insert(format!("requests.{name}"), amount);
    }
    for (name, amount) in pod_amounts(pod, Side::Limits) {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(format!("limits.{name}"), amount);
        }
    }
    usage
}

fn of_service(service: &Service) -> Amounts {
    let number = |n: usize| Quantity::new(i64::try_from(n).unwrap_or(i64::MAX), Format::DecimalSI);
    let ports = service.spec.ports.len();
    let (nodeports, balancers) = match service.spec.r#type.as_str() {
        "NodePort" => (ports, 0),
        "LoadBalancer" => (ports, 1),
        _ => (0, 0),
    };
    Amounts::from([
        ("count/services".to_string(), one()),
        ("services".to_string(), one()),
        ("services.nodeports".to_string(), number(nodeports)),
        ("services.loadbalancers".to_string(), number(balancers)),
    ])
}

/// What an object uses of a quota, by the names that `spec.hard` may hold.
pub fn usage(object: &Object, now: Instant) -> Amounts {
    match object {
        Object::Pod(pod) => of_pod(pod, now),
        Object::Service(service) => of_service(service),
        other => {
            let kind = other.kind();
            let mut usage = Amounts::from([(format!("count/{}", kind.qualified()), one())]);
            if matches!(kind, Kind::ConfigMap | Kind::Secret | Kind::ResourceQuota) || kind.name() == "ReplicationController" {
                usage.insert(kind.resource().into(), one());
            }
            if kind.name() == "PersistentVolumeClaim" {
                usage.insert("persistentvolumeclaims".into(), one());
                if let Some(storage) = claimed_storage(other) {
                    usage.insert("requests.storage".into(), storage);
                }
            }
            usage
        }
    }
}

fn claimed_storage(object: &Object) -> Option<Quantity> {
    let Object::Custom(claim) = object else { return None };
    let text = claim.rest.get("spec")?.get("resources")?.get("requests")?.get("storage")?.as_str()?;
    Quantity::parse(text).ok()
}

/// Whether a quota with scopes counts this pod. A quota without scopes counts everything.
pub fn in_scopes(quota: &ResourceQuota, pod: &Pod) -> bool {
    quota.spec.scopes.iter().all(|scope| {
        let best_effort = pod.status.qos_class == "BestEffort";
        match scope.as_str() {
            "Terminating" => pod.spec.active_deadline_seconds.is_some_and(|s| s >= 0),
            "NotTerminating" => pod.spec.active_deadline_seconds.is_none(),
            "BestEffort" => best_effort,
            "NotBestEffort" => !best_effort,
            _ => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn usage_as_recorded() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/vectors/quota-usage.json");
        let cases: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("the vectors are there")).expect("JSON");
        let cases = cases["cases"].as_array().expect("cases");
        for case in cases {
            let object = &case["in"]["object"];
            let kind = Kind::of_manifest(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or("")).expect("a kind");
            let object = Object::from_value(kind, object.clone()).expect("an object");
            let ours = serde_json::to_value(usage(&object, Instant::START)).expect("JSON");
            let wanted = &case["out"]["usage"];
            for (name, amount) in wanted.as_object().expect("a map") {
                assert_eq!(ours.get(name), Some(amount), "{name} of {}", case["in"]);
            }
            for (name, amount) in ours.as_object().expect("a map") {
                assert_eq!(wanted.get(name), Some(amount), "{name} of {}", case["in"]);
            }
        }
        println!("{} of {} quota-usage", cases.len(), cases.len());
    }
}
