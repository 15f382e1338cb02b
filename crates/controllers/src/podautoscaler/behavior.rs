//! From the number that metrics ask for to the one that is set: stabilised, limited, kept between the bounds.
//! Upstream: pkg/controller/podautoscaler/horizontal.go, normalizeDesiredReplicas and what it calls (v1.37).

use super::memory::{Entry, Memory};
use kubestep_model::{HorizontalPodAutoscaler, Instant};
use serde_json::Value;
use std::time::Duration;

/// A number goes down only when nothing higher was recommended for so long. Upstream: downscaleStabilisationWindow.
const DOWN_WINDOW: Duration = Duration::from_secs(300);

/// The numbers that matter to one look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) current: i32,
    pub(super) least: i32,
    pub(super) most: i32,
}

/// A number with what two conditions say of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Normal {
    pub(super) replicas: i32,
    /// Of AbleToScale: reason and text.
    pub(super) able: (&'static str, &'static str),
    /// Of ScalingLimited: whether it is, reason and text.
    pub(super) limited: (bool, &'static str, &'static str),
}

const READY: (&str, &str) = ("ReadyForNewScale", "recommended size matches current size");
const DOWN_HELD: (&str, &str) = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const UP_HELD: (&str, &str) = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const WITHIN: (&str, &str) = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_FEW: (&str, &str) =
    ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const TOO_MANY: (&str, &str) =
    ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const UP_LIMIT: (&str, &str) =
    ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const DOWN_LIMIT: (&str, &str) =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

/// The number to be set for the one that metrics ask for. What was asked for is remembered.
pub(super) fn normalize(
    scaler: &HorizontalPodAutoscaler,
    memory: &mut Memory,
    now: Instant,
    bounds: Bounds,
    asked: i32,
) -> Normal {
    let rules = scaler.spec.behavior.as_ref();
    let (stable, held) = match rules {
        None => (highest_of_late(memory, now, asked), DOWN_HELD),
        Some(rules) => between_recent(rules, memory, now, bounds.current, asked),
    };
    let able = if stable == asked { READY } else { held };
    let (replicas, (reason, text)) = match rules {
        None => within_bounds(bounds, stable),
        Some(rules) => within_rates(rules, memory, now, bounds, stable),
    };
    Normal { replicas, able, limited: (replicas != stable, reason, text) }
}

