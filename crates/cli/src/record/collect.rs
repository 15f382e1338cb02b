//! What a recording holds of a run: changes, events and calls, in order.

use super::draws::Draws;
use kubestep_cluster::{Audit, LogEntry, Record, Step, World};
use kubestep_lessons::player::Observer;
use kubestep_model::{Instant, Key, Kind, Node, Object};
use std::collections::BTreeSet;

const SYSTEM_NAMESPACES: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];
const GROUPS: [&str; 14] = [
    "",
    "apps",
    "batch",
    "policy",
    "discovery.k8s.io",
    "autoscaling",
    "rbac.authorization.k8s.io",
    "networking.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "apiextensions.k8s.io",
    "node.k8s.io",
    "resource.k8s.io",
    "admissionregistration.k8s.io",
];
const SKIPPED_KINDS: [&str; 5] = ["Event", "ComponentStatus", "IPAddress", "ServiceCIDR", "CSINode"];

/// Gathers while a script is played.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    /// Changes of recorded kinds.
    pub changes: Vec<LogEntry>,
    /// Events, each time they were written.
    pub events: Vec<(Instant, Object)>,
    /// Requests that changed something or tried to.
    pub calls: Vec<Audit>,
    /// What was there before the script.
    pub before: BTreeSet<Key>,
    /// What the recording whose pace is kept has drawn.
    pub draws: Draws,
    last_revision: u64,
    last_change: Instant,
}

impl Collector {
    /// Marks what is there as the state before the session.
    pub(crate) fn begin(&mut self, world: &World) {
        self.last_revision = world.store().revision();
        self.last_change = world.now();
        self.before = Kind::all().flat_map(|k| world.store().list(k, None)).map(Object::key).collect();
    }
}

/// Whether a recording leaves this object out.
pub(crate) fn skipped(key: &Key) -> bool {
    let system = |name: &str| SYSTEM_NAMESPACES.contains(&name);
    SKIPPED_KINDS.contains(&key.kind.name())
        || !(GROUPS.contains(&key.kind.group()) || key.kind.is_defined())
        || system(&key.namespace)
        || (key.kind == Kind::Namespace && system(&key.name))
        || (key.kind == Kind::ConfigMap && &*key.name == "kube-root-ca.crt")
}

impl Observer for Collector {
    fn make(&mut self, world: &mut World, step: &Step) -> Record {
        self.draws.make(world, step)
    }

    fn see(&mut self, world: &World, _record: &Record) {
        for audit in world.audit() {
            let silent = matches!(audit.verb, "get" | "list" | "watch")
                || matches!(audit.kind, Kind::Event | Kind::Lease);
            if !silent && !SYSTEM_NAMESPACES.contains(&&*audit.namespace) {
                self.calls.push(audit.clone());
            }
        }
        for entry in world.store().log_after(self.last_revision) {
            if entry.key.kind == Kind::Event {
                if let Some(event) =
                    entry.new.clone().filter(|_| !SYSTEM_NAMESPACES.contains(&&*entry.key.namespace))
                {
                    self.events.push((entry.at, event));
                }
            } else if !skipped(&entry.key) && !only_heartbeat(entry) {
                self.last_change = entry.at;
                self.changes.push(entry.clone());
            }
        }
        self.last_revision = world.store().revision();
    }

    fn last_change(&self) -> Instant {
        self.last_change
    }
}

/// A node that changed in nothing but what each heartbeat changes.
fn only_heartbeat(entry: &LogEntry) -> bool {
    let node = |o: &Option<Object>| o.as_ref().and_then(|o| o.get::<Node>()).cloned();
    let (Some(old), Some(new)) = (node(&entry.old), node(&entry.new)) else { return false };
    quiet_part(old) == quiet_part(new)
}

fn quiet_part(mut node: Node) -> Node {
    node.metadata.resource_version.clear();
    node.status.images.clear();
    for condition in &mut node.status.conditions {
        condition.last_heartbeat_time = None;
    }
    node
}
