//! What the loop remembers of an autoscaler from look to look; a crash loses it.
//! Upstream: pkg/controller/podautoscaler/horizontal.go, recommendations, scaleUpEvents, scaleDownEvents (v1.37).

use kubestep_control::Cx;
use kubestep_model::{Instant, Key};
use serde_json::{Value, json};

/// A number and when it was noted, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: i32,
    pub(super) at: i64,
}

/// Recommendations, changes upwards and downwards, and which pods it was about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) selector: Option<String>,
    pub(super) recommended: Vec<Entry>,
    pub(super) up: Vec<Entry>,
    pub(super) down: Vec<Entry>,
}

fn name(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

fn entries(value: &Value) -> Vec<Entry> {
    let all = value.as_array().map_or(&[][..], Vec::as_slice);
    let number = |n: &Value| n.as_i64().unwrap_or(0);
    all.iter()
        .map(|e| Entry { number: i32::try_from(number(&e[0])).unwrap_or(0), at: number(&e[1]) })
        .collect()
}

impl Memory {
    /// The number that was there at the first look counts as recommended. Upstream: recordInitialRecommendation.
    pub(super) fn first(current: i32, now: Instant) -> Memory {
        Memory { recommended: vec![Entry { number: current, at: now.0 }], ..Memory::default() }
    }

    /// What is remembered; `None` if the autoscaler was never looked at.
    pub(super) fn of(cx: &Cx<'_>, key: &Key) -> Option<Memory> {
        let value = cx.recall(&name(key))?;
        Some(Memory {
            selector: value["selector"].as_str().map(Into::into),
            recommended: entries(&value["recommended"]),
            up: entries(&value["up"]),
            down: entries(&value["down"]),
        })
    }

    /// The autoscalers of a namespace with the selectors they were last looked at with, by name.
    pub(super) fn selectors(cx: &Cx<'_>, namespace: &str) -> Vec<(String, String)> {
        let prefix = format!("{namespace}/");
        let known = |(name, value): (&str, &Value)| Some((name.into(), value["selector"].as_str()?.into()));
        cx.recall_under(&prefix).filter_map(known).collect()
    }

    pub(super) fn keep(&self, cx: &mut Cx<'_>, key: &Key) {
        let list = |list: &[Entry]| -> Value { list.iter().map(|e| json!([e.number, e.at])).collect() };
        let value = json!({
            "selector": self.selector, "recommended": list(&self.recommended),
            "up": list(&self.up), "down": list(&self.down),
        });
        cx.remember(&name(key), Some(value));
    }

    pub(super) fn forget(cx: &mut Cx<'_>, key: &Key) {
        if cx.recall(&name(key)).is_some() {
            cx.remember(&name(key), None);
        }
    }
}
