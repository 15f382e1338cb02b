//! What is promised of loops that take away: namespaces, taints, owners.

use kubestep_cluster::World;
use kubestep_model::{Key, Kind, Namespace, Node, Pod};

/// A namespace goes only when nothing is left in it; in the end it is gone.
pub fn emptied_first(world: &World, quiet: bool) -> Result<(), String> {
    let store = world.store();
    let there = |name: &str| store.get(&Key::new(Kind::Namespace, "", name)).is_some();
    // Events may outlive it, as nobody waits for those that are still being written.
    let inside = |o: &&kubestep_model::Object| !o.meta().namespace.is_empty() && o.kind() != Kind::Event;
    if let Some(left) = store.all().filter(inside).find(|o| !there(&o.meta().namespace)) {
        return Err(format!("{} is left of a namespace that is gone", left.key().name));
    }
    let ends = store.list(Kind::Namespace, None).filter_map(|o| o.get::<Namespace>());
    match ends.filter(|n| quiet && n.metadata.is_terminating()).map(|n| &n.metadata.name).next() {
        Some(name) => Err(format!("{name} is still there in the end")),
        None => Ok(()),
    }
}

/// How a pod bears the taints of its node: for ever, for a while, not at all.
fn bears(pod: &Pod, node: &Node) -> bool {
    let taints = node.spec.taints.iter().filter(|t| t.effect == "NoExecute");
    taints
        .into_iter()
        .all(|t| pod.spec.tolerations.iter().any(|b| b.key == t.key && b.toleration_seconds.is_none()))
}

/// Who bears the taints of the node for ever is never asked to go; in the end all others were.
pub fn only_those_go_who_must(world: &World, quiet: bool) -> Result<(), String> {
    for pod in world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
        let node = world.store().get(&Key::new(Kind::Node, "", pod.spec.node_name.clone()));
        let Some(node) = node.and_then(|o| o.get::<Node>()) else { continue };
        let (bears, goes) = (bears(pod, node), pod.metadata.is_terminating());
        let forever =
            pod.spec.tolerations.iter().any(|t| t.key == "broken" && t.toleration_seconds.is_none());
        if forever && goes {
            return Err(format!("{} bears the taint and is asked to go", pod.metadata.name));
        }
        if quiet && !bears && !goes {
            return Err(format!("{} stays, and does not bear the taint", pod.metadata.name));
        }
    }
    Ok(())
}

/// In the end a node has the taints that its conditions and its being closed ask for, each once; never has it one twice.
pub fn tainted_as_it_is(world: &World, quiet: bool) -> Result<(), String> {
    for node in world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>()) {
        let times =
            |key: &str| node.spec.taints.iter().filter(|t| t.key == key && t.effect == "NoSchedule").count();
        let want = [
            ("node.kubernetes.io/unschedulable", node.spec.unschedulable),
            ("node.kubernetes.io/not-ready", node.condition("Ready").is_some_and(|c| c.status == "False")),
        ];
        for (key, wanted) in want {
            let have = times(key);
            if have > 1 || (quiet && have != usize::from(wanted)) {
                return Err(format!("{} has {key} {have} times, wanted: {wanted}", node.metadata.name));
            }
        }
    }
    Ok(())
}

/// An owner that is deleted in the foreground is there as long as something that blocks it is; in the end all are gone.
pub fn owner_last(world: &World, quiet: bool) -> Result<(), String> {
    let store = world.store();
    let there = |uid: &str| store.all().any(|o| *o.meta().uid == *uid);
    for object in store.all() {
        for owner in &object.meta().owner_references {
            if owner.block_owner_deletion == Some(true) && !there(&owner.uid) {
                return Err(format!("{} outlives {}, which waits for it", object.key().name, owner.name));
            }
        }
    }
    let owned =
        |o: &&kubestep_model::Object| !o.meta().owner_references.is_empty() || o.meta().is_terminating();
    match store.all().find(owned).filter(|_| quiet) {
        Some(left) => Err(format!("{} is still there in the end", left.key().name)),
        None => Ok(()),
    }
}
