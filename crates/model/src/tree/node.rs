//! The tree below the maps and sets: balanced by weight, shared by reference counts.
//!
//! A change copies the nodes between the root and its place, if somebody else holds them, and no others. Every
//! recursion here is as deep as the tree is high: at most about 2.4 times the logarithm of its size.
//!
//! After Adams, "Efficient sets: a balancing act" (1993), with the factors 3 and 2, for which the proof holds.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

/// A tree that may be empty.
pub(super) type Link<K, V> = Option<Arc<Node<K, V>>>;

/// How much heavier one side may be than the other.
const DELTA: usize = 3;
/// How much heavier the inner grandchild may be than the outer one for a single rotation.
const GAMMA: usize = 2;

#[derive(Clone)]
pub(super) struct Node<K, V> {
    pub(super) entry: (K, V),
    /// The entries of this node and all below.
    size: u32,
    /// What is smaller, and what is greater.
    pub(super) sides: [Link<K, V>; 2],
}

/// A node that nobody else holds: a copy if somebody does. Compiled once for each type, not at each use.
#[inline(never)]
fn own<K: Clone, V: Clone>(node: &mut Arc<Node<K, V>>) -> &mut Node<K, V> {
    Arc::make_mut(node)
}

/// How many entries a tree has.
pub(super) fn size<K, V>(link: &Link<K, V>) -> usize {
    link.as_ref().map_or(0, |node| node.size as usize)
}

fn weight<K, V>(link: &Link<K, V>) -> usize {
    size(link) + 1
}

impl<K, V> Node<K, V> {
    fn leaf(entry: (K, V)) -> Self {
        Node { entry, size: 1, sides: [None, None] }
    }

    fn resize(&mut self) {
        self.size = self.sides.iter().fold(1, |sum, side| sum + side.as_ref().map_or(0, |n| n.size));
    }
}

/// The node of a key.
pub(super) fn find<'a, K: Borrow<Q>, V, Q: Ord + ?Sized>(
    mut link: &'a Link<K, V>,
    key: &Q,
) -> Option<&'a Node<K, V>> {
    while let Some(node) = link {
        match key.cmp(node.entry.0.borrow()) {
            Ordering::Equal => return Some(node),
            order => link = &node.sides[usize::from(order == Ordering::Greater)],
        }
    }
    None
}

/// The node at the place that this says: how a key stands to what is looked for.
pub(super) fn find_by<'a, K, V>(
    mut link: &'a Link<K, V>,
    place: &dyn Fn(&K) -> Ordering,
) -> Option<&'a Node<K, V>> {
    while let Some(node) = link {
        match place(&node.entry.0) {
            Ordering::Equal => return Some(node),
            order => link = &node.sides[usize::from(order == Ordering::Less)],
        }
    }
    None
}

/// Tells each node of a tree that another one does not hold, with the other's node of the same key. Two trees that were
/// one are gone through only where they were changed since.
pub(super) fn differences<'a, K: Ord, V>(
    link: &'a Link<K, V>,
    other: &'a Link<K, V>,
    tell: &mut dyn FnMut(&'a Node<K, V>, Option<&'a Node<K, V>>),
) {
    let Some(node) = link else { return };
    let there = find(other, &node.entry.0);
    if there.is_some_and(|there| std::ptr::eq(there, &**node)) {
        return;
    }
    differences(&node.sides[0], other, tell);
    tell(node, there);
    differences(&node.sides[1], other, tell);
}

/// The first or the last node.
pub(super) fn end<K, V>(mut link: &Link<K, V>, side: usize) -> Option<&Node<K, V>> {
    let mut last = None;
    while let Some(node) = link {
        last = Some(&**node);
        link = &node.sides[side];
    }
    last
}

/// How many keys stand before the place where `before` becomes false.
pub(super) fn rank<K, V>(mut link: &Link<K, V>, before: &dyn Fn(&K) -> bool) -> usize {
    let mut sum = 0;
    while let Some(node) = link {
        let passed = before(&node.entry.0);
        if passed {
            sum += weight(&node.sides[0]);
        }
        link = &node.sides[usize::from(passed)];
    }
    sum
}

