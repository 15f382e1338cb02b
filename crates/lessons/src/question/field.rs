//! What of a thing is looked at: how many there are, a field of it, the age of its gap.

use super::{
    number,
    things::{Thing, Things},
};
use kubestep_cluster::World;
use kubestep_insight::Gaps;
use kubestep_model::arrange::Arrange;
use kubestep_model::{EndpointSlice, Kind, Object};
use serde_json::Value;

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Looked {
    /// How many there are.
    Count,
    /// Ready pods or nodes, or the replicas that a status says are ready.
    Ready,
    Available,
    Updated,
    /// How many have no open gap.
    Complete,
    /// Ready endpoints of Services.
    Endpoints,
    /// How often containers were started again, together.
    Restarts,
    /// How long the oldest gap among them has been open.
    Gap,
    /// How long ago the oldest of them was made.
    Age,
    /// The status of a condition.
    Condition(String),
    /// The reason of a condition.
    Reason(String),
    /// Any field.
    Field(String),
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measured {
    Number(i64),
    Texts(Vec<String>),
}

impl Measured {
    /// In one word, or several where things differ.
    pub(super) fn text(&self) -> String {
        match self {
            Measured::Number(n) => n.to_string(),
            Measured::Texts(texts) => {
                let mut texts = texts.clone();
                texts.arrange();
                texts.dedup();
                texts.join(", ")
            }
        }
    }
}

const COUNTS: [(&str, Looked); 9] = [
    ("count", Looked::Count),
    ("ready", Looked::Ready),
    ("available", Looked::Available),
    ("updated", Looked::Updated),
    ("complete", Looked::Complete),
    ("endpoints", Looked::Endpoints),
    ("restarts", Looked::Restarts),
    ("gap", Looked::Gap),
    ("age", Looked::Age),
];

/// Short names of fields that are deep or lie in lists.
const SHORT: [&str; 8] = ["image", "node", "phase", "waiting", "exit", "line", "output", "owner"];

/// Whether a word begins what is looked at, so that it is no name.
pub(super) fn begins(word: &str) -> bool {
    COUNTS.iter().any(|(name, _)| *name == word)
        || SHORT.contains(&word)
        || word == "condition"
        || word == "reason"
        || word.contains('.')
}

impl Looked {
    pub(super) fn parse(words: &[String]) -> Result<Looked, String> {
        match words {
            [word, of] if word == "condition" => Ok(Looked::Condition(of.clone())),
            [word, of] if word == "reason" => Ok(Looked::Reason(of.clone())),
            [word] => {
                if let Some((_, looked)) = COUNTS.iter().find(|(name, _)| name == word) {
                    return Ok(looked.clone());
                }
                if begins(word) && word != "condition" && word != "reason" {
                    return Ok(Looked::Field(word.clone()));
                }
                Err(format!(
                    "{word} cannot be looked at: count, ready, available, updated, complete, endpoints, restarts, gap, age, \
                     condition TYPE, reason TYPE, or a field such as spec.replicas."
                ))
            }
            [] => Err("It does not say what is looked at: count, ready, a field, …".into()),
            [first, ..] => Err(format!("{first} is not understood here.")),
        }
    }

    /// Errors: a value that it can never be compared with.
    pub(super) fn takes(&self, value: &str) -> Result<(), String> {
        match self {
            Looked::Condition(_) | Looked::Reason(_) | Looked::Field(_) => Ok(()),
            _ if number(value).is_some() => Ok(()),
            _ => Err(format!("{value} is not a whole number.")),
        }
    }

    pub(super) fn of(&self, things: &Things, world: &World, gaps: &Gaps) -> Measured {
        let found = things.find(world);
        let objects = || found.iter().filter_map(|t| if let Thing::Object(o) = t { Some(*o) } else { None });
        let sum = |of: &dyn Fn(&Object) -> i64| Measured::Number(objects().map(of).sum());
        let oldest = |since: &dyn Fn(&Object) -> Option<kubestep_model::Instant>| {
            let ages = objects().filter_map(since).map(|at| world.now().since(at).as_secs());
            Measured::Number(ages.max().map_or(0, |s| i64::try_from(s).unwrap_or(i64::MAX)))
        };
        match self {
            Looked::Count => Measured::Number(i64::try_from(found.len()).unwrap_or(i64::MAX)),
            Looked::Ready => sum(&|o| ready(o)),
            Looked::Available => sum(&|o| counted(o, "/status/availableReplicas")),
            Looked::Updated => sum(&|o| counted(o, "/status/updatedReplicas")),
            Looked::Complete => sum(&|o| i64::from(kubestep_insight::measure(o).is_none())),
            Looked::Endpoints => sum(&|o| endpoints(world, o)),
            Looked::Restarts => sum(&|o| restarts(o)),
            Looked::Gap => oldest(&|o| gaps.get(&o.key()).map(|g| g.opened)),
            Looked::Age => oldest(&|o| o.meta().creation_timestamp.map(|t| t.instant())),
            Looked::Condition(name) => texts(&found, &format!("status.conditions[type={name}].status")),
            Looked::Reason(name) => texts(&found, &format!("status.conditions[type={name}].reason")),
            Looked::Field(path) => texts(&found, path),
        }
    }
}

fn texts(found: &[Thing<'_>], path: &str) -> Measured {
    let one = |thing: &Thing<'_>| {
        let object = if let Thing::Object(o) = thing { Some(*o) } else { None };
        value_at(&thing.value(), object, path).unwrap_or_default()
    };
    Measured::Texts(found.iter().map(one).collect())
}

fn counted(object: &Object, field: &str) -> i64 {
    match object {
        Object::Pod(pod) => i64::from(pod.is_ready()),
        _ => object.to_value().pointer(field).and_then(Value::as_i64).unwrap_or(0),
    }
}

fn ready(object: &Object) -> i64 {
    match object {
        Object::Node(node) => i64::from(node.is_ready()),
        _ if object.kind().name() == "DaemonSet" => counted(object, "/status/numberReady"),
        _ => counted(object, "/status/readyReplicas"),
    }
}

fn restarts(object: &Object) -> i64 {
    let Object::Pod(pod) = object else { return 0 };
    pod.status.container_statuses.iter().map(|s| i64::from(s.restart_count)).sum()
}

fn endpoints(world: &World, service: &Object) -> i64 {
    let name = &service.meta().name;
    let slices = world.store().list(Kind::EndpointSlice, Some(&service.meta().namespace));
    let mine = slices
        .filter_map(|o| o.get::<EndpointSlice>())
        .filter(|s| s.metadata.labels.get("kubernetes.io/service-name").is_some_and(|n| **n == **name));
    let ready = mine.flat_map(|s| s.endpoints.iter()).filter(|e| e.conditions.ready != Some(false));
    i64::try_from(ready.count()).unwrap_or(i64::MAX)
}

/// The value of a field as text; `None` if it is not there. Paths: `spec.replicas`, `metadata.labels[app]`,
/// `spec.containers[0].image`, `status.conditions[type=Ready].status`; and short names.
pub(super) fn value_at(value: &Value, object: Option<&Object>, path: &str) -> Option<String> {
    if let Some(object) = object
        && SHORT.contains(&path)
    {
        return short(object, value, path);
    }
    let mut at = value;
    for part in steps(path) {
        at = match part {
            Step::Key(key) => at.get(key)?,
            Step::Index(i) => at.get(i)?,
            Step::Match(key, want) => at
                .as_array()?
                .iter()
                .find(|row| row.get(key).and_then(Value::as_str).is_some_and(|have| have == want))?,
        };
    }
    text(at)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

enum Step<'p> {
    Key(&'p str),
    Index(usize),
    Match(&'p str, &'p str),
}

fn steps(path: &str) -> Vec<Step<'_>> {
    let mut found = vec![];
    let mut rest = path.trim_start_matches('.');
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']').unwrap_or((inner, ""));
            found.push(match (inside.parse(), inside.split_once('=')) {
                (Ok(index), _) => Step::Index(index),
                (_, Some((key, want))) => Step::Match(key, want),
                _ => Step::Key(inside),
            });
            rest = after.trim_start_matches('.');
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            found.push(Step::Key(&rest[..end]));
            rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
        }
    }
    found
}

/// Short names: the first container's image, the node, what a container waits for, who owns it.
fn short(object: &Object, value: &Value, path: &str) -> Option<String> {
    let at = |pointer: &str| value.pointer(pointer).and_then(text);
    match path {
        "image" => at("/spec/containers/0/image").or_else(|| at("/spec/template/spec/containers/0/image")),
        "node" => at("/spec/nodeName"),
        "phase" => at("/status/phase"),
        "owner" => object.meta().controller().map(|c| format!("{}/{}", c.kind, c.name)),
        "waiting" | "exit" => {
            let Object::Pod(pod) = object else { return None };
            let all = || pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
            if path == "exit" {
                let ended =
                    all().find_map(|s| s.state.terminated.as_ref().or(s.last_state.terminated.as_ref()));
                return ended.map(|t| t.exit_code.to_string());
            }
            all().find_map(|s| s.state.waiting.as_ref().map(|w| w.reason.to_string()))
        }
        _ => None,
    }
}
