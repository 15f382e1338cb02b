//! The scheduler's cache: nodes with the pods on them, those it only assumes there included.
//! Upstream: pkg/scheduler/backend/cache (v1.37).

use super::node_info::{Group, NodeInfo, PodInfo, tally};
use kubestep_model::Node;
use kubestep_model::tree::{OrdMap, OrdSet};
use std::{collections::BTreeSet, sync::Arc};

/// A pod that is counted on a node.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Placed {
    pub node: Arc<str>,
    pub pod: Arc<PodInfo>,
    /// Chosen by the scheduler, but not yet seen in the cluster.
    pub assumed: bool,
}

/// See the module. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cache {
    nodes: OrdMap<Arc<str>, Arc<NodeInfo>>,
    /// Zones in the order in which they came, each with its nodes in the order in which they came.
    zones: Arc<Vec<(String, Vec<Arc<str>>)>>,
    /// Nodes in the order in which they are looked at: one of each zone in turn.
    order: Arc<Vec<Arc<str>>>,
    /// By uid.
    pods: OrdMap<Arc<str>, Placed>,
    /// The size of each image, as the first node told it, and on how many nodes it is.
    images: OrdMap<String, (i64, u32)>,
    /// On which nodes the pods of each group are, and how many.
    groups: OrdMap<Group, OrdMap<Arc<str>, u32>>,
    /// Nodes with pods that have wishes about other pods.
    with_affinity: OrdSet<Arc<str>>,
    /// Nodes with pods that demand distance to other pods.
    with_required_anti_affinity: OrdSet<Arc<str>>,
    /// Volumes that were chosen for claims and do not say so yet, with the pod for which they were.
    promised: OrdMap<Arc<str>, Arc<str>>,
}

fn zone(node: &Node) -> String {
    let label =
        |names: [&str; 2]| names.iter().find_map(|n| node.labels().get(*n)).cloned().unwrap_or_default();
    let zone = label(["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"]);
    let region = label(["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"]);
    if zone.is_empty() && region.is_empty() { String::new() } else { format!("{region}:\0:{zone}") }
}

