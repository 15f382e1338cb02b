//! What the scheduler knows about one node and the pods on it, kept as sums.
//! Upstream: pkg/scheduler/framework, NodeInfo and PodInfo (v1.37).

use super::{
    affinity::Terms,
    resources::{Resources, missing_defaults, pod_requests},
};
use kubestep_model::tree::{OrdMap, OrdSet};
use kubestep_model::{Labels, Node, Pod};
use std::{fmt, sync::Arc};

/// Pods that selectors cannot tell apart: namespace, labels, and whether they are going away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Group {
    pub namespace: Arc<str>,
    pub labels: Arc<Labels>,
    pub terminating: bool,
}

/// A pod with what the scheduler reads of it, worked out once.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct PodInfo {
    pub pod: Arc<Pod>,
    pub requests: Resources,
    /// The requests with the defaults for containers that ask for nothing.
    pub scored: Resources,
    pub terms: Option<Arc<Terms>>,
    pub group: Group,
}

impl PodInfo {
    /// Works it out.
    pub fn new(pod: Arc<Pod>) -> Self {
        let requests = Resources::of(&pod_requests(&pod, &Default::default()));
        let scored = Resources::of(&pod_requests(&pod, &missing_defaults()));
        let terms = Terms::of(&pod).map(Arc::new);
        let group = Group {
            namespace: pod.metadata.namespace.clone(),
            labels: Arc::new(pod.metadata.labels.clone()),
            terminating: pod.metadata.is_terminating(),
        };
        PodInfo { pod, requests, scored, terms, group }
    }
    /// The same for a newer state of the pod; what follows from its spec and labels is as it was where those are.
    pub fn newer(&self, pod: Arc<Pod>) -> Self {
        let (old, new) = (&self.pod.metadata, &pod.metadata);
        let same = self.pod.spec.is(&pod.spec) && old.namespace == new.namespace && old.labels == new.labels;
        if !same || old.is_terminating() != new.is_terminating() {
            return PodInfo::new(pod);
        }
        PodInfo { pod, ..self.clone() }
    }
    /// Whether a node counts this state of a pod exactly as the other.
    pub(super) fn counts_as(&self, other: &PodInfo) -> bool {
        let (a, b) = (&self.group, &other.group);
        self.pod.spec.is(&other.pod.spec) && Arc::ptr_eq(&a.labels, &b.labels) && a == b
    }
    /// The pod's uid.
    pub fn uid(&self) -> &Arc<str> {
        &self.pod.metadata.uid
    }
    /// Its priority; 0 if none is given.
    pub fn priority(&self) -> i32 {
        priority(&self.pod)
    }
}

/// A pod's priority; 0 if none is given. Upstream: corev1helpers.PodPriority.
pub fn priority(pod: &Pod) -> i32 {
    pod.spec.priority.unwrap_or(0)
}

/// A host port that is taken: address, protocol, number.
pub type HostPort = (String, String, i32);

/// The host ports of a pod.
pub fn host_ports(pod: &Pod) -> Vec<HostPort> {
    let containers = pod.spec.containers.iter();
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    containers
        .chain(sidecars)
        .flat_map(|c| &c.ports)
        .filter(|p| p.host_port > 0)
        .map(|p| {
            let or = |text: &str, default: &str| {
                if text.is_empty() { default.to_owned() } else { text.to_owned() }
            };
            (or(&p.host_ip, "0.0.0.0"), or(&p.protocol, "TCP"), p.host_port)
        })
        .collect()
}

/// The label with a node's own name.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label with a node's zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// One node as the scheduler sees it. Cheap to clone.
#[derive(Clone, Default, PartialEq)]
#[allow(missing_docs)]
pub struct NodeInfo {
    /// `None` while pods are known on a node that is not (any more).
    pub node: Option<Arc<Node>>,
    pub name: Arc<str>,
    pub allocatable: Resources,
    pub requested: Resources,
    pub scored: Resources,
    /// By uid.
    pub pods: OrdMap<Arc<str>, Arc<PodInfo>>,
    /// How many pods of each group there are.
    pub groups: OrdMap<Group, u32>,
    /// Uids of the pods that have wishes about other pods.
    pub with_affinity: OrdSet<Arc<str>>,
    /// Uids of the pods that demand distance to other pods.
    pub with_required_anti_affinity: OrdSet<Arc<str>>,
    /// How often each host port is taken.
    pub ports: OrdMap<HostPort, u32>,
    /// Image names with their size.
    pub images: Arc<Vec<(String, i64)>>,
    /// Whether the node has a label with its name, and one with its zone.
    pub has_hostname: bool,
    pub has_zone: bool,
}

