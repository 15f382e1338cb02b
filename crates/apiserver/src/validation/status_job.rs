//! A job's status: it ends in one way, and stays so.
//!
//! Upstream: pkg/apis/batch/validation, ValidateJobStatusUpdate, with the options of pkg/registry/batch/job (v1.37):
//! most is asked only of what has changed.

use super::field::{Errors, IMMUTABLE, flag, given, items, number, same, text};
use serde_json::Value;

const CONDITIONS: &str = "status.conditions";
const DONE: &str = "status.completionTime";

/// What a job's conditions say.
struct Said {
    complete: bool,
    failed: bool,
    met: bool,
    target: bool,
}

impl Said {
    fn of(whole: &Value) -> Said {
        Said {
            complete: is(whole, "Complete", "True"),
            failed: is(whole, "Failed", "True"),
            met: is(whole, "SuccessCriteriaMet", "True"),
            target: is(whole, "FailureTarget", "True"),
        }
    }

    fn finished(&self) -> bool {
        self.complete || self.failed
    }
}

fn is(whole: &Value, kind: &str, status: &str) -> bool {
    let found = items(&whole["status"]["conditions"]).iter().find(|c| text(&c["type"]) == kind);
    found.is_some_and(|c| text(&c["status"]) == status)
}

pub(super) fn check(errors: &mut Errors, new: &Value, old: &Value) {
    let (now, was) = (Said::of(new), Said::of(old));
    let changed = |name: &str| !same(&new["status"][name], &old["status"][name]);
    refuse(
        errors,
        &[
            (
                now.complete && now.failed && (now.complete != was.complete || now.failed != was.failed),
                "cannot set Complete=True and Failed=true conditions",
            ),
            (
                now.complete && now.target && (now.complete != was.complete || now.target != was.target),
                "cannot set Complete=True and FailureTarget=true conditions",
            ),
        ],
    );
    times(errors, new, &now, now.complete != was.complete, &changed);
    refuse(
        errors,
        &[
            (
                now.failed && !now.target && (now.failed != was.failed || changed("failedIndexes")),
                "cannot set Failed=True condition without the FailureTarget=true condition",
            ),
            (
                now.complete && !now.met && (now.complete != was.complete || now.met != was.met),
                "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
            ),
        ],
    );
    pods(errors, new, &now, now.finished() != was.finished(), &changed);
    refuse(
        errors,
        &[
            (now.met && now.failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
            (now.met && now.target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
            (
                given(&new["spec"]["successPolicy"]) && !now.met && now.complete,
                "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
            ),
            (was.failed && !now.failed, "cannot disable the terminal Failed=True condition"),
            (was.complete && !now.complete, "cannot disable the terminal Complete=True condition"),
            (was.target && !now.target, "cannot disable the terminal FailureTarget=True condition"),
        ],
    );
    for_good(errors, new, old, &changed);
    refuse(
        errors,
        &[
            (was.met && !now.met, "cannot disable the SuccessCriteriaMet=True condition"),
            (
                was.complete && !was.met && now.met,
                "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
            ),
        ],
    );
}

fn refuse(errors: &mut Errors, rules: &[(bool, &str)]) {
    for (_, why) in rules.iter().filter(|(wrong, _)| *wrong) {
        errors.invalid_unshown(CONDITIONS, why);
    }
}

fn times(errors: &mut Errors, new: &Value, now: &Said, ended: bool, changed: &dyn Fn(&str) -> bool) {
    let (start, end) = (&new["status"]["startTime"], &new["status"]["completionTime"]);
    if ended || changed("completionTime") {
        if given(end) && !now.complete {
            let why = "cannot set completionTime when there is no Complete=True condition";
            errors.invalid(DONE, &end.to_string(), why);
        }
        if !given(end) && now.complete {
            errors.required(DONE, "completionTime is required for Complete jobs");
        }
    }
    let moved = changed("startTime") || changed("completionTime");
    if moved && given(start) && given(end) && text(end) < text(start) {
        errors.invalid(DONE, &end.to_string(), "must be equal to or after `startTime`");
    }
}

fn pods(errors: &mut Errors, new: &Value, now: &Said, ended: bool, changed: &dyn Fn(&str) -> bool) {
    let (status, spec) = (&new["status"], &new["spec"]);
    let number_of = |name: &str| number(&status[name]);
    let mut wrong = |name: &str, why: &str| {
        errors.invalid(&format!("status.{name}"), &status[name].to_string(), why);
    };
    let finished = now.finished();
    if finished && (ended || changed("active")) && number_of("active") > 0 {
        wrong("active", "active>0 is invalid for finished job");
    }
    let nothing_to_do = flag(&spec["suspend"]) && spec["completions"] == 0;
    if finished && (ended || changed("startTime")) && !given(&status["startTime"]) && !nothing_to_do {
        errors.required("status.startTime", "startTime is required for finished job");
    }
    let mut wrong = |name: &str, why: &str| {
        errors.invalid(&format!("status.{name}"), &status[name].to_string(), why);
    };
    let indexed = text(&spec["completionMode"]) == "Indexed";
    if changed("completedIndexes") && !text(&status["completedIndexes"]).is_empty() && !indexed {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        wrong("completedIndexes", why);
    }
    let per_index = given(&spec["backoffLimitPerIndex"]);
    if changed("failedIndexes") && given(&status["failedIndexes"]) && !per_index {
        wrong("failedIndexes", "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
    if finished && (ended || changed("terminating")) && number_of("terminating") > 0 {
        wrong("terminating", "terminating>0 is invalid for finished job");
    }
    if (changed("ready") || changed("active")) && number_of("ready") > number_of("active") {
        wrong("ready", "cannot set more ready pods than active");
    }
}

/// Counters that only rise, and times that stay.
fn for_good(errors: &mut Errors, new: &Value, old: &Value, changed: &dyn Fn(&str) -> bool) {
    let (status, before, spec) = (&new["status"], &old["status"], &new["spec"]);
    let elastic =
        text(&spec["completionMode"]) == "Indexed" && same(&spec["completions"], &spec["parallelism"]);
    for name in ["failed", "succeeded"] {
        let count = number(&status[name]);
        if count < number(&before[name]) && !(name == "succeeded" && elastic) {
            let why = format!("cannot decrease the {name} counter");
            errors.invalid(&format!("status.{name}"), &count.to_string(), &why);
        }
    }
    let end = &status["completionTime"];
    if given(end) && given(&before["completionTime"]) && changed("completionTime") {
        errors.invalid(DONE, &end.to_string(), IMMUTABLE);
    }
    let resuming = is(old, "Suspended", "True") && is(new, "Suspended", "False");
    if given(&before["startTime"]) && changed("startTime") && !resuming && !flag(&spec["suspend"]) {
        let why = "field is immutable for unsuspended job once set";
        errors.invalid("status.startTime", &status["startTime"].to_string(), why);
    }
}
