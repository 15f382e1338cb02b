//! Jobs: pods that have to succeed so many times.
//!
//! Upstream: pkg/controller/job (v1.37): job_controller.go, indexed_job_utils.go, backoff_utils.go,
//! pod_failure_policy.go, success_policy.go, tracking_utils.go. Upstream's expectations are the runtime's
//! read-your-writes here. Left out: metrics; jobs of another manager are left alone.

mod backoff;
mod context;
mod indexes;
mod manage;
mod policy;
mod sentences;
mod sync;
mod track;
mod wakes;

pub use backoff::Record;
pub use indexes::Intervals;
pub use sentences::SENTENCES;

use crate::{stop::flow, whole};
use kubestep_control::{Controller, Cx, Done, Flow, Watch};
use kubestep_model::{Instant, Job, JobCondition, Key, Kind, Pod, Whole};
use std::time::Duration;

/// The job controller.
#[derive(Debug)]
pub struct JobController;

static WATCHES: [Watch; 2] =
    [Watch { kind: Job::KIND, wakes: wakes::job }, Watch { kind: Kind::Pod, wakes: wakes::pod }];

impl Controller for JobController {
    fn name(&self) -> &'static str {
        "job"
    }
    fn actor(&self) -> &'static str {
        "job-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Pod, Job::KIND]
    }
    fn backoff(&self) -> (Duration, Duration) {
        // Upstream: DefaultJobApiBackOff, MaxJobApiBackOff.
        (Duration::from_secs(1), Duration::from_secs(60))
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        if key.kind == Kind::Pod {
            let Some(pod) = cx.get::<Pod>(&key.namespace, &key.name) else { return Ok(Done::Settled) };
            return match track::free_orphan(cx, pod)? {
                Ok(()) => Ok(Done::Settled),
                Err(status) => Err(cx.fail(status)),
            };
        }
        let Some(job) = whole::get::<Job>(cx.view(), &key.namespace, &key.name) else {
            cx.because("job.gone", vec![("who", key.name.to_string())]);
            remember(cx, key, None);
            return Ok(Done::Settled);
        };
        let step = sync::sync_job(cx, key, job);
        flow(cx, step)
    }
}

/// What the loop remembers of a job's failures. Lost in a crash, as upstream's store is.
fn recall(cx: &Cx<'_>, key: &Key) -> Record {
    let value = cx.recall(&wakes::memory_name(key));
    value.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}

fn remember(cx: &mut Cx<'_>, key: &Key, record: Option<Record>) {
    let name = wakes::memory_name(key);
    let value = record.filter(|r| *r != Record::default()).and_then(|r| serde_json::to_value(r).ok());
    if value.is_some() || cx.recall(&name).is_some() {
        cx.remember(&name, value);
    }
}

/// A condition that holds from now on. Upstream: newCondition.
fn condition(r#type: &str, reason: &str, message: &str, now: Instant) -> JobCondition {
    JobCondition {
        r#type: r#type.into(),
        status: "True".into(),
        last_probe_time: Some(now.to_time()),
        last_transition_time: Some(now.to_time()),
        reason: reason.into(),
        message: message.into(),
        ..Default::default()
    }
}

/// Puts or changes a condition; one that does not hold is not put where there was none.
/// Upstream: ensureJobConditionStatus.
fn ensure_condition(
    conditions: &mut Vec<JobCondition>,
    r#type: &str,
    status: &str,
    (reason, message): (&str, &str),
    now: Instant,
) -> bool {
    let fresh = JobCondition { status: status.into(), ..condition(r#type, reason, message, now) };
    match conditions.iter_mut().find(|c| c.r#type == r#type) {
        Some(old) if (&*old.status, &*old.reason, &*old.message) == (status, reason, message) => false,
        Some(old) => {
            *old = fresh;
            true
        }
        None if status == "False" => false,
        None => {
            conditions.push(fresh);
            true
        }
    }
}

#[cfg(test)]
mod tests;
