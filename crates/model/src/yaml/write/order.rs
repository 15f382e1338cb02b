//! The order of keys: letters before anything else that is later, numbers by their value, `a2` before `a10`.

use std::cmp::Ordering;

/// Sorts by keys. The comparison is no proper order (`1a`, `09` and `0x1` go round in a circle), so the standard
/// sort, which may refuse such, is not used.
pub(super) fn sort<T: Copy>(entries: Vec<(&String, T)>) -> Vec<(&String, T)> {
    if entries.len() < 2 {
        return entries;
    }
    let mut left = entries;
    let right = sort(left.split_off(left.len() / 2));
    let left = sort(left);
    let mut sorted = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let next = if compare(second.0, first.0).is_lt() { right.next() } else { left.next() };
        sorted.extend(next);
    }
    sorted.extend(left);
    sorted.extend(right);
    sorted
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
        let keys =
            ["a10", "a2", "b", "A", "_", "a", "10", "9", "app.io/x", "app", "a02", "é"].map(str::to_owned);
        let sorted: Vec<&str> =
            sort(keys.iter().map(|key| (key, ())).collect()).iter().map(|(k, ())| k.as_str()).collect();
        assert_eq!(sorted, ["_", "9", "10", "A", "a", "a2", "a02", "a10", "app", "app.io/x", "b", "é"]);
    }

    #[test]
    fn keys_in_no_order_do_no_harm() {
        let keys: Vec<String> =
            (0..400).map(|i| format!("{}{}", ["09", "0x1", "1a", "1:", "0"][i % 5], i)).collect();
        assert_eq!(sort(keys.iter().map(|key| (key, ())).collect()).len(), 400);
    }
}
