//! A recording, read from its JSON into what is compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::leaves::{leaves, merge};

#[derive(Clone, Debug, Default)]
pub(super) struct Recording {
    pub(super) steps: Vec<Step>,
    pub(super) lives: BTreeMap<Ident, Life>,
    pub(super) finals: BTreeMap<Ident, BTreeMap<String, String>>,
    pub(super) events: Vec<Event>,
    pub(super) calls: Vec<Call>,
}

/// What names an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ident {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl std::fmt::Display for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" | "default" => write!(f, "{}/{}", self.kind, self.name),
            namespace => write!(f, "{}/{namespace}/{}", self.kind, self.name),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) number: i64,
    pub(super) at: f64,
    pub(super) took: f64,
    pub(super) command: String,
    pub(super) exit: Option<i64>,
    pub(super) matched: Option<bool>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// One name's life: every change of every leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    pub(super) changes: Vec<Change>,
    /// For each path the changes that gave it a new value; none: the path went away.
    pub(super) moves: BTreeMap<String, Vec<(usize, Option<String>)>>,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) at: f64,
    pub(super) kind: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    pub(super) at: f64,
    pub(super) namespace: String,
    pub(super) regarding: String,
    pub(super) kind: String,
    pub(super) reason: String,
    pub(super) from: String,
    pub(super) message: String,
    pub(super) count: i64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub(super) who: String,
    pub(super) verb: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) subresource: String,
    pub(super) code: i64,
}

impl Recording {
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        Self::parse(&read(path)?).map_err(|e| format!("{}: {e}", path.display()))
    }

    pub(super) fn parse(json: &Value) -> Result<Self, String> {
        let list = |name: &str| {
            json.get(name).and_then(Value::as_array).ok_or_else(|| format!("a recording has a list `{name}`"))
        };
        let mut lives = Lives::default();
        list("changes")?.iter().for_each(|change| lives.take(change));
        Ok(Recording {
            steps: list("steps")?.iter().map(step).collect(),
            lives: lives.lives,
            finals: finals(list("final")?),
            events: list("events")?.iter().map(event).collect(),
            calls: list("calls")?.iter().map(call).collect(),
        })
    }
}

/// An object that stands there twice is another object.
fn finals(objects: &[Value]) -> BTreeMap<Ident, BTreeMap<String, String>> {
    let mut finals = BTreeMap::new();
    for object in objects {
        let mut ident = ident_of(object);
        while finals.contains_key(&ident) {
            ident.name.push_str("(again)");
        }
        finals.insert(ident, leaves(object));
    }
    finals
}

pub(super) fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_i64).unwrap_or_default()
}

fn at(value: &Value) -> f64 {
    value.get("at").and_then(Value::as_f64).unwrap_or_default()
}

fn step(value: &Value) -> Step {
    Step {
        number: number(value, "step"),
        at: at(value),
        took: value.get("took").and_then(Value::as_f64).unwrap_or_default(),
        command: text(value, "command"),
        exit: value.get("exit").and_then(Value::as_i64),
        matched: value.get("matched").and_then(Value::as_bool),
        stdout: text(value, "stdout"),
        stderr: text(value, "stderr"),
    }
}

fn event(value: &Value) -> Event {
    Event {
        at: at(value),
        namespace: text(value, "namespace"),
        regarding: text(value, "regarding"),
        kind: text(value, "type"),
        reason: text(value, "reason"),
        from: text(value, "from"),
        message: text(value, "message"),
        count: number(value, "count"),
    }
}

fn call(value: &Value) -> Call {
    Call {
        who: text(value, "who"),
        verb: text(value, "verb"),
        resource: text(value, "resource"),
        namespace: text(value, "namespace"),
        name: text(value, "name"),
        subresource: text(value, "subresource"),
        code: number(value, "code"),
    }
}

fn ident_of(object: &Value) -> Ident {
    let meta = object.get("metadata").unwrap_or(&Value::Null);
    Ident { kind: text(object, "kind"), namespace: text(meta, "namespace"), name: text(meta, "name") }
}

/// Replays the changes, keeping of each object only its last version.
#[derive(Default)]
struct Lives {
    lives: BTreeMap<Ident, Life>,
    last: BTreeMap<Ident, (Value, BTreeMap<String, String>)>,
}

impl Lives {
    fn take(&mut self, change: &Value) {
        let ident = Ident {
            kind: text(change, "kind"),
            namespace: text(change, "namespace"),
            name: text(change, "name"),
        };
        let life = self.lives.entry(ident.clone()).or_default();
        let (object, flat) = self.last.entry(ident).or_default();
        if let Some(whole) = change.get("object") {
            *object = whole.clone();
        } else if let Some(patch) = change.get("patch") {
            merge(object, patch);
        }
        let kind = text(change, "type");
        let now = if object.is_null() { BTreeMap::new() } else { leaves(object) };
        life.note(flat, &now, &kind);
        life.changes.push(Change { at: at(change), kind });
        *flat = now;
    }
}

/// The path under which a life says whether the object is there.
pub(super) const PRESENCE: &str = "(the object)";

impl Life {
    fn note(&mut self, before: &BTreeMap<String, String>, now: &BTreeMap<String, String>, kind: &str) {
        let version = self.changes.len();
        if kind != "MODIFIED" {
            self.push(PRESENCE, version, Some(kind.to_owned()));
        }
        for (path, value) in now {
            if before.get(path) != Some(value) {
                self.push(path, version, Some(value.clone()));
            }
        }
        for path in before.keys().filter(|path| !now.contains_key(*path)) {
            self.push(path, version, None);
        }
    }

    fn push(&mut self, path: &str, version: usize, value: Option<String>) {
        match self.moves.get_mut(path) {
            Some(moves) => moves.push((version, value)),
            None => {
                self.moves.insert(path.to_owned(), vec![(version, value)]);
            }
        }
    }

    /// The values a path has had.
    pub(super) fn values(&self, path: &str) -> impl Iterator<Item = &str> {
        self.moves.get(path).into_iter().flatten().filter_map(|(_, value)| value.as_deref())
    }

    /// The value a path has in a version.
    pub(super) fn value(&self, path: &str, version: usize) -> Option<&str> {
        let moves = self.moves.get(path)?;
        let after = moves.partition_point(|(at, _)| *at <= version);
        moves.get(after.checked_sub(1)?)?.1.as_deref()
    }

    pub(super) fn created(&self) -> f64 {
        self.changes.first().map_or(0.0, |change| change.at)
    }

    pub(super) fn deleted(&self) -> Option<f64> {
        self.changes.last().filter(|change| change.kind == "DELETED").map(|change| change.at)
    }
}
