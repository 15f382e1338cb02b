//! CronJob.
//!
//! Upstream: pkg/apis/batch/validation, ValidateCronJobCreate (v1.37).

use super::{
    cron,
    field::{Errors, flag, given, text},
    job, stateful_set,
};
use serde_json::Value;

/// A job's name is its cron job's and eleven letters more.
const LONGEST_NAME: usize = 52;
const POLICIES: [&str; 3] = ["Allow", "Forbid", "Replace"];

pub(super) fn check(whole: &Value) -> Errors {
    let mut errors = Errors::new();
    let spec = &whole["spec"];
    let schedule = text(&spec["schedule"]);
    if schedule.is_empty() {
        errors.required("spec.schedule", "");
    } else {
        if let Err(why) = cron::fault(schedule) {
            errors.invalid_text("spec.schedule", schedule, &why);
        }
        if schedule.contains("TZ") {
            let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            errors.invalid_text("spec.schedule", schedule, why);
        }
    }
    errors.not_negative_in(spec, "startingDeadlineSeconds", "spec");
    if given(&spec["timeZone"]) {
        time_zone(&mut errors, text(&spec["timeZone"]));
    }
    let policy = text(&spec["concurrencyPolicy"]);
    if policy.is_empty() {
        errors.required("spec.concurrencyPolicy", "");
    } else if !POLICIES.contains(&policy) {
        errors.not_supported_text("spec.concurrencyPolicy", policy, &POLICIES);
    }
    job_template(&mut errors, &spec["jobTemplate"]["spec"]);
    errors.not_negative_in(spec, "successfulJobsHistoryLimit", "spec");
    errors.not_negative_in(spec, "failedJobsHistoryLimit", "spec");
    errors
}

/// What is asked of a new one only: its jobs have longer names.
pub(super) fn check_name(errors: &mut Errors, name: &str) {
    if name.len() > LONGEST_NAME {
        let why = format!("must be no more than {LONGEST_NAME} characters");
        errors.invalid_text("metadata.name", name, &why);
    }
}

fn job_template(errors: &mut Errors, spec: &Value) {
    const FIELD: &str = "spec.jobTemplate.spec";
    job::job_spec(errors, spec, FIELD);
    if given(&spec["selector"]) {
        let shown = stateful_set::selector_shown(&spec["selector"]);
        errors.invalid(&format!("{FIELD}.selector"), &shown, "`selector` will be auto-generated");
    }
    if flag(&spec["manualSelector"]) {
        errors.not_supported(&format!("{FIELD}.manualSelector"), "true", &["nil", "false"]);
    }
}

fn time_zone(errors: &mut Errors, zone: &str) {
    const FIELD: &str = "spec.timeZone";
    if zone.is_empty() {
        errors.invalid_text(FIELD, zone, "timeZone must be nil or non-empty string");
        return;
    }
    let unknown = format!("unknown time zone {zone}");
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
    let wrong = |part: &str| {
        matches!(part, "." | "..")
            || part.starts_with('-')
            || part.is_empty()
            || part.len() > 14
            || !part.chars().all(plain)
    };
    if zone.split('/').any(wrong) {
        errors.invalid_text(FIELD, zone, &unknown);
        return;
    }
    if zone.eq_ignore_ascii_case("Local") {
        let why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        errors.invalid_text(FIELD, zone, why);
    }
    // The machine's own zone is always there.
    if zone != "Local" && !cron::is_zone(zone) {
        errors.invalid_text(FIELD, zone, &unknown);
    }
}
