//! Walking a tree from both ends.

use std::iter::FusedIterator;

use super::node::{Link, Node, size};

/// The entries between two places, in order.
pub struct Iter<'a, K, V> {
    root: &'a Link<K, V>,
    /// The places that are left.
    from: usize,
    to: usize,
    /// The nodes whose turn is still to come, the next one last; from the left and from the right.
    ways: [Option<Vec<&'a Node<K, V>>>; 2],
}

impl<'a, K, V> Iter<'a, K, V> {
    pub(super) fn new(root: &'a Link<K, V>, from: usize, to: usize) -> Self {
        Iter { root, from, to: to.min(size(root)), ways: [None, None] }
    }

    /// The next node from the left (0) or from the right (1).
    fn step(&mut self, side: usize) -> Option<&'a (K, V)> {
        if self.from >= self.to {
            return None;
        }
        let passed = if side == 0 { self.from } else { size(self.root) - self.to };
        let way = self.ways[side].get_or_insert_with(|| seek(self.root, passed, side));
        let node = way.pop()?;
        descend(&node.sides[1 - side], side, way);
        if side == 0 {
            self.from += 1
        } else {
            self.to -= 1
        }
        Some(&node.entry)
    }
}

/// The way to the node before which `passed` entries stand, seen from one side.
fn seek<K, V>(mut link: &Link<K, V>, mut passed: usize, side: usize) -> Vec<&Node<K, V>> {
    let mut way = Vec::new();
    while let Some(node) = link {
        let before = size(&node.sides[side]);
        if passed <= before {
            way.push(&**node);
        }
        if passed == before {
            break;
        }
        let on = passed > before;
        if on {
            passed -= before + 1;
        }
        link = &node.sides[if on { 1 - side } else { side }];
    }
    way
}

fn descend<'a, K, V>(mut link: &'a Link<K, V>, side: usize, way: &mut Vec<&'a Node<K, V>>) {
    while let Some(node) = link {
        way.push(node);
        link = &node.sides[side];
    }
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { root: self.root, from: self.from, to: self.to, ways: self.ways.clone() }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.step(0).map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.to.saturating_sub(self.from);
        (left, Some(left))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(1).map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}
impl<K, V> FusedIterator for Iter<'_, K, V> {}