impl Cache {
    /// The nodes, in the order in which they are looked at.
    pub fn order(&self) -> &Arc<Vec<Arc<str>>> {
        &self.order
    }
    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(name)
    }
    /// All nodes that are there, in the order in which they are looked at.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.order.iter().filter_map(|name| self.nodes.get(name))
    }
    /// Nodes with pods that have wishes about other pods.
    pub fn nodes_with_affinity(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.with_affinity.iter().filter_map(|name| self.nodes.get(name)).filter(|n| n.node.is_some())
    }
    /// Nodes with pods that demand distance to other pods.
    pub fn nodes_with_required_anti_affinity(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.with_required_anti_affinity
            .iter()
            .filter_map(|name| self.nodes.get(name))
            .filter(|n| n.node.is_some())
    }
    /// The groups of pods with the nodes that they are on, and how many on each.
    pub fn groups(&self) -> impl Iterator<Item = (&Group, impl Iterator<Item = (&Arc<NodeInfo>, i64)>)> {
        self.groups.iter().map(|(group, nodes)| {
            let known = nodes.iter().filter_map(|(name, n)| Some((self.nodes.get(name)?, i64::from(*n))));
            (group, known.filter(|(node, _)| node.node.is_some()))
        })
    }
    /// An image's size, as the first node told it, and on how many nodes it is.
    pub fn image(&self, name: &str) -> (i64, u32) {
        self.images.get(name).copied().unwrap_or((0, 0))
    }
    /// Where a pod is counted.
    pub fn placed(&self, uid: &str) -> Option<&Placed> {
        self.pods.get(uid)
    }
    /// Pods that are assumed on a node but not yet seen there, by uid.
    pub fn assumed(&self) -> impl Iterator<Item = &Placed> {
        self.pods.values().filter(|p| p.assumed)
    }

    /// Volumes that are promised.
    pub fn promised_volumes(&self) -> impl Iterator<Item = &str> {
        self.promised.keys().map(|name| &**name)
    }
    /// Promises a volume to the claim of a pod.
    pub fn promise_volume(&mut self, name: Arc<str>, pod_uid: Arc<str>) {
        self.promised.insert(name, pod_uid);
    }
    /// Takes all promises to a pod back.
    pub fn drop_promises(&mut self, pod_uid: &str) {
        let kept = self.promised.iter().filter(|(_, uid)| ***uid != *pod_uid);
        self.promised = kept.map(|(name, uid)| (name.clone(), uid.clone())).collect();
    }
    /// Puts or replaces a node.
    pub fn set_node(&mut self, node: Arc<Node>) {
        self.set_nodes([node]);
    }

    /// Puts or replaces several nodes.
    pub fn set_nodes(&mut self, nodes: impl IntoIterator<Item = Arc<Node>>) {
        for node in nodes {
            self.put_node(node);
        }
    }

    fn put_node(&mut self, node: Arc<Node>) {
        let name = node.metadata.name.clone();
        let (old_images, old_zone) = match self.nodes.get(&name) {
            Some(info) => (info.images.clone(), info.node.as_ref().map(|n| zone(n))),
            None => (Arc::default(), None),
        };
        self.count_images(&old_images, false);
        let fresh_zone = zone(&node);
        let info = self
            .nodes
            .entry(name.clone())
            .or_insert_with(|| Arc::new(NodeInfo { name: name.clone(), ..NodeInfo::default() }));
        Arc::make_mut(info).set_node(Some(node));
        let images = info.images.clone();
        self.count_images(&images, true);
        if old_zone.as_ref() == Some(&fresh_zone) {
            return;
        }
        if old_zone.is_some() {
            self.leave_zone(old_zone.as_deref(), &name);
            self.reorder();
        }
        self.join_zone(fresh_zone, name);
    }

    /// Puts a node at the end of its zone, and in its place in the order of all.
    fn join_zone(&mut self, zone: String, name: Arc<str>) {
        let zones = Arc::make_mut(&mut self.zones);
        let at = zones.iter().position(|(z, _)| *z == zone).unwrap_or(zones.len());
        if at == zones.len() {
            zones.push((zone, vec![]));
        }
        // Before it stand the earlier turns of all zones, and those of its own turn whose zones came before.
        let turn = zones[at].1.len();
        let before =
            |(i, (_, names)): (usize, &(String, Vec<_>))| names.len().min(turn + usize::from(i < at));
        let place = zones.iter().enumerate().map(before).sum();
        zones[at].1.push(name.clone());
        Arc::make_mut(&mut self.order).insert(place, name);
    }

    /// Removes a node; the pods on it stay known until they are seen to go.
    pub fn remove_node(&mut self, name: &Arc<str>) {
        let Some(info) = self.nodes.get_mut(name) else { return };
        let (images, zone) = (info.images.clone(), info.node.as_ref().map(|n| zone(n)));
        Arc::make_mut(info).set_node(None);
        if info.pods.is_empty() {
            self.nodes.remove(name);
        }
        self.count_images(&images, false);
        self.leave_zone(zone.as_deref(), name);
        self.reorder();
    }

    fn leave_zone(&mut self, zone: Option<&str>, name: &Arc<str>) {
        let Some(zone) = zone else { return };
        let zones = Arc::make_mut(&mut self.zones);
        for (_, names) in zones.iter_mut().filter(|(z, _)| z == zone) {
            names.retain(|n| n != name);
        }
        zones.retain(|(_, names)| !names.is_empty());
    }

    /// Upstream: nodeTree.list.
    fn reorder(&mut self) {
        let longest = self.zones.iter().map(|(_, names)| names.len()).max().unwrap_or(0);
        let turn = |i: usize| self.zones.iter().filter_map(move |(_, names)| names.get(i).cloned());
        self.order = Arc::new((0..longest).flat_map(turn).collect());
    }

    /// Upstream: addNodeImageStates, removeNodeImageStates.
    fn count_images(&mut self, images: &[(String, i64)], more: bool) {
        let mut seen = BTreeSet::new();
        for (name, size) in images {
            if !seen.insert(name) {
                continue;
            }
            let (known, n) = self.images.get(name).copied().unwrap_or((*size, 0));
            match if more { n.saturating_add(1) } else { n.saturating_sub(1) } {
                0 => drop(self.images.remove(name)),
                n => drop(self.images.insert(name.clone(), (known, n))),
            }
        }
    }

    /// Counts a pod on a node, in the place of an older state of it.
    pub fn place(&mut self, node: &Arc<str>, pod: Arc<PodInfo>, assumed: bool) {
        let uid = pod.uid().clone();
        if self.pods.get(&uid).is_some_and(|old| old.node == *node && old.pod.counts_as(&pod))
            && let Some(info) = self.nodes.get_mut(node)
        {
            // Most changes are of its status: nothing is counted anew.
            Arc::make_mut(info).replace(pod.clone());
            if let Some(placed) = self.pods.get_mut(&uid) {
                (placed.pod, placed.assumed) = (pod, assumed);
            }
            return;
        }
        self.remove_pod(&uid);
        let info = self
            .nodes
            .entry(node.clone())
            .or_insert_with(|| Arc::new(NodeInfo { name: node.clone(), ..NodeInfo::default() }));
        // All nodes have the same copy of a group: that two are equal is then seen at a glance.
        let group = self.groups.get_key_value(&pod.group).map_or(&pod.group, |(group, _)| group).clone();
        Arc::make_mut(info).add(pod.clone(), group.clone());
        tally(self.groups.entry(group).or_default(), node.clone(), true);
        self.pods.insert(uid, Placed { node: node.clone(), pod, assumed });
        self.index(node);
    }

    /// Counts a pod out. Answers where it was.
    pub fn remove_pod(&mut self, uid: &Arc<str>) -> Option<Placed> {
        let placed = self.pods.remove(uid)?;
        if let Some(info) = self.nodes.get_mut(&placed.node) {
            Arc::make_mut(info).remove(uid);
            if info.pods.is_empty() && info.node.is_none() {
                self.nodes.remove(&placed.node);
            }
        }
        let group = &placed.pod.group;
        if let Some(nodes) = self.groups.get_mut(group) {
            tally(nodes, placed.node.clone(), false);
            if nodes.is_empty() {
                self.groups.remove(group);
            }
        }
        self.index(&placed.node);
        Some(placed)
    }

    fn index(&mut self, name: &Arc<str>) {
        let info = self.nodes.get(name);
        let set = |set: &mut OrdSet<Arc<str>>, holds: bool| match holds {
            true => drop(set.insert(name.clone())),
            false => drop(set.remove(name)),
        };
        set(&mut self.with_affinity, info.is_some_and(|i| !i.with_affinity.is_empty()));
        set(
            &mut self.with_required_anti_affinity,
            info.is_some_and(|i| !i.with_required_anti_affinity.is_empty()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_comes_stands_where_it_would_if_all_were_put_in_order() {
        let mut cache = Cache::default();
        for (i, zone) in ["a", "b", "a", "", "c", "b", "a", "a", "c", ""].into_iter().enumerate() {
            let mut node = Node::default();
            node.metadata.name = format!("node-{i}").into();
            if !zone.is_empty() {
                node.metadata.labels.insert("topology.kubernetes.io/zone".into(), zone.into());
            }
            cache.set_node(Arc::new(node));
            let order = cache.order.clone();
            cache.reorder();
            assert_eq!(order, cache.order, "after node-{i}");
        }
        let names: Vec<&str> = cache.order.iter().map(|name| &name[5..]).collect();
        assert_eq!(names, ["0", "1", "3", "4", "2", "5", "9", "8", "6", "7"]);
    }
}
