//! Objects are lossless: every object that a real API server stored decodes and encodes to equal JSON.

use crate::golden;
use kubestep_model::{Kind, Object};
use serde_json::Value;

/// A recorded value with real times, versions and names again: recordings count them.
fn real(value: &mut Value, name: &str) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(k, v)| real(v, k)),
        Value::Array(items) => items.iter_mut().for_each(|v| real(v, name)),
        Value::String(text) => {
            if let Some(time) = time(text, name) {
                *text = time;
            } else if let Some(number) = text.strip_prefix("rv-").filter(|_| name == "resourceVersion") {
                *text = number.to_owned();
            } else if let Some(number) = text.strip_prefix("uid-").and_then(|n| n.parse::<u64>().ok()) {
                *text = format!("00000000-0000-4000-8000-{number:012}");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `T+12.3s` as a time of Kubernetes; the fields that hold microseconds do so here.
fn time(text: &str, name: &str) -> Option<String> {
    let seconds: f64 = text.strip_prefix('T')?.strip_suffix('s')?.parse().ok()?;
    // Noon of a day: sessions begin some seconds before their first step and last minutes.
    let whole = 43_200 + seconds.floor().rem_euclid(40_000.0) as u64;
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    let micro = if matches!(name, "renewTime" | "acquireTime" | "eventTime") { ".250000" } else { "" };
    Some(format!("2026-11-29T{h:02}:{m:02}:{s:02}{micro}Z"))
}

/// How many objects were read and written again, and what is wrong with those that came out otherwise.
#[derive(Default)]
struct Found {
    objects: usize,
    wrong: Vec<String>,
}

impl Found {
    fn check(&mut self, recorded: &Value, place: &str) {
        let mut value = recorded.clone();
        real(&mut value, "");
        self.objects += 1;
        let text = |v: &Value, name: &str| v[name].as_str().unwrap_or_default().to_owned();
        // Kinds that people define are known only where their definition is.
        if text(&value, "apiVersion").contains("example.com/") {
            return;
        }
        let Some(kind) = Kind::of_manifest(&text(&value, "apiVersion"), &text(&value, "kind")) else {
            self.wrong.push(format!("{place}: no such kind"));
            return;
        };
        match Object::from_value(kind, value.clone()) {
            Err(error) => self.wrong.push(format!("{place}: {error}")),
            Ok(object) if object.to_value() != value => {
                self.wrong.push(format!("{place}: {}", first_difference(&value, &object.to_value(), "")));
            }
            Ok(_) => {}
        }
    }
}

/// RFC 7386, as the recorder wrote it: what stands in a list stays as it is, null too.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert(Value::Null), change);
        }
    }
}

/// The place of the first difference.
fn first_difference(want: &Value, ours: &Value, path: &str) -> String {
    match (want, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let name = names.into_iter().find(|n| a.get(*n) != b.get(*n));
            name.map_or(path.into(), |n| match (a.get(n), b.get(n)) {
                (Some(a), Some(b)) => first_difference(a, b, &format!("{path}.{n}")),
                (a, b) => format!("{path}.{n}: want {a:?}, ours {b:?}"),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(0);
            first_difference(&a[at], &b[at], &format!("{path}[{at}]"))
        }
        _ => format!("{path}: want {want}, ours {ours}"),
    }
}

fn check_recording(file: &str) -> Found {
    let recording = golden::json(file);
    let mut found = Found::default();
    for object in recording["final"].as_array().into_iter().flatten() {
        found.check(object, &format!("{file}, final"));
    }
    let mut states = std::collections::BTreeMap::new();
    for (i, change) in recording["changes"].as_array().into_iter().flatten().enumerate() {
        let key = ["kind", "namespace", "name"].map(|n| change[n].as_str().unwrap_or_default().to_owned());
        if change["object"].is_object() {
            states.insert(key.clone(), change["object"].clone());
        } else if let (Some(state), true) = (states.get_mut(&key), change["patch"].is_object()) {
            merge(state, &change["patch"]);
        }
        if let Some(state) = states.get_mut(&key) {
            if key[0] == "EndpointSlice" {
                // A merge patch cannot say that a field became null; these two are never left out.
                for name in ["endpoints", "ports"] {
                    let Some(map) = state.as_object_mut() else { continue };
                    map.entry(name).or_insert(Value::Null);
                }
            }
            found.check(state, &format!("{file}, change {i} of {key:?}"));
        }
    }
    found
}

#[test]
fn every_recorded_object_decodes_and_encodes_to_equal_json() {
    let files: Vec<String> = ["sessions", "twins"]
        .into_iter()
        .flat_map(|folder| golden::SESSIONS.map(|name| format!("{folder}/{name}.json")))
        .filter(|file| golden::root().join("tests/golden").join(file).exists())
        .collect();
    let found = golden::on_two_threads(&files, |file| check_recording(file));
    let objects: usize = found.iter().map(|f| f.objects).sum();
    let wrong: Vec<&String> = found.iter().flat_map(|f| &f.wrong).collect();
    println!("{objects} states of objects in {} recordings, {} come out otherwise", files.len(), wrong.len());
    assert!(objects > 10_000, "only {objects} states were found");
    assert!(wrong.is_empty(), "{} of {objects}; the first:\n{}", wrong.len(), wrong[0]);
}

#[test]
fn every_object_that_verdicts_stored_decodes_and_encodes_to_equal_json() {
    let mut found = Found::default();
    let folder = golden::root().join("tests/golden/verdicts");
    for entry in std::fs::read_dir(folder).expect("the verdicts").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(area) = name.strip_suffix(".json") else { continue };
        let recording = golden::json(&format!("verdicts/{name}"));
        for case in recording["cases"].as_array().into_iter().flatten() {
            let stored = &case["stored"];
            let objects = stored.as_array().map_or(std::slice::from_ref(stored), Vec::as_slice);
            for object in objects.iter().filter(|o| o.is_object()) {
                found.check(&undrawn(object), &format!("{area}/{}", case["name"]));
            }
        }
    }
    println!("{} stored objects, {} come out otherwise", found.objects, found.wrong.len());
    assert!(found.objects > 100, "only {} stored objects were found", found.objects);
    assert!(
        found.wrong.is_empty(),
        "{} of {}; the first:\n{}",
        found.wrong.len(),
        found.objects,
        found.wrong[0]
    );
}

/// Verdicts write every drawn time as `T`.
fn undrawn(object: &Value) -> Value {
    match object {
        Value::String(text) if text == "T" => "T+1.0s".into(),
        Value::Array(items) => items.iter().map(undrawn).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), undrawn(v))).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_value_that_an_object_would_lose_is_noticed() {
    let mut found = Found::default();
    let mut object = golden::json("sessions/s01-missing-tag.json")["final"][0].clone();
    object["metadata"]["labels"] = serde_json::json!({});
    found.check(&object, "labels that no server would store");
    assert_eq!((found.objects, found.wrong.len()), (1, 1));
}