/// The way from a root to a node: a bit for each side that is taken, the first one lowest. A tree that is higher than 64 has
/// 60 million entries and more.
#[derive(Clone, Copy)]
struct Way {
    sides: u64,
    left: u32,
}

impl Way {
    /// The way to the node of a key, so that it is compared with each key once, whatever is done there.
    fn to<K: Borrow<Q>, V, Q: Ord + ?Sized>(mut link: &Link<K, V>, key: &Q) -> Option<Way> {
        let mut way = Way { sides: 0, left: 0 };
        while let Some(node) = link {
            let side = match key.cmp(node.entry.0.borrow()) {
                Ordering::Equal => return Some(way),
                order => usize::from(order == Ordering::Greater),
            };
            way.sides |= (side as u64).wrapping_shl(way.left);
            way.left += 1;
            link = &node.sides[side];
        }
        None
    }
}

impl Iterator for Way {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let side = usize::from(self.sides & 1 == 1);
        self.sides >>= 1;
        Some(side)
    }
}

/// A key that is there, to be changed; the way to it is copied if it is shared.
pub(super) fn find_mut<'a, K: Borrow<Q> + Clone, V: Clone, Q: Ord + ?Sized>(
    link: &'a mut Link<K, V>,
    key: &Q,
) -> Option<&'a mut V> {
    let way = Way::to(link, key)?;
    go(link, way)
}

/// The value at the end of a way, to be changed.
fn go<K: Clone, V: Clone>(mut link: &mut Link<K, V>, mut way: Way) -> Option<&mut V> {
    while let Some(node) = link {
        let node = own(node);
        let Some(side) = way.next() else { return Some(&mut node.entry.1) };
        link = &mut node.sides[side];
    }
    None
}

/// Puts an entry in its place and returns the value that was there.
pub(super) fn insert<K: Ord + Clone, V: Clone>(link: &mut Link<K, V>, entry: (K, V)) -> Option<V> {
    let Some(node) = link else {
        *link = Some(Arc::new(Node::leaf(entry)));
        return None;
    };
    let node = own(node);
    let side = match entry.0.cmp(&node.entry.0) {
        Ordering::Equal => return Some(std::mem::replace(&mut node.entry.1, entry.1)),
        order => usize::from(order == Ordering::Greater),
    };
    let old = insert(&mut node.sides[side], entry);
    if old.is_none() {
        balance(link);
    }
    old
}

/// Takes the entry of a key, if it is there.
pub(super) fn remove<K: Borrow<Q> + Clone, V: Clone, Q: Ord + ?Sized>(
    link: &mut Link<K, V>,
    key: &Q,
) -> Option<(K, V)> {
    let way = Way::to(link, key)?;
    take_at(link, way)
}

/// Takes the entry at the end of a way.
fn take_at<K: Clone, V: Clone>(link: &mut Link<K, V>, mut way: Way) -> Option<(K, V)> {
    let root = link.as_mut()?;
    let Some(side) = way.next() else { return take_root(link) };
    let taken = take_at(&mut own(root).sides[side], way);
    balance(link);
    taken
}

/// Takes the first or the last entry.
pub(super) fn take_end<K: Clone, V: Clone>(link: &mut Link<K, V>, side: usize) -> Option<(K, V)> {
    let root = link.as_mut()?;
    if root.sides[side].is_none() {
        return take_root(link);
    }
    let taken = take_end(&mut own(root).sides[side], side);
    balance(link);
    taken
}

/// Puts an entry before or behind all others.
pub(super) fn push<K: Clone, V: Clone>(link: &mut Link<K, V>, entry: (K, V), side: usize) {
    match link {
        None => *link = Some(Arc::new(Node::leaf(entry))),
        Some(root) => {
            push(&mut own(root).sides[side], entry, side);
            balance(link);
        }
    }
}

