//! What a set says about itself. Upstream: daemon_controller.go, updateDaemonSetStatus (v1.37).

use super::{ByNode, fit::should_run, is_updated, who};
use crate::{
    pods::{is_available, next_availability_check},
    stop::Step,
    whole,
};
use kubestep_control::{Cx, Done};
use kubestep_model::{DaemonSet, DaemonSetStatus, Node};
use std::time::Duration;

/// How often a refused status is tried again in one pass, with a fresh copy. Upstream: StatusUpdateRetries.
const RETRIES: usize = 1;

fn count(cx: &Cx<'_>, set: &DaemonSet, nodes: &[&Node], pods: &ByNode<'_>, hash: &str) -> DaemonSetStatus {
    let mut status = DaemonSetStatus { observed_generation: set.metadata.generation, ..set.status.clone() };
    let (mut desired, mut current, mut misplaced) = (0, 0, 0);
    let (mut ready, mut available, mut updated) = (0, 0, 0);
    for node in nodes {
        let first = pods.get(&*node.metadata.name).and_then(|pods| pods.first());
        match (should_run(set, node).0, first) {
            (false, None) => {}
            (false, Some(_)) => misplaced += 1,
            (true, None) => desired += 1,
            (true, Some(pod)) => {
                desired += 1;
                current += 1;
                ready += i32::from(pod.is_ready());
                available += i32::from(is_available(pod, set.spec.min_ready_seconds, cx.now()));
                updated += i32::from(is_updated(pod, hash, set));
            }
        }
    }
    status.desired_number_scheduled = desired;
    status.current_number_scheduled = current;
    status.number_misscheduled = misplaced;
    status.number_ready = ready;
    status.number_available = available;
    status.updated_number_scheduled = updated;
    status.number_unavailable = desired - available;
    status
}

/// Writes the status where it changed, and looks again when the next ready pod counts as available.
pub(super) fn update(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    nodes: &[&Node],
    pods: &ByNode<'_>,
    hash: &str,
) -> Step<Done> {
    let fresh = count(cx, set, nodes, pods, hash);
    if fresh == set.status {
        cx.because("ds.unchanged", vec![who(set)]);
    } else {
        store(cx, set, &fresh)?;
    }
    let min_ready = set.spec.min_ready_seconds;
    if min_ready > 0 && fresh.number_ready != fresh.number_available {
        let all = pods.values().flatten().copied();
        let next = next_availability_check(all, min_ready, cx.now());
        let after = next.unwrap_or(Duration::from_secs(u64::try_from(min_ready).unwrap_or(0)));
        cx.because("ds.wait-available", vec![who(set), ("after", after.as_secs().to_string())]);
        return Ok(Done::Again(after));
    }
    Ok(Done::Settled)
}

/// Upstream: storeDaemonSetStatus.
fn store(cx: &mut Cx<'_>, set: &DaemonSet, fresh: &DaemonSetStatus) -> Step<()> {
    let counts = [
        ("desired", fresh.desired_number_scheduled),
        ("ready", fresh.number_ready),
        ("updated", fresh.updated_number_scheduled),
    ];
    let counts = counts.map(|(name, count)| (name, count.to_string()));
    cx.because("ds.status", [who(set)].into_iter().chain(counts).collect());
    let mut copy = set.clone();
    for last in (0..=RETRIES).map(|i| i == RETRIES) {
        copy.status = DaemonSetStatus {
            collision_count: copy.status.collision_count,
            conditions: copy.status.conditions,
            ..fresh.clone()
        };
        match whole::set_status(cx, &copy)? {
            Ok(_) => return Ok(()),
            Err(refusal) if last => return Err(refusal.into()),
            Err(_) => {}
        }
        copy = whole::live(cx, &set.metadata.namespace, &set.metadata.name)??;
    }
    Ok(())
}
