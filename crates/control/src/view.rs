//! What a process has been told about the cluster: its informers' objects, frozen cheaply for each reconcile.

use kubestep_model::tree::OrdMap;
use kubestep_model::{Key, Kind, Object, Resource};
use std::sync::Arc;

/// Objects by key, with an index from owner to dependents. Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    objects: OrdMap<Key, Object>,
    /// (uid of the managing owner, or empty for objects without one; key)
    owned: OrdMap<(Arc<str>, Key), ()>,
    /// The same for owners that do not manage the object.
    referring: OrdMap<(Arc<str>, Key), ()>,
}

fn owner_uid(object: &Object) -> Arc<str> {
    object.meta().controller().map_or_else(|| "".into(), |o| o.uid.clone())
}

impl View {
    /// The object of this key.
    pub fn object(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key)
    }

    /// The object of this key as a kind with a struct.
    pub fn get<R: Resource>(&self, namespace: &str, name: &str) -> Option<&R> {
        self.objects.get(&Key::new(R::KIND, namespace, name)).and_then(R::of)
    }

    /// All objects of a kind, in one namespace or in all, by namespace and name.
    pub fn list<'a, R: Resource + 'a>(
        &'a self,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.objects_of(R::KIND, namespace).filter_map(R::of)
    }

    /// All objects of a kind, in one namespace or in all, by namespace and name.
    pub fn objects_of(&self, kind: Kind, namespace: Option<&str>) -> impl Iterator<Item = &Object> + use<'_> {
        let from = Key::new(kind, namespace.unwrap_or(""), "");
        let namespace: Option<Arc<str>> = namespace.map(Into::into);
        self.objects
            .range(from..)
            .take_while(move |(k, _)| k.kind == kind && namespace.as_ref().is_none_or(|n| *n == k.namespace))
            .map(|(_, o)| o)
    }

    /// Objects of a kind that the owner with this uid manages; with an empty uid, those that nobody manages.
    pub fn owned_by<'a, R: Resource + 'a>(&'a self, uid: &str) -> impl Iterator<Item = &'a R> + use<'a, R> {
        let uid: Arc<str> = uid.into();
        let from = (uid.clone(), Key::new(R::KIND, "", ""));
        self.owned
            .range(from..)
            .take_while(move |((u, k), ())| *u == uid && k.kind == R::KIND)
            .filter_map(|((_, k), ())| self.objects.get(k).and_then(R::of))
    }

    /// The same for a kind without a struct of its own in the store.
    pub fn objects_owned_by<'a>(
        &'a self,
        uid: &str,
        kind: Kind,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        let uid: Arc<str> = uid.into();
        let from = (uid.clone(), Key::new(kind, "", ""));
        self.owned
            .range(from..)
            .take_while(move |((u, k), ())| *u == uid && k.kind == kind)
            .filter_map(|((_, k), ())| self.objects.get(k))
    }

    /// Objects of all kinds that name the owner with this uid, whether or not it manages them.
    pub fn dependents<'a>(&'a self, uid: &str) -> impl Iterator<Item = &'a Object> + use<'a> {
        let uid: Arc<str> = uid.into();
        let find = |index: &'a OrdMap<(Arc<str>, Key), ()>| {
            let uid = uid.clone();
            let from = (uid.clone(), Key::new(Kind::Namespace, "", ""));
            index
                .range(from..)
                .take_while(move |((u, _), ())| *u == uid)
                .filter_map(|((_, k), ())| self.objects.get(k))
        };
        find(&self.owned).chain(find(&self.referring))
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

    /// Puts or (with `None`) removes an object; answers the one that was there.
    pub fn apply(&mut self, key: &Key, new: Option<Object>) -> Option<Object> {
        let old = self.objects.get(key).cloned();
        let (before, after) = (old.as_ref().map(owner_uid), new.as_ref().map(owner_uid));
        if before != after {
            if let Some(uid) = before {
                self.owned.remove(&(uid, key.clone()));
            }
            if let Some(uid) = after {
                self.owned.insert((uid, key.clone()), ());
            }
        }
        for owner in
            old.iter().flat_map(|o| &o.meta().owner_references).filter(|o| o.controller != Some(true))
        {
            self.referring.remove(&(owner.uid.clone(), key.clone()));
        }
        for owner in
            new.iter().flat_map(|o| &o.meta().owner_references).filter(|o| o.controller != Some(true))
        {
            self.referring.insert((owner.uid.clone(), key.clone()), ());
        }
        match new {
            Some(object) => self.objects.insert(key.clone(), object),
            None => self.objects.remove(key),
        };
        old
    }
}
