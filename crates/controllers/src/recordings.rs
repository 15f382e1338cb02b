//! What the real controllers wrote in every recorded session, our controllers write too, from one of the states
//! that the real one can have seen.

use crate::{
    deployment::DeploymentController,
    harness::{Refusal, pass},
    replicaset::ReplicaSetController,
};
use kubestep_control::Controller;
use kubestep_model::tree::OrdMap;
use kubestep_model::{Instant, Key, Kind, Object, Reason, Time};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, fs, path::Path};

type State = OrdMap<Key, Object>;

/// How many changes a cache may have been behind.
const FARTHEST: usize = 60;
/// Times in a recording count from its first step; which moment that was does not matter.
const BASE: f64 = 946_684_800.0;

/// What one change of a recording shows of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Write {
    DeploymentStatus,
    ReplicaSetCreate,
    ReplicaSetSize,
    ReplicaSetStatus,
}

/// Writes that cannot come out equal, because the recording does not hold what they depend on.
const EXCEPTIONS: [(&str, &str); 11] = [
    // The cached spelling of quantities is in the hash, and differs between real runs, too.
    ("s13-pending-for-cpu", "small"),
    // The template holds the time of a restart, which the recording replaces.
    ("s26-restart-and-annotations", "web"),
    ("s39-missing-config", "from-env"),
    ("s57-quota-counts", "web"),
    ("s57-quota-counts", "sized"),
    ("s61-scale-from-zero", "web"),
    ("s67-fixed-templates", "web"),
    // Statuses that were counted from a cache that lagged behind: of thirty pods at once, and between two writers.
    ("s53-thirty-replicas", "web"),
    ("s58-two-writers", "web"),
    // Their pods are refused, so they never rest.
    ("s43-priority-and-preemption", "unknown"),
    ("s63-full-quota-rounding", "web"),
];

fn is_exception(session: &str, key: &Key) -> bool {
    EXCEPTIONS.iter().any(|(name, prefix)| *name == session && key.name.starts_with(prefix))
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

/// `T+12.3s` as a time of the API.
#[allow(clippy::cast_possible_truncation)]
fn read_times(value: &mut Value) {
    match value {
        Value::String(text) => {
            let offset =
                text.strip_prefix('T').and_then(|t| t.strip_suffix('s')).and_then(|t| t.parse::<f64>().ok());
            if let Some(offset) = offset {
                *value = serde_json::to_value(Time((BASE + offset).floor() as i64)).expect("a time");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(read_times),
        Value::Object(map) => map.values_mut().for_each(read_times),
        _ => {}
    }
}

/// Equal, but for times up to two seconds apart.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|other| same(v, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::String(a), Value::String(b)) => match (Time::parse(a), Time::parse(b)) {
            (Some(a), Some(b)) => (a.0 - b.0).abs() <= 2,
            _ => a == b,
        },
        _ => a == b,
    }
}

fn write_of(old: Option<&Object>, new: &Object) -> Option<Write> {
    let differs =
        |path: &str| old.is_some_and(|old| old.to_value().pointer(path) != new.to_value().pointer(path));
    match new.kind() {
        Kind::Deployment if differs("/status") => Some(Write::DeploymentStatus),
        Kind::ReplicaSet if old.is_none() && new.meta().controller().is_some() => {
            Some(Write::ReplicaSetCreate)
        }
        Kind::ReplicaSet if differs("/status") => Some(Write::ReplicaSetStatus),
        Kind::ReplicaSet if differs("/spec/replicas") => Some(Write::ReplicaSetSize),
        _ => None,
    }
}

/// The parts of an object that this write decides.
fn decided(write: Write, object: &Value) -> Value {
    let notes = &object["metadata"]["annotations"];
    match write {
        Write::DeploymentStatus | Write::ReplicaSetStatus => json!([object["status"], notes]),
        Write::ReplicaSetSize => json!([object["spec"], notes]),
        Write::ReplicaSetCreate => {
            let mut spec = object["spec"].clone();
            if let Some(meta) = spec.pointer_mut("/template/metadata").and_then(Value::as_object_mut) {
                meta.remove("creationTimestamp");
            }
            json!([spec, notes, object["metadata"]["labels"]])
        }
    }
}

/// The object as the pass from this state leaves it, for every write to it.
fn outcomes(
    write: Write,
    key: &Key,
    target: &Key,
    state: &State,
    at: f64,
    refusals: &[Refusal],
) -> Vec<Value> {
    let controller: &dyn Controller =
        if write == Write::ReplicaSetStatus { &ReplicaSetController } else { &DeploymentController };
    #[allow(clippy::cast_possible_truncation)]
    let now = Instant(((BASE + at) * 1e9) as i64);
    let done = pass(controller, target.clone(), state.values().cloned().collect(), now, refusals.to_vec());
    let mut object = state.get(key).map_or(Value::Null, Object::to_value);
    let mut results = Vec::new();
    for action in done.actions.iter().filter(|action| action["name"] == *key.name) {
        match action["verb"].as_str() {
            Some("create") => object = action["object"].clone(),
            Some("update") => merge(&mut object, &action["change"]),
            _ => continue,
        }
        results.push(object.clone());
    }
    results
}

