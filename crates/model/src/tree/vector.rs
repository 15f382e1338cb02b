//! [`Vector`].

use std::fmt;
use std::hash::{Hash, Hasher};

use super::iter::Iter;
use super::node::{self, Link};
use super::set::Items;

/// A list whose copies share what they have in common: long, and changed at its ends.
#[derive(Clone)]
pub struct Vector<T>(Link<T, ()>);

impl<T> Vector<T> {
    /// An empty list.
    pub const fn new() -> Self {
        Vector(None)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        node::size(&self.0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// All in order.
    pub fn iter(&self) -> Items<'_, T> {
        self.skip(0)
    }

    /// All behind the first `count`, in order.
    pub fn skip(&self, count: usize) -> Items<'_, T> {
        Items(Iter::new(&self.0, count, usize::MAX))
    }

    /// The one before which `at` others stand.
    pub fn get(&self, at: usize) -> Option<&T> {
        node::nth(&self.0, at).map(|(item, ())| item)
    }

    /// The first.
    pub fn front(&self) -> Option<&T> {
        node::end(&self.0, 0).map(|n| &n.entry.0)
    }

    /// The last.
    pub fn back(&self) -> Option<&T> {
        node::end(&self.0, 1).map(|n| &n.entry.0)
    }

    /// The place of the first that equals this one.
    pub fn index_of(&self, item: &T) -> Option<usize>
    where
        T: PartialEq,
    {
        self.iter().position(|other| other == item)
    }

    /// Whether one equals this one.
    pub fn contains(&self, item: &T) -> bool
    where
        T: PartialEq,
    {
        self.index_of(item).is_some()
    }
}

impl<T: Clone> Vector<T> {
    /// The one before which `at` others stand, to be changed.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        node::nth_mut(&mut self.0, at).map(|(item, ())| item)
    }

    /// The first, to be changed.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.get_mut(0)
    }

    /// Puts one behind all others.
    pub fn push_back(&mut self, item: T) {
        node::push(&mut self.0, (item, ()), 1);
    }

    /// Puts one before all others.
    pub fn push_front(&mut self, item: T) {
        node::push(&mut self.0, (item, ()), 0);
    }

    /// Takes the first.
    pub fn pop_front(&mut self) -> Option<T> {
        node::take_end(&mut self.0, 0).map(|(item, ())| item)
    }

    /// Takes the last.
    pub fn pop_back(&mut self) -> Option<T> {
        node::take_end(&mut self.0, 1).map(|(item, ())| item)
    }

    /// Keeps only those that are wanted.
    pub fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        if !self.iter().all(&wanted) {
            *self = self.iter().filter(|item| wanted(item)).cloned().collect();
        }
    }

    /// Takes the one before which `at` others stand.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        if at >= self.len() {
            return None;
        }
        node::take_nth(&mut self.0, at).map(|(item, ())| item)
    }
}

impl<T> Default for Vector<T> {
    fn default() -> Self {
        Vector(None)
    }
}

impl<T: PartialEq> PartialEq for Vector<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Vector<T> {}

impl<T: Hash> Hash for Vector<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|item| item.hash(state));
    }
}

impl<T: fmt::Debug> fmt::Debug for Vector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Clone> Extend<T> for Vector<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push_back(item);
        }
    }
}

impl<T: Clone> FromIterator<T> for Vector<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Vector::new();
        list.extend(items);
        list
    }
}

impl<'a, T> IntoIterator for &'a Vector<T> {
    type Item = &'a T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Clone> IntoIterator for Vector<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        let items: Vec<T> = self.iter().cloned().collect();
        items.into_iter()
    }
}
