//! What is promised in small worlds, whatever the order.

use kubestep_cluster::World;
use kubestep_model::{
    DaemonSet, Deployment, EndpointSlice, Job, Kind, Pod, ReplicaSet, Service, StatefulSet, Whole,
};
use std::collections::BTreeMap;

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

fn pods(world: &World) -> impl Iterator<Item = &Pod> {
    world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>())
}

fn all<T: Whole>(world: &World) -> Vec<T> {
    world.store().list(T::KIND, None).filter_map(T::read).collect()
}

/// The pods of a StatefulSet are made in order, each after the one before is ready; in the end all are.
pub fn in_order(world: &World, quiet: bool) -> Result<(), String> {
    for set in all::<StatefulSet>(world) {
        let name = |i: i32| format!("{}-{i}", set.metadata.name);
        let pod = |i: i32| pods(world).find(|p| *p.metadata.name == *name(i));
        let want = set.spec.replicas.unwrap_or(1);
        for i in 0..want {
            let before = i == 0 || pod(i - 1).is_some_and(Pod::is_ready);
            if pod(i).is_some() && !before {
                return Err(format!("{} is there before {} is ready", name(i), name(i - 1)));
            }
            if quiet && !pod(i).is_some_and(Pod::is_ready) {
                return Err(format!("{} is not there or not ready in the end", name(i)));
            }
        }
        let many = pods(world).count();
        if many > usize::try_from(want).unwrap_or(0) {
            return Err(format!("{want} pods are wanted and there are {many}"));
        }
        if quiet && set.status.ready_replicas != want {
            return Err(format!("the status says that {} of {want} are ready", set.status.ready_replicas));
        }
    }
    Ok(())
}

/// The node that a pod of a DaemonSet is made for.
fn meant_for(pod: &Pod) -> String {
    let value = serde_json::to_value(&pod.spec).unwrap_or_default();
    let terms = value.pointer("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0");
    terms.and_then(serde_json::Value::as_str).unwrap_or("").into()
}

/// In the end each node has one pod of the DaemonSet.
pub fn one_for_each_node(world: &World, quiet: bool) -> Result<(), String> {
    for_each_node(world, quiet, 2)
}

/// The same, and on the way never two for a node. That holds as long as nothing crashes and no answer gets lost.
pub fn never_two_for_a_node(world: &World, quiet: bool) -> Result<(), String> {
    for_each_node(world, quiet, 1)
}

fn for_each_node(world: &World, quiet: bool, most: usize) -> Result<(), String> {
    let mut by_node: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods(world).filter(|p| p.is_active()) {
        *by_node.entry(meant_for(pod)).or_default() += 1;
    }
    for node in world.store().list(Kind::Node, None).map(|o| o.meta().name.to_string()) {
        let have = by_node.get(&node).copied().unwrap_or(0);
        if have > most || (quiet && have != 1) {
            return Err(format!("{node} has {have} pods"));
        }
    }
    let sets = all::<DaemonSet>(world);
    let nodes = world.store().list(Kind::Node, None).count();
    match sets.first().filter(|s| quiet && usize::try_from(s.status.current_number_scheduled) != Ok(nodes)) {
        Some(set) => Err(format!("the status speaks of {} nodes", set.status.current_number_scheduled)),
        None => Ok(()),
    }
}

/// A job counts each pod that ended well once, and is complete in the end. After a crash it may have done more than it
/// had to: a pod that was on its way when the controller ended is not expected by the one that begins.
pub fn counted_once(world: &World, quiet: bool) -> Result<(), String> {
    counted(world, quiet, false)
}

/// The same, and never has it more pods than may run at once, nor more in all than it needs. That holds as long as
/// nothing crashes and no answer gets lost.
pub fn never_made_twice(world: &World, quiet: bool) -> Result<(), String> {
    counted(world, quiet, true)
}

fn counted(world: &World, quiet: bool, never_more: bool) -> Result<(), String> {
    for job in all::<Job>(world) {
        let (want, at_once) = (job.spec.completions.unwrap_or(1), job.spec.parallelism.unwrap_or(1));
        let many = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        let ended = many(pods(world).filter(|p| p.status.phase == "Succeeded").count());
        let active = many(pods(world).filter(|p| p.is_active()).count());
        let total = many(pods(world).count());
        let said = job.status.succeeded;
        if said > ended {
            return Err(format!("{said} successes are counted, and {ended} pods ended well"));
        }
        if never_more && (active > at_once || total > want) {
            return Err(format!("{active} pods run, {at_once} may; {total} in all, {want} are needed"));
        }
        let done = job.status.conditions.iter().any(|c| c.r#type == "Complete" && c.status == "True");
        if quiet && !(done && said >= want && (said == want || !never_more)) {
            return Err(format!("in the end {said} of {want} are counted, complete: {done}"));
        }
        let held = pods(world).any(|p| p.metadata.finalizers.iter().any(|f| f.contains("job-tracking")));
        if quiet && held {
            return Err("a pod is still held for counting".into());
        }
    }
    Ok(())
}

/// What belonged to an owner that is gone is gone in the end.
pub fn nothing_left_behind(world: &World, quiet: bool) -> Result<(), String> {
    let there = |uid: &str| world.store().all().any(|o| *o.meta().uid == *uid);
    let orphan = pods(world).find(|p| p.metadata.owner_references.iter().any(|o| !there(&o.uid)));
    match orphan.filter(|_| quiet) {
        Some(pod) => Err(format!("{} is still there, its owner is not", pod.metadata.name)),
        None => Ok(()),
    }
}

/// In the end the slices of each Service hold each ready pod once, and no other.
pub fn each_address_once(world: &World, quiet: bool) -> Result<(), String> {
    if !quiet {
        return Ok(());
    }
    let services = world.store().list(Kind::Service, None).filter_map(|o| o.get::<Service>());
    let chosen: Vec<&Service> = services.filter(|s| !s.spec.selector.is_empty()).collect();
    let of_one = |slice: &&EndpointSlice| {
        slice.metadata.controller().is_some_and(|o| chosen.iter().any(|s| s.metadata.uid == o.uid))
    };
    let slices = world.store().list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>());
    let slices = slices.filter(of_one);
    let ready = slices.flat_map(|s| s.endpoints.iter()).filter(|e| e.conditions.ready == Some(true));
    let found = counted_texts(ready.flat_map(|e| e.addresses.iter()).map(ToString::to_string));
    let want = counted_texts(pods(world).filter(|p| p.is_ready()).map(|p| p.status.pod_ip.to_string()));
    if found == want { Ok(()) } else { Err(format!("the slices hold {found:?}, ready are {want:?}")) }
}

fn counted_texts(texts: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_insert(0) += 1;
    }
    counts
}
