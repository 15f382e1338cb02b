//! Events: what the old version asks for, and the stricter one.
//!
//! Upstream: pkg/apis/core/validation, events.go (v1.37). Events are kept as core/v1, and served in both groups.

use super::{
    field::{Errors, given, text},
    internal,
};
use serde_json::Value;

const LONGEST: usize = 128;
const LONGEST_NOTE: usize = 1024;

/// Upstream: legacyValidateEvent.
pub(super) fn check(whole: &Value) -> Errors {
    legacy(whole, "reportingComponent")
}

/// A new event of the newer kind. Upstream: ValidateEventCreate.
pub(super) fn check_newer(whole: &Value) -> Errors {
    let mut errors = legacy(whole, "reportingController");
    errors.subdomain("metadata.name", text(&whole["metadata"]["name"]));
    series(&mut errors, whole);
    if !given(&whole["eventTime"]) {
        errors.required("eventTime", "");
    }
    let kind = text(&whole["type"]);
    if !matches!(kind, "Normal" | "Warning") {
        errors.invalid_text("type", "", &format!("has invalid value: {kind}"));
    }
    let source = &whole["source"];
    let said = [
        ("firstTimestamp", given(&whole["firstTimestamp"])),
        ("lastTimestamp", given(&whole["lastTimestamp"])),
        ("count", whole["count"].as_i64().unwrap_or(0) != 0),
        ("source", !text(&source["component"]).is_empty() || !text(&source["host"]).is_empty()),
    ];
    for (field, _) in said.iter().filter(|(_, said)| *said) {
        errors.invalid_text(field, "", "needs to be unset");
    }
    errors
}

/// The new state of one: only how often it was seen changes. Upstream: ValidateEventUpdate.
pub(super) fn changed_newer(whole: &Value, old: &Value) -> Errors {
    let mut errors = legacy(whole, "reportingController");
    if !super::field::same(&whole["series"], &old["series"]) {
        series(&mut errors, whole);
    }
    for (field, name) in [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingController", "reportingComponent"),
        ("reportingInstance", "reportingInstance"),
    ] {
        let new = &whole[name];
        let shown = match (name, new) {
            ("involvedObject" | "related", new) => internal::shown("ObjectReference", new),
            ("source", new) => internal::shown("EventSource", new),
            ("count", Value::Null) => "0".to_owned(),
            ("reason" | "message" | "type" | "action" | "reportingInstance", Value::Null) => {
                "\"\"".to_owned()
            }
            (_, new) => new.to_string(),
        };
        errors.immutable(field, new, &old[name], &shown);
    }
    errors
}

fn series(errors: &mut Errors, whole: &Value) {
    let series = &whole["series"];
    if !given(series) {
        return;
    }
    if series["count"].as_i64().unwrap_or(0) < 2 {
        errors.invalid_text("series.count", "", "should be at least 2");
    }
    if !given(&series["lastObservedTime"]) {
        errors.required("series.lastObservedTime", "");
    }
}

fn legacy(whole: &Value, reporter: &str) -> Errors {
    let mut errors = Errors::new();
    let about = &whole["involvedObject"];
    let (own, theirs) = (text(&whole["metadata"]["namespace"]), text(&about["namespace"]));
    let elsewhere = if given(&whole["eventTime"]) {
        theirs.is_empty() && !matches!(own, "default" | "kube-system")
    } else if theirs.is_empty() {
        !matches!(own, "" | "default")
    } else {
        own != theirs
    };
    if elsewhere {
        errors.invalid_text("involvedObject.namespace", theirs, "does not match event.namespace");
    }
    if given(&whole["eventTime"]) {
        of_series(&mut errors, whole, reporter);
    }
    errors
}

/// What an event of the newer kind has to say.
fn of_series(errors: &mut Errors, whole: &Value, field: &str) {
    let reporter = text(&whole["reportingComponent"]);
    if reporter.is_empty() {
        errors.required(field, "");
    }
    errors.qualified_name(field, reporter);
    for (name, most, needed) in [
        ("reportingInstance", LONGEST, true),
        ("action", LONGEST, true),
        ("reason", LONGEST, true),
        ("message", LONGEST_NOTE, false),
    ] {
        let said = text(&whole[name]);
        if needed && said.is_empty() {
            errors.required(name, "");
        }
        if said.len() > most {
            errors.invalid_text(name, "", &format!("can have at most {most} characters"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(event: Value) -> Vec<String> {
        check(&event).into_causes().into_iter().map(|c| c.field).collect()
    }

    #[test]
    fn an_event_lies_where_its_object_lies() {
        let event = |own: &str, theirs: &str| json!({"metadata": {"namespace": own}, "involvedObject": {"namespace": theirs}});
        for (own, theirs, good) in
            [("a", "a", true), ("default", "", true), ("a", "", false), ("a", "b", false)]
        {
            assert_eq!(fields(event(own, theirs)).is_empty(), good, "{own} {theirs}");
        }
    }

    #[test]
    fn an_event_with_a_time_of_its_own_says_who_and_what() {
        let mut event = json!({"metadata": {"namespace": "a"}, "involvedObject": {"namespace": "a"},
            "eventTime": "2026-01-01T00:00:00.000000Z", "reportingComponent": "a.b/c", "reportingInstance": "i",
            "action": "A", "reason": "R"});
        assert!(fields(event.clone()).is_empty());
        event["action"] = "".into();
        event["message"] = "x".repeat(1025).into();
        assert_eq!(fields(event), ["action", "message"]);
    }
}
