//! Changing a ReplicaSet's size, and sharing out a scaling among several. Upstream: sync.go (v1.37).

use super::{
    arithmetic::{is_rolling_update, max_surge, proportion},
    history::{replicas_annotations_differ, set_replicas_annotations},
    sets::{Set, active, all, by_size_newer, by_size_older, find_active_or_latest, is_saturated, wanted},
};
use crate::stop::Step;
use kubestep_control::Cx;
use kubestep_model::Deployment;
use kubestep_model::arrange::Arrange;
use std::borrow::Cow;

/// Gives a ReplicaSet another size and brings its annotations up to date; answers whether the size changed, and
/// the ReplicaSet as it is then. Without `force` annotations alone are no reason. Upstream: scaleReplicaSet.
pub(super) fn scale_set<'a>(
    cx: &mut Cx<'a>,
    set: &Set<'a>,
    size: i32,
    d: &Deployment,
    force: bool,
) -> Step<(bool, Set<'a>)> {
    let old = set.replicas();
    let resize = old != size;
    let annotate = force && replicas_annotations_differ(set, d);
    if !resize && !annotate {
        return Ok((false, set.clone()));
    }
    let mut changed = set.clone().into_owned();
    changed.spec.replicas = Some(size);
    set_replicas_annotations(&mut changed, d);
    let (code, way) = match size.cmp(&old) {
        std::cmp::Ordering::Greater => ("deploy.scale-up", "up"),
        std::cmp::Ordering::Less => ("deploy.scale-down", "down"),
        std::cmp::Ordering::Equal => ("deploy.annotate", ""),
    };
    let about = [("who", d.metadata.name.to_string()), ("set", changed.metadata.name.to_string())];
    let numbers = [("have", old.to_string()), ("want", size.to_string())];
    cx.because(code, about.into_iter().chain(numbers).collect());
    let changed = cx.try_replace(changed)??;
    if resize {
        let message = format!("Scaled {way} replica set {} from {old} to {size}", changed.metadata.name);
        cx.event(&d.clone().into(), "Normal", "ScalingReplicaSet", message);
    }
    Ok((resize, Cow::Owned(changed)))
}

/// Brings the ReplicaSets to the Deployment's new size. Sorts `old` newest first. Upstream: scale.
pub(super) fn scale<'a>(
    cx: &mut Cx<'a>,
    d: &Deployment,
    new: Option<&Set<'a>>,
    old: &mut [Set<'a>],
) -> Step<()> {
    if let Some(only) = find_active_or_latest(new, old) {
        scale_set(cx, &only, d.replicas(), d, false)?;
        return Ok(());
    }
    if is_saturated(d, new) {
        for set in active(old) {
            scale_set(cx, &set, 0, d, false)?;
        }
        return Ok(());
    }
    if is_rolling_update(d) {
        proportionally(cx, d, active(&all(old, new)))?;
    }
    Ok(())
}

/// Shares the pods to add or remove among ReplicaSets by their size; what is left over goes to the largest.
fn proportionally<'a>(cx: &mut Cx<'a>, d: &Deployment, mut sets: Vec<Set<'a>>) -> Step<()> {
    let allowed = if d.replicas() > 0 { d.replicas().wrapping_add(max_surge(d)) } else { 0 };
    let to_add = allowed.wrapping_sub(wanted(&sets));
    match to_add {
        1.. => sets.arrange_by(|a, b| by_size_newer(a, b)),
        0 => {}
        _ => sets.arrange_by(|a, b| by_size_older(a, b)),
    }
    let mut added = 0i32;
    let mut sizes: Vec<i32> = Vec::with_capacity(sets.len());
    for set in &sets {
        let share = proportion(set, d, to_add, added);
        added = added.wrapping_add(share);
        sizes.push(set.replicas().wrapping_add(share));
    }
    if let Some(largest) = sizes.first_mut().filter(|_| to_add != 0) {
        *largest = largest.wrapping_add(to_add.wrapping_sub(added)).max(0);
    }
    cx.because(
        "deploy.proportion",
        vec![("who", d.metadata.name.to_string()), ("change", to_add.to_string())],
    );
    for (set, size) in sets.iter().zip(sizes) {
        scale_set(cx, set, size, d, true)?;
    }
    Ok(())
}
