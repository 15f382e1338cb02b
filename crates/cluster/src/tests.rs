//! The world as a whole.

use crate::{Latencies, NodeSpec, Registry, Settings, Start, World};
use kubestep_model::{Kind, Node};

fn start() -> Start {
    let nodes = (1..=3).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect();
    Start {
        nodes,
        registry: Registry::default(),
        seed: 1,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

#[test]
fn a_cluster_boots_and_its_nodes_are_ready() {
    let world = World::boot(&start());
    let nodes: Vec<&Node> = world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>()).collect();
    assert_eq!(nodes.len(), 3);
    assert!(nodes.iter().all(|n| n.is_ready()));
    assert!(world.store().list(Kind::Event, None).next().is_none());
    assert_eq!(world.hash(), World::boot(&start()).hash());
}
