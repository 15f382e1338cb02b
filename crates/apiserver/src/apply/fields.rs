//! Sets of fields: which an object has, and what differs between two.
//!
//! Upstream: sigs.k8s.io/structured-merge-diff, fieldpath and typed (v6).

use kubestep_model::schema::{Form, Place, key_default};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, fmt::Write};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Field(String),
    /// An item of a list that is told apart by fields: these, as JSON.
    Item(String),
    /// An item of a set, as JSON.
    Value(String),
}

/// From the object to one of its fields.
pub(crate) type Path = Vec<Step>;
/// Fields of an object.
pub(crate) type Set = BTreeSet<Path>;

/// No object is as deep as this.
const DEEPEST: usize = 100;

/// A path as errors show it: `.spec.containers[name="web"].image`.
pub(crate) fn shown(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Field(name) => drop(write!(out, ".{name}")),
            Step::Value(value) => drop(write!(out, "[={value}]")),
            Step::Item(key) => drop(write!(out, "[{}]", shown_key(key))),
        }
    }
    out
}

/// A key as errors show it: `name="web"`.
pub(crate) fn shown_key(key: &str) -> String {
    let map: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
    let each: Vec<String> = map.iter().map(|(name, value)| format!("{name}={value}")).collect();
    each.join(",")
}

/// By what an item of a list is told apart; none if it does not say.
pub(crate) fn item_step(keys: &[&str], item: &Value) -> Result<Step, String> {
    let mut map = Map::new();
    for name in keys {
        let value = match &item[*name] {
            Value::Null => key_default(name).map(Value::from).ok_or_else(|| (*name).to_owned())?,
            value => value.clone(),
        };
        map.insert((*name).to_owned(), value);
    }
    Ok(Step::Item(Value::Object(map).to_string()))
}

/// The parts of a value, by their steps; none for what is owned as a whole or has no parts.
pub(crate) fn parts(place: Place, value: &Value) -> Option<Vec<(Step, Option<Place>, &Value)>> {
    if place.is_whole() {
        return None;
    }
    let entries = || value.as_object().into_iter().flatten();
    let items = || value.as_array().into_iter().flatten();
    Some(match place.form() {
        Form::Struct => {
            entries().map(|(name, v)| (Step::Field(name.clone()), place.field(name), v)).collect()
        }
        Form::Map(inner) => entries().map(|(name, v)| (Step::Field(name.clone()), Some(inner), v)).collect(),
        Form::Keyed(keys, inner) => {
            items().filter_map(|v| Some((item_step(&keys, v).ok()?, Some(inner), v))).collect()
        }
        Form::Set(inner) => items().map(|v| (Step::Value(v.to_string()), Some(inner), v)).collect(),
        Form::List(_) | Form::Number | Form::Text | Form::Bool | Form::Any => return None,
    })
}

/// The fields that an applied object sets.
pub(crate) fn of_object(place: Place, value: &Value) -> Set {
    let mut set = Set::new();
    gather(place, value, &mut vec![], &mut set);
    set
}

fn gather(place: Place, value: &Value, path: &mut Path, set: &mut Set) {
    let parts = parts(place, value).filter(|_| path.len() < DEEPEST);
    let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
        if !path.is_empty() {
            set.insert(path.clone());
        }
        return;
    };
    let is_struct = matches!(place.form(), Form::Struct);
    for (step, inner, value) in parts {
        path.push(step);
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        match inner {
            Some(inner) => gather(inner, value, path, set),
            None => drop(set.insert(path.clone())),
        }
        if !is_struct || empty {
            set.insert(path.clone());
        }
        path.pop();
    }
}

/// What differs between two objects.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    pub(crate) added: Set,
    pub(crate) modified: Set,
    pub(crate) removed: Set,
}

/// What has to be done to the first object to make it the second.
pub(crate) fn compare(place: Place, old: &Value, new: &Value) -> Difference {
    let mut found = Difference::default();
    walk(place, Some(old), Some(new), &mut vec![], &mut found);
    found
}

