//! Small worlds for searches.

use crate::requests::{Requests, create};
use kubestep_cluster::{Act, FaultAct, Latencies, ProcessId, Registry, Settings, Start, World};
use std::sync::Arc;

/// Who is awake unless it is said.
pub(super) const USUAL: [&str; 2] = ["deployment", "replicaset"];

/// A world without nodes, chance or delays, in which the controllers of Deployments and ReplicaSets alone are awake.
pub fn small_world(objects: &[serde_json::Value]) -> Result<World, String> {
    small_world_of(objects, &USUAL)
}

/// The same with these controllers awake.
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
    world.act(Act::Fault(FaultAct::Crash { process: ProcessId::Scheduler }));
    let others: Vec<&str> = world.loops().map(|(c, _)| c.name()).filter(|n| !awake.contains(n)).collect();
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
