//! Recorded sessions, told to both controllers of endpoints change by change: what they write must be what the real
//! ones wrote. The real ones sometimes saw several changes at once, and then wrote once for them.

use super::EndpointSliceController;
use crate::endpoints::EndpointsController;
use kubestep_control::{Change, Controller, Effect, Memory, Progress, Running, Told, View, WorkedOut, run};
use kubestep_model::tree::OrdMap;
use kubestep_model::{
    Answer, Body, Dice, EndpointPort, EndpointSlice, Instant, Key, Kind, Node, Object, Reply, Request,
    Status, Time, Verb,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::Path,
};

const BASE: i64 = 946_684_800;

/// `T+12.3s` as a time of the API.
#[allow(clippy::cast_possible_truncation)]
fn read_times(value: &mut Value) {
    match value {
        Value::String(text) => {
            let offset = text.strip_prefix('T').and_then(|t| t.strip_suffix('s'));
            if let Some(offset) = offset.and_then(|t| t.parse::<f64>().ok()) {
                *value = Time(BASE + offset.floor() as i64).to_string().into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(read_times),
        Value::Object(map) => map.values_mut().for_each(read_times),
        _ => {}
    }
}

fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return into.clone_from(patch) };
    if !into.is_object() {
        *into = json!({});
    }
    let Some(map) = into.as_object_mut() else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

/// One service's objects of one kind, one after the other, as far as they are compared.
type States = BTreeMap<(Kind, String), Vec<Value>>;

/// What is compared of an object; addresses in any order, and subsets, whose order comes of hashes of uids.
fn compared(object: &Object) -> Value {
    let mut value = object.to_value();
    for list in ["endpoints", "subsets"] {
        if let Some(list) = value[list].as_array_mut() {
            list.sort_by_key(Value::to_string);
        }
    }
    let meta = &value["metadata"];
    let which = ["labels", "annotations", "ownerReferences", "generateName"].map(|name| meta[name].clone());
    json!([which, value["endpoints"], value["ports"], value["subsets"], value["addressType"]])
}

fn service_of(object: &Object) -> Option<String> {
    let meta = object.meta();
    let name = match object.kind() {
        Kind::EndpointSlice => {
            meta.labels.get(super::MANAGED_BY).filter(|by| *by == super::MANAGER)?;
            meta.labels.get(super::SERVICE_NAME)?.clone()
        }
        Kind::Endpoints => meta.name.to_string(),
        _ => return None,
    };
    Some(format!("{}/{name}", meta.namespace))
}

fn note(states: &mut States, object: &Object) {
    if let Some(service) = service_of(object) {
        let states = states.entry((object.kind(), service)).or_default();
        let state = compared(object);
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
}

#[derive(Default)]
struct Cluster {
    view: View,
    memories: [Memory; 2],
    ours: States,
    number: u64,
}

const CONTROLLERS: [&dyn Controller; 2] = [&EndpointsController, &EndpointSliceController];

impl Cluster {
    fn change(&mut self, key: Key, new: Option<Object>) {
        let mut changes = VecDeque::from([(key, new)]);
        while let Some((key, new)) = changes.pop_front() {
            let old = self.view.apply(&key, new.clone());
            let change = Change { key, old, new };
            for (i, controller) in CONTROLLERS.iter().enumerate() {
                let watches = controller.watches().iter().filter(|w| w.kind == change.key.kind);
                let keys: BTreeSet<Key> =
                    watches.flat_map(|w| (w.wakes)(&change, &self.view)).map(|wake| wake.key).collect();
                for key in keys {
                    changes.extend(self.reconcile(i, key));
                }
            }
        }
    }

    fn reconcile(&mut self, i: usize, key: Key) -> Vec<(Key, Option<Object>)> {
        let (view, memory) = (self.view.clone(), self.memories[i].clone());
        let now = Instant(BASE * 1_000_000_000);
        let mut running = Running {
            key,
            view,
            now,
            dice: Dice::new(1),
            memory,
            told: vec![],
            committed: 0,
            worked_out: WorkedOut::default(),
        };
        let mut changes = vec![];
        loop {
            let (progress, effects) = run(CONTROLLERS[i], &running);
            let Progress::Awaiting(requests) = progress else {
                for effect in effects {
                    if let Effect::Remember(name, value) = effect {
                        match value {
                            Some(value) => drop(self.memories[i].insert(name, value)),
                            None => drop(self.memories[i].remove(&name)),
                        }
                    }
                }
                return changes;
            };
            let replies = requests.iter().map(|request| self.serve(request, &mut changes)).collect();
            running.told.push(Told { requests, replies }.into());
        }
    }

    fn serve(&mut self, request: &Request, changes: &mut Vec<(Key, Option<Object>)>) -> Reply {
        match &request.verb {
            Verb::Create { body: Body::Typed(object), .. }
            | Verb::Replace { body: Body::Typed(object), .. } => {
                let mut object = object.clone();
                self.number += 1;
                if object.meta().name.is_empty() {
                    let name = format!("{}{}", object.meta().generate_name, self.number);
                    object.meta_mut().name = name.into();
                }
                object.meta_mut().resource_version = self.number.to_string();
                note(&mut self.ours, &object);
                changes.push((object.key(), Some(object.clone())));
                Ok(Answer::Object { object, warnings: vec![] })
            }
            Verb::Delete { key, .. } => match self.view.object(key).cloned() {
                Some(object) => {
                    changes.push((key.clone(), None));
                    Ok(Answer::Object { object, warnings: vec![] })
                }
                None => Err(Status::not_found(key.kind, &key.name)),
            },
            other => panic!("not asked for in the real one: {other:?}"),
        }
    }
}

fn ports_of(object: &Object) -> Option<&[EndpointPort]> {
    object.get::<EndpointSlice>().map(|slice| slice.ports.as_slice())
}

fn nodes() -> impl Iterator<Item = Object> {
    (1..=9).map(|i| {
        let mut node = Node::default();
        node.metadata.name = format!("node-{i}").into();
        node.into()
    })
}

fn play(recording: &Value) -> (States, States) {
    let mut cluster = Cluster::default();
    let mut theirs = States::new();
    for node in nodes() {
        cluster.view.apply(&node.key(), Some(node));
    }
    let mut raw: BTreeMap<Key, Value> = BTreeMap::new();
    for change in recording["changes"].as_array().into_iter().flatten() {
        let text = |name: &str| change[name].as_str().unwrap_or("");
        let kinds = [Kind::Service, Kind::Pod, Kind::Endpoints, Kind::EndpointSlice];
        let Some(kind) = kinds.into_iter().find(|k| k.name() == text("kind")) else { continue };
        let key = Key::new(kind, text("namespace"), text("name"));
        if change["type"] == "DELETED" {
            let mut value = raw.remove(&key).unwrap_or_default();
            read_times(&mut value);
            let gone = Object::from_value(kind, value).ok();
            if matches!(kind, Kind::Service | Kind::Pod) {
                cluster.change(key, None);
            } else if let Some(gone) = gone.filter(|o| service_of(o).is_some()) {
                // Somebody else's garbage collection, or our own deletion seen. A service has a slice for each set of ports.
                let of: Vec<Key> = cluster
                    .view
                    .objects_of(kind, None)
                    .filter(|o| service_of(o) == service_of(&gone) && ports_of(o) == ports_of(&gone))
                    .map(Object::key)
                    .collect();
                of.iter().for_each(|key| drop(cluster.view.apply(key, None)));
            }
            continue;
        }
        let entry = raw.entry(key.clone()).or_insert(Value::Null);
        match change.get("object") {
            Some(object) => entry.clone_from(object),
            None => merge(entry, &change["patch"]),
        }
        let mut value = entry.clone();
        read_times(&mut value);
        let object = Object::from_value(kind, value).expect("a recorded object decodes");
        if service_of(&object).is_some() {
            note(&mut theirs, &object);
        } else {
            cluster.change(key, Some(object));
        }
    }
    (theirs, cluster.ours)
}

/// How many of these stand in the other list in the same order.
fn common(a: &[Value], b: &[Value], same: impl Fn(&Value, &Value) -> bool) -> usize {
    let mut row: OrdMap<usize, usize> = OrdMap::new();
    for x in a {
        let mut next = OrdMap::new();
        let (mut best, mut diagonal) = (0, 0);
        for (j, y) in b.iter().enumerate() {
            let above = row.get(&j).copied().unwrap_or(0);
            let here = if same(x, y) { diagonal + 1 } else { above.max(best) };
            diagonal = above;
            best = here;
            next.insert(j, here);
        }
        row = next;
    }
    row.get(&b.len().wrapping_sub(1)).copied().unwrap_or(0)
}

fn without_time(value: &Value) -> Value {
    let mut value = value.clone();
    value[0][1] = Value::Null;
    value
}

#[test]
fn recorded_states_are_ours_too() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/sessions");
    let mut paths: Vec<_> =
        fs::read_dir(dir).expect("sessions").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let (mut all, mut in_time, mut wrong) = (0, 0, vec![]);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let recording: Value = serde_json::from_str(&fs::read_to_string(path).expect("text")).expect("JSON");
        let name = path.file_stem().expect("a name").to_string_lossy();
        let (theirs, ours) = play(&recording);
        for (which, states) in &theirs {
            let mine = ours.get(which).map_or(&[] as &[Value], Vec::as_slice);
            let plain = common(states, mine, |a, b| without_time(a) == without_time(b));
            all += states.len();
            in_time += common(states, mine, |a, b| a == b);
            if plain < states.len() || states.last().map(without_time) != mine.last().map(without_time) {
                wrong.push(format!("{name} {which:?}: {plain} of {}", states.len()));
            }
        }
    }
    println!("{all} recorded states, {in_time} with the time of the change");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all > 350, "only {all} states");
    // Where the real one saw several changes at once, the time is that of the first of them.
    assert!(in_time * 100 >= all * 96, "{in_time} of {all} with the time of the change");
}
