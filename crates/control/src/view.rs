//! What a process has been told about the cluster: its informers' objects, frozen cheaply for each reconcile.

use kubestep_model::tree::{Iter, OrdMap, Vector};
use kubestep_model::{Key, Kind, Node, Object, OwnerReference, Resource};
use std::cmp::Ordering::{self, Equal};
use std::{fmt, sync::Arc};

/// Objects by key, with an index from owner to dependents. Cloning is cheap.
#[derive(Clone, Default, PartialEq)]
pub struct View {
    objects: OrdMap<Key, Object>,
    /// (uid of the managing owner, or empty for objects without one; key)
    owned: Index,
    /// The same for owners that do not manage the object.
    referring: Index,
    /// The uids of objects that went while others named them as their owner, the latest last.
    absent: Vector<Arc<str>>,
    /// Nodes by their range of pod addresses.
    ranges: Index,
}

/// The ranges of nodes say nothing of their own: fingerprints of worlds do not know them.
impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("objects", &self.objects)
            .field("owned", &self.owned)
            .field("referring", &self.referring)
            .field("absent", &self.absent)
            .finish()
    }
}

fn range_of(object: Option<&Object>) -> Option<Arc<str>> {
    let node = object.and_then(Node::of).filter(|node| !node.spec.pod_cidr.is_empty());
    node.map(|node| node.spec.pod_cidr.as_str().into())
}

/// Keys of dependents by the uid of an owner.
type Index = OrdMap<(Arc<str>, Key), ()>;

/// Walks through a place of an index and, beside it, through the objects: those of one owner often stand together.
struct AllAt<'a> {
    objects: &'a OrdMap<Key, Object>,
    index: Iter<'a, (Arc<str>, Key), ()>,
    near: Option<Iter<'a, Key, Object>>,
}

impl<'a> Iterator for AllAt<'a> {
    type Item = &'a Object;

    fn next(&mut self) -> Option<&'a Object> {
        loop {
            let ((_, key), ()) = self.index.next()?;
            let beside = self.near.as_mut().and_then(Iter::next).filter(|(found, _)| *found == key);
            if let Some((_, object)) = beside {
                return Some(object);
            }
            let mut near = self.objects.range(key..);
            let found = near.next().filter(|(found, _)| *found == key);
            self.near = Some(near);
            if let Some((_, object)) = found {
                return Some(object);
            }
        }
    }
}

/// So many absent owners are remembered. Upstream: pkg/controller/garbagecollector, NewReferenceCache(500).
const MOST_ABSENT: usize = 500;

fn owner_uid(object: &Object) -> Arc<str> {
    object.meta().controller().map_or_else(Arc::default, |o| o.uid.clone())
}

/// The owners of an object that do not manage it.
fn owners_beside(object: Option<&Object>) -> impl Iterator<Item = &OwnerReference> {
    object.into_iter().flat_map(|o| &o.meta().owner_references).filter(|o| o.controller != Some(true))
}

