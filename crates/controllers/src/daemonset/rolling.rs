//! Replaces pods of old templates. Upstream: pkg/controller/daemon/update.go, rollingUpdate (v1.37).

use super::{ByNode, fit::should_run, is_updated, manage::sync_nodes, nodes::Wishes, who};
use crate::{pods::is_available, stop::Step};
use kubestep_control::Cx;
use kubestep_model::{DaemonSet, IntOrString, Node, Pod};

fn scaled(value: Option<&IntOrString>, nodes: usize) -> usize {
    let total = i64::try_from(nodes).unwrap_or(i64::MAX);
    let number = value.and_then(|value| value.scaled_value(total, true).ok()).unwrap_or(0);
    usize::try_from(number).unwrap_or(0)
}

/// Upstream: util.SurgeCount.
pub(super) fn max_surge(set: &DaemonSet, nodes: usize) -> usize {
    let rolling = set.spec.update_strategy.rolling_update.as_ref();
    if set.spec.update_strategy.r#type != "RollingUpdate" {
        return 0;
    }
    scaled(rolling.and_then(|r| r.max_surge.as_ref()), nodes)
}

/// Upstream: util.UnavailableCount.
fn max_unavailable(set: &DaemonSet, nodes: usize) -> usize {
    let rolling = set.spec.update_strategy.rolling_update.as_ref();
    scaled(rolling.and_then(|r| r.max_unavailable.as_ref()), nodes)
}

/// The pod of the present template and the one of an old; None if there are several of a sort.
/// Upstream: findUpdatedPodsOnNode.
fn pair<'p>(set: &DaemonSet, pods: &[&'p Pod], hash: &str) -> Option<(Option<&'p Pod>, Option<&'p Pod>)> {
    let (mut new, mut old) = (None, None);
    for &pod in pods.iter().filter(|pod| !pod.metadata.is_terminating()) {
        let place = if is_updated(pod, hash, set) { &mut new } else { &mut old };
        if place.replace(pod).is_some() {
            return None;
        }
    }
    Some((new, old))
}

/// Upstream: rollingUpdate, updatedDesiredNodeCounts.
pub(super) fn update(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    nodes: &[&Node],
    pods: &ByNode<'_>,
    hash: &str,
) -> Step<()> {
    let mut by_node = pods.clone();
    let wanted: Vec<&&Node> = nodes.iter().filter(|node| should_run(set, node).0).collect();
    for node in &wanted {
        by_node.entry(node.metadata.name.to_string()).or_default();
    }
    let surge = max_surge(set, wanted.len());
    let mut unavailable = max_unavailable(set, wanted.len());
    if surge == 0 && unavailable == 0 && !wanted.is_empty() {
        unavailable = 1;
    }
    let wishes = if surge == 0 {
        without_surge(cx, set, &by_node, hash, unavailable)
    } else {
        with_surge(cx, set, &by_node, hash, surge)
    };
    sync_nodes(cx, set, wishes, hash).map(drop)
}

fn without_surge<'p>(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    by_node: &ByNode<'p>,
    hash: &str,
    most: usize,
) -> Wishes<'p> {
    let (mut away, mut delete, mut candidates) = (0, Vec::new(), Vec::new());
    let now = cx.now();
    let available = |pod: &Pod| is_available(pod, set.spec.min_ready_seconds, now);
    for pods in by_node.values() {
        match pair(set, pods, hash) {
            // Too many or none: the other half of the pass sees to it.
            None | Some((None, None) | (Some(_), Some(_))) => away += 1,
            Some((Some(new), None)) => away += usize::from(!available(new)),
            Some((None, Some(old))) if !available(old) => {
                delete.push(old);
                away += 1;
            }
            Some((None, Some(old))) if away < most => candidates.push(old),
            Some((None, Some(_))) => {}
        }
    }
    let room = most.saturating_sub(away);
    if !candidates.is_empty() && room == 0 {
        let about = vec![who(set), ("away", away.to_string()), ("most", most.to_string())];
        cx.because("ds.wait-unavailable", about);
    }
    delete.extend(candidates.into_iter().take(room));
    Wishes { create: vec![], delete }
}

fn with_surge<'p>(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    by_node: &ByNode<'p>,
    hash: &str,
    most: usize,
) -> Wishes<'p> {
    let (mut doubled, mut wishes, mut candidates) = (0, Wishes::default(), Vec::new());
    let now = cx.now();
    let available = |pod: &Pod| is_available(pod, set.spec.min_ready_seconds, now);
    for (node, pods) in by_node {
        match pair(set, pods, hash) {
            None => doubled += 1,
            Some((_, None)) => {}
            Some((None, Some(old))) if !available(old) => wishes.create.push(node.clone()),
            Some((None, Some(_))) => candidates.push(node.clone()),
            Some((Some(new), Some(_))) if !available(new) => doubled += 1,
            Some((Some(_), Some(old))) => wishes.delete.push(old),
        }
    }
    let room = most.saturating_sub(doubled);
    if !candidates.is_empty() && room == 0 {
        cx.because(
            "ds.wait-surge",
            vec![who(set), ("doubled", doubled.to_string()), ("most", most.to_string())],
        );
    }
    wishes.create.extend(candidates.into_iter().take(room));
    wishes
}
