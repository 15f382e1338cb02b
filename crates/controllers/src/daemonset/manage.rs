//! Creates and deletes pods. Upstream: daemon_controller.go, manage and syncNodes (v1.37).

use super::{ByNode, DaemonSet, fit::new_pod, nodes, nodes::Wishes, who};
use crate::stop::{Step, aggregate, error, namespace_terminating};
use kubestep_control::{Cx, Halt};
use kubestep_model::arrange::Gather;
use kubestep_model::{DeleteOptions, Node, Pod, Resource, Status, Whole};
use std::collections::BTreeSet;

/// At most so many pods are created and so many deleted in one pass. Upstream: BurstReplicas.
const BURST: usize = 250;

/// One pod on every node that should run one; whether anything was asked for.
pub(super) fn manage(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    nodes: &[&Node],
    pods: &ByNode<'_>,
    hash: &str,
) -> Step<bool> {
    let mut wishes = Wishes::default();
    for node in nodes {
        nodes::look(cx, set, node, pods.get(&*node.metadata.name), hash, &mut wishes);
    }
    // Pods for nodes that are gone are never placed, and nobody else would delete them.
    let there: BTreeSet<&str> = nodes.iter().map(|node| &*node.metadata.name).gather();
    let lost = pods.iter().filter(|(node, _)| !there.contains(node.as_str())).flat_map(|(_, pods)| pods);
    wishes.delete.extend(lost.filter(|pod| pod.spec.node_name.is_empty()));
    sync_nodes(cx, set, wishes, hash)
}

/// Asks for what is wished; whether that was anything. Upstream: syncNodes.
pub(super) fn sync_nodes(cx: &mut Cx<'_>, set: &DaemonSet, mut wishes: Wishes<'_>, hash: &str) -> Step<bool> {
    wishes.create.truncate(BURST);
    wishes.delete.truncate(BURST);
    let wrote = !wishes.create.is_empty() || !wishes.delete.is_empty();
    if wrote {
        let counts = [("create", wishes.create.len()), ("delete", wishes.delete.len())];
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        cx.because("ds.pods", [who(set)].into_iter().chain(counts).collect());
    }
    let mut errors = create(cx, set, &wishes.create, hash)?;
    errors.extend(delete(cx, set, &wishes.delete)?);
    aggregate(errors).map_or(Ok(wrote), |status| Err(status.into()))
}

/// In batches of 1, 2, 4, … pods; a refusal ends the next batch, not this one.
fn create(cx: &mut Cx<'_>, set: &DaemonSet, nodes: &[String], hash: &str) -> Result<Vec<Status>, Halt> {
    let about = set.to_object();
    let (mut rest, mut batch, mut errors) = (nodes, 1, Vec::new());
    while !rest.is_empty() && errors.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let pods = now.iter().map(|node| new_pod(set, node, hash)).collect();
        for reply in cx.create_all::<Pod>(pods)? {
            match reply {
                Ok(pod) => {
                    let text = format!("Created pod: {}", pod.metadata.name);
                    cx.event(&about, "Normal", "SuccessfulCreate", text);
                }
                Err(status) if namespace_terminating(&status) => {}
                Err(status) => {
                    let text = format!("Error creating: {}", status.message);
                    cx.event(&about, "Warning", "FailedCreate", text);
                    errors.push(status);
                }
            }
        }
        rest = later;
        batch *= 2;
    }
    Ok(errors)
}

fn delete(cx: &mut Cx<'_>, set: &DaemonSet, pods: &[&Pod]) -> Result<Vec<Status>, Halt> {
    let about = set.to_object();
    let requests = pods.iter().map(|pod| (pod.key(), DeleteOptions::default())).collect();
    let mut errors = Vec::new();
    for (pod, reply) in pods.iter().zip(cx.delete_all(requests)?) {
        let name = &pod.metadata.name;
        match reply {
            Ok(()) => cx.event(&about, "Normal", "SuccessfulDelete", format!("Deleted pod: {name}")),
            Err(status) if status.is_not_found() => {}
            Err(status) => {
                cx.event(&about, "Warning", "FailedDelete", format!("Error deleting: {}", status.message));
                errors.push(error(format!("unable to delete pods: {}", status.message)));
            }
        }
    }
    Ok(errors)
}
