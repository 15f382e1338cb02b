//! What may stand for one another: nodes of which the scheduler draws, volumes of which a claim gets any.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::{Ident, Life, Recording};

/// Which nodes may stand for one another, and until which step.
///
/// Nodes are equal if their objects, as far as they are recorded, have the same size, labels and taints, and no step so
/// far changes one of them by name: what was drawn before the first of them is named was drawn among all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Equals {
    /// From this step on these classes hold, by the names of the nodes; the steps rise.
    classes: Vec<(i64, BTreeMap<String, String>)>,
}

impl Equals {
    pub(super) fn of(golden: &Recording) -> Self {
        let nodes = nodes(golden);
        let named: BTreeMap<&str, Named> =
            nodes.iter().filter_map(|node| Some((node.as_str(), Named::of(golden, node)?))).collect();
        let mut cuts: BTreeSet<i64> = named.values().map(|named| named.step).collect();
        cuts.insert(i64::MIN);
        let classes = cuts.into_iter().map(|step| {
            let mut alike: BTreeMap<Vec<String>, Vec<&String>> = BTreeMap::new();
            for node in &nodes {
                let named = named.get(node.as_str());
                let apart = named.is_some_and(|named| named.marked || named.step <= step);
                let traits = if apart { vec![node.clone()] } else { traits(golden, node, named.is_some()) };
                alike.entry(traits).or_default().push(node);
            }
            let class = |class: Vec<&String>| {
                let word = class.iter().map(|node| node.as_str()).collect::<Vec<_>>().join("|");
                class.into_iter().map(|node| (node.clone(), word.clone())).collect::<Vec<_>>()
            };
            (step, alike.into_values().filter(|nodes| nodes.len() > 1).flat_map(class).collect())
        });
        Equals { classes: classes.collect() }
    }

    /// What stands for the node in a text of this step; without a step, in one of the last.
    pub(super) fn class(&self, node: &str, step: Option<i64>) -> Option<&str> {
        let step = step.unwrap_or(i64::MAX);
        let (_, classes) = self.classes.iter().rev().find(|(from, _)| *from <= step)?;
        classes.get(node).map(String::as_str)
    }
}

fn nodes(golden: &Recording) -> BTreeSet<String> {
    let placed = golden.lives.iter().filter(|(ident, _)| ident.kind == "Pod");
    let mut nodes: BTreeSet<String> = placed
        .flat_map(|(_, life)| life.values("spec.nodeName"))
        .map(|node| node.trim_matches('"').to_owned())
        .collect();
    nodes.extend(golden.finals.keys().filter(|ident| ident.kind == "Node").map(|ident| ident.name.clone()));
    nodes
}

/// When a step first changes a node by name, and whether one gives it marks of its own.
#[derive(Clone, Copy, Debug)]
struct Named {
    step: i64,
    /// What it was before cannot be told from how it is at the end.
    marked: bool,
}

impl Named {
    fn of(golden: &Recording, node: &str) -> Option<Self> {
        const SHUT: &[&str] = &["cordon", "uncordon", "drain"];
        const MARK: &[&str] = &["taint", "label", "delete", "patch", "annotate"];
        let does =
            |command: &str, verbs: &[&str]| command.split(' ').nth(1).is_some_and(|v| verbs.contains(&v));
        let mut named: Option<Named> = None;
        for step in golden.steps.iter().filter(|step| says(&step.command, node)) {
            let command = step.command.as_str();
            let marks = does(command, MARK) || command.starts_with("node add");
            if marks || command.starts_with("node ") || does(command, SHUT) {
                let first = named.get_or_insert(Named { step: step.number, marked: false });
                first.marked |= marks;
            }
        }
        named
    }
}

fn says(command: &str, name: &str) -> bool {
    command.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == name)
}

/// What tells a node from others. One that a step stops or cordons bears other taints at the end than it was made with.
fn traits(golden: &Recording, node: &str, named: bool) -> Vec<String> {
    let ident = Ident { kind: "Node".to_owned(), namespace: String::new(), name: node.to_owned() };
    let told = |path: &str| {
        let tells = ["metadata.labels.", "spec.taints", "spec.unschedulable", "status.capacity."];
        let passing = named && ["spec.taints", "spec.unschedulable"].iter().any(|p| path.starts_with(p));
        tells.iter().any(|prefix| path.starts_with(prefix)) && !path.ends_with("hostname") && !passing
    };
    let leaves = golden.finals.get(&ident).into_iter().flatten();
    leaves.filter(|(path, _)| told(path)).map(|(path, value)| format!("{path}={value}")).collect()
}

/// What tells a volume from others: all but its name, and whose it is. None: the volume is not one of several equal ones
/// of which a claim gets any, because it is made for one claim, or a claim or a step names it.
pub(super) fn volume(recording: &Recording, ident: &Ident) -> Option<String> {
    let life = recording.lives.get(ident).filter(|_| ident.kind == "PersistentVolume")?;
    let first = |path: &str| life.moves.get(path).is_some_and(|moves| moves.iter().any(|(at, _)| *at == 0));
    let asked = recording.lives.iter().any(|(other, life)| {
        let at_first = |(at, name): &(usize, Option<String>)| {
            *at == 0 && name.as_deref().is_some_and(|name| name.trim_matches('"') == ident.name)
        };
        other.kind == "PersistentVolumeClaim"
            && life.moves.get("spec.volumeName").is_some_and(|moves| moves.iter().any(at_first))
    });
    let named = recording.steps.iter().any(|step| says(&step.command, &ident.name));
    (!first("spec.claimRef.name") && !asked && !named).then(|| made_with(life))
}

fn made_with(life: &Life) -> String {
    const TOLD: &[&str] = &[
        "metadata.labels.",
        "spec.accessModes",
        "spec.capacity.",
        "spec.nodeAffinity",
        "spec.persistentVolumeReclaimPolicy",
        "spec.storageClassName",
        "spec.volumeAttributesClassName",
        "spec.volumeMode",
    ];
    let at_first = |(path, moves): (&String, &Vec<(usize, Option<String>)>)| {
        let told = TOLD.iter().any(|prefix| path.starts_with(prefix));
        let (_, value) = moves.iter().find(|(at, _)| *at == 0).filter(|_| told)?;
        Some(format!("{path}={}", value.as_deref().unwrap_or_default()))
    };
    life.moves.iter().filter_map(at_first).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::recording::Step;

    #[test]
    fn nodes_are_equal_until_a_step_names_one() {
        let node = |name: &str| {
            (
                Ident { kind: "Node".to_owned(), namespace: String::new(), name: name.to_owned() },
                BTreeMap::new(),
            )
        };
        let step =
            |number: i64, command: &str| Step { number, command: command.to_owned(), ..Step::default() };
        let golden = Recording {
            finals: BTreeMap::from([node("n-1"), node("n-2"), node("n-3"), node("n-4")]),
            steps: vec![
                step(0, "kubectl get pods -o wide"),
                step(3, "node {\"stop\":\"n-2\"}"),
                step(5, "kubectl label node n-4 rack=r1"),
            ],
            ..Recording::default()
        };
        let equals = Equals::of(&golden);
        assert_eq!(equals.class("n-2", Some(2)), Some("n-1|n-2|n-3"));
        assert_eq!(equals.class("n-2", Some(3)), None);
        assert_eq!(equals.class("n-1", Some(3)), Some("n-1|n-3"));
        assert_eq!(equals.class("n-1", None), Some("n-1|n-3"));
        assert_eq!(equals.class("n-4", Some(0)), None);
    }
}
