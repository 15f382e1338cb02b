//! Merges an applied object into what is there, and takes out what an applier no longer sets.
//!
//! Upstream: sigs.k8s.io/structured-merge-diff, typed/merge.go and typed/remove.go (v6).

use super::fields::{Path, Set, Step, item_step, parts};
use kubestep_model::schema::{Form, Place};
use serde_json::{Map, Value};

const DEEPEST: usize = 100;

/// What is there with what is applied in it.
pub(crate) fn merge(place: Place, live: &Value, applied: &Value) -> Value {
    merge_at(place, live, applied, 0)
}

fn merge_at(place: Place, live: &Value, applied: &Value, depth: usize) -> Value {
    if place.is_whole() || depth > DEEPEST {
        return applied.clone();
    }
    match place.form() {
        Form::Struct => merge_map(live, applied, |name| place.field(name), depth),
        Form::Map(inner) => merge_map(live, applied, |_| Some(inner), depth),
        Form::Keyed(keys, inner) => {
            let step = |v: &Value| item_step(&keys, v).ok();
            merge_list(live, applied, step, |a, b| merge_at(inner, a, b, depth + 1))
        }
        Form::Set(_) => {
            merge_list(live, applied, |v| Some(Step::Value(v.to_string())), |_, applied| applied.clone())
        }
        Form::List(_) | Form::Number | Form::Text | Form::Bool | Form::Any => applied.clone(),
    }
}

fn merge_map(live: &Value, applied: &Value, at: impl Fn(&str) -> Option<Place>, depth: usize) -> Value {
    let Some(applied) = applied.as_object() else { return live.clone() };
    let mut out: Map<String, Value> = live.as_object().cloned().unwrap_or_default();
    for (name, value) in applied {
        let merged = match (at(name), out.get(name)) {
            (Some(place), Some(there)) => merge_at(place, there, value, depth + 1),
            _ => value.clone(),
        };
        out.insert(name.clone(), merged);
    }
    Value::Object(out)
}

/// Items stand in the applied order; those that only the live list has keep their places before those that follow.
fn merge_list(
    live: &Value,
    applied: &Value,
    step: impl Fn(&Value) -> Option<Step>,
    one: impl Fn(&Value, &Value) -> Value,
) -> Value {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let (live, applied) = (list(live), list(applied));
    let wanted: Vec<Option<Step>> = applied.iter().map(&step).collect();
    let mut taken = vec![false; live.len()];
    let mut out = vec![];
    for (value, at) in applied.iter().zip(&wanted) {
        let found = live.iter().position(|v| at.is_some() && step(v) == *at);
        let Some(found) = found else {
            out.push(value.clone());
            continue;
        };
        for i in 0..found {
            if !taken[i] && !wanted.contains(&step(&live[i])) {
                taken[i] = true;
                out.push(live[i].clone());
            }
        }
        taken[found] = true;
        out.push(one(&live[found], value));
    }
    out.extend(live.into_iter().zip(taken).filter(|(_, taken)| !taken).map(|(v, _)| v));
    Value::Array(out)
}

/// The object without these fields.
pub(crate) fn without(place: Place, value: &Value, gone: &Set) -> Value {
    remove(place, value, gone, &mut vec![])
}

fn remove(place: Place, value: &Value, gone: &Set, path: &mut Path) -> Value {
    let Some(parts) = parts(place, value).filter(|_| path.len() < DEEPEST) else { return value.clone() };
    let mut map = Map::new();
    let mut list = vec![];
    for (step, inner, value) in parts {
        path.push(step.clone());
        let nothing_below = !gone.iter().any(|g| g.len() > path.len() && g.starts_with(path));
        let removed = gone.contains(path);
        let kept = match inner {
            _ if nothing_below => value.clone(),
            Some(inner) => remove(inner, value, gone, path),
            None => value.clone(),
        };
        path.pop();
        // A struct whose every field went stays as it is shown; one that was set itself goes.
        if removed && (nothing_below || is_empty(&kept) || matches!(step, Step::Item(_))) {
            continue;
        }
        match step {
            Step::Field(name) => drop(map.insert(name, kept)),
            Step::Item(_) | Step::Value(_) => list.push(kept),
        }
    }
    if value.is_array() { Value::Array(list) } else { Value::Object(map) }
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_object().is_some_and(Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
}
