//! JSON patches: a list of operations on paths.
//!
//! What no operation touches keeps its text, order of keys and all, as upstream's does.
//! Upstream: gopkg.in/evanphx/json-patch, DecodePatch and Apply (v1.37).

use crate::arrange::Gather;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::yaml::json::{self, Children};

const MISSING: &str = "missing value";
const INVALID_INDEX: &str = "invalid index referenced";
const TEST_FAILED: &str = "test failed";

/// A JSON value of which only as much is taken apart as was needed. Null is no node.
#[derive(Debug, Clone)]
enum Node {
    Raw(String),
    Map(BTreeMap<String, Slot>),
    List(Vec<Slot>),
}

type Slot = Option<Node>;

/// One operation, its members as JSON texts.
type Operation = BTreeMap<String, Slot>;

/// Applies a JSON patch to an object.
///
/// # Errors
/// In upstream's words: if the patch is no list of operations, or if one of them cannot be carried out.
pub fn json_patch(object: &Value, patch: &Value) -> Result<Value, String> {
    let text = json_patch_text(&json::encode(object), &json::encode(patch))?;
    json::parse(&text).map_err(|broken| broken.text)
}

/// Applies a JSON patch to a JSON text.
///
/// # Errors
/// As [`json_patch`], and if one of the texts is not JSON.
pub fn json_patch_text(object: &str, patch: &str) -> Result<String, String> {
    let operations = decode(patch)?;
    let mut document = node(object)?;
    for operation in &operations {
        apply(&mut document, operation)?;
    }
    let mut out = String::new();
    write(&mut out, &document);
    Ok(out)
}

fn node(text: &str) -> Result<Slot, String> {
    json::parse(text).map_err(|broken| broken.text)?;
    Ok(raw(text))
}

fn raw(text: &str) -> Slot {
    let text = text.trim();
    if text == "null" { None } else { Some(Node::Raw(text.to_owned())) }
}

fn decode(patch: &str) -> Result<Vec<Operation>, String> {
    let wrong =
        |text: &str, ty: &str| format!("json: cannot unmarshal {} into Go value of type {ty}", kind_of(text));
    json::parse(patch).map_err(|broken| broken.text)?;
    let items = match json::children(patch) {
        Children::List(items) => items,
        _ if patch.trim() == "null" => Vec::new(),
        _ => return Err(wrong(patch, "jsonpatch.Patch")),
    };
    let mut operations = Vec::new();
    for item in items {
        match json::children(item) {
            Children::Map(members) => {
                operations.push(members.into_iter().map(|(key, text)| (key, raw(text))).gather());
            }
            _ if item == "null" => operations.push(Operation::new()),
            _ => return Err(wrong(item, "jsonpatch.Operation")),
        }
    }
    Ok(operations)
}

fn kind_of(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        _ => "number",
    }
}