/// Quotas that may have refused pods, as the status that came of it says.
fn quota(want: &Value) -> Vec<Vec<Refusal>> {
    let failure =
        want["status"]["conditions"].as_array().into_iter().flatten().find(|c| c["type"] == "ReplicaFailure");
    let Some(message) = failure.and_then(|c| c["message"].as_str()) else { return vec![] };
    let after = |granted_first| {
        let (verb, resource) = ("create".to_owned(), "pods".to_owned());
        vec![Refusal {
            verb,
            resource,
            granted_first,
            reason: Reason::Forbidden,
            message: message.to_owned(),
        }]
    };
    (0..5).map(after).collect()
}

fn reproduced(write: Write, key: &Key, want: &Object, history: &[State], at: f64) -> bool {
    let target = match (write, want.meta().controller()) {
        (Write::ReplicaSetCreate | Write::ReplicaSetSize, Some(owner)) => {
            Key::new(Kind::Deployment, key.namespace.clone(), owner.name.clone())
        }
        _ => key.clone(),
    };
    let want = want.to_value();
    let mut ways = vec![vec![]];
    ways.extend(quota(&want));
    let decided_want = decided(write, &want);
    history.iter().rev().take(FARTHEST).any(|state| {
        let met = |refusals: &Vec<Refusal>| outcomes(write, key, &target, state, at, refusals);
        ways.iter().flat_map(met).any(|got| same(&decided(write, &got), &decided_want))
    })
}

/// Whether somebody else wrote this size: kubectl, by hand.
fn by_hand(calls: &[Value], key: &Key, at: f64) -> bool {
    calls.iter().any(|call| {
        let near = call["at"].as_f64().is_some_and(|t| (t - at).abs() < 0.1);
        let hand = call["who"].as_str().is_some_and(|who| who.starts_with("kubectl"));
        near && hand && call["resource"] == "replicasets" && call["name"] == *key.name
    })
}

/// Counts of writes that came out equal, and the places of the others.
fn play(
    name: &str,
    recording: &Value,
    equal: &mut BTreeMap<Write, u32>,
    different: &mut Vec<String>,
) -> (State, f64) {
    let mut raw: BTreeMap<Key, Value> = BTreeMap::new();
    let (mut state, mut history) = (State::new(), Vec::new());
    let empty = Map::new();
    let mut last = 0.0;
    let calls = recording["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    for change in recording["changes"].as_array().into_iter().flatten() {
        let change = change.as_object().unwrap_or(&empty);
        let text = |field: &str| change.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("kind") {
            "Deployment" => Kind::Deployment,
            "ReplicaSet" => Kind::ReplicaSet,
            "Pod" => Kind::Pod,
            _ => continue,
        };
        let key = Key::new(kind, text("namespace"), text("name"));
        let at = change.get("at").and_then(Value::as_f64).unwrap_or_default();
        last = at;
        history.push(state.clone());
        if text("type") == "DELETED" {
            raw.remove(&key);
            state.remove(&key);
            continue;
        }
        let entry = raw.entry(key.clone()).or_insert(Value::Null);
        match change.get("object") {
            Some(object) => entry.clone_from(object),
            None => merge(entry, change.get("patch").unwrap_or(&Value::Null)),
        }
        let mut value = entry.clone();
        read_times(&mut value);
        let object = Object::from_value(kind, value).expect("an object");
        let old = state.insert(key.clone(), object.clone());
        let Some(write) = write_of(old.as_ref(), &object) else { continue };
        if reproduced(write, &key, &object, &history, at) {
            *equal.entry(write).or_insert(0) += 1;
            continue;
        }
        let hand = write == Write::ReplicaSetSize && by_hand(calls, &key, at);
        if !hand && !is_exception(name, &key) {
            different.push(format!("{name} {at} {write:?} {key:?}"));
        }
    }
    (state, last)
}

/// What our controllers would still write at the end of a recording, where the real ones had come to rest.
fn restless(name: &str, state: &State, at: f64) -> Vec<String> {
    #[allow(clippy::cast_possible_truncation)]
    let now = Instant(((BASE + at) * 1e9) as i64);
    let mut found = Vec::new();
    for key in state.keys().filter(|key| !is_exception(name, key)) {
        let controller: &dyn Controller = match key.kind {
            Kind::Deployment => &DeploymentController,
            Kind::ReplicaSet => &ReplicaSetController,
            _ => continue,
        };
        let done = pass(controller, key.clone(), state.values().cloned().collect(), now, vec![]);
        if !done.actions.is_empty() || !done.pods.is_empty() {
            found.push(format!("{name} {key:?}: {} pods, {}", done.pods.len(), Value::from(done.actions)));
        }
    }
    found
}

#[test]
fn every_recorded_write_is_ours_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/sessions");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("sessions").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let (mut equal, mut different) = (BTreeMap::new(), Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let recording: Value = serde_json::from_str(&fs::read_to_string(path).expect("text")).expect("JSON");
        let name = path.file_stem().expect("a name").to_string_lossy();
        let (state, last) = play(&name, &recording, &mut equal, &mut different);
        different.extend(restless(&name, &state, last));
    }
    println!("{equal:?}");
    assert!(different.is_empty(), "{equal:?}, but not\n{}", different.join("\n"));
    assert!(equal.values().sum::<u32>() > 3000, "{equal:?}");
}
