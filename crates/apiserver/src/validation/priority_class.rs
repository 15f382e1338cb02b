//! PriorityClass.
//!
//! Upstream: pkg/apis/scheduling/validation (v1.37).

use super::field::{Errors, given, number, same, text};
use serde_json::Value;

const HIGHEST_OF_USERS: i64 = 1_000_000_000;
const SYSTEM: [(&str, i64); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];
const POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let name = text(&whole["metadata"]["name"]);
    let value = number(&whole["value"]);
    if name.starts_with("system-") {
        let why = match SYSTEM.iter().find(|(known, _)| *known == name) {
            None => Some(format!("{name} is not a known system priority class")),
            Some((_, known)) if *known != value => {
                Some(format!("value of {name} PriorityClass must be {known}"))
            }
            Some(_) if whole["globalDefault"] == true => {
                Some(format!("globalDefault of {name} PriorityClass must be false"))
            }
            Some(_) => None,
        };
        if let Some(why) = why {
            let head = "priority class names with 'system-' prefix are reserved for system use only. error:";
            errors.forbidden("metadata.name", &format!("{head} {why}"));
        }
    } else if value > HIGHEST_OF_USERS {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST_OF_USERS}");
        errors.forbidden("value", &why);
    }
    let policy = &whole["preemptionPolicy"];
    if given(policy) && !POLICIES.contains(&text(policy)) {
        if text(policy).is_empty() {
            errors.required("preemptionPolicy", "");
        } else {
            errors.not_supported_text("preemptionPolicy", text(policy), &POLICIES);
        }
    }
    errors
}

pub(super) fn changed(new: &Value, old: &Value) -> Errors {
    let mut errors = Errors::new();
    if number(&new["value"]) != number(&old["value"]) {
        errors.forbidden("value", "may not be changed in an update.");
    }
    let policy = &new["preemptionPolicy"];
    if !same(policy, &old["preemptionPolicy"]) {
        errors.immutable("preemptionPolicy", policy, &old["preemptionPolicy"], &policy.to_string());
    }
    errors
}
