//! The order of keys: letters before anything else that is later, numbers by their value, `a2` before `a10`.

use std::cmp::Ordering;

/// Compares two keys as upstream does.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
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
