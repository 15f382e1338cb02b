//! The order of keys: letters before anything else that is later, numbers by their value, `a2` before `a10`.

use crate::Look;
use std::cmp::Ordering;

/// A key and its value.
type Field<'a> = (&'a str, &'a dyn Look);

/// Sorts by keys. The comparison is no proper order (`1a`, `09` and `0x1` go round in a circle), so the standard
/// sort, which may refuse such, is not used.
pub(super) fn sort<'a>(fields: &[Field<'a>]) -> Vec<Field<'a>> {
    if fields.len() < 2 {
        return fields.to_vec();
    }
    let (left, right) = fields.split_at(fields.len() / 2);
    let (left, right) = (sort(left), sort(right));
    let mut sorted = Vec::with_capacity(fields.len());
    let (mut left, mut right) = (left.as_slice(), right.as_slice());
    while let ([first, later @ ..], [second, after @ ..]) = (left, right) {
        if compare(second.0, first.0).is_lt() {
            sorted.push(*second);
            right = after;
        } else {
            sorted.push(*first);
            left = later;
        }
    }
    sorted.extend_from_slice(left);
    sorted.extend_from_slice(right);
    sorted
}

/// Whether the order of bytes is this order as well: all keys are plain letters.
pub(super) fn is_plain(fields: &[Field<'_>]) -> bool {
    fields.iter().all(|(key, _)| key.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Compares two keys as upstream does.
fn compare(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let Some(place) = left.iter().zip(&right).position(|(left, right)| left != right) else {
        return left.len().cmp(&right.len());
    };
    let (here, there) = (left[place], right[place]);
    match (here.is_alphabetic(), there.is_alphabetic()) {
        (true, true) => return here.cmp(&there),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // Zeros within a number count as digits only if a digit other than zero comes before.
    let inside = here == '0' || there == '0';
    let digits_before = left[..place].iter().rev().take_while(|c| c.is_numeric());
    let start = i64::from(inside && digits_before.into_iter().any(|c| *c != '0'));
    let (left_number, left_end) = number(&left, place, start);
    let (right_number, right_end) = number(&right, place, start);
    left_number.cmp(&right_number).then(left_end.cmp(&right_end)).then(here.cmp(&there))
}

/// The number that stands at a place, continued from `start`, and where it ends.
fn number(text: &[char], place: usize, start: i64) -> (i64, usize) {
    let mut value = start;
    let mut end = place;
    while let Some(c) = text.get(end).filter(|c| c.is_numeric()) {
        let digit = i64::from(u32::from(*c)) - i64::from(u32::from('0'));
        value = value.wrapping_mul(10).wrapping_add(digit);
        end += 1;
    }
    (value, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_as_people_count() {
        let keys = ["a10", "a2", "b", "A", "_", "a", "10", "9", "app.io/x", "app", "a02", "é"];
        let fields: Vec<Field<'_>> = keys.iter().map(|key| (*key, key as &dyn Look)).collect();
        let sorted: Vec<&str> = sort(&fields).iter().map(|(key, _)| *key).collect();
        assert_eq!(sorted, ["_", "9", "10", "A", "a", "a2", "a02", "a10", "app", "app.io/x", "b", "é"]);
    }

    #[test]
    fn plain_keys_stand_as_their_bytes_do() {
        let keys = ["A", "Z", "a", "aB", "ab", "abc", "b"];
        let fields: Vec<Field<'_>> = keys.iter().map(|key| (*key, key as &dyn Look)).collect();
        assert!(is_plain(&fields) && !is_plain(&[("a1", &"")]));
        let sorted: Vec<&str> = sort(&fields).iter().map(|(key, _)| *key).collect();
        assert_eq!(sorted, keys);
    }

    #[test]
    fn keys_in_no_order_do_no_harm() {
        let keys: Vec<String> =
            (0..400).map(|i| format!("{}{}", ["09", "0x1", "1a", "1:", "0"][i % 5], i)).collect();
        let fields: Vec<Field<'_>> = keys.iter().map(|key| (key.as_str(), key as &dyn Look)).collect();
        assert_eq!(sort(&fields).len(), 400);
    }
}
