//! What one node lacks and what it has too much of. Upstream: daemon_controller.go, podsShouldBeOnNode (v1.37).

use super::{fit::should_run, revisions::HASH, rolling::max_surge, who};
use crate::pods::is_available;
use kubestep_control::Cx;
use kubestep_model::{DaemonSet, Instant, Node, Pod, Whole};
use serde_json::json;
use std::time::Duration;

/// Waits after failed pods of a node, in seconds. Upstream: failedPodsBackoff.
const FIRST: u64 = 1;
const LONGEST: u64 = 900;

/// Nodes that need a pod, and pods that have to go.
#[derive(Debug, Default)]
pub(super) struct Wishes<'p> {
    pub(super) create: Vec<String>,
    pub(super) delete: Vec<&'p Pod>,
}

/// Adds what one node needs.
pub(super) fn look<'p>(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    node: &Node,
    pods: Option<&Vec<&'p Pod>>,
    hash: &str,
    wishes: &mut Wishes<'p>,
) {
    let (run, stay) = should_run(set, node);
    let name = &node.metadata.name;
    match pods {
        None if run => wishes.create.push(name.to_string()),
        Some(pods) if !stay => {
            cx.because("ds.not-here", vec![who(set), ("node", name.to_string())]);
            wishes.delete.extend(pods.iter().filter(|pod| !pod.metadata.is_terminating()));
        }
        pods if stay => {
            let pods = pods.map_or(&[][..], Vec::as_slice);
            let running = sort_out_ended(cx, set, name, pods, wishes);
            if max_surge(set, 1) == 0 {
                wishes.delete.extend(running.into_iter().skip(1));
            } else {
                with_surge(cx.now(), set, (name, run), running, hash, wishes);
            }
        }
        _ => {}
    }
}

/// Pods that ended are deleted, failed ones not too often; the others are answered.
fn sort_out_ended<'p>(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    node: &str,
    pods: &[&'p Pod],
    wishes: &mut Wishes<'p>,
) -> Vec<&'p Pod> {
    let mut running = Vec::new();
    let about = set.to_object();
    for &pod in pods.iter().filter(|pod| !pod.metadata.is_terminating()) {
        let (namespace, name) = (&pod.metadata.namespace, &pod.metadata.name);
        match pod.status.phase.as_str() {
            "Failed" => {
                if let Some(delay) = failed_lately(cx, set, node) {
                    cx.because("ds.back-off", vec![who(set), ("node", node.to_owned())]);
                    cx.again(about.key(), delay);
                    continue;
                }
                let text =
                    format!("Found failed daemon pod {namespace}/{name} on node {node}, will try to kill it");
                cx.event(&about, "Warning", "FailedDaemonPod", text);
                wishes.delete.push(pod);
            }
            "Succeeded" => {
                let text = format!(
                    "Found succeeded daemon pod {namespace}/{name} on node {node}, will try to delete it"
                );
                cx.event(&about, "Normal", "SucceededDaemonPod", text);
                wishes.delete.push(pod);
            }
            _ => running.push(pod),
        }
    }
    running
}

/// How long to wait before another failed pod of this node is deleted; counts this one if there is no wait.
fn failed_lately(cx: &mut Cx<'_>, set: &DaemonSet, node: &str) -> Option<Duration> {
    let name = format!("failed {}/{} {node}", set.metadata.uid, set.metadata.generation);
    let now = cx.now();
    let before = cx.recall(&name).and_then(|value| {
        let last = value["last"].as_i64()?;
        Some((value["wait"].as_u64()?, Instant(last)))
    });
    let mut wait = FIRST;
    if let Some((seconds, last)) = before {
        let since = now.since(last);
        if since < Duration::from_secs(seconds) {
            return Some(Duration::from_secs(seconds));
        }
        if since <= Duration::from_secs(2 * LONGEST) {
            wait = (seconds * 2).min(LONGEST);
        }
    }
    cx.remember(&name, Some(json!({ "wait": wait, "last": now.0 })));
    None
}

/// With a surge two pods may be on a node: the oldest old one until the oldest new one is available.
fn with_surge<'p>(
    now: Instant,
    set: &DaemonSet,
    (node, run): (&str, bool),
    running: Vec<&'p Pod>,
    hash: &str,
    wishes: &mut Wishes<'p>,
) {
    if running.len() <= 1 {
        if running.is_empty() && run {
            wishes.create.push(node.to_owned());
        }
        return;
    }
    let (mut new, mut old) = (None, None);
    for pod in running {
        let is_new = pod.metadata.labels.get(HASH).is_some_and(|label| label == hash);
        let place = if is_new { &mut new } else { &mut old };
        if place.is_none() {
            *place = Some(pod);
        } else {
            wishes.delete.push(pod);
        }
    }
    if let (Some(new), Some(old)) = (new, old)
        && (!old.is_ready() || is_available(new, set.spec.min_ready_seconds, now))
    {
        wishes.delete.push(old);
    }
}
