//! From two objects to the patch that makes one of the other.

use serde_json::{Map, Value, json};

use super::super::go::{self, GoType, go_type, same_scalar};
use super::order::{element_type, sort_by_order, sort_printed, sort_scalars};
use super::{BAD_LIST_OF_LISTS, DELETE, DELETE_FROM_LIST, MERGE, PATCH, REPLACE, RETAIN_KEYS, SET_ORDER};
use super::{as_map, no_merge_key, strategy};
use crate::schema::PatchSchema;

type Object = Map<String, Value>;

/// What goes into a patch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Values that are new or different.
    pub(super) changes: bool,
    /// Values that are gone.
    pub(super) deletions: bool,
    /// The order of lists.
    pub(super) set_order: bool,
    /// The list of keys that stay, for the map at hand.
    pub(super) retain_keys: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { changes: true, deletions: true, set_order: false, retain_keys: false }
    }
}

/// The patch from one map to another.
pub(super) fn diff_maps(
    original: &Object,
    modified: &Object,
    schema: PatchSchema,
    options: Options,
) -> Result<Object, String> {
    let mut patch = Object::new();
    for (key, new) in modified {
        let Some(old) = original.get(key) else {
            if options.changes {
                patch.insert(key.clone(), new.clone());
            }
            continue;
        };
        if key == PATCH {
            if !old.is_string() || !new.is_string() {
                return Err(format!("invalid value for special key: {PATCH}"));
            }
            if old != new {
                patch.insert(key.clone(), new.clone());
            }
            continue;
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                diff_field(key, old, new, &mut patch, schema, options)?
            }
            (Value::Array(old), Value::Array(new)) => diff_list(key, old, new, &mut patch, schema, options)?,
            _ => replace(key, old, new, &mut patch, options),
        }
    }
    if options.deletions {
        for key in original.keys().filter(|key| !modified.contains_key(*key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    let mut retained: Vec<Value> =
        modified.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| json!(key)).collect();
    let dropped = original.iter().any(|(key, value)| !value.is_null() && !modified.contains_key(key));
    if options.retain_keys && !retained.is_empty() && (!patch.is_empty() || dropped) {
        sort_scalars(&mut retained);
        patch.insert(RETAIN_KEYS.to_owned(), Value::Array(retained));
    }
    Ok(patch)
}

fn replace(key: &str, old: &Value, new: &Value, patch: &mut Object, options: Options) {
    let differs = go_type(old) != go_type(new) || old != new;
    if options.changes && differs {
        patch.insert(key.to_owned(), new.clone());
    }
}

fn diff_field(
    key: &str,
    old: &Object,
    new: &Object,
    patch: &mut Object,
    schema: PatchSchema,
    options: Options,
) -> Result<(), String> {
    let (inner, meta) = match schema.field(key) {
        Ok(found) => found,
        // A field that is not known does no harm while it does not change.
        Err(_) if old == new => return Ok(()),
        Err(problem) => return Err(problem),
    };
    let (retain_keys, strategy) = strategy(&meta);
    if strategy == REPLACE {
        if options.changes {
            patch.insert(key.to_owned(), Value::Object(new.clone()));
        }
        return Ok(());
    }
    let changes = diff_maps(old, new, inner, Options { retain_keys, ..options })?;
    if !changes.is_empty() {
        patch.insert(key.to_owned(), Value::Object(changes));
    }
    Ok(())
}

fn diff_list(
    key: &str,
    old: &[Value],
    new: &[Value],
    patch: &mut Object,
    schema: PatchSchema,
    options: Options,
) -> Result<(), String> {
    let (inner, meta) = match schema.list(key) {
        Ok(found) => found,
        Err(_) if old == new => return Ok(()),
        Err(problem) => return Err(problem),
    };
    let (retain_keys, strategy) = strategy(&meta);
    if strategy != MERGE {
        if options.changes && old != new {
            patch.insert(key.to_owned(), Value::Array(new.to_vec()));
        }
        return Ok(());
    }
    let lists = diff_merged_list(old, new, inner, meta.merge_key, Options { retain_keys, ..options })?;
    let keys = [key.to_owned(), format!("{DELETE_FROM_LIST}/{key}"), format!("{SET_ORDER}/{key}")];
    for (key, list) in keys.into_iter().zip([lists.changes, lists.deletions, lists.order]) {
        if !list.is_empty() {
            patch.insert(key, Value::Array(list));
        }
    }
    Ok(())
}

/// What a list that merges contributes to a patch.
#[derive(Debug, Default)]
struct Lists {
    changes: Vec<Value>,
    /// Scalars to take away; maps say it themselves.
    deletions: Vec<Value>,
    order: Vec<Value>,
}

fn diff_merged_list(
    old: &[Value],
    new: &[Value],
    schema: PatchSchema,
    merge_key: &str,
    options: Options,
) -> Result<Lists, String> {
    if old.is_empty() {
        let changes = if options.changes { new.to_vec() } else { Vec::new() };
        return Ok(Lists { changes, ..Lists::default() });
    }
    let kind = element_type(&[old, new])?;
    if kind == GoType::List {
        return Err(BAD_LIST_OF_LISTS.to_owned());
    }
    if kind != GoType::Map {
        let (changes, deletions) = diff_scalars(old, new, options);
        // Upstream has sorted the old list in place by now, and compares that.
        let mut old = old.to_vec();
        sort_scalars(&mut old);
        let changes = sort_by_order(changes, new, merge_key, kind)?;
        let differs = (options.deletions && !deletions.is_empty()) || (options.changes && old != new);
        let order = if options.set_order && differs { new.to_vec() } else { Vec::new() };
        return Ok(Lists { changes, deletions, order });
    }
    let (changes, deletions) = diff_list_of_maps(old, new, schema, merge_key, options)?;
    let mut changes = sort_by_order(changes, new, merge_key, kind)?;
    let moved = !same_order(old, new, merge_key)?;
    changes.extend(deletions);
    let differs =
        (options.changes && (!changes.is_empty() || moved)) || (options.deletions && !changes.is_empty());
    let mut order = Vec::new();
    if options.set_order && differs {
        for item in new {
            let value = as_map(item)?.get(merge_key).cloned().unwrap_or_default();
            order.push(json!({ merge_key: value }));
        }
    }
    Ok(Lists { changes, deletions: Vec::new(), order })
}

fn same_order(old: &[Value], new: &[Value], merge_key: &str) -> Result<bool, String> {
    if old.len() != new.len() {
        return Ok(false);
    }
    for (old, new) in old.iter().zip(new) {
        let (old, new) = (key_of(old, merge_key)?.1, key_of(new, merge_key)?.1);
        if !same_scalar(old, new) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn key_of<'a>(item: &'a Value, merge_key: &str) -> Result<(&'a Object, &'a Value), String> {
    let map = as_map(item)?;
    let value = map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key))?;
    Ok((map, value))
}

