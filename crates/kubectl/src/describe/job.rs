//! Job and CronJob.

use super::{Page, page::date, template};
use crate::fields::{Fields, label_selector};
use kubestep_model::{Object, text::duration::human_duration};
use serde_json::Value;

/// A field that is left out where it is absent.
fn optional(page: &mut Page, title: &str, o: &Value, path: &str, unit: &str) {
    if o.has(path) {
        page.field(0, title, format!("{}{unit}", o.shown(path)));
    }
}

/// A field that says `<unset>` where it is absent.
fn or_unset(page: &mut Page, title: &str, o: &Value, path: &str, unit: &str) {
    let value = if o.has(path) { format!("{}{unit}", o.shown(path)) } else { "<unset>".to_owned() };
    page.field(0, title, value);
}

fn selector(selector: &Value) -> String {
    match label_selector(selector).unwrap_or_default().to_selector() {
        Ok(selector) => selector.to_string(),
        Err(why) => format!("Failed to get selector: {why}"),
    }
}

/// Upstream: describeJob (v1.37).
pub(super) fn job(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "Selector", selector(o.at("spec.selector")));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.controlled_by(meta);
    optional(page, "Parallelism", &o, "spec.parallelism", "");
    or_unset(page, "Completions", &o, "spec.completions", "");
    optional(page, "Completion Mode", &o, "spec.completionMode", "");
    optional(page, "Suspend", &o, "spec.suspend", "");
    optional(page, "Backoff Limit", &o, "spec.backoffLimit", "");
    optional(page, "TTL Seconds After Finished", &o, "spec.ttlSecondsAfterFinished", "");
    let (start, end) = (o.time("status.startTime"), o.time("status.completionTime"));
    if start.is_some() {
        page.field(0, "Start Time", date(start));
    }
    if end.is_some() {
        page.field(0, "Completed At", date(end));
    }
    if let (Some(start), Some(end)) = (start, end) {
        page.field(0, "Duration", human_duration(end.instant().nanos_since(start.instant())));
    }
    optional(page, "Active Deadline Seconds", &o, "spec.activeDeadlineSeconds", "s");
    let ready =
        if o.has("status.ready") { format!(" ({} Ready)", o.int("status.ready")) } else { String::new() };
    page.field(
        0,
        "Pods Statuses",
        format!(
            "{} Active{ready} / {} Succeeded / {} Failed",
            o.int("status.active"),
            o.int("status.succeeded"),
            o.int("status.failed")
        ),
    );
    if o.text("spec.completionMode") == "Indexed" {
        page.field(0, "Completed Indexes", indexes(o.text("status.completedIndexes")));
    }
    template::describe_value(page, o.at("spec.template"));
}

/// Upstream: capIndexesListOrNone, with its limit of 50 letters.
fn indexes(list: &str) -> String {
    if list.is_empty() {
        return "<none>".to_owned();
    }
    let cut = list.bytes().enumerate().skip(50).find(|(_, b)| *b == b',').map(|(at, _)| at);
    cut.and_then(|at| list.get(..=at)).map_or_else(|| list.to_owned(), |start| format!("{start}..."))
}

/// Upstream: describeCronJob (v1.37).
pub(super) fn cron_job(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.head(meta);
    page.field(0, "Schedule", o.text("spec.schedule"));
    page.field(0, "Concurrency Policy", o.text("spec.concurrencyPolicy"));
    let suspend = match o.at("spec.suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    page.field(0, "Suspend", suspend);
    or_unset(page, "Time Zone", &o, "spec.timeZone", "");
    or_unset(page, "Successful Job History Limit", &o, "spec.successfulJobsHistoryLimit", "");
    or_unset(page, "Failed Job History Limit", &o, "spec.failedJobsHistoryLimit", "");
    or_unset(page, "Starting Deadline Seconds", &o, "spec.startingDeadlineSeconds", "s");
    let job = o.at("spec.jobTemplate.spec");
    let picks = if job.has("selector") { selector(job.at("selector")) } else { "<unset>".to_owned() };
    page.field(0, "Selector", picks);
    or_unset(page, "Parallelism", job, "parallelism", "");
    or_unset(page, "Completions", job, "completions", "");
    optional(page, "Active Deadline Seconds", job, "activeDeadlineSeconds", "s");
    template::describe_value(page, job.at("template"));
    let last = o.time("status.lastScheduleTime");
    page.field(0, "Last Schedule Time", if last.is_some() { date(last) } else { "<unset>".to_owned() });
    let active: Vec<&str> = o.list("status.active").iter().map(|j| j.text("name")).collect();
    let active = if active.is_empty() { "<none>".to_owned() } else { active.join(", ") };
    page.field(0, "Active Jobs", active);
}
