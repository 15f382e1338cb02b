//! One step down from an object with an open gap: the object below that it waits for, or the end of the chain, found from
//! objects, the world's faults and its loops.

use crate::{
    Blocker, Refusal,
    blocker::Wait,
    look::{children, new_replica_set, pods_of},
    waits::{is_silent, node_is_silent, of_pod},
};
use kubestep_cluster::{
    ProcessId, World,
    loops::volume::{CLAIM, claim_names},
};
use kubestep_model::{Deployment, Key, Kind, Object, Pod, ReplicaSet, Resource};

/// The object that an open gap goes back to one step further down, or what it waits for.
pub(crate) enum Next {
    Object(Key),
    End(Blocker),
}

/// One step down from an object with an open gap.
pub(crate) fn next(world: &World, object: &Object) -> Next {
    if object.meta().is_terminating() {
        return match object {
            Object::Namespace(ns) => emptying(world, &ns.metadata.name),
            _ => Next::End(ending(world, object)),
        };
    }
    match object {
        Object::Deployment(d) => deployment(world, object, d),
        Object::ReplicaSet(set) => replica_set(world, object, set),
        Object::Pod(pod) => match claim_of(world, pod) {
            Some(claim) => Next::Object(claim),
            None => Next::End(of_pod(world, pod)),
        },
        Object::Node(node) if is_silent(world, &node.metadata.name) => {
            Next::End(Blocker::NodeSilent { node: node.metadata.name.to_string() })
        }
        Object::Node(_) => Next::End(Blocker::UnderWay),
        Object::Namespace(_) => Next::End(Blocker::UnderWay),
        Object::Custom(custom) => crate::whole::next(world, object, custom),
        _ => Next::End(Blocker::NoLoop),
    }
}

/// The claim without a volume that a pod waits for before it can have a node.
fn claim_of(world: &World, pod: &Pod) -> Option<Key> {
    let waits = pod.spec.node_name.is_empty()
        && pod.condition("PodScheduled").is_some_and(|c| c.message.contains("PersistentVolumeClaim"));
    let claims = waits.then(|| claim_names(pod))?;
    let key = |name: String| Key::new(CLAIM, pod.metadata.namespace.clone(), name);
    let open = |key: &Key| world.store().get(key).is_some_and(|o| crate::measure(o).is_some());
    claims.into_iter().map(key).find(open)
}

/// A namespace that ends waits for what is in it: for what is held back before the rest.
fn emptying(world: &World, namespace: &str) -> Next {
    let inside = || world.store().all().filter(|o| &*o.meta().namespace == namespace);
    let held = |o: &&Object| o.meta().is_terminating() && !o.meta().finalizers.is_empty();
    match inside().find(held) {
        Some(held) => Next::Object(held.key()),
        None => Next::End(
            loop_fault(world, "namespace", &[Kind::Namespace]).unwrap_or(Blocker::Time { what: Wait::Grace }),
        ),
    }
}

fn ending(world: &World, object: &Object) -> Blocker {
    if let Object::Pod(pod) = object
        && node_is_silent(world, pod)
    {
        return Blocker::NodeSilent { node: pod.spec.node_name.to_string() };
    }
    let meta = object.meta();
    if meta.finalizers.is_empty() {
        Blocker::Time { what: Wait::Grace }
    } else {
        Blocker::Finalizer { names: meta.finalizers.clone() }
    }
}

/// A loop of the controller manager that cannot act, or the whole process.
pub(crate) fn loop_fault(world: &World, name: &str, kinds: &[Kind]) -> Option<Blocker> {
    let manager = world.process(&ProcessId::Manager)?;
    if manager.health != kubestep_cluster::Health::Up {
        return Some(Blocker::LoopStopped { who: "kube-controller-manager".into() });
    }
    if world.loops().any(|(c, l)| c.name() == name && l.stopped) {
        return Some(Blocker::LoopStopped { who: name.into() });
    }
    held(world, &ProcessId::Manager, name, kinds)
}

pub(crate) fn held(world: &World, process: &ProcessId, who: &str, kinds: &[Kind]) -> Option<Blocker> {
    let state = world.process(process)?;
    let kind = kinds.iter().find(|k| world.faults().holds(process, **k) && state.behind(**k) > 0)?;
    Some(Blocker::WatchHeld { who: who.into(), kind: kind.resource().into() })
}

fn deployment(world: &World, object: &Object, d: &Deployment) -> Next {
    if d.status.observed_generation < d.metadata.generation {
        let fault = loop_fault(world, "deployment", &[Kind::Deployment, Kind::ReplicaSet]);
        return Next::End(fault.unwrap_or(Blocker::NotObserved));
    }
    if let Some(failure) = d.condition("ReplicaFailure").filter(|c| c.status == "True")
        && new_replica_set(world.store(), d).is_none()
    {
        return Next::End(refused(world, &d.metadata.namespace, &failure.message));
    }
    let new = new_replica_set(world.store(), d);
    if let Some(set) = new
        && crate::gap::is_short(set)
    {
        return Next::Object(set.key());
    }
    let old = children(world.store(), object, Kind::ReplicaSet).find(|o| crate::measure(o).is_some());
    if let Some(set) = old {
        return Next::Object(set.key());
    }
    if d.spec.paused {
        return Next::End(Blocker::Paused);
    }
    Next::End(loop_fault(world, "deployment", &[Kind::Deployment, Kind::ReplicaSet]).unwrap_or(Blocker::Turn))
}

fn replica_set(world: &World, object: &Object, set: &ReplicaSet) -> Next {
    let pods = pods_of(world.store(), object);
    let short =
        i32::try_from(pods.iter().filter(|p| p.is_active()).count()).unwrap_or(i32::MAX) < set.replicas();
    if let Some(failure) = set.condition("ReplicaFailure").filter(|c| c.status == "True" && short) {
        return Next::End(refused(world, &set.metadata.namespace, &failure.message));
    }
    if let Some(pod) = worst(world, &pods) {
        return Next::Object(pod.key());
    }
    let fault = loop_fault(world, "replicaset", &[Kind::ReplicaSet, Kind::Pod]);
    let waits = if set.status.available_replicas < set.status.ready_replicas {
        Blocker::Time { what: Wait::MinReady }
    } else {
        Blocker::NotObserved
    };
    Next::End(fault.unwrap_or(waits))
}

/// Of pods that are not where they are to be: one that stalls says more than one that is under way; of those, the oldest.
pub(crate) fn worst<'a>(world: &World, pods: &[&'a Pod]) -> Option<&'a Pod> {
    // One that failed is at its end: another was made, or will be.
    let ended = |p: &Pod| p.metadata.is_terminating() || p.status.phase == "Failed";
    let open = |p: &&Pod| crate::gap::is_open(p) && !ended(p);
    let key = |p: &&Pod| (of_pod(world, p).stalls(), std::cmp::Reverse(p.metadata.creation_timestamp));
    pods.iter().copied().filter(open).max_by_key(key)
}

/// A write that was refused, as long as the reason for it still stands; after that only the next try is waited for.
pub(crate) fn refused(world: &World, namespace: &str, message: &str) -> Blocker {
    if crate::needs::mended(world, namespace, message) {
        return Blocker::Time { what: Wait::Retry };
    }
    let how = if message.contains("exceeded quota") || message.contains("failed quota") {
        Refusal::Quota
    } else if message.contains("usage per") {
        Refusal::LimitRange
    } else if message.contains("is invalid") {
        Refusal::Invalid
    } else if message.contains("forbidden") {
        Refusal::Forbidden
    } else {
        Refusal::Other
    };
    Blocker::Refused { how, message: message.into() }
}
