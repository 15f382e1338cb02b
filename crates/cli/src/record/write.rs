//! The recording as text: JSON with one line for each element of its lists.

use super::{collect::Collector, collect::skipped, normalise::Normaliser};
use kubestep_cluster::{Audit, LogEntry, World};
use kubestep_lessons::{pace::Done, script::Script};
use kubestep_model::{Event, Instant, Key, Kind, Object};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// From a commit to the recorder's watch.
const SEEN_AFTER: Duration = Duration::from_millis(2);

fn seconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1000.0).round() / 1000.0
}

/// The whole recording.
pub(crate) fn recording(
    script: &Script,
    slug: &str,
    world: &World,
    base: Instant,
    seen: &Collector,
    done: &[Done],
) -> String {
    let mut n = Normaliser::new(base);
    let since = |at: Instant| seconds(at.since(base));
    let (changes, last) = changes(&mut n, &seen.changes, &since);
    let steps = steps(&mut n, done);
    let calls: Vec<Value> = seen.calls.iter().map(|c| call(&mut n, c, since(c.at))).collect();
    let events: Vec<Value> = seen
        .events
        .iter()
        .filter_map(|(at, o)| o.get::<Event>().map(|e| event(&mut n, e, since(*at + SEEN_AFTER))))
        .collect();
    let last = final_objects(&mut n, world, seen, &last);
    let lists =
        [("steps", steps), ("changes", changes), ("calls", calls), ("events", events), ("final", last)];
    let mut out = String::from("{");
    for (key, value) in
        [("kubernetes", "v1.37.2"), ("session", slug), ("recorded", "2026-01-01"), ("title", &script.title)]
    {
        out.push_str(&format!("\n{}: {},", json!(key), json!(value)));
    }
    for (i, (key, items)) in lists.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let lines: Vec<String> = items.iter().map(|v| format!("\n  {v}")).collect();
        out.push_str(&format!("{comma}\n{}: [{}\n]", json!(key), lines.join(",")));
    }
    out.push_str("\n}\n");
    out
}

fn changes(
    n: &mut Normaliser,
    entries: &[LogEntry],
    since: &dyn Fn(Instant) -> f64,
) -> (Vec<Value>, BTreeMap<Key, Value>) {
    let mut last: BTreeMap<Key, Value> = BTreeMap::new();
    let mut out = vec![];
    for entry in entries {
        let Some(object) = entry.new.as_ref().or(entry.old.as_ref()) else { continue };
        let value = n.value(&object.to_value());
        let kind = match (&entry.old, &entry.new) {
            (None, _) => "ADDED",
            (_, Some(_)) => "MODIFIED",
            (_, None) => "DELETED",
        };
        let mut row = json!({"at": since(entry.at + SEEN_AFTER), "type": kind, "kind": entry.key.kind.name(),
            "namespace": &*entry.key.namespace, "name": n.text(&entry.key.name)});
        match last.get(&entry.key) {
            None => row["object"] = value.clone(),
            Some(old) => {
                let patch = merge_patch(old, &value);
                if patch != json!({}) {
                    row["patch"] = patch;
                }
            }
        }
        if kind == "DELETED" {
            last.remove(&entry.key);
        } else {
            last.insert(entry.key.clone(), value);
        }
        out.push(row);
    }
    (out, last)
}

/// The JSON merge patch (RFC 7386) from one value to another.
fn merge_patch(old: &Value, new: &Value) -> Value {
    let (Value::Object(a), Value::Object(b)) = (old, new) else { return new.clone() };
    let mut patch = Map::new();
    for (key, value) in b {
        match a.get(key) {
            Some(old) if old == value => {}
            Some(old) if old.is_object() && value.is_object() => {
                drop(patch.insert(key.clone(), merge_patch(old, value)))
            }
            _ => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    for key in a.keys().filter(|k| !b.contains_key(*k)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

fn steps(n: &mut Normaliser, done: &[Done]) -> Vec<Value> {
    let mut order: Vec<&Done> = done.iter().collect();
    order.sort_by_key(|d| d.at);
    let row = |d: &Done| {
        let mut row = json!({"step": d.step, "at": seconds(d.at), "command": n.text(&d.command), "took": seconds(d.took)});
        if let Some((exit, out, err)) = &d.output {
            row["exit"] = json!(exit);
            row["stdout"] = json!(n.text(out));
            row["stderr"] = json!(n.text(err));
        }
        if let Some(matched) = d.matched {
            row["matched"] = json!(matched);
        }
        if let Some(note) = &d.note {
            row["note"] = json!(note);
        }
        row
    };
    order.into_iter().map(row).collect()
}

fn call(n: &mut Normaliser, c: &Audit, at: f64) -> Value {
    json!({"at": at, "who": who(&c.user), "verb": c.verb, "resource": c.kind.resource(), "namespace": &*c.namespace,
        "name": n.text(&c.name), "subresource": c.subresource, "code": c.code})
}

fn who(user: &str) -> String {
    match user {
        "kubernetes-admin" => "kubectl".into(),
        "system:apiserver" => "kube-apiserver".into(),
        _ => {
            if user.starts_with("system:serviceaccount:") {
                user.rsplit(':').next().unwrap_or(user).into()
            } else if let Some(node) = user.strip_prefix("system:node:") {
                format!("kubelet {node}")
            } else {
                user.strip_prefix("system:").unwrap_or(user).into()
            }
        }
    }
}

fn event(n: &mut Normaliser, e: &Event, at: f64) -> Value {
    let from = if e.source.component.is_empty() { &e.reporting_component } else { &e.source.component };
    let count = e.series.as_ref().map_or(0, |s| s.count).max(e.count).max(1);
    let regarding = format!("{}/{}", e.involved_object.kind, n.text(&e.involved_object.name));
    json!({"at": at, "type": e.r#type, "reason": e.reason, "regarding": regarding, "namespace": &*e.involved_object.namespace,
        "from": from, "message": n.text(&e.message), "count": count})
}

fn final_objects(
    n: &mut Normaliser,
    world: &World,
    seen: &Collector,
    last: &BTreeMap<Key, Value>,
) -> Vec<Value> {
    let defined: BTreeSet<Kind> = last.keys().map(|key| key.kind).filter(|kind| kind.is_defined()).collect();
    let mut objects: Vec<(String, &Object)> = Kind::all()
        .chain(defined)
        .flat_map(|k| world.store().list(k, None))
        .map(|o| (o.key(), o))
        .filter(|(k, _)| {
            !skipped(k) && (!seen.before.contains(k) || k.kind == Kind::Node || last.contains_key(k))
        })
        .map(|(k, o)| (format!("{}/{}/{}", k.kind, k.namespace, k.name), o))
        .collect();
    objects.sort_by(|a, b| a.0.cmp(&b.0));
    objects.into_iter().map(|(_, o)| n.value(&o.to_value())).collect()
}
