//! What an object counts for in resource quotas, and which quotas are about it.
//!
//! Upstream: pkg/quota/v1/evaluator/core and k8s.io/apiserver/pkg/quota/v1 (v1.37).

use super::{Amounts, add, limits, qos, requests};
use crate::arrange::{Arrange, Gather};
use crate::{Container, Instant, Kind, Object, Pod, Quantity, ResourceQuota, Service, text::Format};
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

const HUGE_PAGES: &str = "hugepages-";
const POD_RESOURCES: [&str; 11] = [
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];
/// Where a quota names one of these, every container has to say how much of it.
const MUST_SAY: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];
const CLAIM_CLASS: &str = ".storageclass.storage.k8s.io/";

fn whole(number: i64) -> Quantity {
    Quantity::new(number, Format::DecimalSI)
}

/// The name under which objects of a kind are counted, as `count/deployments.apps`.
pub fn count_name(kind: Kind) -> String {
    format!("count/{}", kind.qualified())
}

/// What an object counts for; `now` decides whether a pod that is being deleted still counts.
pub fn usage(object: &Object, now: Instant) -> Amounts {
    let kind = object.kind();
    let mut used = Amounts::from([(count_name(kind), whole(1))]);
    match object {
        Object::Pod(pod) => add(&mut used, &pod_usage(pod, now)),
        Object::Service(service) => add(&mut used, &service_usage(service)),
        Object::Custom(custom) if kind.name() == "PersistentVolumeClaim" => {
            add(&mut used, &claim_usage(custom.rest.get("spec").unwrap_or(&Value::Null), custom));
        }
        _ if has_short_name(kind) => {
            used.insert(kind.resource().into(), whole(1));
        }
        _ => {}
    }
    used
}

/// Kinds that are also counted under their plain name.
fn has_short_name(kind: Kind) -> bool {
    kind.group().is_empty()
        && matches!(kind.resource(), "configmaps" | "resourcequotas" | "replicationcontrollers" | "secrets")
}

fn pod_usage(pod: &Pod, now: Instant) -> Amounts {
    if !counts(pod, now) {
        return Amounts::new();
    }
    container_usage(&requests(pod), &limits(pod))
}

/// A pod that has ended, or should have been gone by now, uses nothing any more.
fn counts(pod: &Pod, now: Instant) -> bool {
    if pod.is_terminal() {
        return false;
    }
    match (pod.metadata.deletion_timestamp, pod.metadata.deletion_grace_period_seconds) {
        (Some(at), Some(grace)) => {
            let grace = Duration::from_secs(u64::try_from(grace).unwrap_or(0));
            now <= at.instant() + grace
        }
        _ => true,
    }
}

fn container_usage(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut used = Amounts::from([("pods".to_owned(), whole(1))]);
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(amount) = requests.get(name) {
            used.insert(name.into(), amount.clone());
            used.insert(format!("requests.{name}"), amount.clone());
        }
        if let Some(amount) = limits.get(name) {
            used.insert(format!("limits.{name}"), amount.clone());
        }
    }
    for (name, amount) in requests {
        if name.starts_with(HUGE_PAGES) {
            used.insert(name.clone(), amount.clone());
            used.insert(format!("requests.{name}"), amount.clone());
        } else if is_extended(name) {
            used.insert(format!("requests.{name}"), amount.clone());
        }
    }
    used
}

/// A resource with a domain of its own, as `example.com/gpu`.
fn is_extended(name: &str) -> bool {
    let native = !name.contains('/') || name.contains("kubernetes.io/");
    !native && !name.starts_with("requests.")
}

fn service_usage(service: &Service) -> Amounts {
    let spec = &service.spec;
    let each = [("services", 1), ("services.nodeports", 0), ("services.loadbalancers", 0)];
    let mut used: Amounts = each.into_iter().map(|(name, n)| (name.to_owned(), whole(n))).gather();
    let ports = i64::try_from(spec.ports.len()).unwrap_or(0);
    match spec.r#type.as_str() {
        "NodePort" => {
            used.insert("services.nodeports".into(), whole(ports));
        }
        "LoadBalancer" => {
            used.insert("services.loadbalancers".into(), whole(1));
            let given = spec.rest.get("allocateLoadBalancerNodePorts") != Some(&Value::Bool(false));
            let chosen = spec.ports.iter().filter(|p| p.node_port != 0).count();
            let ports = if given { ports } else { i64::try_from(chosen).unwrap_or(0) };
            used.insert("services.nodeports".into(), whole(ports));
        }
        _ => {}
    }
    used
}

