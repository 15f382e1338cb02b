//! `kubestep explore`: every order on a small world; prints the shortest way to a broken promise.

use kubestep_cluster::{Act, FaultAct, Latencies, ProcessId, Registry, Settings, Start, World};
use kubestep_insight::{
    explore::{Found, explore},
    requests::{Requests, create},
};
use kubestep_model::{Deployment, Kind, Pod, ReplicaSet, yaml};
use std::sync::Arc;

const USAGE: &str = "usage: kubestep explore FILE [--crashes N] [--limit STATES]";
const LIMIT: usize = 200_000;

/// The command. Exit code 0, 1 when a promise can be broken, 2 for a bad call or file.
pub fn main(args: &[String]) -> i32 {
    match run(args) {
        Ok(found) => {
            let cut = if found.cut { ", cut at the limit" } else { "" };
            println!("{} states, {} of them quiet{cut}", found.states, found.ends);
            match found.broken {
                Some((way, text)) => {
                    println!("broken: {text}\nthe shortest way there, {} moves:", way.len());
                    way.iter().for_each(|m| println!("  {m:?}"));
                    1
                }
                None => {
                    println!("every order keeps the promise");
                    0
                }
            }
        }
        Err(text) => {
            eprintln!("kubestep explore: {text}");
            2
        }
    }
}

fn run(args: &[String]) -> Result<Found, String> {
    let (mut file, mut crashes, mut limit) = (None, 0, LIMIT);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut number = || {
            rest.next().and_then(|n| n.parse::<u32>().ok()).ok_or(format!("{arg} needs a number\n{USAGE}"))
        };
        match arg.as_str() {
            "--crashes" => crashes = number()?,
            "--limit" => limit = number()? as usize,
            name if file.is_none() && !name.starts_with('-') => file = Some(name),
            _ => return Err(USAGE.into()),
        }
    }
    let file = file.ok_or(USAGE)?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let reading = yaml::read(&text);
    if let Some(error) = reading.error {
        return Err(format!("{file}: {}", error.text));
    }
    let world = small_world(&reading.documents.into_iter().map(|d| d.value).collect::<Vec<_>>())?;
    Ok(explore(&world, crashes, &promise, limit))
}

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
    let store = world.store();
    for set in store.list(Kind::ReplicaSet, None).filter_map(|o| o.get::<ReplicaSet>()) {
        let owned =
            |p: &&Pod| p.metadata.controller().is_some_and(|o| o.uid == set.metadata.uid) && p.is_active();
        let pods = store.list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()).filter(owned).count();
        let want = usize::try_from(set.replicas()).unwrap_or(0);
        if pods > want.max(1) * 2 || (quiet && pods != want) {
            return Err(format!("ReplicaSet {} wants {want} pods and has {pods}", set.metadata.name));
        }
    }
    let missing = store
        .list(Kind::Deployment, None)
        .filter_map(|o| o.get::<Deployment>())
        .find(|d| quiet && d.status.observed_generation < d.metadata.generation);
    missing.map_or(Ok(()), |d| Err(format!("Deployment {} was never looked at", d.metadata.name)))
}
