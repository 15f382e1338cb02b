//! Watches over nodes: taints follow conditions; a node that renews no lease becomes Unknown and is emptied.
//!
//! Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.37). A node's health is read from its lease
//! and its heartbeat, not from when they were seen.

use super::{
    ACTOR,
    zones::{Counts, Zones, zone_of},
};
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::arrange::Gather;
use kubestep_model::{Instant, Key, Kind, Lease, Node, Object, PatchKind, Pod, Subresource, Taint, Time};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

const MONITOR_PERIOD: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(50);
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// Conditions, the status that brings a taint, and the taint.
const TAINTED: [(&str, &str, &str); 5] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];
const NETWORK: &str = "node.kubernetes.io/network-unavailable";

/// The node lifecycle controller.
#[derive(Debug)]
pub struct NodeLifecycle;

static WATCHES: [Watch; 3] = [
    Watch { kind: Kind::Node, wakes },
    Watch { kind: Kind::Lease, wakes: nobody },
    Watch { kind: Kind::Pod, wakes: nobody },
];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

fn nobody(_: &Change, _: &View) -> Vec<Wake> {
    vec![]
}

impl Controller for NodeLifecycle {
    fn name(&self) -> &'static str {
        "node-lifecycle"
    }
    fn actor(&self) -> &'static str {
        ACTOR
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        8
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Node]
    }
    fn period(&self) -> Option<Duration> {
        Some(MONITOR_PERIOD)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        if *key == crate::period_key() {
            return monitor(cx);
        }
        let Some(node) = cx.get::<Node>("", &key.name) else { return Ok(Done::Settled) };
        taint_by_condition(cx, node)
    }
}

