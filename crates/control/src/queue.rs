//! The work queue of a controller: each key once, never two runs of one key, waits after failures.
//! Upstream: client-go/util/workqueue.

use kubestep_model::tree::{OrdMap, OrdSet, Vector};
use kubestep_model::{Instant, Key};
use std::{fmt, time::Duration};

/// The bucket of the default rate limiter: 10 a second, bursts of 100.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// Until when the bucket is spoken for, were it never to hold more than its burst.
    full_at: Instant,
}

const TOKEN: Duration = Duration::from_millis(100);
const BURST: u32 = 100;

impl Limiter {
    /// A full bucket.
    pub fn new() -> Self {
        Limiter { full_at: Instant(0) }
    }
    /// Takes a token; answers how long to wait for it.
    pub fn reserve(&mut self, now: Instant) -> Duration {
        let base = self.full_at.max(now);
        self.full_at = base + TOKEN;
        self.full_at.since(now + TOKEN * BURST)
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new()
    }
}

/// A de-duplicating, delaying, rate-limiting queue of keys.
#[derive(Clone, Default, PartialEq)]
pub struct Queue {
    ready: Vector<Key>,
    /// Keys that wait for their turn or, while they run, are to be run again.
    dirty: OrdSet<Key>,
    running: OrdSet<Key>,
    delayed: OrdMap<Key, Instant>,
    /// The same in the order in which they come into line.
    by_time: OrdSet<(Instant, Key)>,
    failures: OrdMap<Key, u32>,
    limiter: Limiter,
}

/// An index says nothing of its own: fingerprints of worlds do not know it.
impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("ready", &self.ready)
            .field("dirty", &self.dirty)
            .field("running", &self.running)
            .field("delayed", &self.delayed)
            .field("failures", &self.failures)
            .field("limiter", &self.limiter)
            .finish()
    }
}

impl Queue {
    /// Puts a key in line; a key that runs is run again afterwards.
    pub fn add(&mut self, key: Key) {
        if self.dirty.insert(key.clone()).is_none() && !self.running.contains(&key) {
            self.ready.push_back(key);
        }
    }
    /// Puts a key in line at a later time; the earliest time wins.
    pub fn add_at(&mut self, key: Key, at: Instant) {
        match self.delayed.get(&key) {
            Some(earlier) if *earlier <= at => return,
            Some(later) => drop(self.by_time.remove(&(*later, key.clone()))),
            None => {}
        }
        self.by_time.insert((at, key.clone()));
        self.delayed.insert(key, at);
    }
    /// Notes a failure and puts the key in line after the limiter's wait. Answers when that is.
    pub fn add_limited(&mut self, key: Key, now: Instant, (first, longest): (Duration, Duration)) -> Instant {
        let n = self.failures.get(&key).copied().unwrap_or(0);
        self.failures.insert(key.clone(), n.saturating_add(1));
        let doubled =
            first.checked_mul(1u32.checked_shl(n).unwrap_or(u32::MAX)).unwrap_or(longest).min(longest);
        let at = now + doubled.max(self.limiter.reserve(now));
        self.add_at(key, at);
        at
    }
    /// How often the key failed since it last settled.
    pub fn failures(&self, key: &Key) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }
    /// Forgets the key's failures.
    pub fn forget(&mut self, key: &Key) {
        self.failures.remove(key);
    }
    /// Moves keys whose time has come into the line.
    pub fn wake(&mut self, now: Instant) {
        while let Some(first) = self.by_time.get_min().filter(|(at, _)| *at <= now).cloned() {
            self.by_time.remove(&first);
            self.delayed.remove(&first.1);
            self.add(first.1);
        }
    }
    /// When the next delayed key comes into line.
    pub fn next_wake(&self) -> Option<Instant> {
        self.by_time.get_min().map(|(at, _)| *at)
    }
    /// Takes a key out of the line to run it.
    pub fn take(&mut self, key: &Key) -> bool {
        let Some(i) = self.ready.index_of(key) else { return false };
        self.ready.remove(i);
        self.dirty.remove(key);
        self.running.insert(key.clone());
        true
    }
    /// The key's run ended; if it was added meanwhile it is back in line.
    pub fn finish(&mut self, key: &Key) {
        self.running.remove(key);
        if self.dirty.contains(key) {
            self.ready.push_back(key.clone());
        }
    }
    /// The line, first come first.
    pub fn ready(&self) -> impl Iterator<Item = &Key> {
        self.ready.iter()
    }
    /// Keys that were added and not yet taken: those in line, and those that run and will be run again.
    pub fn dirty(&self) -> impl Iterator<Item = &Key> {
        self.dirty.iter()
    }
    /// Keys that run now.
    pub fn running(&self) -> impl Iterator<Item = &Key> {
        self.running.iter()
    }
    /// Whether a key comes later.
    pub fn is_delayed(&self, key: &Key) -> bool {
        self.delayed.contains_key(key)
    }
    /// Keys that come later, with their times.
    pub fn delayed(&self) -> impl Iterator<Item = (&Key, &Instant)> {
        self.delayed.iter()
    }
    /// How many keys stand in line.
    pub fn len(&self) -> usize {
        self.ready.len()
    }
    /// Whether nobody stands in line.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::Kind;

    fn key(name: &str) -> Key {
        Key::new(Kind::Pod, "default", name)
    }

    #[test]
    fn a_key_stands_in_line_once_and_is_run_again_if_added_while_running() {
        let mut q = Queue::default();
        q.add(key("a"));
        q.add(key("b"));
        q.add(key("a"));
        assert_eq!(q.len(), 2);
        assert!(q.take(&key("a")));
        q.add(key("a"));
        assert_eq!(q.len(), 1);
        q.finish(&key("a"));
        assert_eq!(q.ready().cloned().collect::<Vec<_>>(), vec![key("b"), key("a")]);
        assert!(!q.take(&key("c")));
    }

    #[test]
    fn failures_double_the_wait_up_to_the_longest() {
        let mut q = Queue::default();
        let now = Instant::START;
        let limits = (Duration::from_millis(5), Duration::from_secs(1));
        let waits: Vec<u128> =
            (0..10).map(|_| q.add_limited(key("a"), now, limits).since(now).as_millis()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        assert_eq!(q.next_wake(), Some(now + Duration::from_millis(5)), "the earliest time wins");
        q.forget(&key("a"));
        assert_eq!(q.failures(&key("a")), 0);
    }

    #[test]
    fn the_bucket_holds_a_hundred() {
        let mut l = Limiter::new();
        let now = Instant::START;
        let waits: Vec<u128> = (0..102).map(|_| l.reserve(now).as_millis()).collect();
        assert!(waits[..100].iter().all(|w| *w == 0));
        assert_eq!(waits[100..], [100, 200]);
    }
}
