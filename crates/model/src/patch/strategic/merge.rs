//! Merging a patch into an object, or one patch into another.

use crate::arrange::Gather;
use serde_json::{Map, Value};

use super::super::go::{self, GoType, go_type};
use super::order::{deduplicate, element_type, find, normalise, partition, split_deletions};
use super::{BAD_PRIMITIVE_LIST, BAD_RETAIN_KEYS, BAD_SET_ORDER};
use super::{DELETE, DELETE_FROM_LIST, MERGE, PATCH, REPLACE, RETAIN_KEYS, SET_ORDER};
use super::{as_list, as_map, bad_patch_type, no_merge_key, strategy};
use crate::schema::PatchSchema;

type Object = Map<String, Value>;

#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// The lists that say what to delete and how to order are carried out; else they are kept, as when a patch is
    /// merged into a patch.
    pub(super) apply_lists: bool,
    /// A null for something that is not there leaves no trace.
    pub(super) ignore_unmatched_nulls: bool,
}

/// Merges a patch into a map.
pub(super) fn merge_map(
    mut original: Object,
    mut patch: Object,
    schema: PatchSchema,
    options: Options,
) -> Result<Object, String> {
    if let Some(directive) = patch.get(PATCH).cloned() {
        return match directive.as_str() {
            Some(REPLACE) => {
                patch.remove(PATCH);
                Ok(patch)
            }
            Some(DELETE) => Ok(Object::new()),
            _ => Err(bad_patch_type(&directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch, options)?;
    set_orders(&mut original, &mut patch, schema, options)?;
    for (key, value) in patch {
        if key.starts_with(DELETE_FROM_LIST) && !options.apply_lists {
            original.insert(key, value);
            continue;
        }
        let (key, is_deletion) = if key.starts_with(DELETE_FROM_LIST) {
            (list_key(&key, DELETE_FROM_LIST, BAD_PRIMITIVE_LIST)?, true)
        } else {
            (key, false)
        };
        merge_value(&mut original, key, value, is_deletion, schema, options)?;
    }
    Ok(original)
}

fn merge_value(
    original: &mut Object,
    key: String,
    value: Value,
    is_deletion: bool,
    schema: PatchSchema,
    options: Options,
) -> Result<(), String> {
    if value.is_null() {
        original.remove(&key);
        if options.ignore_unmatched_nulls {
            return Ok(());
        }
    }
    let merged = match (original.remove(&key), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            let (inner, meta) = schema.field(&key)?;
            let map = if strategy(&meta).1 == REPLACE { new } else { merge_map(old, new, inner, options)? };
            Some(Value::Object(map))
        }
        (Some(Value::Array(old)), Value::Array(new)) => {
            let (inner, meta) = schema.list(&key)?;
            let merges = strategy(&meta).1 == MERGE || is_deletion;
            let list =
                if merges { merge_list(old, new, inner, meta.merge_key, is_deletion, options)? } else { new };
            Some(Value::Array(list))
        }
        // A list of deletions does nothing to what is no list.
        (old, _) if is_deletion => old,
        (old, mut new) => {
            let same = old.is_some_and(|old| go_type(&old) == go_type(&new));
            if options.ignore_unmatched_nulls && !same {
                discard_nulls(&mut new);
            }
            without_directives(new)
        }
    };
    if let Some(merged) = merged {
        original.insert(key, merged);
    }
    Ok(())
}

/// The field that a directive such as `$setElementOrder/env` is about.
fn list_key(key: &str, prefix: &str, problem: &str) -> Result<String, String> {
    match key.split_once('/') {
        Some((found, rest)) if found == prefix => Ok(rest.to_owned()),
        _ => Err(problem.to_owned()),
    }
}

/// Carries out `$retainKeys`: what is not in the list goes.
fn retain_keys(original: &mut Object, patch: &mut Object, options: Options) -> Result<(), String> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    if !options.apply_lists {
        return match original.get(RETAIN_KEYS) {
            Some(known) if *known != keys => {
                let (known, keys) = (go::print(known), go::print(&keys));
                Err(format!(
                    "{known} and {keys} are not deep equal: this may happen when calculating the 3-way diff patch"
                ))
            }
            Some(_) => Ok(()),
            None => {
                original.insert(RETAIN_KEYS.to_owned(), keys);
                Ok(())
            }
        };
    }
    let Value::Array(keys) = keys else { return Err(BAD_RETAIN_KEYS.to_owned()) };
    let is_listed = |key: &str| keys.iter().any(|listed| listed.as_str() == Some(key));
    for (key, value) in patch.iter() {
        let is_directive = key.starts_with(DELETE_FROM_LIST) || key.starts_with(SET_ORDER);
        if !value.is_null() && !is_directive && !is_listed(key) {
            return Err(BAD_RETAIN_KEYS.to_owned());
        }
    }
    original.retain(|key, _| is_listed(key));
    Ok(())
}

/// Carries out each `$setElementOrder`, together with the list it is about.
fn set_orders(
    original: &mut Object,
    patch: &mut Object,
    schema: PatchSchema,
    options: Options,
) -> Result<(), String> {
    let keys: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for key in keys {
        let Some(order) = patch.remove(&key) else { continue };
        if !options.apply_lists {
            match original.get(&key) {
                Some(known) if *known != order => return Err(BAD_SET_ORDER.to_owned()),
                Some(_) => {}
                None => {
                    original.insert(key.clone(), order.clone());
                }
            }
        }
        let order = as_list(&order)?;
        let field = list_key(&key, SET_ORDER, BAD_SET_ORDER)?;
        set_order(original, patch, &field, order, schema, options)?;
    }
    Ok(())
}

fn set_order(
    original: &mut Object,
    patch: &mut Object,
    field: &str,
    order: &[Value],
    schema: PatchSchema,
    options: Options,
) -> Result<(), String> {
    let old = original.get(field).map(as_list).transpose()?.cloned();
    let new = patch.get(field).map(as_list).transpose()?.cloned();
    let (inner, meta) = schema.list(field)?;
    check_order(new.as_deref().unwrap_or_default(), order, meta.merge_key)?;
    let kind = || element_type(&[old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default()]);
    let mut server_order = old.clone().unwrap_or_default();
    let merged = match (&old, &new) {
        (None, None) => return Ok(()),
        (Some(old), None) => old.clone(),
        (None, Some(new)) => match without_directives(Value::Array(new.clone())) {
            Some(Value::Array(list)) => list,
            _ => return Ok(()),
        },
        (Some(old), Some(new)) if strategy(&meta).1 == MERGE => {
            server_order = order_after_merge(old, new, meta.merge_key);
            merge_list(old.clone(), new.clone(), inner, meta.merge_key, false, options)?
        }
        (Some(_), Some(new)) => new.clone(),
    };
    let (inside, outside) = partition(merged, order, meta.merge_key)?;
    let list = normalise(inside, outside, order, &server_order, meta.merge_key, kind()?)?;
    original.insert(field.to_owned(), Value::Array(list));
    patch.remove(field);
    Ok(())
}

/// The server's order as upstream looks it up after a merge. Upstream deletes and appends in place, so that an item
/// the patch adds stands where a deleted one made room, and counts as one that was there before.
fn order_after_merge(old: &[Value], new: &[Value], merge_key: &str) -> Vec<Value> {
    let mut order = old.to_vec();
    let mut length = order.len();
    let key = |item: &Value| item.get(merge_key).cloned();
    if merge_key.is_empty() {
        return order;
    }
    let directive = |item: &Value| item.get(PATCH).and_then(Value::as_str).map(str::to_owned);
    for item in new.iter().filter(|item| directive(item).as_deref() == Some(DELETE)) {
        while let Some(place) = order[..length].iter().position(|other| key(other) == key(item)) {
            let last = order[length - 1].clone();
            order[place..length].rotate_left(1);
            length -= 1;
            order[length] = last;
        }
    }
    let replaces = new.iter().any(|item| directive(item).as_deref() == Some(REPLACE));
    for item in new.iter().filter(|item| !replaces && item.get(PATCH).is_none()) {
        let known = order[..length].iter().any(|other| key(other) == key(item));
        if !known && length < order.len() {
            order[length] = item.clone();
            length += 1;
        }
    }
    order
}

/// The items of a patch's list must all stand in the list of the order, and in that order.
fn check_order(patch: &[Value], order: &[Value], merge_key: &str) -> Result<(), String> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let kept = if merge_key.is_empty() { patch.to_vec() } else { split_deletions(patch.to_vec())?.0 };
    let (mut at_item, mut at_order) = (0, 0);
    while let (Some(item), Some(other)) = (kept.get(at_item), order.get(at_order)) {
        if item.get(PATCH).is_some() {
            at_item += 1;
            continue;
        }
        at_item += usize::from(same_item(item, other, merge_key)?);
        at_order += 1;
    }
    if at_item < kept.len() {
        let (patch, order) =
            (go::print(&Value::Array(patch.to_vec())), go::print(&Value::Array(order.to_vec())));
        return Err(format!(
            "The order in patch list:\n{patch}\n doesn't match {SET_ORDER} list:\n{order}\n"
        ));
    }
    Ok(())
}

