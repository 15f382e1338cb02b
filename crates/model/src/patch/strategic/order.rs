//! The order of a patched list's items.

use crate::arrange::Arrange;
use serde_json::Value;

use super::super::go::{self, GoType, go_type, same_scalar};
use super::{BAD_LIST_OF_LISTS, DELETE, PATCH, as_map, no_merge_key};

/// Sorts up to this many items as upstream's library does, whose comparison is not a proper one.
const INSERTION: usize = 20;

/// The type all items of some lists have.
///
/// # Errors
/// If they have several, or if there is no item at all.
pub(super) fn element_type(lists: &[&[Value]]) -> Result<GoType, String> {
    let mut found = None;
    for item in lists.iter().flat_map(|list| list.iter()) {
        match found {
            None if go_type(item) == GoType::List => return Err(BAD_LIST_OF_LISTS.to_owned()),
            None => found = Some(go_type(item)),
            Some(known) if known == go_type(item) => {}
            Some(_) => {
                let lists = lists.iter().map(|list| Value::Array(list.to_vec())).collect();
                return Err(format!(
                    "list element types are not identical: {}",
                    go::print(&Value::Array(lists))
                ));
            }
        }
    }
    found.ok_or_else(|| "no elements in any of the given slices".to_owned())
}

/// What tells an item from others: the value of its key, or the item itself.
fn identity<'a>(item: &'a Value, merge_key: &str, kind: GoType) -> &'a Value {
    match (kind, item) {
        (GoType::Map, Value::Object(map)) => map.get(merge_key).unwrap_or(&Value::Null),
        (GoType::Map, _) => &Value::Null,
        _ => item,
    }
}

/// The first place of an item in a list.
pub(super) fn index(list: &[Value], item: &Value, merge_key: &str, kind: GoType) -> Option<usize> {
    let wanted = identity(item, merge_key, kind);
    list.iter().position(|other| same_scalar(wanted, identity(other, merge_key, kind)))
}

/// Upstream's insertion sort; `before` need not be a proper order.
fn insertion_sort<T>(list: &mut [T], before: impl Fn(&T, &T) -> bool) {
    for end in 1..list.len() {
        let mut place = end;
        while place > 0 && before(&list[place], &list[place - 1]) {
            list.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Sorts items by their printed form, as upstream sorts scalars and maps.
pub(super) fn sort_printed(list: &mut [Value], printed: impl Fn(&Value) -> String) {
    let mut keyed: Vec<(String, Value)> = list.iter().map(|item| (printed(item), item.clone())).collect();
    if keyed.len() <= 12 {
        insertion_sort(&mut keyed, |left, right| left.0 <= right.0);
    } else {
        keyed.arrange_by(|left, right| left.0.cmp(&right.0));
    }
    for (place, (_, item)) in list.iter_mut().zip(keyed) {
        *place = item;
    }
}

pub(super) fn sort_scalars(list: &mut [Value]) {
    sort_printed(list, go::print);
}

/// Upstream's way to drop repeated scalars: the last item takes the place of a repeated one.
pub(super) fn deduplicate(list: &mut Vec<Value>) {
    let mut first = 0;
    while first < list.len() {
        let mut second = first + 1;
        while second < list.len() {
            if same_scalar(&list[first], &list[second]) {
                list.swap_remove(second);
            } else {
                second += 1;
            }
        }
        first += 1;
    }
}

/// Splits a list of maps into those to keep and those with `$patch: delete`.
pub(super) fn split_deletions(list: Vec<Value>) -> Result<(Vec<Value>, Vec<Value>), String> {
    let (mut kept, mut deleted) = (Vec::new(), Vec::new());
    for item in list {
        let is_deletion = as_map(&item)?.get(PATCH).and_then(Value::as_str) == Some(DELETE);
        if is_deletion { deleted.push(item) } else { kept.push(item) }
    }
    Ok((kept, deleted))
}

/// Sorts a list by another; deletions go to its end.
pub(super) fn sort_by_order(
    list: Vec<Value>,
    order: &[Value],
    merge_key: &str,
    kind: GoType,
) -> Result<Vec<Value>, String> {
    let (list, deleted) = if kind == GoType::Map {
        for item in list.iter().chain(order) {
            let map = as_map(item)?;
            if !map.contains_key(merge_key) {
                return Err(no_merge_key(map, merge_key));
            }
        }
        split_deletions(list)?
    } else {
        (list, Vec::new())
    };
    let mut placed: Vec<(Option<usize>, Value)> =
        list.into_iter().map(|item| (index(order, &item, merge_key, kind), item)).collect();
    if placed.len() <= INSERTION {
        insertion_sort(&mut placed, |left, right| match (left.0, right.0) {
            (Some(left), Some(right)) => left < right,
            _ => true,
        });
    } else {
        placed.arrange_by_key(|(place, _)| *place);
    }
    Ok(placed.into_iter().map(|(_, item)| item).chain(deleted).collect())
}

/// Puts the patch's items and those that only live on the server into one list: each group keeps its order, and a
/// server's item goes before the patch's item that it stood before.
pub(super) fn normalise(
    patch: Vec<Value>,
    server_only: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    merge_key: &str,
    kind: GoType,
) -> Result<Vec<Value>, String> {
    let patch = sort_by_order(patch, patch_order, merge_key, kind)?;
    let server_only = sort_by_order(server_only, server_order, merge_key, kind)?;
    let place = |item: &Value| index(server_order, item, merge_key, kind);
    let mut merged = Vec::with_capacity(patch.len() + server_only.len());
    let mut right = patch.into_iter().peekable();
    for left in server_only {
        let left_place = place(&left);
        while let Some(next) = right.peek() {
            if matches!((left_place, place(next)), (Some(left), Some(next)) if left < next) {
                break;
            }
            merged.extend(right.next());
        }
        merged.push(left);
    }
    merged.extend(right);
    Ok(merged)
}

/// Splits a list into the items that another list holds and those it does not.
pub(super) fn partition(
    list: Vec<Value>,
    by: &[Value],
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for item in list {
        let found = if merge_key.is_empty() {
            by.iter().any(|other| same_scalar(&item, other))
        } else {
            let map = as_map(&item)?;
            let value = map.get(merge_key).ok_or_else(|| no_merge_key(map, merge_key))?;
            find(by, merge_key, value)?.is_some()
        };
        if found { inside.push(item) } else { outside.push(item) }
    }
    Ok((inside, outside))
}

/// The first map in a list whose key has a value.
pub(super) fn find(list: &[Value], merge_key: &str, value: &Value) -> Result<Option<usize>, String> {
    for (place, item) in list.iter().enumerate() {
        let Value::Object(map) = item else { return Err(format!("value for key {place} is not a map")) };
        if map.get(merge_key).is_some_and(|found| same_scalar(found, value)) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}
