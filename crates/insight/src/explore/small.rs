//! Small worlds for searches.

use crate::requests::{Requests, create};
use kubestep_cluster::{Act, FaultAct, Latencies, ProcessId, Registry, Settings, Start, Step, World};
use kubestep_model::{Key, Kind, PatchKind, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::sync::Arc;

/// Who is awake unless it is said.
pub(super) const USUAL: [&str; 2] = ["deployment", "replicaset"];

/// The scheduler, among those that are awake.
const SCHEDULER: &str = "scheduler";

/// What a kubelet and the loop of nodes would make of a node whose status is given: nobody may write that with the object,
/// and a new node has a taint until it is ready.
fn ready_node(object: &Value) -> Vec<Request> {
    let Some(name) = object["metadata"]["name"].as_str().filter(|_| object["kind"] == "Node") else {
        return vec![];
    };
    let Some(status) = object.get("status") else { return vec![] };
    let patch = |subresource, patch: Value| -> Request {
        let key = Key::new(Kind::Node, "", name);
        Verb::Patch { key, subresource, kind: PatchKind::Merge, patch: Arc::new(patch) }.into()
    };
    vec![
        patch(Subresource::Status, json!({ "status": status })),
        patch(Subresource::None, json!({"spec": {"taints": null}})),
    ]
}

/// A world without nodes, chance or delays, in which the controllers of Deployments and ReplicaSets alone are awake.
pub fn small_world(objects: &[serde_json::Value]) -> Result<World, String> {
    small_world_of(objects, &USUAL)
}

/// The same with these controllers awake; or `scheduler` alone: then it is the scheduler that may crash.
pub fn small_world_of(objects: &[serde_json::Value], awake: &[&str]) -> Result<World, String> {
    let none = (0, 0);
    let latencies = Latencies {
        request: none,
        reply: none,
        delivery: none,
        node: none,
        think: none,
        kubectl: none,
        schemas: none,
    };
    let start = Start {
        nodes: vec![],
        registry: Registry::default(),
        seed: 1,
        latencies,
        settings: Settings { selector_check: true },
    };
    let mut world = World::boot(&start);
    if !awake.contains(&SCHEDULER) {
        world.act(Act::Fault(FaultAct::Crash { process: ProcessId::Scheduler }));
    }
    let others: Vec<&str> = world.loops().map(|(c, _)| c.name()).filter(|n| !awake.contains(n)).collect();
    for name in others {
        world.act(Act::Fault(FaultAct::Stop { controller: name.into(), stopped: true }));
    }
    let made =
        |o: &Value| create(o).ok_or(format!("not a kind of Kubernetes: {} {}", o["apiVersion"], o["kind"]));
    let (nodes, others): (Vec<&Value>, Vec<&Value>) = objects.iter().partition(|o| !ready_node(o).is_empty());
    let mut first = vec![];
    for node in nodes {
        first.push(made(node)?);
        first.extend(ready_node(node));
    }
    ask(&mut world, first);
    // The scheduler knows the nodes before anything else happens.
    let tells = |s: &&Step| matches!(s, Step::Deliver(ProcessId::Scheduler, _));
    loop {
        let step = world.due().map(|(_, s)| s).find(tells).cloned();
        let Some(step) = step else { break };
        world.advance(&step);
    }
    ask(&mut world, others.into_iter().map(made).collect::<Result<_, _>>()?);
    Ok(world)
}

/// Somebody asks for all this, and has the cluster to himself until it is done.
pub(super) fn ask(world: &mut World, requests: Vec<Request>) {
    if requests.is_empty() {
        return;
    }
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive: true });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
}