fn claim_usage(spec: &Value, custom: &crate::Custom) -> Amounts {
    let mut used = Amounts::from([("persistentvolumeclaims".to_owned(), whole(1))]);
    let beta = custom.metadata.annotations.get("volume.beta.kubernetes.io/storage-class").map(String::as_str);
    let class = beta.or(spec["storageClassName"].as_str()).unwrap_or_default().to_owned();
    if !class.is_empty() {
        used.insert(format!("{class}{CLAIM_CLASS}persistentvolumeclaims"), whole(1));
    }
    let asked = &spec["resources"]["requests"]["storage"];
    if let Ok(amount) = serde_json::from_value::<Quantity>(asked.clone()) {
        used.insert("requests.storage".into(), amount.clone());
        if !class.is_empty() {
            used.insert(format!("{class}{CLAIM_CLASS}requests.storage"), amount);
        }
    }
    used
}

/// Which of a quota's resources an object of a kind may use up.
pub fn matching_resources<'a>(kind: Kind, hard: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let count = count_name(kind);
    let fits = |name: &&str| match kind {
        Kind::Pod => {
            POD_RESOURCES.contains(name)
                || name.starts_with(HUGE_PAGES)
                || name.starts_with("requests.hugepages-")
                || name.strip_prefix("requests.").is_some_and(is_extended)
        }
        Kind::Service => {
            **name == *count || matches!(*name, "services" | "services.nodeports" | "services.loadbalancers")
        }
        _ if kind.name() == "PersistentVolumeClaim" => {
            **name == *count
                || matches!(*name, "persistentvolumeclaims" | "requests.storage")
                || name.contains(CLAIM_CLASS)
        }
        _ => **name == *count || (has_short_name(kind) && *name == kind.resource()),
    };
    hard.filter(fits).collect()
}

/// The containers that do not say how much they need of what a quota limits: names by resource.
pub fn unsaid(pod: &Pod, resources: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if pod.spec.rest.get("resources").is_some_and(|r| !r["requests"].is_null() || !r["limits"].is_null()) {
        return missing;
    }
    let required: Vec<&&str> = resources.iter().filter(|r| MUST_SAY.contains(r)).collect();
    let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    for Container { name, resources, .. } in containers {
        let said = container_usage(&resources.requests, &resources.limits);
        for resource in &required {
            if !said.contains_key(**resource) {
                missing.entry((***resource).to_owned()).or_default().push(name.clone());
            }
        }
    }
    for names in missing.values_mut() {
        names.arrange();
        names.dedup();
    }
    missing
}

/// Whether a quota's scopes take in an object. Only pods (and claims, by class) fit any scope.
pub fn in_scope(quota: &ResourceQuota, object: &Object) -> bool {
    let terms = quota.spec.scope_selector.as_ref().and_then(|s| s["matchExpressions"].as_array());
    let plain = quota.spec.scopes.iter().all(|scope| fits_scope(object, scope, "Exists", &[]));
    let selected = terms.is_none_or(|terms| {
        terms.iter().all(|term| {
            let values: Vec<&str> =
                term["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let (scope, operator) = (term["scopeName"].as_str(), term["operator"].as_str());
            fits_scope(object, scope.unwrap_or_default(), operator.unwrap_or_default(), &values)
        })
    });
    plain && selected
}

fn fits_scope(object: &Object, scope: &str, operator: &str, values: &[&str]) -> bool {
    let Object::Pod(pod) = object else { return false };
    let best_effort = || qos::class(&pod.spec) == "BestEffort";
    let terminating = || pod.spec.active_deadline_seconds.is_some_and(|s| s >= 0);
    match scope {
        "Terminating" => terminating(),
        "NotTerminating" => !terminating(),
        "BestEffort" => best_effort(),
        "NotBestEffort" => !best_effort(),
        "PriorityClass" => {
            let class = pod.spec.priority_class_name.as_str();
            match operator {
                "Exists" => !class.is_empty(),
                "DoesNotExist" => class.is_empty(),
                "In" => values.contains(&class),
                "NotIn" => !values.contains(&class),
                _ => false,
            }
        }
        "CrossNamespacePodAffinity" => reaches_over(pod),
        _ => false,
    }
}

/// Whether a pod's affinity looks into other namespaces.
fn reaches_over(pod: &Pod) -> bool {
    let Some(affinity) = &pod.spec.affinity else { return false };
    let term_reaches = |term: &Value| {
        term["namespaces"].as_array().is_some_and(|n| !n.is_empty()) || !term["namespaceSelector"].is_null()
    };
    [&affinity.pod_affinity, &affinity.pod_anti_affinity].into_iter().flatten().any(|side| {
        let required =
            side["requiredDuringSchedulingIgnoredDuringExecution"].as_array().into_iter().flatten();
        let preferred =
            side["preferredDuringSchedulingIgnoredDuringExecution"].as_array().into_iter().flatten();
        required.chain(preferred.map(|p| &p["podAffinityTerm"])).any(term_reaches)
    })
}
