//! One sort for every list: [`Arrange`] for slices, [`Gather`] for what is collected into a map or a set.
//!
//! The standard library compiles its sort anew for each type and each comparison, some 5 kB of WebAssembly a
//! time, and a `BTreeMap` or `BTreeSet` that is collected sorts, too. Here lists are short and the page has to be
//! fetched: so one sort works on places in the list and asks the caller which of two comes first. A list that is
//! long and sorted at every step may use the standard library's.

use std::cmp::Ordering;

/// Up to this length a run is made by insertion.
const RUN: usize = 8;

/// Sorts a slice; equal items keep their order.
pub trait Arrange<T> {
    /// Smallest first.
    fn arrange(&mut self)
    where
        T: Ord;

    /// In the order that `order` says.
    fn arrange_by(&mut self, order: impl Fn(&T, &T) -> Ordering);

    /// Smallest key first. The key is made at each comparison.
    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);
}

impl<T> Arrange<T> for [T] {
    fn arrange(&mut self)
    where
        T: Ord,
    {
        self.arrange_by(T::cmp);
    }

    fn arrange_by(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        let places = places(self.len(), &|a, b| order(&self[a], &self[b]));
        settle(places, &mut |a, b| self.swap(a, b));
    }

    fn arrange_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        self.arrange_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// Collects by inserting one item after the other, for a `BTreeMap` or a `BTreeSet`.
pub trait Gather: Iterator + Sized {
    /// The same as `collect`; of equal keys the last one's value stays.
    fn gather<C: Default + Extend<Self::Item>>(self) -> C {
        let mut all = C::default();
        all.extend(self);
        all
    }
}

impl<I: Iterator> Gather for I {}

/// For each place, the place of the item that belongs there; nothing if all are in order already.
#[inline(never)]
pub fn places(len: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    if (1..len).all(|i| order(i - 1, i) != Ordering::Greater) {
        return Vec::new();
    }
    let mut from: Vec<usize> = (0..len).collect();
    for run in from.chunks_mut(RUN) {
        insertion(run, order);
    }
    let (mut to, mut width) = (Vec::with_capacity(len), RUN);
    while width < len {
        to.clear();
        for pair in from.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, order, &mut to);
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    from
}

fn insertion(run: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    for end in 1..run.len() {
        let mut at = end;
        while at > 0 && order(run[at - 1], run[at]) == Ordering::Greater {
            run.swap(at - 1, at);
            at -= 1;
        }
    }
}

fn merge(
    mut left: &[usize],
    mut right: &[usize],
    order: &dyn Fn(usize, usize) -> Ordering,
    to: &mut Vec<usize>,
) {
    while let (Some((a, lefts)), Some((b, rights))) = (left.split_first(), right.split_first()) {
        if order(*a, *b) == Ordering::Greater {
            to.push(*b);
            right = rights;
        } else {
            to.push(*a);
            left = lefts;
        }
    }
    to.extend_from_slice(left);
    to.extend_from_slice(right);
}

/// Brings every item to its place by swaps, cycle by cycle.
#[inline(never)]
fn settle(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        while places[at] != start {
            let from = std::mem::replace(&mut places[at], at);
            swap(at, from);
            at = from;
        }
        places[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::Dice;

    /// Lists of every length up to 70, with few values (so that many are equal) and with many.
    fn lists() -> Vec<Vec<(u32, usize)>> {
        let mut dice = Dice::new(7);
        let mut all = vec![];
        for len in 0..70 {
            for values in [2, 5, 1000] {
                all.push((0..len).map(|i| (dice.below("value", values), i)).collect());
            }
        }
        all
    }

    #[test]
    fn arranges_as_the_standard_librarys_stable_sort() {
        for list in lists() {
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            ours.arrange_by_key(|(value, _)| *value);
            theirs.sort_by_key(|(value, _)| *value);
            assert_eq!(ours, theirs, "{list:?}");
            ours.arrange_by(|a, b| b.0.cmp(&a.0));
            theirs.sort_by(|a, b| b.0.cmp(&a.0));
            assert_eq!(ours, theirs, "{list:?} down");
            ours.arrange();
            theirs.sort();
            assert_eq!(ours, theirs, "{list:?} whole");
        }
    }

    #[test]
    fn gathers_as_collect_does() {
        for list in lists() {
            let map: BTreeMap<u32, usize> = list.iter().copied().gather();
            assert_eq!(map, list.iter().copied().collect());
            let set: BTreeSet<u32> = list.iter().map(|(value, _)| *value).gather();
            assert_eq!(set, list.iter().map(|(value, _)| *value).collect());
        }
    }
}