fn before(now: Instant, span: Duration) -> i64 {
    now.0.saturating_sub(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
}

/// Puts a recommendation in the place of the last one that is too old, or at the end.
fn note(list: &mut Vec<Entry>, now: Instant, number: i32, old: impl Fn(&Entry) -> bool) {
    let entry = Entry { number, at: now.0 };
    match list.iter().rposition(old) {
        Some(place) => list[place] = entry,
        None => list.push(entry),
    }
}

/// Upstream: stabilizeRecommendation.
fn highest_of_late(memory: &mut Memory, now: Instant, asked: i32) -> i32 {
    let cutoff = before(now, DOWN_WINDOW);
    let late = memory.recommended.iter().filter(|entry| entry.at >= cutoff);
    let highest = late.fold(asked, |most, entry| most.max(entry.number));
    note(&mut memory.recommended, now, asked, |entry| entry.at < cutoff);
    highest
}

fn window(rules: &Value, side: &str, default: Duration) -> Duration {
    let seconds = rules[side]["stabilizationWindowSeconds"].as_u64();
    seconds.map_or(default, Duration::from_secs)
}

/// Upstream: stabilizeRecommendationWithBehaviors.
fn between_recent(
    rules: &Value,
    memory: &mut Memory,
    now: Instant,
    current: i32,
    asked: i32,
) -> (i32, (&'static str, &'static str)) {
    let up = before(now, window(rules, "scaleUp", Duration::ZERO));
    let down = before(now, window(rules, "scaleDown", DOWN_WINDOW));
    let (mut lowest, mut highest) = (asked, asked);
    for entry in &memory.recommended {
        if entry.at > up {
            lowest = lowest.min(entry.number);
        }
        if entry.at > down {
            highest = highest.max(entry.number);
        }
    }
    let stable = current.max(lowest).min(highest);
    note(&mut memory.recommended, now, asked, |entry| entry.at < up && entry.at < down);
    (stable, if asked >= current { UP_HELD } else { DOWN_HELD })
}

/// Upstream: convertDesiredReplicasWithRules.
fn within_bounds(bounds: Bounds, asked: i32) -> (i32, (&'static str, &'static str)) {
    let fastest = bounds.current.saturating_mul(2).max(4);
    let (most, why) = if bounds.most > fastest { (fastest, UP_LIMIT) } else { (bounds.most, TOO_MANY) };
    if asked < bounds.least {
        (bounds.least, TOO_FEW)
    } else if asked > most {
        (most, why)
    } else {
        (asked, WITHIN)
    }
}

/// Upstream: convertDesiredReplicasWithBehaviorRate.
fn within_rates(
    rules: &Value,
    memory: &Memory,
    now: Instant,
    bounds: Bounds,
    asked: i32,
) -> (i32, (&'static str, &'static str)) {
    let current = bounds.current;
    if asked > current {
        let fastest = limit(&rules["scaleUp"], memory, now, current, true).max(current);
        let (most, why) = if bounds.most > fastest { (fastest, UP_LIMIT) } else { (bounds.most, TOO_MANY) };
        if asked > most {
            return (most, why);
        }
    } else if asked < current {
        let fastest = limit(&rules["scaleDown"], memory, now, current, false).min(current);
        let (least, why) =
            if bounds.least < fastest { (fastest, DOWN_LIMIT) } else { (bounds.least, TOO_FEW) };
        if asked < least {
            return (least, why);
        }
    }
    (asked, WITHIN)
}

fn policies(rules: &Value) -> impl Iterator<Item = (&Value, i32, i64)> {
    let list = rules["policies"].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|policy| {
        let value = policy["value"].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
        (policy, value, policy["periodSeconds"].as_i64().unwrap_or(0))
    })
}

/// How far the policies let the number go. Upstream: calculateScaleUpLimitWithScalingRules and its counterpart.
fn limit(rules: &Value, memory: &Memory, now: Instant, current: i32, up: bool) -> i32 {
    let select = rules["selectPolicy"].as_str().unwrap_or("Max");
    if select == "Disabled" {
        return current;
    }
    let changed = |list: &[Entry], period: i64| {
        let cutoff = now.0.saturating_sub(period.saturating_mul(1_000_000_000));
        list.iter().filter(|entry| entry.at > cutoff).fold(0i32, |sum, e| sum.saturating_add(e.number))
    };
    let mut found: Option<i32> = None;
    for (policy, value, period) in policies(rules) {
        let (added, removed) = (changed(&memory.up, period), changed(&memory.down, period));
        let start = current.saturating_sub(added).saturating_add(removed);
        let sign = if up { 1 } else { -1 };
        let proposed = if policy["type"] == "Percent" {
            let part = f64::from(start) * (1.0 + f64::from(sign) * f64::from(value) / 100.0);
            // Rounded up when it grows, else a small number would never grow; cut when it shrinks.
            if up { part.ceil() as i32 } else { part as i32 }
        } else {
            start.saturating_add(value.saturating_mul(sign))
        };
        let farthest = (select != "Min") == up;
        found = Some(found.map_or(proposed, |f| if farthest { f.max(proposed) } else { f.min(proposed) }));
    }
    found.unwrap_or(match (select == "Min", up) {
        (true, true) | (false, false) => i32::MAX,
        _ => i32::MIN,
    })
}