fn walk(place: Place, old: Option<&Value>, new: Option<&Value>, path: &mut Path, found: &mut Difference) {
    if old == new {
        return;
    }
    let null = Value::Null;
    let sides = (parts(place, old.unwrap_or(&null)), parts(place, new.unwrap_or(&null)));
    if let (Some(old), Some(new)) = (&sides.0, &sides.1)
        && path.len() < DEEPEST
    {
        for (step, inner, value) in old {
            let other = new.iter().find(|(s, _, _)| s == step).map(|(_, _, v)| *v);
            descend(*inner, step, Some(value), other, path, found);
        }
        for (step, inner, value) in new {
            if !old.iter().any(|(s, _, _)| s == step) {
                descend(*inner, step, None, Some(value), path, found);
            }
        }
    } else if let (Some(_), Some(_)) = (old, new) {
        found.modified.insert(path.clone());
        return;
    }
    if !path.is_empty() {
        match (old, new) {
            (None, Some(_)) => drop(found.added.insert(path.clone())),
            (Some(_), None) => drop(found.removed.insert(path.clone())),
            _ => {}
        }
    }
}

fn descend(
    inner: Option<Place>,
    step: &Step,
    old: Option<&Value>,
    new: Option<&Value>,
    path: &mut Path,
    found: &mut Difference,
) {
    path.push(step.clone());
    match (inner, old, new) {
        (Some(inner), _, _) => walk(inner, old, new, path, found),
        (None, None, Some(_)) => drop(found.added.insert(path.clone())),
        (None, Some(_), None) => drop(found.removed.insert(path.clone())),
        (None, Some(a), Some(b)) if a != b => drop(found.modified.insert(path.clone())),
        (None, _, _) => {}
    }
    path.pop();
}

/// Fields that nobody owns: they are the server's.
const NOBODYS: [&str; 11] = [
    "name",
    "generateName",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Takes out what nobody owns; `part` is the subresource that was written.
pub(crate) fn strip(set: &mut Set, has_status: bool, part: &str) {
    set.retain(|path| match path.as_slice() {
        [Step::Field(first)] if matches!(first.as_str(), "apiVersion" | "kind" | "metadata") => false,
        [Step::Field(first), Step::Field(second), ..] if first == "metadata" => {
            !NOBODYS.contains(&second.as_str())
        }
        [Step::Field(first), ..] if first == "status" => !has_status || part == "status",
        [Step::Field(_), ..] => part != "status",
        _ => true,
    });
}

/// A set as `fieldsV1` writes it.
pub(crate) fn to_json(set: &Set) -> Value {
    let mut root = Map::new();
    for path in set {
        insert(&mut root, path);
    }
    let mut value = Value::Object(root);
    plain_leaves(&mut value);
    value
}

fn insert(at: &mut Map<String, Value>, path: &[Step]) {
    let Some((step, rest)) = path.split_first() else {
        at.insert(".".into(), Value::Object(Map::new()));
        return;
    };
    let name = match step {
        Step::Field(name) => format!("f:{name}"),
        Step::Item(key) => format!("k:{key}"),
        Step::Value(value) => format!("v:{value}"),
    };
    if let Value::Object(below) = at.entry(name).or_insert_with(|| Value::Object(Map::new())) {
        insert(below, rest);
    }
}

/// A field that has no fields below it is written as an empty map.
fn plain_leaves(value: &mut Value) {
    let Value::Object(map) = value else { return };
    if map.len() == 1 && map.contains_key(".") {
        map.clear();
        return;
    }
    map.iter_mut().filter(|(name, _)| *name != ".").for_each(|(_, v)| plain_leaves(v));
}

/// A set from `fieldsV1`.
pub(crate) fn from_json(value: &Value) -> Set {
    let mut set = Set::new();
    read_json(value, &mut vec![], &mut set);
    set
}

fn read_json(value: &Value, path: &mut Path, set: &mut Set) {
    let Some(map) = value.as_object().filter(|_| path.len() < DEEPEST) else { return };
    if map.is_empty() && !path.is_empty() {
        set.insert(path.clone());
    }
    for (name, inner) in map {
        let step = match name.split_once(':') {
            Some(("f", rest)) => Step::Field(rest.to_owned()),
            Some(("k", rest)) => Step::Item(rest.to_owned()),
            Some(("v", rest)) => Step::Value(rest.to_owned()),
            _ => {
                set.insert(path.clone());
                continue;
            }
        };
        path.push(step);
        read_json(inner, path, set);
        path.pop();
    }
}