/// The way at a node to the entry before which `at` others stand: its side and how many stand before it there.
fn way<K, V>(node: &Node<K, V>, at: usize) -> Option<(usize, usize)> {
    let before = size(&node.sides[0]);
    match at.cmp(&before) {
        Ordering::Less => Some((0, at)),
        Ordering::Equal => None,
        Ordering::Greater => Some((1, at - before - 1)),
    }
}

/// The entry before which `at` others stand.
pub(super) fn nth<K, V>(mut link: &Link<K, V>, mut at: usize) -> Option<&(K, V)> {
    while let Some(node) = link {
        let Some((side, next)) = way(node, at) else { return Some(&node.entry) };
        (link, at) = (&node.sides[side], next);
    }
    None
}

/// The entry before which `at` others stand, to be changed.
pub(super) fn nth_mut<K: Clone, V: Clone>(mut link: &mut Link<K, V>, mut at: usize) -> Option<&mut (K, V)> {
    while let Some(node) = link {
        let node = own(node);
        let Some((side, next)) = way(node, at) else { return Some(&mut node.entry) };
        (link, at) = (&mut node.sides[side], next);
    }
    None
}

/// Takes the entry before which `at` others stand.
pub(super) fn take_nth<K: Clone, V: Clone>(link: &mut Link<K, V>, at: usize) -> Option<(K, V)> {
    let root = link.as_mut()?;
    let Some((side, next)) = way(root, at) else { return take_root(link) };
    let taken = take_nth(&mut own(root).sides[side], next);
    balance(link);
    taken
}

/// Takes the root's entry; the heavier side gives the next root.
fn take_root<K: Clone, V: Clone>(link: &mut Link<K, V>) -> Option<(K, V)> {
    let mut root = Arc::unwrap_or_clone(link.take()?);
    let side = usize::from(size(&root.sides[1]) > size(&root.sides[0]));
    if let Some(next) = take_end(&mut root.sides[side], 1 - side) {
        let mut node = Node { entry: next, size: 1, sides: root.sides };
        node.resize();
        *link = Some(Arc::new(node));
    }
    Some(root.entry)
}

/// Makes a root right whose sides are, and of which one has lost or won an entry.
fn balance<K: Clone, V: Clone>(link: &mut Link<K, V>) {
    let Some(root) = link else { return };
    let root = own(root);
    root.resize();
    let weights = [weight(&root.sides[0]), weight(&root.sides[1])];
    let heavy = usize::from(weights[1] > weights[0]);
    if weights[heavy] <= DELTA * weights[1 - heavy] {
        return;
    }
    if let Some(child) = &root.sides[heavy]
        && weight(&child.sides[1 - heavy]) >= GAMMA * weight(&child.sides[heavy])
    {
        rotate(&mut root.sides[heavy], 1 - heavy);
    }
    rotate(link, heavy);
}

/// Makes the child on one side the root.
#[inline(never)]
fn rotate<K: Clone, V: Clone>(link: &mut Link<K, V>, side: usize) {
    let Some(mut root) = link.take() else { return };
    let below = own(&mut root);
    let Some(mut child) = below.sides[side].take() else {
        *link = Some(root);
        return;
    };
    let above = own(&mut child);
    below.sides[side] = above.sides[1 - side].take();
    below.resize();
    above.sides[1 - side] = Some(root);
    above.resize();
    *link = Some(child);
}

/// Whether every node has the right size and no side is too heavy.
#[cfg(test)]
pub(super) fn is_sound<K: Ord, V>(link: &Link<K, V>) -> bool {
    let Some(node) = link else { return true };
    let [small, great] = &node.sides;
    let (a, b) = (weight(small), weight(great));
    node.size as usize == size(small) + size(great) + 1
        && a <= DELTA * b
        && b <= DELTA * a
        && end(small, 1).is_none_or(|n| n.entry.0 < node.entry.0)
        && end(great, 0).is_none_or(|n| n.entry.0 > node.entry.0)
        && is_sound(small)
        && is_sound(great)
}