/// What is added and what is taken away between two lists of scalars, both sorted.
fn diff_scalars(old: &[Value], new: &[Value], options: Options) -> (Vec<Value>, Vec<Value>) {
    let (mut old, mut new) = (old.to_vec(), new.to_vec());
    sort_scalars(&mut old);
    sort_scalars(&mut new);
    let (mut added, mut deleted) = (Vec::new(), Vec::new());
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => go::print(old).cmp(&go::print(new)),
        };
        let gone = if order.is_le() { old.next() } else { None };
        let come = if order.is_ge() { new.next() } else { None };
        if order.is_lt() && options.deletions {
            deleted.extend(gone);
        } else if order.is_gt() && options.changes {
            added.extend(come);
        }
    }
    super::order::deduplicate(&mut deleted);
    (added, deleted)
}

/// What changes and what is taken away between two lists of maps.
fn diff_list_of_maps(
    old: &[Value],
    new: &[Value],
    schema: PatchSchema,
    merge_key: &str,
    options: Options,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    let sorted = |list: &[Value]| {
        let mut list = list.to_vec();
        sort_printed(&mut list, |item| go::print(item.get(merge_key).unwrap_or(&Value::Null)));
        list
    };
    let (old, new) = (sorted(old), sorted(new));
    let (mut at_old, mut at_new) = (0, 0);
    let (mut changes, mut deletions) = (Vec::new(), Vec::new());
    while at_old < old.len() || at_new < new.len() {
        let was = old.get(at_old).map(|item| key_of(item, merge_key)).transpose()?;
        let is = new.get(at_new).map(|item| key_of(item, merge_key)).transpose()?;
        let order = match (was, is) {
            (Some((_, was)), Some((_, is))) => go::print(was).cmp(&go::print(is)),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        match (order, was, is) {
            (std::cmp::Ordering::Equal, Some((was, _)), Some((is, key))) => {
                let mut patch = diff_maps(was, is, schema, options)?;
                if !patch.is_empty() {
                    patch.insert(merge_key.to_owned(), key.clone());
                    changes.push(Value::Object(patch));
                }
            }
            (std::cmp::Ordering::Less, Some((_, key)), _) if options.deletions => {
                deletions.push(json!({ merge_key: key, PATCH: DELETE }));
            }
            (std::cmp::Ordering::Greater, _, Some((is, _))) if options.changes => {
                changes.push(Value::Object(is.clone()));
            }
            _ => {}
        }
        at_old += usize::from(order.is_le());
        at_new += usize::from(order.is_ge());
    }
    Ok((changes, deletions))
}
