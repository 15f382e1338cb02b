//! Starts the job that is due. Upstream: cronjob_controllerv2.go, syncCronJob from its middle on (v1.37).

use super::{
    active,
    schedule::{due, until_next},
};
use crate::{
    claim::{controller_ref, is_controlled_by},
    stop::{Step, error, namespace_terminating},
    whole,
};
use kubestep_control::{Cx, Done, reference};
use kubestep_model::{
    CronJob, Job, ObjectMeta, Time, Whole,
    cron::{Schedule, Zone},
    text::go,
};

/// Upstream: batch.CronJobScheduledTimestampAnnotation.
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

fn warn(cx: &mut Cx<'_>, cron: &CronJob, reason: &str, text: String) {
    cx.event(&cron.to_object(), "Warning", reason, text);
}

fn note(cx: &mut Cx<'_>, code: &'static str, cron: &CronJob, more: Option<(&'static str, String)>) {
    let mut about = vec![("who", cron.metadata.name.to_string())];
    about.extend(more);
    cx.because(code, about);
}

/// Upstream: formatSchedule, and the parser.
fn read_schedule(cx: &mut Cx<'_>, cron: &CronJob) -> Option<Schedule> {
    let text = &cron.spec.schedule;
    let mut zone = cron.spec.time_zone.as_deref();
    if text.contains("TZ") {
        zone = None;
        let text = format!(
            "CRON_TZ or TZ used in schedule {} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
            go::quote(text)
        );
        warn(cx, cron, "UnsupportedSchedule", text);
    }
    match Schedule::of(text, zone) {
        Ok(schedule) => Some(schedule),
        Err(why) => {
            let text = format!("unparseable schedule: {} : {why}", go::quote(text));
            warn(cx, cron, "UnparseableSchedule", text);
            None
        }
    }
}

/// Upstream: syncCronJob.
pub(super) fn sync_cron_job(
    cx: &mut Cx<'_>,
    cron: &mut CronJob,
    jobs: &[Job],
    changed: &mut bool,
) -> Step<Done> {
    active::update(cx, cron, jobs, changed)?;
    if cron.metadata.is_terminating() {
        note(cx, "cron.deleting", cron, None);
        return Ok(Done::Settled);
    }
    if let Some(zone) = cron.spec.time_zone.as_deref().filter(|zone| Zone::named(zone).is_none()) {
        let text = format!("invalid timeZone: {}: unknown time zone {zone}", go::quote(zone));
        warn(cx, cron, "UnknownTimeZone", text);
        return Ok(Done::Settled);
    }
    if cron.spec.suspend == Some(true) {
        note(cx, "cron.suspended", cron, None);
        return Ok(Done::Settled);
    }
    let Some(schedule) = read_schedule(cx, cron) else { return Ok(Done::Settled) };
    let (time, many) = match due(cron, cx.now(), &schedule) {
        Ok(Some(due)) => due,
        Ok(None) => return Ok(wait(cx, cron, &schedule)),
        Err(why) => {
            warn(cx, cron, "InvalidSchedule", format!("invalid schedule: {} : {why}", cron.spec.schedule));
            return Ok(Done::Settled);
        }
    };
    if many {
        let text =
            "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
        warn(cx, cron, "TooManyMissedTimes", text.into());
    }
    if !may_start(cx, cron, time) {
        return Ok(wait(cx, cron, &schedule));
    }
    if cron.spec.concurrency_policy == "Replace" {
        replace_active(cx, cron, changed)?;
    }
    if start(cx, cron, time)? {
        *changed = true;
        return Ok(wait(cx, cron, &schedule));
    }
    Ok(Done::Settled)
}

fn wait(cx: &mut Cx<'_>, cron: &CronJob, schedule: &Schedule) -> Done {
    let after = until_next(cron, cx.now(), schedule);
    note(cx, "cron.wait", cron, Some(("after", after.as_secs().to_string())));
    Done::Again(after)
}

/// Whether nothing speaks against a job for this time.
fn may_start(cx: &mut Cx<'_>, cron: &CronJob, time: Time) -> bool {
    let deadline = cron.spec.starting_deadline_seconds.map(|d| Time(time.0.saturating_add(d)).instant());
    if deadline.is_some_and(|deadline| deadline < cx.now()) {
        let text = format!("Missed scheduled time to start a job: {}", rfc1123(time));
        warn(cx, cron, "MissSchedule", text);
        return false;
    }
    let name = job_name(cron, time);
    let known = cron.status.active.iter().any(|r| *r.name == name && r.namespace == cron.metadata.namespace);
    if known || cron.status.last_schedule_time == Some(time) {
        note(cx, "cron.done-already", cron, Some(("job", name)));
        return false;
    }
    if cron.spec.concurrency_policy == "Forbid" && !cron.status.active.is_empty() {
        note(cx, "cron.forbid", cron, Some(("active", cron.status.active.len().to_string())));
        let text = "Not starting job because prior execution is running and concurrency policy is Forbid";
        cx.event(&cron.to_object(), "Normal", "JobAlreadyActive", text.into());
        return false;
    }
    true
}

/// Go's layout RFC1123Z: `Mon, 02 Jan 2006 15:04:05 -0700`, in UTC.
fn rfc1123(time: Time) -> String {
    let (day, second) = (time.0.div_euclid(86_400), time.0.rem_euclid(86_400));
    let (year, month, date) = kubestep_model::time::civil_from_days(day);
    let weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        .into_iter()
        .nth(usize::try_from((day + 4).rem_euclid(7)).unwrap_or(0));
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.into_iter().nth(usize::try_from(month - 1).unwrap_or(0));
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{}, {date:02} {} {year:04} {hour:02}:{minute:02}:{:02} +0000",
        weekday.unwrap_or_default(),
        month.unwrap_or_default(),
        second % 60
    )
}

