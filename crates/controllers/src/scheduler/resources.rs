//! What a pod asks for and what a node can give. Upstream: component-helpers/resource, PodRequests, and
//! pkg/scheduler/framework, Resource (v1.37).

use kubestep_model::arrange::Gather;
use kubestep_model::{Container, Pod, Quantity, text::Format};
use std::{cmp::Ordering, collections::BTreeMap};

/// Named quantities, as in a manifest.
pub type ResourceList = BTreeMap<String, Quantity>;

/// What a container without a request for cpu counts as when nodes are scored (thousandths of a core).
pub const DEFAULT_MILLI_CPU: i64 = 100;
/// What a container without a request for memory counts as when nodes are scored.
pub const DEFAULT_MEMORY: i64 = 200 << 20;

/// Amounts as the scheduler counts them: cpu in thousandths, everything else in whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Resources {
    pub milli_cpu: i64,
    pub memory: i64,
    pub ephemeral_storage: i64,
    /// How many pods a node takes.
    pub pods: i64,
    /// Extended resources, huge pages and the like.
    pub scalar: BTreeMap<String, i64>,
}

/// Names that the scheduler counts besides cpu, memory, ephemeral storage and pods.
fn is_scalar(name: &str) -> bool {
    name.contains('/') && !name.starts_with("requests.")
        || name.starts_with("hugepages-")
        || name.starts_with("attachable-volumes-")
}

impl Resources {
    /// The amounts of a list; names that are not counted are left out.
    pub fn of(list: &ResourceList) -> Self {
        let mut found = Resources::default();
        for (name, quantity) in list {
            match name.as_str() {
                "cpu" => found.milli_cpu = quantity.milli_value(),
                "memory" => found.memory = quantity.value(),
                "ephemeral-storage" => found.ephemeral_storage = quantity.value(),
                "pods" => found.pods = quantity.value(),
                name if is_scalar(name) => {
                    found.scalar.insert(name.to_owned(), quantity.value());
                }
                _ => {}
            }
        }
        found
    }

    /// The amount of one resource by name.
    pub fn get(&self, name: &str) -> i64 {
        match name {
            "cpu" => self.milli_cpu,
            "memory" => self.memory,
            "ephemeral-storage" => self.ephemeral_storage,
            "pods" => self.pods,
            other => self.scalar.get(other).copied().unwrap_or(0),
        }
    }

    /// Adds (`sign` 1) or takes away (`sign` -1) another's amounts, the number of pods aside.
    pub fn change(&mut self, other: &Resources, sign: i64) {
        let add = |a: &mut i64, b: i64| *a = a.saturating_add(b.saturating_mul(sign));
        add(&mut self.milli_cpu, other.milli_cpu);
        add(&mut self.memory, other.memory);
        add(&mut self.ephemeral_storage, other.ephemeral_storage);
        for (name, amount) in &other.scalar {
            let entry = self.scalar.entry(name.clone()).or_insert(0);
            add(entry, *amount);
            if *entry == 0 {
                self.scalar.remove(name);
            }
        }
    }

    /// Whether nothing is asked for.
    pub fn is_zero(&self) -> bool {
        self.milli_cpu == 0 && self.memory == 0 && self.ephemeral_storage == 0 && self.scalar.is_empty()
    }
}

fn add_list(sum: &mut ResourceList, more: &ResourceList) {
    for (name, quantity) in more {
        match sum.get_mut(name) {
            Some(found) => *found = found.add(quantity),
            None => drop(sum.insert(name.clone(), quantity.clone())),
        }
    }
}

fn max_list(sum: &mut ResourceList, other: &ResourceList) {
    for (name, quantity) in other {
        if sum.get(name).is_none_or(|found| found.cmp(quantity) == Ordering::Less) {
            sum.insert(name.clone(), quantity.clone());
        }
    }
}

fn container_requests(container: &Container, missing: &ResourceList) -> ResourceList {
    let mut requests = container.resources.requests.clone();
    for (name, quantity) in missing {
        requests.entry(name.clone()).or_insert_with(|| quantity.clone());
    }
    requests
}

/// The requests that stand at the pod itself and overrule the sum of its containers.
fn pod_level(pod: &Pod) -> ResourceList {
    let requests = pod.spec.rest.get("resources").and_then(|r| r.get("requests"));
    let list =
        requests.and_then(|r| serde_json::from_value::<ResourceList>(r.clone()).ok()).unwrap_or_default();
    let counted = |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
    list.into_iter().filter(|(name, _)| counted(name)).gather()
}

/// What a pod asks for in all: its containers and sidecars, or its greediest init step, whichever is more;
/// containers that name no amount of a resource count with the one in `missing`.
pub fn pod_requests(pod: &Pod, missing: &ResourceList) -> ResourceList {
    let mut sum = ResourceList::new();
    for container in &pod.spec.containers {
        add_list(&mut sum, &container_requests(container, missing));
    }
    let (mut sidecars, mut greediest) = (ResourceList::new(), ResourceList::new());
    for container in &pod.spec.init_containers {
        let mut own = container_requests(container, missing);
        if container.restart_policy.as_deref() == Some("Always") {
            add_list(&mut sum, &own);
            add_list(&mut sidecars, &own);
            own.clone_from(&sidecars);
        } else {
            add_list(&mut own, &sidecars);
        }
        max_list(&mut greediest, &own);
    }
    max_list(&mut sum, &greediest);
    sum.extend(pod_level(pod));
    add_list(&mut sum, &pod.spec.overhead);
    sum
}

/// The amounts that stand in for missing requests when nodes are scored.
pub fn missing_defaults() -> ResourceList {
    ResourceList::from([
        ("cpu".to_owned(), Quantity::from_milli(DEFAULT_MILLI_CPU, Format::DecimalSI)),
        ("memory".to_owned(), Quantity::new(DEFAULT_MEMORY, Format::BinarySI)),
    ])
}
