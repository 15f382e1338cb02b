//! What an object was, write by write.

use kubestep_cluster::{LogEntry, Store};
use kubestep_model::Object;

/// So many writes are looked at.
const MOST: usize = 200;

/// An object and what it was before, each with the write that made it, the latest first. It goes from each write to the
/// one before it, so that it costs what this object was written, however long the log is.
pub fn writes<'a>(store: &'a Store, object: &'a Object) -> impl Iterator<Item = (&'a Object, &'a LogEntry)> {
    let made = move |object: &'a Object| Some((object, store.entry(object.meta().revision())?));
    std::iter::successors(made(object), move |(_, write)| made(write.old.as_ref()?)).take(MOST)
}
