//! The jobs of a cron job: which are active, which have ended, and how many ended ones are kept.
//! Upstream: cronjob_controllerv2.go, cleanupFinishedJobs and the first half of syncCronJob (v1.37).

use crate::{stop::Step, whole};
use kubestep_control::{Cx, Halt};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{CronJob, DeleteOptions, Job, Key, Propagation, Whole};
use std::collections::BTreeSet;

fn key_of(job: &Job) -> Key {
    Key::new(Job::KIND, job.metadata.namespace.clone(), job.metadata.name.clone())
}

pub(super) fn is_active(cron: &CronJob, uid: &str) -> bool {
    cron.status.active.iter().any(|reference| &*reference.uid == uid)
}

/// Deletes a job and all that hangs on it; whether that was granted. Upstream: deleteJob.
pub(super) fn delete(cx: &mut Cx<'_>, cron: &mut CronJob, job: &Job) -> Result<bool, Halt> {
    let options = DeleteOptions { propagation: Some(Propagation::Background), ..Default::default() };
    let about = cron.to_object();
    if let Err(refusal) = cx.try_delete(key_of(job), options)? {
        cx.event(&about, "Warning", "FailedDelete", format!("Deleted job: {}", refusal.message));
        return Ok(false);
    }
    cron.status.active.retain(|reference| reference.uid != job.metadata.uid);
    cx.event(&about, "Normal", "SuccessfulDelete", format!("Deleted job {}", job.metadata.name));
    Ok(true)
}

/// Deletes the oldest ended jobs beyond the limits. Upstream: cleanupFinishedJobs.
pub(super) fn clean_up(cx: &mut Cx<'_>, cron: &mut CronJob, jobs: &[Job]) -> Result<bool, Halt> {
    let limits = [
        ("Complete", cron.spec.successful_jobs_history_limit),
        ("Failed", cron.spec.failed_jobs_history_limit),
    ];
    let mut changed = false;
    for (end, limit) in limits {
        let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { continue };
        let ended = |job: &&Job| job.finished().is_some_and(|c| c.r#type == end);
        let mut old: Vec<&Job> = jobs.iter().filter(ended).collect();
        old.arrange_by_key(|job| {
            (job.status.start_time.map_or(i64::MAX, |t| t.0), job.metadata.name.clone())
        });
        for job in old.iter().take(old.len().saturating_sub(limit)) {
            cx.because(
                "cron.trim-history",
                vec![
                    ("who", cron.metadata.name.to_string()),
                    ("limit", limit.to_string()),
                    ("job", job.metadata.name.to_string()),
                ],
            );
            changed |= delete(cx, cron, job)?;
        }
    }
    Ok(changed)
}

/// Brings the list of active jobs up to date.
pub(super) fn update(cx: &mut Cx<'_>, cron: &mut CronJob, jobs: &[Job], changed: &mut bool) -> Step<()> {
    for job in jobs {
        let uid = &job.metadata.uid;
        let (listed, finished) = (is_active(cron, uid), job.finished());
        match finished {
            None if !listed => {
                // The cache may be behind one's own write.
                let fresh: CronJob = whole::live(cx, &cron.metadata.namespace, &cron.metadata.name)??;
                if is_active(&fresh, uid) {
                    *cron = fresh;
                    continue;
                }
                let text =
                    format!("Saw a job that the controller did not create or forgot: {}", job.metadata.name);
                cx.event(&cron.to_object(), "Warning", "UnexpectedJob", text);
            }
            Some(condition) if listed => {
                cron.status.active.retain(|reference| reference.uid != *uid);
                let text =
                    format!("Saw completed job: {}, condition: {}", job.metadata.name, condition.r#type);
                cx.event(&cron.to_object(), "Normal", "SawCompletedJob", text);
                *changed = true;
            }
            _ => {}
        }
        let done = finished.filter(|c| c.r#type == "Complete").and(job.status.completion_time);
        if done.is_some_and(|at| cron.status.last_successful_time.is_none_or(|last| last < at)) {
            cron.status.last_successful_time = done;
            *changed = true;
        }
    }
    forget_missing(cx, cron, jobs, changed)
}

/// Jobs that are listed and nowhere to be found.
fn forget_missing(cx: &mut Cx<'_>, cron: &mut CronJob, jobs: &[Job], changed: &mut bool) -> Step<()> {
    let there: BTreeSet<&str> = jobs.iter().map(|job| &*job.metadata.uid).gather();
    let missing = cron.status.active.iter().filter(|reference| !there.contains(&*reference.uid));
    for reference in missing.cloned().collect::<Vec<_>>() {
        match whole::live::<Job>(cx, &reference.namespace, &reference.name)? {
            Ok(_) => {}
            Err(status) if status.is_not_found() => {
                let text = format!("Active job went missing: {}", reference.name);
                cx.event(&cron.to_object(), "Normal", "MissingJob", text);
                cron.status.active.retain(|other| other.uid != reference.uid);
                *changed = true;
            }
            Err(status) => return Err(status.into()),
        }
    }
    Ok(())
}
