//! The store: every object, the log of committed writes and the revision. A persistent value: cloning it is O(1).
//!
//! Upstream: etcd with k8s.io/apiserver/pkg/storage/etcd3, as the watch cache shows it (v1.37).

use crate::rbac;
use kubestep_model::tree::{Iter, OrdMap, Vector};
use kubestep_model::{Instant, Key, Kind, Object, Revision};
use std::sync::Arc;

/// So many writes are remembered; a watch from an older revision has to list again (410 Gone).
pub const LOG_LENGTH: usize = 20_000;

/// No request makes more writes than this.
const MARGIN: usize = LOG_LENGTH / 4;

/// One committed write.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct LogEntry {
    pub revision: Revision,
    pub key: Key,
    /// The object before; of a deletion, its last state with the deletion's resource version.
    pub old: Option<Object>,
    /// The object after; `None` when it was deleted.
    pub new: Option<Object>,
    pub at: Instant,
    /// The user agent of who wrote.
    pub who: Arc<str>,
    /// The part of the object that was written; empty for the object itself.
    pub part: &'static str,
    /// What matters about the write to who owns which fields.
    pub by: Option<Arc<Write>>,
}

/// A write, as far as it decides who owns which fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// By a client that gave itself a name.
    Updated(Arc<str>),
    /// Server-side apply of this object.
    Applied {
        /// Who applied.
        manager: Arc<str>,
        /// What was applied.
        object: Arc<serde_json::Value>,
    },
    /// The owners themselves were written, as `managedFields`.
    Managers(Arc<serde_json::Value>),
}

/// How a write is remembered.
#[derive(Clone, Debug)]
pub(crate) struct Signed<'a> {
    pub(crate) who: &'a Arc<str>,
    pub(crate) part: &'static str,
    pub(crate) by: Option<Arc<Write>>,
}

impl<'a> From<&'a Arc<str>> for Signed<'a> {
    fn from(who: &'a Arc<str>) -> Self {
        Signed { who, part: "", by: None }
    }
}

/// All objects at one revision, and how they came to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    objects: OrdMap<Key, Object>,
    log: Vector<Arc<LogEntry>>,
    revision: Revision,
    /// The last revision that the log no longer holds.
    compacted: Revision,
    /// Objects that every cluster has and that were deleted here.
    dropped: Arc<Vec<Key>>,
}

