//! The field under the cursor: what it holds, whether Kubernetes requires it, and what it would be if it were left out.

use super::{defined, tried};
use crate::{
    parts::{Part, parts},
    session::Session,
};
use kubestep_model::{
    Answer as Told, Verb,
    client::{ClientAsk, ClientTold},
    schema,
    yaml::{self, Place, Span},
};
use kubestep_protocol::{Doc, FieldDoc};
use serde_json::Value;

/// Fields are looked for this deep.
const DEEPEST: usize = 64;
/// Longer values are not shown.
const LONGEST: usize = 60;

/// What stands at a place of a file, counted from 1.
pub(crate) fn field(session: &Session, doc: &Doc, line: u32, column: u32) -> Option<FieldDoc> {
    let reading = yaml::read(&doc.text);
    let at = (line as usize, column as usize);
    let all = parts(&reading, super::MOST_COUNTED);
    let holds = |part: &&Part<'_>| part.find("").is_some_and(|p| inside(p.value, at));
    let part = all.iter().find(holds)?;
    let way = way(part, at);
    if way.is_empty() {
        return None;
    }
    let names: Vec<&str> =
        way.iter().filter_map(|s| if let Step::Key(k) = s { Some(k.as_str()) } else { None }).collect();
    if let Some(schema) = defined::schema(session, part) {
        let (depth, found) = defined::field(schema, part, &names)?;
        return Some(FieldDoc { default: default(session, doc, part, &way[..cut(&way, depth)]), ..found });
    }
    // Below maps of a person's own keys there are no fields: the map is told.
    let (depth, found) = (1..=names.len()).rev().find_map(|n| {
        let found = schema::explain(part.api_version(), part.kind(), &names[..n], 0)?.ok()?;
        Some((n, found))
    })?;
    let shown = &way[..cut(&way, depth)];
    Some(FieldDoc {
        path: names[..depth].join("."),
        holds: found.holds,
        required: found.required,
        default: default(session, doc, part, shown),
        text: session
            .descriptions
            .as_ref()
            .and_then(|d| d.of(found.owner, Some(found.name)).or_else(|| d.of(found.inner, None)))
            .unwrap_or_default(),
        kind: part.kind().into(),
        api_version: part.api_version().into(),
    })
}

/// One step of the way from an object to a field.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

/// How many steps lead to the key of this number.
fn cut(way: &[Step], keys: usize) -> usize {
    let places = way.iter().enumerate().filter(|(_, s)| matches!(s, Step::Key(_))).map(|(i, _)| i + 1);
    places.take(keys).last().unwrap_or(0)
}

fn inside(span: Span, at: (usize, usize)) -> bool {
    (span.line, span.column) <= at && at <= (span.end_line, span.end_column)
}

/// The way to the deepest field whose name or value holds the place.
fn way(part: &Part<'_>, at: (usize, usize)) -> Vec<Step> {
    let (mut value, mut path, mut way) = (part.value, String::new(), vec![]);
    while way.len() < DEEPEST {
        let holds = |p: Place| p.key.is_some_and(|k| inside(k, at)) || inside(p.value, at);
        let next = match value {
            Value::Object(map) => map.iter().find_map(|(key, inner)| {
                let dot = if path.is_empty() { "" } else { "." };
                let below = format!("{path}{dot}{key}");
                part.find(&below).filter(|p| holds(*p)).map(|_| (Step::Key(key.clone()), below, inner))
            }),
            Value::Array(list) => list.iter().enumerate().find_map(|(i, inner)| {
                let below = format!("{path}[{i}]");
                part.find(&below).filter(|p| holds(*p)).map(|_| (Step::Index(i), below, inner))
            }),
            _ => None,
        };
        let Some((step, below, inner)) = next else { break };
        way.push(step);
        (path, value) = (below, inner);
    }
    way
}

fn to<'v>(value: &'v Value, way: &[Step]) -> Option<&'v Value> {
    way.iter().try_fold(value, |v, step| match step {
        Step::Key(key) => v.get(key),
        Step::Index(i) => v.get(*i),
    })
}

fn without(value: &mut Value, way: &[Step]) -> Option<()> {
    let (Step::Key(last), above) = way.split_last()? else { return None };
    let holder = above.iter().try_fold(value, |v, step| match step {
        Step::Key(key) => v.get_mut(key),
        Step::Index(i) => v.get_mut(*i),
    })?;
    holder.as_object_mut()?.remove(last).map(|_| ())
}

/// What the API server would put there if the field were left out.
fn default(session: &Session, doc: &Doc, part: &Part<'_>, way: &[Step]) -> Option<String> {
    let mut value = part.value.clone();
    without(&mut value, way)?;
    let answer = tried(session, &doc.name, &value);
    let stored = answer.turns.iter().rev().find_map(|turn| match (&turn.ask, &turn.told) {
        (ClientAsk::Api(request), ClientTold::Reply(Ok(Told::Object { object, .. })))
            if matches!(request.verb, Verb::Create { .. } | Verb::Patch { .. }) =>
        {
            Some(object.to_value())
        }
        _ => None,
    })?;
    let found = match to(&stored, way)? {
        Value::String(text) => text.clone(),
        plain @ (Value::Bool(_) | Value::Number(_)) => plain.to_string(),
        _ => return None,
    };
    (found.chars().count() <= LONGEST).then_some(found)
}
