//! Finding values.

use super::{Node, Path, Piece, Test};
use crate::output::go_print;
use serde_json::Value;
use std::{borrow::Cow, cmp::Ordering};

type Found<'a> = Vec<Cow<'a, Value>>;

/// How a walk goes: whether a field that is nowhere ends it.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) strict: bool,
}

pub(super) fn pieces<'a>(
    pieces: &[Piece],
    data: &'a Value,
    how: How,
    out: &mut Vec<Found<'a>>,
) -> Result<(), String> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push(vec![Cow::Owned(Value::String(text.clone()))]),
            Piece::Path(path) => out.push(walk(path, vec![Cow::Borrowed(data)], how)?),
            Piece::Range(path, body) => range(path, body, data, how, out)?,
        }
    }
    Ok(())
}

fn range<'a>(
    path: &Path,
    body: &[Piece],
    data: &'a Value,
    how: How,
    out: &mut Vec<Found<'a>>,
) -> Result<(), String> {
    for value in walk(path, vec![Cow::Borrowed(data)], how)? {
        match value {
            Cow::Borrowed(value) => pieces(body, value, how, out)?,
            Cow::Owned(value) => {
                let mut inner = Vec::new();
                pieces(body, &value, how, &mut inner)?;
                let own = |part: Found<'_>| part.into_iter().map(|v| Cow::Owned(v.into_owned())).collect();
                out.extend(inner.into_iter().map(own));
            }
        }
    }
    Ok(())
}

fn walk<'a>(path: &[Node], start: Found<'a>, how: How) -> Result<Found<'a>, String> {
    path.iter().try_fold(start, |found, node| step(node, found, how))
}

fn step<'a>(node: &Node, found: Found<'a>, how: How) -> Result<Found<'a>, String> {
    Ok(match node {
        Node::Text(text) => vec![Cow::Owned(Value::String(text.clone()))],
        Node::Value(value) => found.iter().map(|_| Cow::Owned(value.clone())).collect(),
        Node::Field(name) => {
            let some = !found.is_empty();
            let inside = each(found, |v| Ok(v.get(name.as_str()).into_iter().collect()))?;
            if how.strict && some && inside.is_empty() {
                return Err(format!("{name} is not found"));
            }
            inside
        }
        Node::Wildcard => each(found, |v| Ok(children(v)))?,
        Node::Recursive => each(found, |v| Ok(descend(v)))?,
        Node::Slice { from, to, step, one } => each(found, |v| slice(v, [*from, *to, *step], *one))?,
        Node::Filter { left, test, right } => each(found, |v| filter(v, left, *test, right, how))?,
        Node::Union(paths) => {
            let parts =
                paths.iter().map(|path| walk(path, found.clone(), how)).collect::<Result<Vec<_>, _>>()?;
            parts.concat()
        }
        Node::Name(name) if name == "end" => return Err("not in range, nothing to end".to_owned()),
        Node::Name(name) if name == "range" => found,
        Node::Name(name) => return Err(format!("unrecognized identifier {name}")),
    })
}

/// What a step finds in each of the values so far.
fn each<'a, F>(found: Found<'a>, of: F) -> Result<Found<'a>, String>
where
    F: Fn(&Value) -> Result<Vec<&Value>, String>,
{
    let mut out = Found::new();
    for value in found {
        match value {
            Cow::Borrowed(value) => out.extend(of(value)?.into_iter().map(Cow::Borrowed)),
            Cow::Owned(value) => out.extend(of(&value)?.into_iter().map(|v| Cow::Owned(v.clone()))),
        }
    }
    Ok(out)
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

/// The value and all that it holds, outer ones first; values that hold nothing are left out.
fn descend(value: &Value) -> Vec<&Value> {
    let mut out = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let inner = children(value);
        if !inner.is_empty() {
            out.push(value);
            open.extend(inner.into_iter().rev());
        }
    }
    out
}

fn slice(value: &Value, [from, to, step]: [Option<i64>; 3], one: bool) -> Result<Vec<&Value>, String> {
    let items = match value {
        Value::Null => return Ok(vec![]),
        Value::Array(items) => items,
        other => return Err(format!("{} is not array or slice", go_type(other))),
    };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let mut start = from.unwrap_or(0);
    let mut end = if one { start.saturating_add(1) } else { to.unwrap_or(length) };
    if start < 0 {
        start += length;
    }
    if end < 0 || (end == 0 && one) {
        end += length;
    }
    if start == end {
        return Ok(vec![]);
    }
    let outside = |index: i64| Err(format!("array index out of bounds: index {index}, length {length}"));
    if start >= length || start < 0 {
        return outside(start);
    }
    if end > length || end < 0 {
        return outside(end - 1);
    }
    if start > end {
        return Err(format!("starting index {start} is greater than ending index {end}"));
    }
    let step = step.unwrap_or(1);
    if step <= 0 {
        return Err("step must be > 0".to_owned());
    }
    let index = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    Ok(items[index(start)..index(end)].iter().step_by(index(step)).collect())
}

fn filter<'v>(
    value: &'v Value,
    left: &Path,
    test: Test,
    right: &Path,
    how: How,
) -> Result<Vec<&'v Value>, String> {
    let Value::Array(items) = value else {
        return Err(format!("{} is not array or slice and cannot be filtered", go_print(value)));
    };
    let mut out = Vec::new();
    for item in items {
        if passes(item, left, test, right, how)? {
            out.push(item);
        }
    }
    Ok(out)
}

fn passes(item: &Value, left: &Path, test: Test, right: &Path, how: How) -> Result<bool, String> {
    let lefts = walk(left, vec![Cow::Borrowed(item)], how);
    if test == Test::Exists {
        return Ok(lefts.is_ok_and(|l| !l.is_empty()));
    }
    let rights = |()| walk(right, vec![Cow::Borrowed(item)], how);
    let one = |found: &Found<'_>| {
        if found.len() > 1 { Err("can only compare one element at a time".to_owned()) } else { Ok(()) }
    };
    let lefts = lefts?;
    one(&lefts)?;
    let Some(left) = lefts.first() else { return Ok(false) };
    let rights = rights(())?;
    one(&rights)?;
    let Some(right) = rights.first() else { return Ok(false) };
    let order = compare(left, right)?;
    Ok(match test {
        Test::Exists => true,
        Test::Less => order == Ordering::Less,
        Test::Greater => order == Ordering::Greater,
        Test::Equal => order == Ordering::Equal,
        Test::NotEqual => order != Ordering::Equal,
        Test::LessEqual => order != Ordering::Greater,
        Test::GreaterEqual => order != Ordering::Less,
    })
}

fn compare(left: &Value, right: &Value) -> Result<Ordering, String> {
    match (left, right) {
        (Value::String(l), Value::String(r)) => Ok(l.cmp(r)),
        (Value::Bool(l), Value::Bool(r)) => Ok(l.cmp(r)),
        (Value::Number(l), Value::Number(r)) => match (l.as_i64(), r.as_i64()) {
            (Some(l), Some(r)) => Ok(l.cmp(&r)),
            _ => Ok(l.as_f64().unwrap_or(0.0).total_cmp(&r.as_f64().unwrap_or(0.0))),
        },
        _ => Err("incompatible types for comparison".to_owned()),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
