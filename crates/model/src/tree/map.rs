//! [`OrdMap`].

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::iter::Iter;
use super::node::{self, Link};

/// A sorted map whose copies share what they have in common.
///
/// To copy it costs nothing, to change one entry a handful of nodes. Made for worlds of which many are kept, and
/// small when compiled: the page has several dozens of such maps, each with types of its own.
#[derive(Clone)]
pub struct OrdMap<K, V>(pub(super) Link<K, V>);

impl<K, V> OrdMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        OrdMap(None)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        node::size(&self.0)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether two maps are the same one, not changed since they were copied.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// The entry with the smallest key.
    pub fn get_min(&self) -> Option<&(K, V)> {
        node::end(&self.0, 0).map(|n| &n.entry)
    }

    /// The entry with the greatest key.
    pub fn get_max(&self) -> Option<&(K, V)> {
        node::end(&self.0, 1).map(|n| &n.entry)
    }

    /// All entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(&self.0, 0, usize::MAX)
    }

    /// All keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The entries whose keys are in a range.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let from = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(key) => node::rank(&self.0, &|k| k.borrow() < key),
            Bound::Excluded(key) => node::rank(&self.0, &|k| k.borrow() <= key),
        };
        let to = match range.end_bound() {
            Bound::Unbounded => usize::MAX,
            Bound::Included(key) => node::rank(&self.0, &|k| k.borrow() <= key),
            Bound::Excluded(key) => node::rank(&self.0, &|k| k.borrow() < key),
        };
        Iter::new(&self.0, from, to)
    }

    /// The entries between two places: behind the keys that are `before` the first, up to those that are not `through`
    /// the last. Both must hold for a beginning of the map.
    pub fn between(&self, before: &dyn Fn(&K) -> bool, through: &dyn Fn(&K) -> bool) -> Iter<'_, K, V> {
        Iter::new(&self.0, node::rank(&self.0, before), node::rank(&self.0, through))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        node::find(&self.0, key).map(|n| &n.entry.1)
    }

    /// The value at a place, where `place` says how a key stands to it: for those who have no key in one piece.
    pub fn find(&self, place: &dyn Fn(&K) -> Ordering) -> Option<&V> {
        node::find_by(&self.0, place).map(|n| &n.entry.1)
    }

    /// The entry of a key.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        node::find(&self.0, key).map(|n| (&n.entry.0, &n.entry.1))
    }

    /// Whether a key is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        node::find(&self.0, key).is_some()
    }
}

impl<K: Ord, V> OrdMap<K, V> {
    /// Tells where another map may differ from this one: keys with the value there and the value here. What the two have
    /// in common because one is a changed copy of the other is not gone through; so it costs what was changed. Values
    /// that are told may be equal.
    pub fn differences<'a>(
        &'a self,
        before: &'a Self,
        tell: &mut dyn FnMut(&'a K, Option<&'a V>, Option<&'a V>),
    ) {
        node::differences(&self.0, &before.0, &mut |here, there| {
            tell(&here.entry.0, there.map(|node| &node.entry.1), Some(&here.entry.1));
        });
        node::differences(&before.0, &self.0, &mut |there, here| {
            if here.is_none() {
                tell(&there.entry.0, Some(&there.entry.1), None);
            }
        });
    }
}

impl<K: Ord + Clone, V: Clone> OrdMap<K, V> {
    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        node::find_mut(&mut self.0, key)
    }

    /// Sets the value of a key and returns the one it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        node::insert(&mut self.0, (key, value))
    }

    /// Forgets a key and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_with_key(key).map(|(_, value)| value)
    }

    /// Forgets a key and returns its entry.
    pub fn remove_with_key<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        node::remove(&mut self.0, key)
    }

    /// A copy in which one key has this value.
    #[must_use]
    pub fn update(&self, key: K, value: V) -> Self {
        let mut copy = self.clone();
        copy.insert(key, value);
        copy
    }

    /// A copy without one key.
    #[must_use]
    pub fn without<Q: Ord + ?Sized>(&self, key: &Q) -> Self
    where
        K: Borrow<Q>,
    {
        let mut copy = self.clone();
        copy.remove(key);
        copy
    }

    /// The place of a key, whether it is there or not.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { map: self, key }
    }
}

/// The place of a key in an [`OrdMap`].
pub struct Entry<'a, K, V> {
    map: &'a mut OrdMap<K, V>,
    key: K,
}

impl<'a, K: Ord + Clone, V: Clone> Entry<'a, K, V> {
    /// The value; if there is none, first the default one is set.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// The value; if there is none, first this one is set.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value; if there is none, first one is made.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'a mut V {
        if !self.map.contains_key(&self.key) {
            self.map.insert(self.key.clone(), value());
        }
        self.map.get_mut(&self.key).expect("it is there or was just put there")
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Some(value) = self.map.get_mut(&self.key) {
            change(value);
        }
        self
    }
}

impl<K, V> Default for OrdMap<K, V> {
    fn default() -> Self {
        OrdMap(None)
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for OrdMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other) || self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for OrdMap<K, V> {}

impl<K: Hash, V: Hash> Hash for OrdMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.iter().for_each(|entry| entry.hash(state));
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OrdMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for OrdMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for OrdMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = OrdMap::new();
        map.extend(entries);
        map
    }
}

impl<'a, K, V> IntoIterator for &'a OrdMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Clone, V: Clone> IntoIterator for OrdMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        let entries: Vec<_> = self.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        entries.into_iter()
    }
}
