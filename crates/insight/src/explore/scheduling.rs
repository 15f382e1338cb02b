//! What is promised of the scheduler, whatever the order.

use kubestep_cluster::{Brain, ProcessId, World};
use kubestep_model::{Key, Kind, Node, Pod, Verb};
use std::{collections::BTreeMap, sync::Arc};

fn pods(world: &World) -> impl Iterator<Item = &Pod> {
    world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>())
}

/// Each pod is bound once; no node ever holds more cpu than it has; where nothing is left to move, a pod without a node
/// is less important than all that have one.
pub fn bound_once_and_never_too_much(world: &World, quiet: bool) -> Result<(), String> {
    bound_once(world)?;
    let mut used: BTreeMap<&str, i64> = BTreeMap::new();
    for pod in pods(world).filter(|p| !p.spec.node_name.is_empty() && !p.is_terminal()) {
        *used.entry(&*pod.spec.node_name).or_default() += cpu(pod);
    }
    for node in world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>()) {
        let has = node.status.allocatable.get("cpu").map_or(0, |q| q.milli_value());
        let holds = used.get(&*node.metadata.name).copied().unwrap_or(0);
        if holds > has {
            return Err(format!("{} has {has}m and holds {holds}m", node.metadata.name));
        }
    }
    if quiet {
        let important = |p: &Pod| p.spec.priority.unwrap_or(0);
        let least = pods(world).filter(|p| !p.spec.node_name.is_empty()).map(important).min();
        let waits = pods(world).filter(|p| p.spec.node_name.is_empty());
        let found =
            waits.filter(|p| least.is_some_and(|least| important(p) > least)).map(|p| &p.metadata.name);
        if let Some(name) = found.min() {
            return Err(format!("{name} waits in the end, and one that is less important has a node"));
        }
    }
    Ok(())
}

fn cpu(pod: &Pod) -> i64 {
    let of = |c: &kubestep_model::Container| c.resources.requests.get("cpu").map_or(0, |q| q.milli_value());
    pod.spec.containers.iter().map(of).sum()
}

fn bound_once(world: &World) -> Result<(), String> {
    let mut nodes: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for entry in world.store().log_after(world.store().oldest_revision()) {
        let Some(pod) = entry.new.as_ref().and_then(|o| o.get::<Pod>()) else { continue };
        let node: Arc<str> = Arc::from(&*pod.spec.node_name);
        if node.is_empty() {
            continue;
        }
        let before = nodes.insert(pod.metadata.uid.clone(), node.clone());
        if let Some(before) = before.filter(|b| *b != node) {
            return Err(format!("{} was bound to {before}, and then to {node}", pod.metadata.name));
        }
    }
    Ok(())
}

/// The same, and nobody is asked to go who is on the way already, or is being asked.
pub fn nobody_is_asked_twice(world: &World, quiet: bool) -> Result<(), String> {
    bound_once_and_never_too_much(world, quiet)?;
    let mut asked: BTreeMap<&Key, usize> = BTreeMap::new();
    for (_, flight) in world.flights().filter(|(_, f)| f.asker.process() == Some(&ProcessId::Scheduler)) {
        if let Verb::Delete { key, .. } = &flight.request.verb {
            let leaves = world.store().get(key).is_some_and(|o| o.meta().is_terminating());
            *asked.entry(key).or_default() += 1 + usize::from(leaves);
        }
    }
    match asked.into_iter().find(|(_, times)| *times > 1) {
        Some((key, _)) => Err(format!("{} is asked to go twice", key.name)),
        None => Ok(()),
    }
}

/// Whether chance had a say: among nodes of the same score one is drawn, and a search goes one way only.
pub fn was_drawn(world: &World) -> bool {
    let Some(Brain::Scheduler(scheduler)) = world.process(&ProcessId::Scheduler).map(|p| &p.brain) else {
        return false;
    };
    pods(world).any(|p| scheduler.attempts(&p.metadata.uid).any(|a| a.tied.len() > 1))
}
