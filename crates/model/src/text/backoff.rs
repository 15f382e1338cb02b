//! Waiting longer after every failure: crashing containers and images that cannot be pulled.
//!
//! Times and spans are in nanoseconds.

use std::sync::Arc;

use crate::tree::OrdMap;

/// 10 seconds: the first wait of a crashing container and of an image.
pub const INITIAL: i64 = 10_000_000_000;

/// 5 minutes: the longest wait of both.
pub const MAX: i64 = 300_000_000_000;

/// The waits of many items, each with its own history.
///
/// Upstream: k8s.io/client-go/util/flowcontrol, Backoff (v1.37).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Backoff {
    initial: i64,
    max: i64,
    entries: OrdMap<Arc<str>, Entry>,
}

/// One item's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// When the wait last grew.
    pub last_update: i64,
    /// The wait now.
    pub backoff: i64,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff::new(INITIAL, MAX)
    }
}

impl Backoff {
    pub fn new(initial: i64, max: i64) -> Backoff {
        Backoff { initial, max, entries: OrdMap::new() }
    }

    /// The item's wait now; 0 for an item without failures.
    pub fn get(&self, id: &str) -> i64 {
        self.entries.get(id).map_or(0, |entry| entry.backoff)
    }

    /// All items that have failed.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.entries.iter().map(|(id, entry)| (&**id, *entry))
    }

    pub fn entry(&self, id: &str) -> Option<Entry> {
        self.entries.get(id).copied()
    }

    /// Doubles the item's wait up to the longest, or starts anew where the last growth is long ago.
    pub fn next(&mut self, id: &str, event_time: i64, now: i64) {
        let backoff = match self.fresh(id, event_time) {
            Some(entry) => entry.backoff.saturating_mul(2).min(self.max),
            None => self.initial,
        };
        self.entries.insert(Arc::from(id), Entry { last_update: now, backoff });
    }

    /// Forgets one item.
    pub fn reset(&mut self, id: &str) {
        self.entries.remove(id);
    }

    /// Whether the item must still wait, counted from the event.
    pub fn is_in_backoff_since(&self, id: &str, event_time: i64, now: i64) -> bool {
        self.fresh(id, event_time).is_some_and(|entry| now.saturating_sub(event_time) < entry.backoff)
    }

    /// Whether the item must still wait at the event, counted from the last growth.
    pub fn is_in_backoff_since_update(&self, id: &str, event_time: i64) -> bool {
        let waits = |entry: Entry| event_time.saturating_sub(entry.last_update) < entry.backoff;
        self.fresh(id, event_time).is_some_and(waits)
    }

    /// Forgets the items that have been well for so long that they would start anew.
    pub fn gc(&mut self, now: i64) {
        let over = |entry: &Entry| expired(*entry, now, self.max);
        let gone: Vec<Arc<str>> =
            self.entries.iter().filter(|(_, entry)| over(entry)).map(|(id, _)| id.clone()).collect();
        for id in gone {
            self.entries.remove(&id);
        }
    }

    /// The item's history, unless it is too old to count.
    fn fresh(&self, id: &str, event_time: i64) -> Option<Entry> {
        self.entry(id).filter(|entry| !expired(*entry, event_time, self.max))
    }
}

/// An item counts as stable again after twice the longest wait.
fn expired(entry: Entry, event_time: i64, max: i64) -> bool {
    event_time.saturating_sub(entry.last_update) > max.saturating_mul(2)
}

/// Whether a container that ended at `finished` may be started now; if so, its next wait grows.
///
/// Upstream: pkg/kubelet/kuberuntime, doBackOff (v1.37).
pub fn may_restart(backoff: &mut Backoff, id: &str, finished: i64, now: i64) -> bool {
    if backoff.is_in_backoff_since(id, finished, now) {
        return false;
    }
    backoff.next(id, finished, now);
    true
}

/// How long a container that ended at `finished` waits from then on.
pub fn restart_delay(backoff: &Backoff, id: &str, finished: i64) -> i64 {
    backoff.fresh(id, finished).map_or(0, |entry| entry.backoff)
}

/// Whether an image may be pulled now. A pull that fails is told with `next`.
///
/// Upstream: pkg/kubelet/images, EnsureImageExists (v1.37).
pub fn may_pull(backoff: &Backoff, id: &str, now: i64) -> bool {
    !backoff.is_in_backoff_since_update(id, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn waits_are_exact_to_the_nanosecond() {
        let mut backoff = Backoff::default();
        assert!(may_restart(&mut backoff, "a", 0, 0));
        assert_eq!(restart_delay(&backoff, "a", 5 * SECOND), INITIAL);
        assert!(!may_restart(&mut backoff, "a", 5 * SECOND, 15 * SECOND - 1));
        assert!(may_restart(&mut backoff, "a", 5 * SECOND, 15 * SECOND));
        assert_eq!(backoff.get("a"), 2 * INITIAL);
        assert_eq!(backoff.get("b"), 0);
    }

    #[test]
    fn old_items_are_forgotten() {
        let mut backoff = Backoff::default();
        backoff.next("a", 0, 0);
        backoff.gc(2 * MAX);
        assert!(backoff.entry("a").is_some());
        backoff.gc(2 * MAX + 1);
        assert!(backoff.entry("a").is_none());
    }
}
