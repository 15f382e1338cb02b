//! Events: what the old version asks for, and the stricter one.
//!
//! Upstream: pkg/apis/core/validation, events.go (v1.37). Events are kept and served as core/v1.

use super::field::{Errors, given, text};
use kubestep_model::text::names;
use serde_json::Value;

const LONGEST: usize = 128;
const LONGEST_NOTE: usize = 1024;

/// Upstream: legacyValidateEvent.
pub(super) fn check(whole: &Value) -> Errors {
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
        of_series(&mut errors, whole);
    }
    errors
}

/// What an event of the newer kind has to say.
fn of_series(errors: &mut Errors, whole: &Value) {
    let reporter = text(&whole["reportingComponent"]);
    if reporter.is_empty() {
        errors.required("reportingComponent", "");
    }
    errors.invalid_each("reportingComponent", reporter, names::is_qualified_name(reporter));
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