/// Why a member of an operation is no text.
enum Member {
    Absent,
    Other(&'static str),
}

/// A member of an operation that is a text.
fn text_member(operation: &Operation, name: &str) -> Result<String, Member> {
    match operation.get(name) {
        Some(Some(Node::Raw(text))) => match json::parse(text) {
            Ok(Value::String(text)) => Ok(text),
            _ => Err(Member::Other(kind_of(text))),
        },
        _ => Err(Member::Absent),
    }
}

fn apply(document: &mut Slot, operation: &Operation) -> Result<(), String> {
    let kind = text_member(operation, "op").unwrap_or_else(|_| "unknown".to_owned());
    let value = || operation.get("value").cloned().flatten();
    match kind.as_str() {
        "add" => add(document, &path(operation, "add")?, value()),
        "remove" => remove(document, &path(operation, "remove")?),
        "replace" => replace(document, &path(operation, "replace")?, value()),
        "move" => relocate(document, operation),
        "copy" => copy(document, operation),
        "test" => test(document, &path(operation, "test")?, value()),
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn path(operation: &Operation, kind: &str) -> Result<String, String> {
    text_member(operation, "path").map_err(|member| {
        let words = match member {
            _ if matches!(kind, "add" | "remove" | "copy") => MISSING.to_owned(),
            Member::Absent => format!("operation missing path field: {MISSING}"),
            Member::Other(kind) => not_a_text(kind),
        };
        format!("{kind} operation failed to decode path: {words}")
    })
}

fn from(operation: &Operation, kind: &str) -> Result<String, String> {
    text_member(operation, "from").map_err(|member| {
        let words = match member {
            Member::Absent => format!("operation, missing from field: {MISSING}"),
            Member::Other(kind) => not_a_text(kind),
        };
        format!("{kind} operation failed to decode from: {words}")
    })
}

fn not_a_text(kind: &str) -> String {
    format!("json: cannot unmarshal {kind} into Go value of type string")
}

impl Node {
    /// Takes a raw text apart, one level deep.
    fn open(&mut self) {
        if let Node::Raw(text) = self {
            *self = match json::children(text) {
                Children::Map(members) => {
                    Node::Map(members.into_iter().map(|(key, text)| (key, raw(text))).gather())
                }
                Children::List(items) => Node::List(items.into_iter().map(raw).collect()),
                Children::Scalar => return,
            };
        }
    }
}

/// The collection a path leads into, and the last part of the path.
fn find<'a>(document: &'a mut Slot, path: &str) -> Option<(&'a mut Node, String)> {
    // Upstream lets the first part go, whatever it is.
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let last = unescape(parts.pop()?);
    let mut here = document.as_mut()?;
    here.open();
    for part in parts {
        here = get_mut(here, &unescape(part)).ok()?.as_mut()?;
        here.open();
    }
    if matches!(here, Node::Raw(_)) { None } else { Some((here, last)) }
}

fn unescape(part: &str) -> String {
    // In this order `~01` becomes `~1`, as it must.
    part.replace("~1", "/").replace("~0", "~")
}

/// A place in a list: from the start, or from the end if negative.
fn index(key: &str, length: usize, limit: usize) -> Result<usize, String> {
    let number: i64 = key.parse().map_err(|_| {
        let digits = key.strip_prefix(['+', '-']).unwrap_or(key);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let words = if is_number { "value out of range" } else { "invalid syntax" };
        format!("strconv.Atoi: parsing {}: {words}", json::go_quote(key))
    })?;
    let place =
        if number < 0 { number.saturating_add(i64::try_from(length).unwrap_or(i64::MAX)) } else { number };
    match usize::try_from(place) {
        Ok(place) if place < limit => Ok(place),
        _ => Err(format!("Unable to access invalid index: {number}: {INVALID_INDEX}")),
    }
}

fn get_mut<'a>(collection: &'a mut Node, key: &str) -> Result<&'a mut Slot, String> {
    match collection {
        Node::Map(map) => map.get_mut(key).ok_or_else(|| MISSING.to_owned()),
        Node::List(list) => {
            let place = index(key, list.len(), list.len())?;
            list.get_mut(place).ok_or_else(|| INVALID_INDEX.to_owned())
        }
        Node::Raw(_) => Err(MISSING.to_owned()),
    }
}

/// What stands at a key; a map has null where it has nothing.
fn get(collection: &mut Node, key: &str) -> Result<Slot, String> {
    match collection {
        Node::Map(map) => Ok(map.get(key).cloned().flatten()),
        other => get_mut(other, key).cloned(),
    }
}

fn insert(collection: &mut Node, key: &str, value: Slot) -> Result<(), String> {
    match collection {
        Node::Map(map) => {
            map.insert(key.to_owned(), value);
        }
        Node::List(list) if key == "-" => list.push(value),
        Node::List(list) => {
            let room = list.len() + 1;
            let place = index(key, room, room).map_err(|problem| {
                if problem.starts_with("strconv") {
                    format!("value was not a proper array index: '{key}': {problem}")
                } else {
                    problem
                }
            })?;
            list.insert(place, value);
        }
        Node::Raw(_) => {}
    }
    Ok(())
}

fn take(collection: &mut Node, key: &str) -> Result<Slot, String> {
    match collection {
        Node::Map(map) => {
            map.remove(key).ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}"))
        }
        Node::List(list) => {
            let place = index(key, list.len(), list.len())?;
            Ok(list.remove(place))
        }
        Node::Raw(_) => Err(MISSING.to_owned()),
    }
}

fn add(document: &mut Slot, path: &str, value: Slot) -> Result<(), String> {
    let Some((collection, key)) = find(document, path) else {
        return Err(format!("add operation does not apply: doc is missing path: \"{path}\": {MISSING}"));
    };
    insert(collection, &key, value).map_err(|problem| format!("error in add for path: '{path}': {problem}"))
}