fn same_item(left: &Value, right: &Value, merge_key: &str) -> Result<bool, String> {
    if merge_key.is_empty() {
        return Ok(go::same_scalar(left, right));
    }
    let (left, right) = (as_map(left)?, as_map(right)?);
    let left = left.get(merge_key).ok_or_else(|| no_merge_key(left, merge_key))?;
    let right = right.get(merge_key).ok_or_else(|| no_merge_key(right, merge_key))?;
    Ok(go::same_scalar(left, right))
}

fn merge_list(
    old: Vec<Value>,
    new: Vec<Value>,
    schema: PatchSchema,
    merge_key: &str,
    is_deletion: bool,
    options: Options,
) -> Result<Vec<Value>, String> {
    if old.is_empty() && new.is_empty() {
        return Ok(old);
    }
    let kind = element_type(&[&old, &new])?;
    let (merged, order, patch) = if kind == GoType::Map {
        if merge_key.is_empty() {
            return Err(format!("cannot merge lists without merge key for {}", schema.go_kind()));
        }
        let (old, new) = carry_out_directives(old, new, merge_key)?;
        (merge_items(old.clone(), new.clone(), schema, merge_key, options)?, old, new)
    } else {
        if options.apply_lists && is_deletion {
            return Ok(old
                .into_iter()
                .filter(|item| !new.iter().any(|gone| go::same_scalar(item, gone)))
                .collect());
        }
        let mut both = [old.as_slice(), new.as_slice()].concat();
        deduplicate(&mut both);
        (both, old, new)
    };
    let (inside, outside) = partition(merged, &patch, merge_key)?;
    normalise(inside, outside, &patch, &order, merge_key, kind)
}