/// The taints without effect on running pods that a node should have. Upstream: doNoScheduleTaintingPass.
fn taint_by_condition(cx: &mut Cx<'_>, node: &Node) -> Flow {
    let mut wanted: Vec<&str> = TAINTED
        .iter()
        .filter(|(r#type, status, _)| node.condition(r#type).is_some_and(|c| c.status == *status))
        .map(|(_, _, taint)| *taint)
        .collect();
    if node.spec.unschedulable {
        wanted.push(UNSCHEDULABLE);
    }
    let ours = |t: &Taint| {
        t.effect == "NoSchedule"
            && (t.key == UNSCHEDULABLE || t.key == NETWORK || TAINTED.iter().any(|(_, _, key)| *key == t.key))
    };
    let have: Vec<&str> = node.spec.taints.iter().filter(|t| ours(t)).map(|t| t.key.as_str()).collect();
    if have.len() == wanted.len() && wanted.iter().all(|w| have.contains(w)) {
        return Ok(Done::Settled);
    }
    let mut taints: Vec<Taint> =
        node.spec.taints.iter().filter(|t| !ours(t) || wanted.contains(&t.key.as_str())).cloned().collect();
    for key in wanted.into_iter().filter(|w| !have.contains(w)) {
        taints.push(taint(key, "NoSchedule", Some(cx.now().to_time())));
    }
    cx.because("node.taint", vec![("node", node.metadata.name.to_string())]);
    write_taints(cx, node, taints)
}

fn taint(key: &str, effect: &str, added: Option<Time>) -> Taint {
    Taint { key: key.into(), effect: effect.into(), time_added: added, ..Default::default() }
}

fn write_taints(cx: &mut Cx<'_>, node: &Node, taints: Vec<Taint>) -> Flow {
    let taints = if taints.is_empty() { Value::Null } else { json!(taints) };
    let key = Key::new(Kind::Node, "", node.metadata.name.clone());
    let patch = json!({"spec": {"taints": taints}});
    match cx.try_patch(key, Subresource::None, PatchKind::Strategic, patch)? {
        Ok(_) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

/// When the node last gave a sign of life.
fn last_sign(node: &Node, lease: Option<&Lease>) -> Instant {
    let renewed = lease.and_then(|l| l.spec.renew_time).map(|t| t.instant());
    let heartbeat = node
        .condition("Ready")
        .filter(|c| c.status != "Unknown")
        .and_then(|c| c.last_heartbeat_time)
        .map(Time::instant);
    let created = node.metadata.creation_timestamp.map(Time::instant);
    renewed.into_iter().chain(heartbeat).chain(created).max().unwrap_or(Instant(0))
}

/// One look at all nodes. Upstream: monitorNodeHealth.
fn monitor(cx: &mut Cx<'_>) -> Flow {
    let nodes: Vec<&Node> = cx.list::<Node>(None).collect();
    let mut held = if knows(cx, &nodes) { None } else { Some(known(cx)) };
    if let Some(held) = &mut held {
        part(cx, held, &nodes);
    }
    // Leases and nodes stand in the same order: of names.
    let mut leases = cx.list::<Lease>(Some("kube-node-lease")).peekable();
    let mut seen = Vec::new();
    let mut counts = Counts::new();
    for node in nodes {
        if let Some(held) = &mut held {
            greet(cx, held, node);
        }
        while leases.next_if(|l| l.metadata.name < node.metadata.name).is_some() {}
        let lease = leases.next_if(|l| l.metadata.name == node.metadata.name);
        let node = look(cx, node, lease)?;
        let status = node.condition("Ready").map_or("Unknown", |c| c.status.as_str());
        let count = counts.entry(zone_of(&node)).or_default();
        match status {
            "True" => {
                count.0 += 1;
                drop_no_execute(cx, &node)?;
            }
            _ => {
                count.1 += 1;
                let key = if status == "False" { NOT_READY } else { UNREACHABLE };
                seen.push((node, key));
            }
        }
    }
    if let Some(held) = held {
        cx.remember(KNOWN, Some(json!(held)));
    }
    let mut zones = Zones::recall(cx);
    let cut_off = zones.count(&counts, cx.now());
    for (node, key) in &seen {
        if cut_off {
            drop_no_execute(cx, node)?;
        } else {
            add_no_execute(cx, node, key, &mut zones)?;
        }
    }
    zones.remember(cx);
    Ok(Done::Settled)
}

/// One look at one node; answers how it is then. Upstream: tryUpdateNodeHealth.
fn look<'a>(cx: &mut Cx<'_>, node: &'a Node, lease: Option<&Lease>) -> Result<Cow<'a, Node>, Halt> {
    let silent = cx.now().since(last_sign(node, lease));
    let status = node.condition("Ready").map_or("", |c| c.status.as_str());
    if silent <= GRACE || status == "Unknown" {
        return Ok(Cow::Borrowed(node));
    }
    let about = vec![("node", node.metadata.name.to_string()), ("seconds", silent.as_secs().to_string())];
    cx.because("node.silent", about);
    mark_unknown(cx, node).map(Cow::Owned)
}

/// The nodes that were known at the last look, by name, with their uids.
const KNOWN: &str = "known";

type Known = BTreeMap<String, Value>;

fn known(cx: &Cx<'_>) -> Known {
    cx.recall(KNOWN).and_then(|v| serde_json::from_value(v.clone()).ok()).unwrap_or_default()
}

/// Whether these are the nodes of the last look.
fn knows(cx: &Cx<'_>, nodes: &[&Node]) -> bool {
    let known = cx.recall(KNOWN).and_then(Value::as_object);
    let there = nodes.iter().map(|n| (&*n.metadata.name, Some(&*n.metadata.uid)));
    known.is_some_and(|known| known.iter().map(|(name, uid)| (name.as_str(), uid.as_str())).eq(there))
}

/// Says of nodes that are gone that they are known no more.
fn part(cx: &mut Cx<'_>, held: &mut Known, nodes: &[&Node]) {
    let there: BTreeSet<&str> = nodes.iter().map(|n| &*n.metadata.name).gather();
    let gone: Vec<String> = held.keys().filter(|n| !there.contains(n.as_str())).cloned().collect();
    for name in gone {
        let uid = held.remove(&name);
        let text = format!("Node {name} event: Removing Node {name} from Controller");
        let mut node = Node::default();
        node.metadata.name = name.as_str().into();
        node.metadata.uid = uid.as_ref().and_then(Value::as_str).unwrap_or_default().into();
        cx.event(&Object::from(node), "Normal", "RemovingNode", text);
    }
}

/// Says once that a node is known.
fn greet(cx: &mut Cx<'_>, held: &mut Known, node: &Node) {
    let uid = json!(&*node.metadata.uid);
    if held.get(&*node.metadata.name) != Some(&uid) {
        held.insert(node.metadata.name.to_string(), uid);
        let text = format!("Node {0} event: Registered Node {0} in Controller", node.metadata.name);
        cx.event(&Object::from(node.clone()), "Normal", "RegisteredNode", text);
    }
}

fn mark_unknown(cx: &mut Cx<'_>, node: &Node) -> Result<Node, Halt> {
    let now = cx.now().to_time();
    let mut fresh = node.clone();
    for condition in &mut fresh.status.conditions {
        if condition.status != "Unknown" {
            condition.status = "Unknown".into();
            condition.last_transition_time = Some(now);
        }
        condition.reason = "NodeStatusUnknown".into();
        condition.message = "Kubelet stopped posting node status.".into();
    }
    let node = cx.set_status(fresh)?;
    let text = format!("Node {} status is now: NodeNotReady", node.metadata.name);
    cx.event(&Object::from(node.clone()), "Normal", "NodeNotReady", text);
    mark_pods_not_ready(cx, &node)?;
    Ok(node)
}

/// Pods of a silent node do not count as ready. Upstream: controllerutil.MarkPodsNotReady.
fn mark_pods_not_ready(cx: &mut Cx<'_>, node: &Node) -> Result<(), Halt> {
    let pods: Vec<&Pod> =
        cx.list::<Pod>(None).filter(|p| p.spec.node_name == node.metadata.name && p.is_ready()).collect();
    let now = cx.now().to_time();
    for pod in pods {
        let mut fresh = pod.clone();
        let generation = pod.metadata.generation;
        for condition in fresh.status.conditions.iter_mut().filter(|c| c.r#type == "Ready") {
            condition.status = "False".into();
            condition.observed_generation = generation;
            condition.last_transition_time = Some(now);
        }
        match cx.try_set_status(fresh)? {
            Ok(_) => {
                cx.event(&Object::from(pod.clone()), "Warning", "NodeNotReady", "Node is not ready".into())
            }
            Err(status) if status.is_not_found() || status.is_conflict() => {}
            Err(status) => return Err(cx.fail(status)),
        }
    }
    Ok(())
}

/// A silent node gets the taint that makes pods leave when it is its zone's turn; the one of the two taints is taken for
/// the other at once. Upstream: processTaintBaseEviction, doNoExecuteTaintingPass.
fn add_no_execute(cx: &mut Cx<'_>, node: &Node, key: &str, zones: &mut Zones) -> Result<(), Halt> {
    let stays = |t: &&Taint| t.effect != "NoExecute" || (t.key != NOT_READY && t.key != UNREACHABLE);
    let had = node.spec.taints.iter().find(|t| !stays(t));
    let done = had.is_some_and(|t| t.key == key);
    if done || (had.is_none() && !zones.take_turn(&zone_of(node), cx.now())) {
        return Ok(());
    }
    cx.because("node.no-execute", vec![("node", node.metadata.name.to_string())]);
    // The other taint of a silent node may be on its way: both are wanted.
    let mut taints: Vec<Taint> = node.spec.taints.iter().filter(stays).cloned().collect();
    if !taints.iter().any(|t| t.key == key && t.effect == "NoSchedule") {
        let now = cx.now().to_time();
        taints.push(taint(key, "NoSchedule", Some(now)));
        write_taints(cx, node, taints.clone())?;
    }
    taints.push(taint(key, "NoExecute", Some(cx.now().to_time())));
    write_taints(cx, node, taints).map(drop)
}

/// A node that is back loses the taint. Upstream: markNodeAsReachable.
fn drop_no_execute(cx: &mut Cx<'_>, node: &Node) -> Result<(), Halt> {
    let leaves = |t: &Taint| t.effect == "NoExecute" && (t.key == NOT_READY || t.key == UNREACHABLE);
    if !node.spec.taints.iter().any(leaves) {
        return Ok(());
    }
    cx.because("node.taint", vec![("node", node.metadata.name.to_string())]);
    let taints = node.spec.taints.iter().filter(|t| !leaves(t)).cloned().collect();
    write_taints(cx, node, taints).map(drop)
}
