//! What is promised of a rollout, of owners, and of worlds in which nothing moves any more.

use crate::{Blocker, Gaps, end};
use kubestep_cluster::World;
use kubestep_model::{Kind, Pod, ReplicaSet};
use std::{collections::BTreeMap, ops::RangeInclusive, sync::Arc};

fn pods(world: &World) -> impl Iterator<Item = &Pod> {
    world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>())
}

/// Never are there more pods than the surge allows, nor fewer that are ready than may be unavailable; in the end all have
/// the new image and are ready.
pub fn between(world: &World, quiet: bool, range: RangeInclusive<usize>, new: &str) -> Result<(), String> {
    let there = pods(world).filter(|p| p.is_active()).count();
    let ready = pods(world).filter(|p| p.is_ready() && p.is_active()).count();
    if there > *range.end() {
        return Err(format!("{there} pods, {} may be there", range.end()));
    }
    if ready < *range.start() {
        return Err(format!("{ready} pods are ready, {} must be", range.start()));
    }
    let is_new = |p: &&Pod| p.is_ready() && p.spec.containers.iter().all(|c| c.image == new);
    let old = there - pods(world).filter(is_new).count();
    if quiet && old > 0 { Err(format!("{old} pods are not new and ready in the end")) } else { Ok(()) }
}

fn sets(world: &World) -> impl Iterator<Item = &ReplicaSet> {
    world.store().list(Kind::ReplicaSet, None).filter_map(|o| o.get::<ReplicaSet>())
}

fn asked(set: &ReplicaSet) -> usize {
    usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0)
}

/// Never are ReplicaSets together asked for more pods than this: what a Deployment counts before it asks for more.
/// Upstream: pkg/controller/deployment/util, NewRSNewReplicas (v1.37).
pub fn asked_within(world: &World, most: usize) -> Result<(), String> {
    let asked: usize = sets(world).map(asked).sum();
    if asked > most { Err(format!("{asked} pods are asked for, {most} may be")) } else { Ok(()) }
}

/// There are more pods than this only while ReplicaSets have some that are yet to be deleted, and by no more than those.
pub fn above_while_some_are_to_go(world: &World, most: usize) -> Result<(), String> {
    let active: Vec<&Pod> = pods(world).filter(|p| p.is_active()).collect();
    let of = |set: &ReplicaSet| {
        let owns = |p: &&&Pod| p.metadata.controller().is_some_and(|o| o.uid == set.metadata.uid);
        active.iter().filter(owns).count()
    };
    let to_go: usize = sets(world).map(|set| of(set).saturating_sub(asked(set))).sum();
    let over = active.len().saturating_sub(most);
    if over > to_go { Err(format!("{over} pods too many, {to_go} are to go")) } else { Ok(()) }
}

/// A pod that has an owner keeps it; in the end none is without.
pub fn one_owner(world: &World, quiet: bool) -> Result<(), String> {
    let mut owners: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for entry in world.store().log_after(world.store().oldest_revision()) {
        let Some(pod) = entry.new.as_ref().and_then(|o| o.get::<Pod>()) else { continue };
        let refs = pod.metadata.owner_references.iter().filter(|o| o.controller == Some(true)).count();
        let Some(owner) = pod.metadata.controller() else { continue };
        let before = owners.insert(pod.metadata.uid.clone(), owner.uid.clone());
        if refs > 1 || before.is_some_and(|b| b != owner.uid) {
            return Err(format!("{} has had two owners", pod.metadata.name));
        }
    }
    match pods(world).find(|p| quiet && p.metadata.controller().is_none()) {
        Some(pod) => Err(format!("{} has no owner in the end", pod.metadata.name)),
        None => Ok(()),
    }
}

/// Every gap that is still open waits for something that has a name, and not for a loop that has yet to look.
pub fn calm_or_named(world: &World) -> Result<(), String> {
    let gaps = Gaps::begin(world);
    let unnamed =
        |b: &Blocker| matches!(b, Blocker::NotObserved | Blocker::UnderWay | Blocker::Turn | Blocker::NoLoop);
    for (key, _) in gaps.iter() {
        match end(world, &gaps, key) {
            Some((_, blocker)) if !unnamed(&blocker) => {}
            other => return Err(format!("{} {} waits for {other:?}", key.kind.name(), key.name)),
        }
    }
    Ok(())
}