/// Deletes what still runs, to make room.
fn replace_active(cx: &mut Cx<'_>, cron: &mut CronJob, changed: &mut bool) -> Step<()> {
    for reference in cron.status.active.clone() {
        let job = match whole::live::<Job>(cx, &reference.namespace, &reference.name)? {
            Ok(job) => job,
            Err(status) => {
                warn(cx, cron, "FailedGet", format!("Get job: {}", status.message));
                return Err(status.into());
            }
        };
        note(cx, "cron.replace", cron, Some(("job", job.metadata.name.to_string())));
        if !active::delete(cx, cron, &job)? {
            let text = format!("could not replace job {}/{}", job.metadata.namespace, job.metadata.name);
            return Err(error(text).into());
        }
        *changed = true;
    }
    Ok(())
}

/// Upstream: getJobName.
fn job_name(cron: &CronJob, time: Time) -> String {
    format!("{}-{}", cron.metadata.name, time.0.div_euclid(60))
}

/// Upstream: getJobFromTemplate2.
fn job_of(cron: &CronJob, time: Time) -> Job {
    let template = &cron.spec.job_template;
    let zone = cron.spec.time_zone.as_deref().and_then(Zone::named).unwrap_or(Zone::UTC);
    let mut annotations = template.metadata.annotations.clone();
    annotations.insert(SCHEDULED.into(), zone.rfc3339(time));
    let metadata = ObjectMeta {
        name: job_name(cron, time).into(),
        namespace: cron.metadata.namespace.clone(),
        labels: template.metadata.labels.clone(),
        annotations,
        creation_timestamp: Some(time),
        owner_references: vec![controller_ref(CronJob::KIND, &cron.metadata)],
        ..Default::default()
    };
    Job { metadata, spec: template.spec.clone(), ..Default::default() }
}

/// Creates the job and enters it; `false` if it is nobody's business.
fn start(cx: &mut Cx<'_>, cron: &mut CronJob, time: Time) -> Step<bool> {
    let wanted = job_of(cron, time);
    note(cx, "cron.start", cron, Some(("job", wanted.metadata.name.to_string())));
    let job = match whole::create(cx, &wanted)? {
        Ok(job) => {
            let text = format!("Created job {}", job.metadata.name);
            cx.event(&cron.to_object(), "Normal", "SuccessfulCreate", text);
            job
        }
        Err(refusal) if namespace_terminating(&refusal) => return Err(refusal.into()),
        Err(refusal) if refusal.is_already_exists() => {
            // Made in an earlier pass whose status was not written, or by somebody else.
            let there: Job = whole::live(cx, &wanted.metadata.namespace, &wanted.metadata.name)??;
            let ours = is_controlled_by(&there.metadata, &cron.metadata);
            if !ours || active::is_active(cron, &there.metadata.uid) {
                return Ok(false);
            }
            there
        }
        Err(refusal) => {
            warn(cx, cron, "FailedCreate", format!("Error creating job: {}", refusal.message));
            return Err(refusal.into());
        }
    };
    cron.status.active.push(reference(&job.to_object()));
    cron.status.last_schedule_time = Some(time);
    Ok(true)
}
