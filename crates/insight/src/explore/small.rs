//! Small worlds for searches, and what is promised in them.

use crate::requests::{Requests, create};
use kubestep_cluster::{Act, FaultAct, Latencies, ProcessId, Registry, Settings, Start, World};
use kubestep_model::{Deployment, Kind, Pod, ReplicaSet};
use std::sync::Arc;

/// A world without nodes, chance or delays, in which the workload controllers alone are awake.
pub fn small_world(objects: &[serde_json::Value]) -> Result<World, String> {
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
    world.act(Act::Fault(FaultAct::Crash { process: ProcessId::Scheduler }));
    let others: Vec<&str> =
        world.loops().map(|(c, _)| c.name()).filter(|n| !matches!(*n, "deployment" | "replicaset")).collect();
    for name in others {
        world.act(Act::Fault(FaultAct::Stop { controller: name.into(), stopped: true }));
    }
    let requests = objects
        .iter()
        .map(|o| create(o).ok_or(format!("not a kind of Kubernetes: {} {}", o["apiVersion"], o["kind"])));
    let program = Arc::new(Requests(requests.collect::<Result<_, _>>()?));
    world.act(Act::Run { terminal: 0, program, exclusive: true });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
    Ok(world)
}

/// Where nothing is left to move, every Deployment and ReplicaSet has the pods that it wants; never does any have more
/// than twice as many.
pub fn promise(world: &World, quiet: bool) -> Result<(), String> {
    holds(world, quiet, 2)
}

/// As [`promise`], and never does any have more pods than it wants. That holds as long as nothing crashes.
pub fn promise_without_crashes(world: &World, quiet: bool) -> Result<(), String> {
    holds(world, quiet, 1)
}

fn holds(world: &World, quiet: bool, times: usize) -> Result<(), String> {
    let store = world.store();
    for set in store.list(Kind::ReplicaSet, None).filter_map(|o| o.get::<ReplicaSet>()) {
        let owned =
            |p: &&Pod| p.metadata.controller().is_some_and(|o| o.uid == set.metadata.uid) && p.is_active();
        let pods = store.list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()).filter(owned).count();
        let want = usize::try_from(set.replicas()).unwrap_or(0);
        if pods > want.max(1) * times || (quiet && pods != want) {
            return Err(format!("ReplicaSet {} wants {want} pods and has {pods}", set.metadata.name));
        }
    }
    let missing = store
        .list(Kind::Deployment, None)
        .filter_map(|o| o.get::<Deployment>())
        .find(|d| quiet && d.status.observed_generation < d.metadata.generation);
    missing.map_or(Ok(()), |d| Err(format!("Deployment {} was never looked at", d.metadata.name)))
}
