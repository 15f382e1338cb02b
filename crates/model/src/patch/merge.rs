//! Merge patches: a map merges, anything else is replaced, null takes away.
//!
//! Upstream: gopkg.in/evanphx/json-patch, MergePatch and CreateMergePatch; k8s.io/apimachinery,
//! pkg/util/jsonmergepatch, CreateThreeWayJSONMergePatch (v1.37).

use serde_json::{Map, Value};

use super::go::{self, go_type};

type Object = Map<String, Value>;

const BAD_DOCUMENT: &str = "Invalid JSON Document";
const BAD_PATCH: &str = "Invalid JSON Patch";

/// Applies a merge patch.
///
/// # Errors
/// If the object is null, or if the patch is neither a map nor a list.
pub fn merge_patch(object: &Value, patch: &Value) -> Result<Value, String> {
    let mut patch = patch.clone();
    match (object, &mut patch) {
        (Value::Null, _) => Err(BAD_DOCUMENT.to_owned()),
        (Value::Object(object), Value::Object(patch)) => {
            let mut object = object.clone();
            merge_maps(&mut object, std::mem::take(patch));
            Ok(Value::Object(object))
        }
        (_, Value::Object(_) | Value::Array(_)) => {
            prune_nulls(&mut patch);
            Ok(patch)
        }
        _ => Err(BAD_PATCH.to_owned()),
    }
}

fn merge_maps(object: &mut Object, patch: Object) {
    for (key, mut new) in patch {
        if new.is_null() {
            object.remove(&key);
            continue;
        }
        match (object.get_mut(&key), &mut new) {
            (Some(Value::Object(old)), Value::Object(new)) => merge_maps(old, std::mem::take(new)),
            // In a map that is replaced by something else, nulls are left as they are.
            (Some(old @ Value::Object(_)), _) => *old = new,
            _ => {
                prune_nulls(&mut new);
                object.insert(key, new);
            }
        }
    }
}

/// Takes the nulls out of all maps within a value; those in lists stay.
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}

/// The merge patch from one object to another.
#[must_use]
pub fn create_merge_patch(original: &Object, modified: &Object) -> Object {
    let mut patch = Object::new();
    for (key, new) in modified {
        match (original.get(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let inner = create_merge_patch(old, new);
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            }
            (Some(old), new) if same(old, new) => {}
            _ => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    for key in original.keys().filter(|key| !modified.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

/// Equality as upstream has it here, where every number is a float.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

/// The merge patch that kubectl apply sends for kinds without a schema.
///
/// # Errors
/// If a value is no object, or if what changes and what is removed contradict each other.
pub fn three_way_merge_patch(original: &Value, modified: &Value, current: &Value) -> Result<Value, String> {
    let [original, modified, current] = [original, modified, current].map(|value| match value {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(Object::new()),
        _ => Err(BAD_DOCUMENT.to_owned()),
    });
    let (original, modified, current) = (original?, modified?, current?);
    let changes = filter_nulls(create_merge_patch(&current, &modified), false);
    let removals = filter_nulls(create_merge_patch(&original, &modified), true);
    let (changes, removals) = (Value::Object(changes), Value::Object(removals));
    if has_conflicts(&changes, &removals) {
        let (changes, removals) = (go::print(&changes), go::print(&removals));
        return Err(format!(
            "patch:\n{changes}\nconflicts with changes made from original to current:\n{removals}\n"
        ));
    }
    merge_patch(&removals, &changes)
}

/// Keeps only the nulls of a patch, or all but the nulls. Maps that become empty go; maps that were empty are values.
fn filter_nulls(patch: Object, keep_nulls: bool) -> Object {
    let mut kept = Object::new();
    for (key, value) in patch {
        match value {
            Value::Null if !keep_nulls => {}
            Value::Object(map) if !map.is_empty() => {
                let inner = filter_nulls(map, keep_nulls);
                if !inner.is_empty() {
                    kept.insert(key, Value::Object(inner));
                }
            }
            value if value.is_null() || !keep_nulls => {
                kept.insert(key, value);
            }
            _ => {}
        }
    }
    kept
}

/// Whether two patches want different values for the same field.
fn has_conflicts(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.iter().any(|(key, left)| right.get(key).is_some_and(|right| has_conflicts(left, right)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() != right.len()
                || left.iter().zip(right).any(|(left, right)| has_conflicts(left, right))
        }
        _ => go_type(left) != go_type(right) || left != right,
    }
}
