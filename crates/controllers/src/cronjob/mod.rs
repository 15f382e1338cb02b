//! Cron jobs: a job at each time of a schedule.
//!
//! Upstream: pkg/controller/cronjob (v1.37): cronjob_controllerv2.go and utils.go. The handler of updates, which looks
//! at the clock when a schedule changes, is the first step of a pass here. Left out: metrics.

mod active;
mod schedule;
mod sentences;
mod start;

pub use sentences::SENTENCES;

use crate::{
    stop::{Step, Stop, flow},
    whole,
};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{CronJob, Job, Key, Object, ObjectMeta, Whole, cron::Schedule};
use serde_json::json;

/// The cron job controller.
#[derive(Debug)]
pub struct CronJobController;

static WATCHES: [Watch; 2] =
    [Watch { kind: CronJob::KIND, wakes: cron_job_changed }, Watch { kind: Job::KIND, wakes: job_changed }];

fn cron_job_changed(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The cron job that a job names as its owner, if it is the very same. Upstream: resolveControllerRef.
fn owner(view: &View, job: &ObjectMeta) -> Option<Wake> {
    let reference = job.controller().filter(|reference| reference.kind == CronJob::KIND.name())?;
    let key = Key::new(CronJob::KIND, job.namespace.clone(), reference.name.clone());
    view.object(&key).filter(|found| found.meta().uid == reference.uid).map(|_| Wake::now(key))
}

/// Upstream: addJob, updateJob, deleteJob.
fn job_changed(change: &Change, view: &View) -> Vec<Wake> {
    let meta = |object: &Option<Object>| object.as_ref().map(|object| object.meta().clone());
    match (meta(&change.old), meta(&change.new)) {
        (Some(old), Some(new)) if old.resource_version == new.resource_version => Vec::new(),
        (old, Some(new)) => {
            let moved = old.filter(|old| old.controller() != new.controller());
            moved.and_then(|old| owner(view, &old)).into_iter().chain(owner(view, &new)).collect()
        }
        (Some(old), None) => owner(view, &old).into_iter().collect(),
        (None, None) => Vec::new(),
    }
}

impl Controller for CronJobController {
    fn name(&self) -> &'static str {
        "cronjob"
    }
    fn actor(&self) -> &'static str {
        "cronjob-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(cron) = whole::get::<CronJob>(cx.view(), &key.namespace, &key.name) else {
            cx.because("cron.gone", vec![("who", key.name.to_string())]);
            if cx.recall(&memory(key)).is_some() {
                cx.remember(&memory(key), None);
            }
            return Ok(Done::Settled);
        };
        if let Some(done) = schedule_changed(cx, key, &cron) {
            return Ok(done);
        }
        let step = sync(cx, cron);
        flow(cx, step)
    }
}

fn memory(key: &Key) -> String {
    format!("schedule {}/{}", key.namespace, key.name)
}

/// A new schedule is not caught up with: the next time by it is waited for. Upstream: updateCronJob.
fn schedule_changed(cx: &mut Cx<'_>, key: &Key, cron: &CronJob) -> Option<Done> {
    let now = json!([cron.spec.schedule, cron.spec.time_zone]);
    let before = cx.recall(&memory(key)).cloned();
    if before.as_ref() == Some(&now) {
        return None;
    }
    cx.remember(&memory(key), Some(now));
    before?;
    let parsed = Schedule::of(&cron.spec.schedule, cron.spec.time_zone.as_deref()).ok()?;
    let after = schedule::until_next(cron, cx.now(), &parsed);
    cx.because(
        "cron.new-schedule",
        vec![("who", key.name.to_string()), ("after", after.as_secs().to_string())],
    );
    Some(Done::Again(after))
}

/// One pass. Upstream: sync.
fn sync(cx: &mut Cx<'_>, mut cron: CronJob) -> Step<Done> {
    let meta = &cron.metadata;
    let named = |job: &Job| job.metadata.controller().is_some_and(|owner| owner.name == meta.name);
    let jobs: Vec<Job> = whole::list::<Job>(cx.view(), &meta.namespace).filter(named).collect();
    let mut changed = active::clean_up(cx, &mut cron, &jobs)?;
    let synced = match start::sync_cron_job(cx, &mut cron, &jobs, &mut changed) {
        Err(Stop::Halt(halt)) => return Err(halt.into()),
        other => other,
    };
    if changed {
        let about =
            vec![("who", cron.metadata.name.to_string()), ("active", cron.status.active.len().to_string())];
        cx.because("cron.status", about);
        whole::set_status(cx, &cron)??;
    }
    synced
}

#[cfg(test)]
mod tests;