/// Remembers that the number was changed, if there are policies that ask for it. Upstream: storeScaleEvent.
pub(super) fn note_change(
    scaler: &HorizontalPodAutoscaler,
    memory: &mut Memory,
    now: Instant,
    from: i32,
    to: i32,
) {
    let Some(rules) = &scaler.spec.behavior else { return };
    let (side, list) = if to > from { ("scaleUp", &mut memory.up) } else { ("scaleDown", &mut memory.down) };
    let longest = policies(&rules[side]).map(|(_, _, period)| period).max().unwrap_or(0);
    let cutoff = now.0.saturating_sub(longest.saturating_mul(1_000_000_000));
    note(list, now, to.abs_diff(from).try_into().unwrap_or(i32::MAX), |entry| entry.at < cutoff);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SECOND: i64 = 1_000_000_000;

    fn scaler(behavior: Option<Value>) -> HorizontalPodAutoscaler {
        let mut scaler = HorizontalPodAutoscaler::default();
        scaler.spec.behavior = behavior;
        scaler
    }

    fn at(seconds: i64) -> Instant {
        Instant(seconds * SECOND)
    }

    #[test]
    fn down_waits_five_minutes_for_the_highest_that_was_recommended() {
        let (scaler, mut memory) = (scaler(None), Memory::default());
        let mut look = |seconds, current, asked| {
            let bounds = Bounds { current, least: 1, most: 10 };
            normalize(&scaler, &mut memory, at(seconds), bounds, asked)
        };
        assert_eq!(look(0, 2, 6).replicas, 4, "twice as many, and at least four");
        assert_eq!(look(15, 4, 6).replicas, 6);
        let held = look(30, 6, 1);
        assert_eq!((held.replicas, held.able.0), (6, "ScaleDownStabilized"));
        assert_eq!(look(314, 6, 1).replicas, 6);
        let free = look(316, 6, 1);
        assert_eq!(
            (free.replicas, free.able.0, free.limited.1),
            (1, "ReadyForNewScale", "DesiredWithinRange")
        );
        assert_eq!(look(330, 1, 0).limited.1, "DesiredWithinRange", "the ones before are still recommended");
    }

    #[test]
    fn policies_limit_how_fast_it_goes() {
        let rules = json!({
            "scaleUp": {"selectPolicy": "Min", "stabilizationWindowSeconds": 0, "policies": [
                {"type": "Pods", "value": 2, "periodSeconds": 60}, {"type": "Percent", "value": 100, "periodSeconds": 60}]},
            "scaleDown": {"selectPolicy": "Max", "stabilizationWindowSeconds": 0, "policies": [
                {"type": "Percent", "value": 50, "periodSeconds": 30}]},
        });
        let (scaler, mut memory) = (scaler(Some(rules)), Memory::default());
        let mut look = |seconds, current, asked| {
            let bounds = Bounds { current, least: 1, most: 20 };
            let found = normalize(&scaler, &mut memory, at(seconds), bounds, asked);
            if found.replicas != current {
                note_change(&scaler, &mut memory, at(seconds), current, found.replicas);
            }
            (found.replicas, found.limited.1)
        };
        assert_eq!(look(0, 3, 10), (5, "ScaleUpLimit"));
        assert_eq!(look(15, 5, 10), (5, "ScaleUpLimit"), "two a minute are spent");
        assert_eq!(look(61, 5, 10), (7, "ScaleUpLimit"));
        assert_eq!(look(130, 7, 1), (3, "ScaleDownLimit"), "half, cut");
        assert_eq!(look(140, 3, 1), (3, "ScaleDownLimit"));
        assert_eq!(look(161, 3, 1), (1, "DesiredWithinRange"));
    }

    #[test]
    fn a_direction_can_be_switched_off() {
        let rules = json!({"scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 0, "policies": []}});
        let bounds = Bounds { current: 5, least: 1, most: 9 };
        let found = normalize(&scaler(Some(rules)), &mut Memory::default(), at(0), bounds, 2);
        assert_eq!((found.replicas, found.limited), (5, (true, DOWN_LIMIT.0, DOWN_LIMIT.1)));
    }
}