impl Store {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Store::default()
    }

    /// The revision of the last write.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The object of a key.
    pub fn get(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key).or_else(|| self.builtin(key))
    }

    /// A role or binding that every cluster has: it is there without being stored.
    fn builtin(&self, key: &Key) -> Option<&'static Object> {
        rbac::builtin(key).filter(|_| !self.dropped.contains(key))
    }

    /// All objects of a kind, in one namespace or in all, sorted by namespace and name.
    pub fn list<'a>(
        &'a self,
        kind: Kind,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        let builtin = rbac::builtins(kind).filter(|(key, _)| {
            namespace.is_none_or(|wanted| *key.namespace == *wanted)
                && !self.objects.contains_key(*key)
                && !self.dropped.contains(key)
        });
        let builtin: Vec<(&'static Key, &'static Object)> = builtin.collect();
        let mut builtin = builtin.into_iter().peekable();
        let mut stored = self.behind(kind, namespace, "").peekable();
        std::iter::from_fn(move || {
            let own = match (stored.peek(), builtin.peek()) {
                (Some((own, _)), Some((other, _))) => *own < *other,
                (own, _) => own.is_some(),
            };
            if own { stored.next().map(|(_, o)| o) } else { builtin.next().map(|(_, o)| o) }
        })
    }

    /// All objects, sorted by kind, namespace and name.
    pub fn all(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// The objects of a kind that are stored, sorted by namespace and name: without those that are there without it.
    pub fn stored(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        self.behind(kind, None, "").map(|(_, object)| object)
    }

    /// What is stored of a kind, in one namespace or in all; of one namespace only the names from this one on. What stands
    /// before is not gone through.
    pub(crate) fn behind(&self, kind: Kind, namespace: Option<&str>, name: &str) -> Iter<'_, Key, Object> {
        let before = |key: &Key| {
            let in_namespace = |wanted| (&*key.namespace, &*key.name) < (wanted, name);
            key.kind < kind || key.kind == kind && namespace.is_some_and(in_namespace)
        };
        let through = |key: &Key| {
            key.kind < kind || key.kind == kind && namespace.is_none_or(|wanted| &*key.namespace <= wanted)
        };
        self.objects.between(&before, &through)
    }

    /// The kinds of which something is stored, in order.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut found: Vec<Kind> = vec![];
        let mut next = self.objects.get_min().map(|(key, _)| key.kind);
        while let Some(kind) = next {
            found.push(kind);
            next = self.objects.between(&|key| key.kind <= kind, &|_| true).next().map(|(key, _)| key.kind);
        }
        found
    }

    /// Tells the objects that are not as they were in another store: what was there, and what is here. It costs what was
    /// changed since one was a copy of the other.
    pub fn differences<'a>(
        &'a self,
        before: &'a Store,
        tell: &mut dyn FnMut(Option<&'a Object>, Option<&'a Object>),
    ) {
        self.objects.differences(&before.objects, &mut |_, old, new| tell(old, new));
    }

    /// The writes that made this store of another one, if it was made of that and the log still tells.
    pub fn written_since(&self, before: &Store) -> Option<impl Iterator<Item = &LogEntry>> {
        let last = before.shared_entry(before.revision)?;
        let same = self.shared_entry(before.revision).is_some_and(|entry| Arc::ptr_eq(entry, last));
        same.then(|| self.log_after(before.revision))
    }

    /// Up to this revision the log has been dropped: a watch must start here or later.
    pub fn oldest_revision(&self) -> Revision {
        self.compacted
    }

    /// Whether the log still holds every write since the start.
    pub(crate) fn remembers_all(&self) -> bool {
        self.log.len() < LOG_LENGTH
    }

    /// The writes after a revision, oldest first; those that were dropped from the log are missing.
    pub fn log_after(&self, revision: Revision) -> impl Iterator<Item = &LogEntry> {
        self.entries_after(revision).map(|entry| &**entry)
    }

    /// As [`Store::log_after`], for those who keep what they find.
    pub fn entries_after(&self, revision: Revision) -> impl Iterator<Item = &Arc<LogEntry>> {
        let skip = usize::try_from(revision.saturating_sub(self.compacted)).unwrap_or(usize::MAX);
        self.log.skip(skip)
    }

    /// The write that made a revision, if the log still holds it.
    pub fn entry(&self, revision: Revision) -> Option<&LogEntry> {
        self.shared_entry(revision).map(|entry| &**entry)
    }

    fn shared_entry(&self, revision: Revision) -> Option<&Arc<LogEntry>> {
        let index = revision.checked_sub(self.compacted)?.checked_sub(1)?;
        self.log.get(usize::try_from(index).ok()?)
    }

    /// The objects of a kind as they were at a revision, if the log still tells; other kinds are as they are.
    ///
    /// An object that was there from the start, was never written and is gone has the first revision of the log as its
    /// resource version: what it had is not remembered.
    pub(crate) fn at(&self, kind: Kind, revision: Revision) -> Option<Store> {
        if revision < self.compacted {
            return None;
        }
        let since: Vec<&LogEntry> = self.log_after(revision).filter(|e| e.key.kind == kind).collect();
        let mut past = self.clone();
        for entry in since.iter().rev() {
            past.undo(entry, self.before(entry));
        }
        past.revision = revision;
        Some(past)
    }

    /// Whether one request may write so much that the oldest writes are forgotten.
    pub(crate) fn is_near_full(&self) -> bool {
        self.log.len() + MARGIN >= LOG_LENGTH
    }

    /// Without what was written after a revision, of which nothing is forgotten.
    pub(crate) fn taken_back_to(mut self, revision: Revision) -> Store {
        while self.revision > revision {
            let Some(write) = self.log.pop_back() else { break };
            self.revision -= 1;
            self.undo(&write, self.before(&write));
        }
        self
    }

    /// Takes one write back; `before` is what it wrote over.
    fn undo(&mut self, write: &LogEntry, before: Option<Object>) {
        if let Some(own) = rbac::builtin(&write.key) {
            // Such an object is there without being stored, unless it was deleted.
            let dropped = Arc::make_mut(&mut self.dropped);
            dropped.retain(|key| *key != write.key);
            if before.is_none() {
                dropped.push(write.key.clone());
            }
            if before.as_ref() == Some(own) {
                self.objects.remove(&write.key);
                return;
            }
        }
        match before {
            Some(object) => self.objects.insert(write.key.clone(), object),
            None => self.objects.remove(&write.key),
        };
    }

    /// The object that a write wrote over, as it was.
    fn before(&self, write: &LogEntry) -> Option<Object> {
        let mut old = write.old.clone()?;
        if write.new.is_some() {
            return Some(old);
        }
        let earlier = (self.compacted + 1..write.revision).rev().filter_map(|revision| self.entry(revision));
        if let Some(last) = earlier.into_iter().find(|entry| entry.key == write.key) {
            return last.new.clone();
        }
        if let Some(own) = rbac::builtin(&write.key) {
            return Some(own.clone());
        }
        old.meta_mut().resource_version = self.compacted.to_string();
        Some(old)
    }

    /// Puts objects that are there from the start: no admission, no validation, no log.
    pub fn seed(&mut self, objects: impl IntoIterator<Item = Object>) {
        for mut object in objects {
            self.revision += 1;
            object.meta_mut().resource_version = self.revision.to_string();
            self.objects.insert(object.key(), object);
        }
        self.log = Vector::new();
        self.compacted = self.revision;
    }

    /// Takes all objects of a kind out without a trace, as if the cluster had been there for a day.
    pub fn forget(&mut self, kind: Kind) {
        let keys: Vec<Key> = self.list(kind, None).map(Object::key).collect();
        for key in keys {
            self.objects.remove(&key);
        }
    }

    /// Writes an object and gives it the new resource version.
    pub(crate) fn put<'a>(&mut self, mut object: Object, at: Instant, by: impl Into<Signed<'a>>) -> Object {
        self.revision += 1;
        object.meta_mut().resource_version = self.revision.to_string();
        let key = object.key();
        let builtin = self.builtin(&key);
        let old = self.objects.insert(key.clone(), object.clone()).or_else(|| builtin.cloned());
        self.remember(key, old, Some(object.clone()), at, by.into());
        object
    }

    /// Removes an object; the answer is its last state with the deletion's resource version.
    pub(crate) fn remove(&mut self, key: &Key, at: Instant, who: &Arc<str>) -> Option<Object> {
        let builtin = self.builtin(key).cloned();
        if builtin.is_some() {
            Arc::make_mut(&mut self.dropped).push(key.clone());
        }
        let mut object = self.objects.remove(key).or(builtin)?;
        self.revision += 1;
        object.meta_mut().resource_version = self.revision.to_string();
        self.remember(key.clone(), Some(object.clone()), None, at, who.into());
        Some(object)
    }

    fn remember(&mut self, key: Key, old: Option<Object>, new: Option<Object>, at: Instant, by: Signed<'_>) {
        let Signed { who, part, by } = by;
        let entry = LogEntry { revision: self.revision, key, old, new, at, who: who.clone(), part, by };
        self.log.push_back(Arc::new(entry));
        if self.log.len() > LOG_LENGTH {
            self.log.pop_front();
            self.compacted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::{ConfigMap, Namespace};

    fn map(namespace: &str, name: &str) -> Object {
        let mut map = ConfigMap::default();
        map.metadata.namespace = namespace.into();
        map.metadata.name = name.into();
        map.into()
    }

    #[test]
    fn lists_by_kind_and_namespace() {
        let mut store = Store::new();
        store.seed([map("b", "x"), map("a", "y"), map("a", "x"), Namespace::default().into()]);
        let names = |namespace: Option<&str>| -> Vec<String> {
            store
                .list(Kind::ConfigMap, namespace)
                .map(|o| format!("{}/{}", o.meta().namespace, o.meta().name))
                .collect()
        };
        assert_eq!(names(None), ["a/x", "a/y", "b/x"]);
        assert_eq!(names(Some("a")), ["a/x", "a/y"]);
        assert_eq!(names(Some("c")), Vec::<String>::new());
    }

    #[test]
    fn what_is_stored_of_a_kind_is_found_from_any_name_on() {
        let mut store = Store::new();
        store.seed([map("b", "x"), map("a", "y"), map("a", "x"), map("c", "z"), Namespace::default().into()]);
        let names = |namespace: Option<&str>, name: &str| -> Vec<String> {
            let found = store.behind(Kind::ConfigMap, namespace, name);
            assert_eq!(found.len(), found.clone().count());
            found.map(|(key, _)| format!("{}/{}", key.namespace, key.name)).collect()
        };
        assert_eq!(names(None, ""), ["a/x", "a/y", "b/x", "c/z"]);
        assert_eq!(names(Some("a"), "x\0"), ["a/y"]);
        assert_eq!(names(Some("b"), ""), ["b/x"]);
        assert!(names(Some("b"), "y").is_empty() && names(Some("bb"), "").is_empty());
        assert_eq!(store.kinds(), [Kind::Namespace, Kind::ConfigMap]);
        assert_eq!(store.stored(Kind::ConfigMap).count(), 4);
        assert_eq!(store.stored(Kind::Pod).count(), 0);
    }

    #[test]
    fn what_was_written_can_be_taken_back() {
        let mut store = Store::new();
        store.seed([map("a", "x"), map("a", "y")]);
        let who: Arc<str> = "kubectl".into();
        store.put(map("a", "y"), Instant::START, &who);
        let before = store.clone();
        let mut changed = map("a", "x");
        changed.meta_mut().labels.insert("k".into(), "v".into());
        store.put(changed, Instant::START, &who);
        store.put(map("b", "new"), Instant::START, &who);
        store.remove(&Key::new(Kind::ConfigMap, "a", "y"), Instant::START, &who);
        assert_ne!(store, before);
        assert_eq!(store.taken_back_to(before.revision()), before);
    }

    #[test]
    fn the_log_is_found_by_revision_and_forgets_the_oldest() {
        let mut store = Store::new();
        store.seed([map("a", "x")]);
        let who: Arc<str> = "kubectl".into();
        for i in 0..LOG_LENGTH + 3 {
            store.put(map("a", &format!("m{i}")), Instant::START, &who);
        }
        assert_eq!(store.oldest_revision(), 4);
        assert_eq!(store.revision(), 1 + LOG_LENGTH as u64 + 3);
        assert_eq!(store.log_after(4).next().map(|e| e.revision), Some(5));
        assert_eq!(store.log_after(store.revision() - 2).count(), 2);
        assert_eq!(store.log_after(store.revision() + 9).count(), 0);
        assert_eq!(store.entry(5).map(|e| e.revision), Some(5));
        assert_eq!(store.entry(4), None);
        let gone = store.remove(&Key::new(Kind::ConfigMap, "a", "x"), Instant::START, &who);
        assert_eq!(gone.map(|o| o.meta().revision()), Some(store.revision()));
        assert!(store.entry(store.revision()).is_some_and(|e| e.new.is_none()));
    }
}