impl View {
    /// The object of this key.
    pub fn object(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key)
    }

    /// The object of this key as a kind with a struct.
    pub fn get<R: Resource>(&self, namespace: &str, name: &str) -> Option<&R> {
        let place = |k: &Key| {
            let of_namespace = || (*k.namespace).cmp(namespace);
            k.kind.cmp(&R::KIND).then_with(of_namespace).then_with(|| (*k.name).cmp(name))
        };
        self.objects.find(&place).and_then(R::of)
    }

    /// All objects of a kind, in one namespace or in all, by namespace and name.
    pub fn list<'a, R: Resource + 'a>(
        &'a self,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.objects_of(R::KIND, namespace).filter_map(R::of)
    }

    /// How many objects of a kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.objects.between(&|k| k.kind < kind, &|k| k.kind <= kind).len()
    }

    /// All objects of a kind, in one namespace or in all, by namespace and name.
    pub fn objects_of(&self, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &Object> + use<'_> {
        let place =
            |k: &Key| k.kind.cmp(&kind).then_with(|| namespace.map_or(Equal, |n| (*k.namespace).cmp(n)));
        self.objects.between(&|k| place(k).is_lt(), &|k| place(k).is_le()).map(|(_, o)| o)
    }

    /// Objects of a kind that the owner with this uid manages; with an empty uid, those that nobody manages.
    pub fn owned_by<'a, R: Resource + 'a>(&'a self, uid: &str) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.objects_owned_by(uid, R::KIND).filter_map(R::of)
    }

    /// The same for a kind without a struct of its own in the store.
    pub fn objects_owned_by<'a>(
        &'a self,
        uid: &str,
        kind: Kind,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        self.all_at(&self.owned, &|(u, k)| (**u).cmp(uid).then_with(|| k.kind.cmp(&kind)))
    }

    /// Objects of all kinds that name the owner with this uid, whether or not it manages them.
    pub fn dependents<'a>(&'a self, uid: &str) -> impl Iterator<Item = &'a Object> + use<'a> {
        let place = |(u, _): &(Arc<str>, Key)| (**u).cmp(uid);
        self.all_at(&self.owned, &place).chain(self.all_at(&self.referring, &place))
    }

    /// The objects that stand at one place of an index.
    fn all_at<'a>(&'a self, index: &'a Index, place: &dyn Fn(&(Arc<str>, Key)) -> Ordering) -> AllAt<'a> {
        AllAt {
            objects: &self.objects,
            index: index.between(&|k| place(k).is_lt(), &|k| place(k).is_le()),
            near: None,
        }
    }

    /// Every object.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Object)> {
        self.objects.iter()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Whether a node has this range of pod addresses.
    pub fn has_range(&self, cidr: &str) -> bool {
        self.ranges.between(&|(r, _)| **r < *cidr, &|(r, _)| **r <= *cidr).len() > 0
    }

    /// Whether the object with this uid was here and is known to be gone.
    pub fn is_absent(&self, uid: &Arc<str>) -> bool {
        self.absent.contains(uid)
    }

    fn note_absent(&mut self, uid: &Arc<str>) {
        if self.dependents(uid).next().is_none() || self.absent.contains(uid) {
            return;
        }
        self.absent.push_back(uid.clone());
        if self.absent.len() > MOST_ABSENT {
            self.absent.pop_front();
        }
    }

    /// Puts or (with `None`) removes an object; answers the one that was there.
    pub fn apply(&mut self, key: &Key, new: Option<Object>) -> Option<Object> {
        let old = match &new {
            Some(object) => self.objects.insert(key.clone(), object.clone()),
            None => self.objects.remove(key),
        };
        self.index(key, old.as_ref(), new.as_ref());
        if let Some(old) = old.as_ref().filter(|_| new.is_none()) {
            self.note_absent(&old.meta().uid);
        }
        old
    }

    /// The indices follow an object that came, changed or went.
    fn index(&mut self, key: &Key, old: Option<&Object>, new: Option<&Object>) {
        let (before, after) = (old.map(owner_uid), new.map(owner_uid));
        if before != after {
            if let Some(uid) = before {
                self.owned.remove(&(uid, key.clone()));
            }
            if let Some(uid) = after {
                self.owned.insert((uid, key.clone()), ());
            }
        }
        let (left, taken) = (range_of(old), range_of(new));
        if left != taken {
            if let Some(range) = left {
                self.ranges.remove(&(range, key.clone()));
            }
            if let Some(range) = taken {
                self.ranges.insert((range, key.clone()), ());
            }
        }
        for owner in owners_beside(old) {
            self.referring.remove(&(owner.uid.clone(), key.clone()));
        }
        for owner in owners_beside(new) {
            self.referring.insert((owner.uid.clone(), key.clone()), ());
        }
    }
}
