//! Plays a recording's chance again: where the scheduler draws one of several nodes that are equally good, the recording's
//! node is taken, if it is one of them. What follows from the draw can then be compared.

use kubestep_cluster::{ProcessId, Record, Step, World};
use kubestep_control::Note;
use kubestep_model::Kind;
use serde_json::Value;
use std::collections::BTreeMap;

/// How often a draw is passed over before the node is given up: it is not among the best, then.
const TRIES: usize = 40;

/// How many letters the server adds to a name that it draws.
const DRAWN: usize = 5;

/// The nodes that are still to be drawn.
#[derive(Debug, Default)]
pub(crate) struct Draws {
    nodes: BTreeMap<String, Vec<String>>,
    /// How often a pod of this name was placed.
    placed: BTreeMap<String, usize>,
}

/// The nodes of a recording's pods, in the order in which they were bound.
pub(super) fn nodes(golden: &Value) -> BTreeMap<String, Vec<String>> {
    let mut drawn_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut nodes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let pods = golden["changes"].as_array().into_iter().flatten().filter(|change| change["kind"] == "Pod");
    for change in pods {
        let Some(name) = change["name"].as_str() else { continue };
        if let Some(base) = change["object"]["metadata"]["generateName"].as_str() {
            drawn_from.insert(name, known_by(name, base));
        }
        let told = |part: &str| change[part]["spec"]["nodeName"].as_str();
        if let Some(node) = told("object").or_else(|| told("patch")) {
            let name = drawn_from.get(name).copied().unwrap_or(name);
            nodes.entry(name.to_owned()).or_default().push(node.to_owned());
        }
    }
    nodes
}

impl Draws {
    pub(crate) fn of(nodes: BTreeMap<String, Vec<String>>) -> Self {
        Draws { nodes, placed: BTreeMap::new() }
    }

    /// Makes the step; again with another draw, as long as a pod comes onto another node than in the recording.
    pub(crate) fn make(&mut self, world: &mut World, step: &Step) -> Record {
        if self.nodes.is_empty() {
            return world.advance(step);
        }
        let before = world.clone();
        let mut record = world.advance(step);
        let mut missed = self.missed(&before, &record);
        for passed in 1..=TRIES {
            if missed == 0 {
                break;
            }
            let mut again = before.clone();
            (0..passed).for_each(|_| again.redraw(&ProcessId::Scheduler, "scheduler-tie"));
            let other = again.advance(step);
            let of_other = self.missed(&before, &other);
            if of_other < missed {
                (*world, record, missed) = (again, other, of_other);
            }
        }
        for note in placements(&record) {
            *self.placed.entry(key(&before, pod(note))).or_default() += 1;
        }
        record
    }

    /// How many pods were drawn another of several nodes than in the recording.
    fn missed(&self, world: &World, record: &Record) -> usize {
        let mut placed = self.placed.clone();
        let other = |note: &&Note| {
            let key = key(world, pod(note));
            let turn = placed.entry(key.clone()).or_default();
            *turn += 1;
            let wanted = self.nodes.get(&key).and_then(|nodes| nodes.get(*turn - 1));
            let tied =
                value(note, "tied").split(", ").any(|node| wanted.is_some_and(|wanted| wanted == node));
            tied && wanted.is_some_and(|wanted| wanted != value(note, "node"))
        };
        placements(record).filter(other).count()
    }
}

/// The notes about pods for which a node was found.
fn placements(record: &Record) -> impl Iterator<Item = &Note> {
    record.notes.iter().filter(|note| matches!(note.code, "scheduler.attempt" | "scheduler.tie"))
}

fn value<'a>(note: &'a Note, name: &str) -> &'a str {
    note.about.iter().find(|(other, _)| *other == name).map_or("", |(_, value)| value)
}

fn pod(note: &Note) -> &str {
    value(note, "pod")
}

/// What the recording knows a pod by.
fn key(world: &World, pod: &str) -> String {
    let found = world.store().list(Kind::Pod, None).find(|object| *object.meta().name == *pod);
    found.map_or(pod, |object| known_by(pod, &object.meta().generate_name)).to_owned()
}

/// The name, or what it was drawn from; a pod of a StatefulSet has both, and its name is not drawn.
fn known_by<'a>(name: &'a str, base: &'a str) -> &'a str {
    let drawn = !base.is_empty() && name.strip_prefix(base).is_some_and(|end| end.len() == DRAWN);
    if drawn { base } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{pace, record};
    use kubestep_lessons::script::Script;
    use serde_json::json;

    const SCRIPT: &str = "
id: x
files:
  sets.yaml: |
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      replicas: 1
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec: {containers: [{name: db, image: example/db:1}]}
images: {example/db:1: {pullSeconds: 1}}
steps:
  - kubectl: apply -f sets.yaml
  - settle: 4
";

    #[test]
    fn a_pod_comes_onto_the_nodes_of_the_recording() {
        let script = Script::read(SCRIPT).expect("a script");
        let (first, _) = record(&script, "x", 1, None);
        for node in ["node-1", "node-2", "node-3"] {
            let mut golden: Value = serde_json::from_str(&first).expect("json");
            golden["changes"] = json!([
                {"kind": "Pod", "name": "db-0", "object": {"metadata": {"generateName": "db-"}, "spec": {}}},
                {"kind": "Pod", "name": "db-0", "patch": {"spec": {"nodeName": node}}},
            ]);
            let (ours, failed) = record(&script, "x", 1, pace(&golden).as_ref());
            assert!(failed.is_empty(), "{failed:?}");
            let ours: Value = serde_json::from_str(&ours).expect("json");
            assert_eq!(nodes(&ours).get("db-0"), Some(&vec![node.to_owned()]));
        }
    }

    #[test]
    fn drawn_names_are_known_by_what_they_were_drawn_from() {
        assert_eq!(known_by("web-7f69bfc678-9b9cc", "web-7f69bfc678-"), "web-7f69bfc678-");
        assert_eq!(known_by("db-10", "db-"), "db-10");
        assert_eq!(known_by("web", ""), "web");
    }
}