/// What follows from the node's labels says nothing of its own: fingerprints of worlds do not know it.
impl fmt::Debug for NodeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeInfo")
            .field("node", &self.node)
            .field("name", &self.name)
            .field("allocatable", &self.allocatable)
            .field("requested", &self.requested)
            .field("scored", &self.scored)
            .field("pods", &self.pods)
            .field("groups", &self.groups)
            .field("with_affinity", &self.with_affinity)
            .field("with_required_anti_affinity", &self.with_required_anti_affinity)
            .field("ports", &self.ports)
            .field("images", &self.images)
            .finish()
    }
}

impl NodeInfo {
    /// A node without pods.
    pub fn of(node: Arc<Node>) -> Self {
        let mut info = NodeInfo { name: node.metadata.name.clone(), ..NodeInfo::default() };
        info.set_node(Some(node));
        info
    }

    /// Takes over a newer state of the node.
    pub fn set_node(&mut self, node: Option<Arc<Node>>) {
        self.allocatable = node.as_ref().map(|n| Resources::of(&n.status.allocatable)).unwrap_or_default();
        let images = node.iter().flat_map(|n| &n.status.images);
        self.images =
            Arc::new(images.flat_map(|i| i.names.iter().map(|n| (n.clone(), i.size_bytes))).collect());
        let has = |label: &str| node.as_ref().is_some_and(|n| n.metadata.labels.contains_key(label));
        (self.has_hostname, self.has_zone) = (has(HOSTNAME), has(ZONE));
        self.node = node;
    }

    /// The node's labels; none while it is not known.
    pub fn labels(&self) -> &Labels {
        static NONE: Labels = Labels::new();
        self.node.as_ref().map_or(&NONE, |n| &n.metadata.labels)
    }

    /// Counts a pod in; `group` is its group.
    pub fn add(&mut self, pod: Arc<PodInfo>, group: Group) {
        self.count(&pod, group, 1);
        let uid = pod.uid().clone();
        if let Some(terms) = &pod.terms {
            self.with_affinity.insert(uid.clone());
            if !terms.required_anti_affinity.is_empty() {
                self.with_required_anti_affinity.insert(uid.clone());
            }
        }
        self.pods.insert(uid, pod);
    }

    /// Puts a newer state in the place of one that is counted as it is.
    pub(super) fn replace(&mut self, pod: Arc<PodInfo>) {
        if let Some(held) = self.pods.get_mut(pod.uid()) {
            *held = pod;
        }
    }

    /// Counts a pod out, if it was counted in.
    pub fn remove(&mut self, uid: &Arc<str>) {
        if let Some(pod) = self.pods.remove(uid) {
            self.count(&pod, pod.group.clone(), -1);
            self.with_affinity.remove(uid);
            self.with_required_anti_affinity.remove(uid);
        }
    }

    fn count(&mut self, pod: &PodInfo, group: Group, sign: i64) {
        self.requested.change(&pod.requests, sign);
        self.scored.change(&pod.scored, sign);
        tally(&mut self.groups, group, sign > 0);
        for port in host_ports(&pod.pod) {
            tally(&mut self.ports, port, sign > 0);
        }
    }
}

/// Counts one more or one less of a key.
pub(super) fn tally<K: Ord + Clone>(counts: &mut OrdMap<K, u32>, key: K, more: bool) {
    let n = counts.get(&key).copied().unwrap_or(0);
    match if more { n.saturating_add(1) } else { n.saturating_sub(1) } {
        0 => drop(counts.remove(&key)),
        n => drop(counts.insert(key, n)),
    }
}
