//! Jobs that ended are deleted after their time to live.
//!
//! Upstream: pkg/controller/ttlafterfinished (v1.37).

use crate::{sentences::Sentence, whole};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{DeleteOptions, Instant, Job, Key, Propagation, Time, Whole};
use std::time::Duration;

/// The controller.
#[derive(Debug)]
pub struct TtlAfterFinished;

static WATCHES: [Watch; 1] = [Watch { kind: Job::KIND, wakes: job_changed }];

/// Upstream: addJob, updateJob.
fn job_changed(change: &Change, _: &View) -> Vec<Wake> {
    let job = change.new.as_ref().and_then(Job::read);
    job.filter(needs_clean_up).map(|_| Wake::now(change.key.clone())).into_iter().collect()
}

/// Upstream: needsCleanup.
fn needs_clean_up(job: &Job) -> bool {
    job.spec.ttl_seconds_after_finished.is_some()
        && job.finished().is_some()
        && !job.metadata.is_terminating()
}

/// When the job ended, and how much of its time is left. Upstream: timeLeft.
fn left(job: &Job, now: Instant) -> Option<(Time, Duration)> {
    let ended = job.finished()?.last_transition_time?;
    let ttl = u64::try_from(job.spec.ttl_seconds_after_finished?).unwrap_or(0);
    let expires = ended.instant() + Duration::from_secs(ttl);
    Some((ended, expires.since(now)))
}

impl Controller for TtlAfterFinished {
    fn name(&self) -> &'static str {
        "ttl-after-finished"
    }
    fn actor(&self) -> &'static str {
        "ttl-after-finished-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    /// Upstream: processJob.
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(job) = whole::get::<Job>(cx.view(), &key.namespace, &key.name).filter(needs_clean_up) else {
            return Ok(Done::Settled);
        };
        let wait = |cx: &mut Cx<'_>, left: Duration| {
            let about = vec![("who", key.name.to_string()), ("after", left.as_secs().to_string())];
            cx.because("ttl.wait", about);
            Ok(Done::Again(left))
        };
        match left(&job, cx.now()) {
            None => return Ok(Done::Settled),
            Some((_, left)) if !left.is_zero() => return wait(cx, left),
            Some(_) => {}
        }
        // The cache may be behind: its time to live may have been changed.
        let fresh = match whole::live::<Job>(cx, &key.namespace, &key.name)? {
            Ok(fresh) => fresh,
            Err(status) if status.is_not_found() => return Ok(Done::Settled),
            Err(status) => return Err(cx.fail(status)),
        };
        if !needs_clean_up(&fresh) {
            return Ok(Done::Settled);
        }
        match left(&fresh, cx.now()) {
            None => return Ok(Done::Settled),
            Some((_, left)) if !left.is_zero() => return wait(cx, left),
            Some(_) => {}
        }
        cx.because("ttl.delete", vec![("who", key.name.to_string())]);
        let options = DeleteOptions {
            propagation: Some(Propagation::Foreground),
            uid: Some(fresh.metadata.uid.clone()),
            ..Default::default()
        };
        match cx.try_delete(key.clone(), options)? {
            Ok(()) => Ok(Done::Settled),
            Err(status) if status.is_not_found() => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "ttl.delete",
        text: "{who} has ended and its time to live is over: it is deleted.",
        upstream: "pkg/controller/ttlafterfinished/ttlafterfinished_controller.go, processJob",
    },
    Sentence {
        code: "ttl.wait",
        text: "{who} has ended and is deleted in {after} s.",
        upstream: "pkg/controller/ttlafterfinished/ttlafterfinished_controller.go, processTTL",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::pass;
    use kubestep_control::Progress;
    use serde_json::json;

    #[test]
    fn a_job_goes_when_its_time_is_over() {
        let job = |status: &str| {
            let condition =
                json!({"type": "Complete", "status": status, "lastTransitionTime": "2026-11-29T12:00:00Z"});
            let job: Job = serde_json::from_value(json!({
                "metadata": {"name": "once", "namespace": "default", "uid": "u"},
                "spec": {"ttlSecondsAfterFinished": 60}, "status": {"conditions": [condition]},
            }))
            .expect("a job");
            job
        };
        let rows = [
            ("True", "2026-11-29T12:00:20Z", Done::Again(Duration::from_secs(40)), false),
            ("True", "2026-11-29T12:01:00Z", Done::Settled, true),
            ("False", "2026-11-29T12:01:00Z", Done::Settled, false),
        ];
        for (status, now, want, gone) in rows {
            let object = job(status).to_object();
            let now = Time::parse(now).expect(now).instant();
            let done = pass(&TtlAfterFinished, object.key(), vec![object.clone()], now, vec![]);
            assert_eq!(done.progress, Some(Progress::Done(want)), "{status}");
            assert_eq!(done.stored.is_empty(), gone, "{status}");
        }
    }
}
