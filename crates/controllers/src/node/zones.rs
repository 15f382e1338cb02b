//! How fast silent nodes are emptied: slower or not at all where most of a zone is silent.
//!
//! Upstream: pkg/controller/nodelifecycle (v1.37): ComputeZoneState, handleDisruption, setLimiterInZone, and SwapLimiter
//! of its rate-limited queue.

use kubestep_control::Cx;
use kubestep_model::arrange::Gather;
use kubestep_model::{Instant, Node};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};

/// One node in ten seconds is emptied.
const GAP: Duration = Duration::from_secs(10);
/// One in a hundred seconds, where most of a large zone is silent.
const SLOW: Duration = Duration::from_secs(100);
/// A zone of more nodes is large.
const LARGE: u32 = 50;
const MEMORY: &str = "zones";

/// Ready nodes and others of each zone.
pub(super) type Counts = BTreeMap<String, (u32, u32)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Normal,
    Partial,
    Full,
}

/// A zone's state and when its next node may be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    state: State,
    /// Zero: none is.
    gap: Duration,
    next: Instant,
}

/// All zones, as the controller remembers them.
#[derive(Debug, PartialEq)]
pub(super) struct Zones(BTreeMap<String, Zone>);

/// The zone that a node is in. Upstream: GetZoneKey.
pub(super) fn zone_of(node: &Node) -> String {
    let label = |name: &str, old: &str| {
        let labels = &node.metadata.labels;
        labels.get(name).or_else(|| labels.get(old)).cloned().unwrap_or_default()
    };
    let region = label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
    let zone = label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
    format!("{region}/{zone}")
}

/// Upstream: ComputeZoneState, with a threshold of 55 %.
fn state_of((ready, silent): (u32, u32)) -> State {
    if ready == 0 && silent > 0 {
        State::Full
    } else if silent > 2 && u64::from(silent) * 100 >= u64::from(silent + ready) * 55 {
        State::Partial
    } else {
        State::Normal
    }
}

impl Zone {
    /// Another pace. Whoever waits now waits for a whole turn of the new one.
    fn set_pace(&mut self, gap: Duration, now: Instant) {
        if gap == self.gap {
            return;
        }
        let waits = self.gap.is_zero() || self.next > now;
        self.next = if waits { now + gap } else { now };
        self.gap = gap;
    }

    fn set_state(&mut self, state: State, size: u32, now: Instant) {
        self.state = state;
        let gap = match state {
            State::Normal | State::Full => GAP,
            State::Partial if size > LARGE => SLOW,
            State::Partial => Duration::ZERO,
        };
        self.set_pace(gap, now);
    }
}

impl Zones {
    pub(super) fn recall(cx: &Cx<'_>) -> Self {
        let read = |v: &Value| {
            let state = match v["state"].as_str() {
                Some("partial") => State::Partial,
                Some("full") => State::Full,
                _ => State::Normal,
            };
            let gap = Duration::from_secs(v["gap"].as_u64().unwrap_or(0));
            Zone { state, gap, next: Instant(v["next"].as_i64().unwrap_or(0)) }
        };
        let held = cx.recall(MEMORY).and_then(Value::as_object);
        Zones(held.into_iter().flatten().map(|(name, v)| (name.clone(), read(v))).gather())
    }

    pub(super) fn remember(&self, cx: &mut Cx<'_>) {
        let write = |zone: &Zone| {
            let state = match zone.state {
                State::Normal => "normal",
                State::Partial => "partial",
                State::Full => "full",
            };
            json!({"state": state, "gap": zone.gap.as_secs(), "next": zone.next.0})
        };
        let all: serde_json::Map<String, Value> =
            self.0.iter().map(|(name, zone)| (name.clone(), write(zone))).gather();
        let all = Value::Object(all);
        if cx.recall(MEMORY) != Some(&all) {
            cx.remember(MEMORY, Some(all));
        }
    }

    /// Takes in how many nodes are ready now. Answers whether all nodes of all zones have just fallen silent: then it
    /// is rather this end that is cut off, and nobody is to leave. Upstream: handleDisruption.
    pub(super) fn count(&mut self, counts: &Counts, now: Instant) -> bool {
        let fresh = |_: &String| Zone { state: State::Normal, gap: GAP, next: Instant(0) };
        let known = std::mem::take(&mut self.0);
        self.0 =
            counts.keys().map(|k| (k.clone(), known.get(k).copied().unwrap_or_else(|| fresh(k)))).gather();
        let all_are_full = counts.values().all(|c| state_of(*c) == State::Full);
        let all_were_full = self.0.values().all(|z| z.state == State::Full);
        if counts.is_empty() || (all_are_full && all_were_full) {
            return false;
        }
        for (name, zone) in &mut self.0 {
            let count = counts.get(name).copied().unwrap_or_default();
            if all_are_full {
                zone.state = State::Full;
                zone.set_pace(Duration::ZERO, now);
            } else if all_were_full || zone.state != state_of(count) {
                zone.set_state(state_of(count), count.0 + count.1, now);
            }
        }
        all_are_full
    }

    /// Whether a node of this zone may be emptied now; takes the turn.
    pub(super) fn take_turn(&mut self, zone: &str, now: Instant) -> bool {
        let Some(zone) = self.0.get_mut(zone) else { return false };
        if zone.gap.is_zero() || zone.next > now {
            return false;
        }
        zone.next = now + zone.gap;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    fn one(ready: u32, silent: u32) -> Counts {
        Counts::from([("/".to_owned(), (ready, silent))])
    }

    #[test]
    fn states_of_zones() {
        let rows = [
            ((5, 0), State::Normal),
            ((1, 2), State::Normal),
            ((2, 3), State::Partial),
            ((3, 3), State::Normal),
            ((0, 1), State::Full),
            ((0, 0), State::Normal),
        ];
        for (count, state) in rows {
            assert_eq!(state_of(count), state, "{count:?}");
        }
    }

    #[test]
    fn three_silent_nodes_of_five_stop_the_emptying_until_one_is_back() {
        let mut zones = Zones(BTreeMap::new());
        assert!(!zones.count(&one(3, 2), at(50)));
        assert!(zones.take_turn("/", at(50)));
        assert!(!zones.take_turn("/", at(55)));
        assert!(!zones.count(&one(2, 3), at(60)));
        assert!(!zones.take_turn("/", at(60)));
        assert!(!zones.count(&one(3, 2), at(110)));
        assert!(!zones.take_turn("/", at(115)), "a whole turn of the new pace");
        assert!(zones.take_turn("/", at(120)));
    }

    #[test]
    fn when_all_are_silent_nobody_leaves() {
        let mut zones = Zones(BTreeMap::new());
        assert!(!zones.count(&one(1, 1), at(50)));
        assert!(zones.take_turn("/", at(50)));
        assert!(zones.count(&one(0, 2), at(60)));
        assert!(!zones.take_turn("/", at(100)));
        assert!(!zones.count(&one(0, 2), at(65)), "said once");
    }
}