fn remove(document: &mut Slot, path: &str) -> Result<(), String> {
    let Some((collection, key)) = find(document, path) else {
        return Err(format!("remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"));
    };
    take(collection, &key)
        .map(drop)
        .map_err(|problem| format!("error in remove for path: '{path}': {problem}"))
}

fn replace(document: &mut Slot, path: &str, value: Slot) -> Result<(), String> {
    if path.is_empty() {
        let mut value = value;
        if let Some(node) = &mut value {
            node.open();
        }
        if matches!(value, None | Some(Node::Raw(_))) {
            return Err("replace operation value must be object or array: %!w(<nil>)".to_owned());
        }
        *document = value;
        return Ok(());
    }
    let Some((collection, key)) = find(document, path) else {
        return Err(format!("replace operation does not apply: doc is missing path: {path}: {MISSING}"));
    };
    match collection {
        Node::Map(map) => {
            map.insert(key, value);
        }
        other => match get_mut(other, &key) {
            Ok(slot) => *slot = value,
            Err(_) => {
                return Err(format!(
                    "replace operation does not apply: doc is missing key: {path}: {MISSING}"
                ));
            }
        },
    }
    Ok(())
}

fn relocate(document: &mut Slot, operation: &Operation) -> Result<(), String> {
    let from = from(operation, "move")?;
    let Some((collection, key)) = find(document, &from) else {
        return Err(format!("move operation does not apply: doc is missing from path: {from}: {MISSING}"));
    };
    let value =
        take(collection, &key).map_err(|problem| format!("error in move for path: '{key}': {problem}"))?;
    let path = path(operation, "move")?;
    let Some((collection, key)) = find(document, &path) else {
        return Err(format!(
            "move operation does not apply: doc is missing destination path: {path}: {MISSING}"
        ));
    };
    insert(collection, &key, value).map_err(|problem| format!("error in move for path: '{path}': {problem}"))
}

fn copy(document: &mut Slot, operation: &Operation) -> Result<(), String> {
    let from = from(operation, "copy")?;
    let Some((collection, key)) = find(document, &from) else {
        return Err(format!("copy operation does not apply: doc is missing from path: {from}: {MISSING}"));
    };
    let value =
        get(collection, &key).map_err(|problem| format!("error in copy for from: '{from}': {problem}"))?;
    let path = path(operation, "copy")?;
    let Some((collection, key)) = find(document, &path) else {
        return Err(format!(
            "copy operation does not apply: doc is missing destination path: {path}: {MISSING}"
        ));
    };
    insert(collection, &key, value)
        .map_err(|problem| format!("error while adding value during copy: {problem}"))
}

fn test(document: &mut Slot, path: &str, value: Slot) -> Result<(), String> {
    let failed = || format!("testing value {path} failed: {TEST_FAILED}");
    if path.is_empty() {
        return if same(document, &value) { Ok(()) } else { Err(failed()) };
    }
    let Some((collection, key)) = find(document, path) else {
        return Err(format!("test operation does not apply: is missing path: {path}: {MISSING}"));
    };
    let found =
        get(collection, &key).map_err(|problem| format!("error in test for path: '{path}': {problem}"))?;
    if same(&found, &value) { Ok(()) } else { Err(failed()) }
}

/// Equality as upstream has it: of maps and lists by their members, of scalars by their text.
fn same(left: &Slot, right: &Slot) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return left.is_none() && right.is_none() };
    let (mut left, mut right) = (left.clone(), right.clone());
    left.open();
    right.open();
    match (&left, &right) {
        (Node::Raw(left), Node::Raw(right)) => json::compact(left) == json::compact(right),
        (Node::Map(left), Node::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        (Node::List(left), Node::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        _ => false,
    }
}

fn write(out: &mut String, slot: &Slot) {
    match slot {
        None => out.push_str("null"),
        Some(Node::Raw(text)) => out.push_str(&json::compact(text)),
        Some(Node::List(list)) => {
            out.push('[');
            for (place, item) in list.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        Some(Node::Map(map)) => {
            out.push('{');
            for (place, (key, item)) in map.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                out.push_str(&json::encode(&Value::String(key.clone())));
                out.push(':');
                write(out, item);
            }
            out.push('}');
        }
    }
}
