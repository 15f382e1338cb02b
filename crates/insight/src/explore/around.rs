//! What is promised of the loops that stand around the workloads: replication controllers, quotas, accounts, endpoints
//! and their mirrored slices, jobs whose time is over.

use kubestep_cluster::World;
use kubestep_model::{
    EndpointSlice, Endpoints, Job, Key, Kind, Namespace, Pod, ReplicationController, ResourceQuota, Whole,
};
use std::collections::BTreeMap;

fn pods(world: &World) -> impl Iterator<Item = &Pod> {
    world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>())
}

/// A replication controller has the pods that it wants in the end, and never more than so many times as many.
pub fn replicated(world: &World, quiet: bool, times: usize) -> Result<(), String> {
    let all = world.store().list(ReplicationController::KIND, None);
    for rc in all.filter_map(ReplicationController::read) {
        let owns =
            |p: &&Pod| p.metadata.controller().is_some_and(|o| o.uid == rc.metadata.uid) && p.is_active();
        let have = pods(world).filter(owns).count();
        let want = usize::try_from(rc.spec.replicas.unwrap_or(1)).unwrap_or(0);
        let said = usize::try_from(rc.status.replicas).unwrap_or(0);
        if have > want.max(1) * times || (quiet && (have, said) != (want, want)) {
            return Err(format!("{} wants {want} pods, has {have}, and says {said}", rc.metadata.name));
        }
    }
    Ok(())
}

/// In the end a quota says its limits, and as many pods as there are; never are there more than it allows.
pub fn counted_as_used(world: &World, quiet: bool) -> Result<(), String> {
    let alive = i64::try_from(pods(world).filter(|p| p.is_active()).count()).unwrap_or(i64::MAX);
    for quota in world.store().list(Kind::ResourceQuota, None).filter_map(|o| o.get::<ResourceQuota>()) {
        let Some(hard) = quota.spec.hard.get("pods").map(|q| q.milli_value() / 1000) else { continue };
        let used = quota.status.used.get("pods").map(|q| q.milli_value() / 1000);
        if alive > hard {
            return Err(format!("{alive} pods are there, {hard} may be"));
        }
        if quiet && used != Some(alive) {
            return Err(format!("{alive} pods are there, and the quota says {used:?}"));
        }
    }
    Ok(())
}

/// In the end every namespace that stays has its account and its certificate.
pub fn furnished(world: &World, quiet: bool) -> Result<(), String> {
    let spaces = world.store().list(Kind::Namespace, None).filter_map(|o| o.get::<Namespace>());
    for name in spaces.filter(|n| quiet && !n.metadata.is_terminating()).map(|n| &n.metadata.name) {
        let there = |kind, what: &str| world.store().get(&Key::new(kind, name.clone(), what)).is_some();
        if !there(Kind::ServiceAccount, "default") || !there(Kind::ConfigMap, "kube-root-ca.crt") {
            return Err(format!("{name} lacks its account or its certificate"));
        }
    }
    Ok(())
}

fn counted(addresses: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    addresses.for_each(|a| *counts.entry(a).or_insert(0) += 1);
    counts
}

fn endpoints(world: &World) -> BTreeMap<String, usize> {
    let all = world.store().list(Kind::Endpoints, None).filter_map(|o| o.get::<Endpoints>());
    let ours = all.filter(|e| *e.metadata.name == *"web").flat_map(|e| &e.subsets);
    counted(ours.flat_map(|s| &s.addresses).map(|a| a.ip.to_string()))
}

/// In the end the Endpoints of the Service `web` hold each ready pod once, and no other.
pub fn endpoints_of_ready(world: &World, quiet: bool) -> Result<(), String> {
    let want = counted(pods(world).filter(|p| p.is_ready()).map(|p| p.status.pod_ip.to_string()));
    let have = endpoints(world);
    if quiet && have != want { Err(format!("Endpoints hold {have:?}, ready are {want:?}")) } else { Ok(()) }
}

/// In the end the slices of the Service `web` hold what its Endpoints hold, each address once.
pub fn mirrored(world: &World, quiet: bool) -> Result<(), String> {
    let slices = world.store().list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>());
    let ours =
        slices.filter(|s| s.metadata.labels.get("kubernetes.io/service-name").is_some_and(|n| **n == *"web"));
    let have = counted(ours.flat_map(|s| &s.endpoints).flat_map(|e| &e.addresses).map(ToString::to_string));
    let want = endpoints(world);
    if quiet && have != want { Err(format!("slices hold {have:?}, Endpoints {want:?}")) } else { Ok(()) }
}

/// A job that has not ended is never taken away; in the end those whose time is over are, or wait for what they own: they
/// are deleted in the foreground.
pub fn only_the_ended_go(world: &World, quiet: bool) -> Result<(), String> {
    let jobs: Vec<Job> = world.store().list(Job::KIND, None).filter_map(Job::read).collect();
    if !jobs.iter().any(|j| *j.metadata.name == *"runs" && !j.metadata.is_terminating()) {
        return Err("a job that runs was deleted".into());
    }
    match jobs.iter().find(|j| quiet && j.finished().is_some() && !j.metadata.is_terminating()) {
        Some(job) => Err(format!("{} has ended and is still there", job.metadata.name)),
        None => Ok(()),
    }
}