/// Carries out what items of a patch's list say themselves: `$patch: delete` and `$patch: replace`.
fn carry_out_directives(
    mut old: Vec<Value>,
    new: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    let mut kept = Vec::new();
    let mut replaces = false;
    for item in new {
        let map = as_map(&item)?;
        let Some(directive) = map.get(PATCH) else {
            kept.push(item);
            continue;
        };
        match directive.as_str() {
            Some(DELETE) => {
                let value = map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key))?;
                while let Some(place) = find(&old, merge_key, value)? {
                    old.remove(place);
                }
            }
            Some(REPLACE) => replaces = true,
            Some(MERGE) => return Err("merging lists cannot yet be specified in the patch".to_owned()),
            _ => return Err(bad_patch_type(directive, map)),
        }
    }
    Ok(if replaces { (kept, Vec::new()) } else { (old, kept) })
}

fn merge_items(
    mut old: Vec<Value>,
    new: Vec<Value>,
    schema: PatchSchema,
    merge_key: &str,
    options: Options,
) -> Result<Vec<Value>, String> {
    for item in new {
        let map = as_map(&item)?;
        let value = map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key))?;
        match find(&old, merge_key, value)? {
            Some(place) => {
                let known = as_map(&old[place])?.clone();
                old[place] = Value::Object(merge_map(known, map.clone(), schema, options)?);
            }
            None => old.push(item),
        }
    }
    Ok(old)
}

/// Takes away whatever holds a directive. None if the value itself does.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => None,
        Value::Object(map) => {
            let kept = map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(kept.gather()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// Takes the nulls out of all maps within a value.
fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}
