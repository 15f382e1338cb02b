//! [`OrdSet`].

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeBounds;

use super::map::OrdMap;
use super::node;

/// A sorted set whose copies share what they have in common.
#[derive(Clone, PartialEq, Eq)]
pub struct OrdSet<T>(OrdMap<T, ()>);

impl<T> OrdSet<T> {
    /// An empty set.
    pub const fn new() -> Self {
        OrdSet(OrdMap::new())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The smallest.
    pub fn get_min(&self) -> Option<&T> {
        self.0.get_min().map(|(item, ())| item)
    }

    /// The greatest.
    pub fn get_max(&self) -> Option<&T> {
        self.0.get_max().map(|(item, ())| item)
    }

    /// All in order.
    pub fn iter(&self) -> Items<'_, T> {
        Items(self.0.iter())
    }

    /// Those in a range.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Items<'_, T>
    where
        T: Borrow<Q>,
    {
        Items(self.0.range(range))
    }

    /// Whether it is there.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(item)
    }
}

impl<T: Ord + Clone> OrdSet<T> {
    /// Puts one in; returns an equal one that was there.
    pub fn insert(&mut self, item: T) -> Option<T> {
        let old = node::find(&self.0.0, &item).map(|n| n.entry.0.clone());
        if old.is_none() {
            self.0.insert(item, ());
        }
        old
    }

    /// Takes one out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> Option<T>
    where
        T: Borrow<Q>,
    {
        self.0.remove_with_key(item).map(|(item, ())| item)
    }

    /// Takes out the smallest.
    pub fn remove_min(&mut self) -> Option<T> {
        node::take_end(&mut self.0.0, 0).map(|(item, ())| item)
    }
}

impl<T> Default for OrdSet<T> {
    fn default() -> Self {
        OrdSet::new()
    }
}

impl<T: Hash> Hash for OrdSet<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|item| item.hash(state));
    }
}

impl<T: fmt::Debug> fmt::Debug for OrdSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<T: Ord + Clone> Extend<T> for OrdSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<T: Ord + Clone> FromIterator<T> for OrdSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = OrdSet::new();
        set.extend(items);
        set
    }
}

impl<'a, T> IntoIterator for &'a OrdSet<T> {
    type Item = &'a T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Clone> IntoIterator for OrdSet<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        let items: Vec<T> = self.iter().cloned().collect();
        items.into_iter()
    }
}

/// The items of a set or a list in order.
pub struct Items<'a, T>(pub(super) super::iter::Iter<'a, T, ()>);

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        Items(self.0.clone())
    }
}

impl<'a, T> Iterator for Items<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(item, ())| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for Items<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(item, ())| item)
    }
}

impl<T> ExactSizeIterator for Items<'_, T> {}
