//! Strategic merge patches: objects merge field by field, lists by the keys of their items.
//!
//! Upstream: k8s.io/apimachinery, pkg/util/strategicpatch (v1.37).

mod diff;
mod merge;
mod order;

use serde_json::{Map, Value};

use crate::schema::{PatchMeta, PatchSchema};

/// The directive that says what to do with the map it stands in.
const PATCH: &str = "$patch";
const DELETE: &str = "delete";
const REPLACE: &str = "replace";
const MERGE: &str = "merge";
const RETAIN_KEYS: &str = "$retainKeys";
const RETAIN_KEYS_STRATEGY: &str = "retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

const BAD_LIST_OF_LISTS: &str = "lists of lists are not supported";
const BAD_PRIMITIVE_LIST: &str = "invalid patch format of primitive list";
const BAD_RETAIN_KEYS: &str = "invalid patch format of retainKeys";
const BAD_SET_ORDER: &str = "invalid patch format of setElementOrder list";

/// Applies a strategic merge patch to an object.
///
/// # Errors
/// In upstream's words, if the patch does not fit the object or its kind.
pub fn strategic_merge_patch(object: &Value, patch: &Value, schema: PatchSchema) -> Result<Value, String> {
    let options = merge::Options { apply_lists: true, ignore_unmatched_nulls: true };
    let (object, patch) = (as_document(object)?, as_document(patch)?);
    merge::merge_map(object, patch, schema, options).map(Value::Object)
}

/// The patch that kubectl apply sends: the changes from what lives now to what is wanted, and the removals from what
/// was wanted before.
///
/// # Errors
/// In upstream's words, if an object does not fit its kind.
pub fn three_way_strategic_patch(
    original: &Value,
    modified: &Value,
    current: &Value,
    schema: PatchSchema,
) -> Result<Value, String> {
    let (original, modified, current) =
        (as_document(original)?, as_document(modified)?, as_document(current)?);
    let changes = diff::Options { deletions: false, set_order: true, ..diff::Options::default() };
    let changes = diff::diff_maps(&current, &modified, schema, changes)?;
    let removals = diff::Options { changes: false, set_order: true, ..diff::Options::default() };
    let removals = diff::diff_maps(&original, &modified, schema, removals)?;
    let options = merge::Options { apply_lists: false, ignore_unmatched_nulls: false };
    merge::merge_map(removals, changes, schema, options).map(Value::Object)
}

/// The patch that makes one object of another.
///
/// # Errors
/// In upstream's words, if an object does not fit its kind.
pub fn two_way_strategic_patch(
    original: &Value,
    modified: &Value,
    schema: PatchSchema,
) -> Result<Value, String> {
    let options = diff::Options { set_order: true, ..diff::Options::default() };
    let (original, modified) = (as_document(original)?, as_document(modified)?);
    diff::diff_maps(&original, &modified, schema, options).map(Value::Object)
}

fn as_document(value: &Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(Map::new()),
        _ => Err("invalid JSON document".to_owned()),
    }
}

/// What a field's tags say: whether keys are retained, and which strategy there is beside.
fn strategy(meta: &PatchMeta) -> (bool, &'static str) {
    let retain = meta.has(RETAIN_KEYS_STRATEGY);
    let other = meta.strategies.iter().find(|strategy| **strategy != RETAIN_KEYS_STRATEGY);
    (retain, other.copied().unwrap_or_default())
}

/// The words about an item of a list without the key that tells items apart.
fn no_merge_key(item: &Map<String, Value>, key: &str) -> String {
    let item = super::go::print(&Value::Object(item.clone()));
    format!("map: {item} does not contain declared merge key: {key}")
}

fn bad_patch_type(directive: &Value, map: &Map<String, Value>) -> String {
    let map = super::go::print(&Value::Object(map.clone()));
    format!("unknown patch type: {} in map: {map}", super::go::print_as_text(directive))
}

/// An item of a list as a map.
fn as_map(item: &Value) -> Result<&Map<String, Value>, String> {
    item.as_object().ok_or_else(|| super::go::bad_type(&Value::Object(Map::new()), item))
}

fn as_list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| super::go::bad_type(&Value::Array(Vec::new()), value))
}
