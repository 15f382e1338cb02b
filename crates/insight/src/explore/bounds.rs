//! What is promised of loops that count something else than pods: volumes, budgets, schedules, autoscalers.

use kubestep_cluster::World;
use kubestep_model::{CronJob, Deployment, HorizontalPodAutoscaler, Job, Key, Kind, Pod, Resource, Whole};
use serde_json::Value;
use std::collections::BTreeMap;

fn all<T: Whole>(world: &World) -> Vec<T> {
    world.store().list(T::KIND, None).filter_map(T::read).collect()
}

/// No two claims ever have the same volume; in the end each volume that fits has one.
pub fn one_claim_one_volume(world: &World, quiet: bool) -> Result<(), String> {
    let values = |kind: &str| -> Vec<Value> {
        let kind = Kind::find("", kind);
        kind.into_iter().flat_map(|k| world.store().list(k, None)).map(|o| o.to_value()).collect()
    };
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for claim in values("PersistentVolumeClaim") {
        let name = claim["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let Some(volume) = claim["spec"]["volumeName"].as_str().filter(|v| !v.is_empty()) else { continue };
        if let Some(other) = taken.insert(volume.into(), name.clone()) {
            return Err(format!("{volume} belongs to {other} and to {name}"));
        }
    }
    let free = values("PersistentVolume").iter().filter(|v| v["status"]["phase"] != "Bound").count();
    if quiet && free > 0 {
        return Err(format!("{free} volumes are free in the end"));
    }
    Ok(())
}

/// Of the pods that a budget counts, no more are let go than it allows, one after the other or at once.
pub fn never_below_the_budget(world: &World, _quiet: bool) -> Result<(), String> {
    let pods = world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>());
    let healthy = pods.filter(|p| p.is_ready() && !p.metadata.is_terminating()).count();
    let least = world.store().list(BUDGET, None).map(|o| o.to_value()["spec"]["minAvailable"].as_u64());
    let least = least.flatten().max().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    if healthy < least {
        return Err(format!("{healthy} pods are healthy, {least} are to be"));
    }
    Ok(())
}

const BUDGET: Kind = Kind::other("policy", "PodDisruptionBudget");

/// With the policy Forbid there are never two jobs that run, and never two for one time; in the end there is one, and
/// the status names it.
pub fn never_two_at_once(world: &World, quiet: bool) -> Result<(), String> {
    let jobs = all::<Job>(world);
    let running = jobs.iter().filter(|j| j.finished().is_none()).count();
    if running > 1 {
        return Err(format!("{running} jobs run at once"));
    }
    let active: usize = all::<CronJob>(world).iter().map(|c| c.status.active.len()).sum();
    if quiet && (running, active) != (1, 1) {
        return Err(format!("in the end {running} jobs run, and the status names {active}"));
    }
    Ok(())
}

/// An autoscaler never sets a number outside of its bounds; in the end the number is within.
pub fn within_bounds(world: &World, quiet: bool, before: i32) -> Result<(), String> {
    for scaler in all::<HorizontalPodAutoscaler>(world) {
        let meta = &scaler.metadata;
        let key = Key::new(Kind::Deployment, meta.namespace.clone(), meta.name.clone());
        let Some(target) = world.store().get(&key).and_then(|o| o.get::<Deployment>()) else { continue };
        let (now, least) = (target.replicas(), scaler.spec.min_replicas.unwrap_or(1));
        let inside = (least..=scaler.spec.max_replicas).contains(&now);
        if !inside && (quiet || now != before) {
            return Err(format!("{} has {now} replicas", target.key().name));
        }
    }
    Ok(())
}
