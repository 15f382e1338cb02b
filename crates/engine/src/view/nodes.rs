//! Nodes and the machines below them.

use super::{board::Board, sorted};
use crate::session::Session;
use kubestep_cluster::{Health, ProcessId};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Key, Kind, Node, Quantity};
use kubestep_protocol::{Node as NodeRow, NodeLook, Rich};
use std::sync::Arc;

/// The nodes, in the order of first sight.
pub(super) fn nodes(session: &mut Session, board: &Board<'_>) -> Vec<Arc<NodeRow>> {
    let nodes = board.world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>());
    let mut rows: Vec<NodeRow> = nodes.map(|n| row(board, n)).collect();
    rows.extend(removed(board));
    rows.arrange_by(|a, b| a.name.cmp(&b.name));
    for row in &mut rows {
        row.id = session.ids.of(&format!("node:{}", row.name));
    }
    sorted(rows, |r| r.id)
}

/// Amounts as milli-units: what is asked for of what there is.
fn share(used: i64, all: Option<&Quantity>) -> u16 {
    let all = all.map_or(0, Quantity::milli_value);
    if all <= 0 { 0 } else { u16::try_from((used.saturating_mul(1000) / all).clamp(0, 9999)).unwrap_or(9999) }
}

/// Nodes that are gone while pods are still bound to them.
fn removed(board: &Board<'_>) -> Vec<NodeRow> {
    let store = board.world.store();
    let is_gone = |n: &&str| store.get(&Key::new(Kind::Node, "", *n)).is_none();
    let gone: Vec<&str> = board.nodes_of_pods().filter(is_gone).collect();
    let row = |name: &str| NodeRow {
        id: kubestep_protocol::Id(0),
        name: name.into(),
        look: NodeLook::Removed,
        words: Rich::words("removed"),
        stopped: true,
        cordoned: false,
        taints: vec![],
        pods: board.load(name).pods,
        cpu: 0,
        memory: 0,
        room: "no Node object of this name".into(),
    };
    gone.into_iter().map(row).collect()
}

fn row(board: &Board<'_>, node: &Node) -> NodeRow {
    let world = board.world;
    let name = node.metadata.name.to_string();
    let id = ProcessId::Kubelet(node.metadata.name.clone());
    let stopped = world.faults().is_cut(&id) || world.process(&id).is_none_or(|p| p.health != Health::Up);
    let load = board.load(&name);
    let taints: Vec<String> = node
        .spec
        .taints
        .iter()
        .map(|t| {
            if t.value.is_empty() {
                format!("{}:{}", t.key, t.effect)
            } else {
                format!("{}={}:{}", t.key, t.value, t.effect)
            }
        })
        .collect();
    let foreign = node.spec.taints.iter().any(|t| !t.key.starts_with("node.kubernetes.io/"));
    let look = match (stopped, node.is_ready()) {
        (true, true) => NodeLook::Stopped,
        (_, false) => NodeLook::NotReady,
        _ if node.spec.unschedulable => NodeLook::Cordoned,
        _ if foreign => NodeLook::Tainted,
        _ => NodeLook::Ready,
    };
    let said = if node.is_ready() { "Ready" } else { "NotReady" };
    let words = match (stopped, node.spec.unschedulable) {
        (true, _) => format!("{said}, stopped"),
        (false, true) => format!("{said}, cordoned"),
        (false, false) => said.to_string(),
    };
    let all = &node.status.allocatable;
    let cores = |milli: i64| if milli % 1000 == 0 { (milli / 1000).to_string() } else { format!("{milli}m") };
    let room = format!(
        "{} of {} cpu",
        cores(load.cpu_milli),
        all.get("cpu").map_or("0".to_string(), ToString::to_string)
    );
    NodeRow {
        id: kubestep_protocol::Id(0),
        name,
        look,
        words: Rich::words(words),
        stopped,
        cordoned: node.spec.unschedulable,
        taints,
        pods: load.pods,
        cpu: share(load.cpu_milli, all.get("cpu")),
        memory: share(load.memory_milli, all.get("memory")),
        room,
    }
}
