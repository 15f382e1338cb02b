//! Counts ended pods without ever losing or doubling one: first their uids into the status, then their finalizer
//! away, then the counters.
//!
//! Upstream: pkg/controller/job/job_controller.go, trackJobStatusAndRemoveFinalizers (v1.37).

use super::{
    condition,
    context::{Pass, completions, is_failed, is_tracked, per_index},
    ensure_condition,
    indexes::{index_of, valid_index},
    manage::{key_of, untrack_all},
    policy, remember,
};
use crate::{
    stop::{Step, error},
    whole,
};
use kubestep_control::{Cx, Halt};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Job, JobStatus, Pod, Status, Whole};
use std::collections::BTreeSet;

/// So many uids may stand in the status. Upstream: MaxUncountedPods.
const MOST_UNCOUNTED: usize = 500;

/// Upstream: trackJobStatusAndRemoveFinalizers.
pub(super) fn track(cx: &mut Cx<'_>, pass: &mut Pass<'_>, mut changed: bool) -> Step<()> {
    if pass.job.is_indexed() {
        // So that done indexes are entered in order.
        let mut pods = std::mem::take(&mut pass.pods);
        pods.arrange_by_key(|pod| index_of(pod).unwrap_or(-1));
        pass.pods = pods;
    }
    let mut tracked: BTreeSet<String> =
        pass.pods.iter().filter(|pod| is_tracked(pod)).map(|pod| pod.metadata.uid.to_string()).gather();
    changed |= clean(&mut pass.job.status, &tracked);
    let Noted { remove, all, done } = note_ended(pass, &mut changed);
    enter_indexes(pass, &done, &mut changed);
    let mut finished = pass.finished.take();
    if let Some(found) = finished.as_mut() {
        let failed = found.r#type == "FailureTarget";
        if failed || found.r#type == "SuccessCriteriaMet" {
            // The reason is written before pods are let go of, the end of the job after that.
            if failed || !has_succeeded(&pass.job) {
                pass.job.status.conditions.push(found.clone());
                changed = true;
            }
            let end = if failed { "Failed" } else { "Complete" };
            *found = condition(end, &found.reason, &found.message, cx.now());
        }
    }
    pass.finished = finished;
    changed = flush(cx, pass, &remove, &mut tracked, changed)?;
    let over = all && enact_finished(cx, pass);
    if changed || over {
        write(cx, pass, "removing uncounted pods from status")?;
        if over {
            tell_end(cx, pass);
        }
    }
    Ok(())
}

fn has_succeeded(job: &Job) -> bool {
    job.condition("SuccessCriteriaMet").is_some_and(|c| c.status == "True")
}

/// Which pods are let go of, whether all that ended were looked at, and which indexes are newly done.
struct Noted<'p> {
    remove: Vec<&'p Pod>,
    all: bool,
    done: Vec<i32>,
}

/// Enters the uids of ended pods.
fn note_ended<'p>(pass: &mut Pass<'p>, changed: &mut bool) -> Noted<'p> {
    let (mut remove, mut done, mut all) = (Vec::new(), Vec::new(), true);
    let failing =
        pass.finished.as_ref().is_some_and(|c| !(c.r#type == "SuccessCriteriaMet" && c.status == "True"));
    let indexed = pass.job.is_indexed();
    for pod in pass.pods.clone() {
        if !is_tracked(pod) {
            continue;
        }
        let failed = is_failed(pod, &pass.job);
        if !can_be_let_go(pass, pod, failed) {
            continue;
        }
        remove.push(pod);
        let uid = pod.metadata.uid.to_string();
        let valid = valid_index(pod, completions(&pass.job));
        let (success, failure) = (pass.stands(true, pod), pass.stands(false, pod));
        let uncounted = pass.job.status.uncounted_terminated_pods.get_or_insert_default();
        if pod.status.phase == "Succeeded" && !failure {
            if indexed {
                if let Some(index) = valid.filter(|index| !pass.before.has(*index)) {
                    done.push(index);
                    *changed = true;
                }
            } else if !success {
                uncounted.succeeded.push(uid);
                *changed = true;
            }
        } else if (failed || failing)
            && !failure
            && (!indexed || valid.is_some())
            && !policy::judge(&pass.job, pod).ignored
        {
            pass.job.status.uncounted_terminated_pods.get_or_insert_default().failed.push(uid);
            *changed = true;
        }
        if done.len() + pass.uncounted(true).len() + pass.uncounted(false).len() >= MOST_UNCOUNTED {
            all = false;
            break;
        }
    }
    Noted { remove, all, done }
}

/// Upstream: canRemoveFinalizer.
fn can_be_let_go(pass: &Pass<'_>, pod: &Pod, failed: bool) -> bool {
    if pass.job.metadata.is_terminating() || pass.finished.is_some() || pod.status.phase == "Succeeded" {
        return true;
    }
    failed && !(per_index(&pass.job) && pass.is_delayed(pod))
}

/// What the status says of indexes.
fn enter_indexes(pass: &mut Pass<'_>, done: &[i32], changed: &mut bool) {
    if !pass.job.is_indexed() {
        return;
    }
    pass.done = pass.done.with(done.iter().copied());
    let status = &mut pass.job.status;
    let text = pass.done.to_string();
    *changed |= text != status.completed_indexes;
    status.succeeded = pass.done.total();
    status.completed_indexes = text;
    let failed = pass.failed_indexes.as_ref().map(ToString::to_string);
    *changed |= failed != status.failed_indexes;
    status.failed_indexes = failed;
}

/// Moves uids of pods that were let go of into the counters. Upstream: cleanUncountedPodsWithoutFinalizers.
fn clean(status: &mut JobStatus, tracked: &BTreeSet<String>) -> bool {
    let uncounted = status.uncounted_terminated_pods.get_or_insert_default();
    let settle = |uids: &mut Vec<String>| {
        let before = uids.len();
        uids.retain(|uid| tracked.contains(uid));
        i32::try_from(before - uids.len()).unwrap_or(i32::MAX)
    };
    let (succeeded, failed) = (settle(&mut uncounted.succeeded), settle(&mut uncounted.failed));
    status.succeeded = status.succeeded.saturating_add(succeeded);
    status.failed = status.failed.saturating_add(failed);
    succeeded + failed > 0
}

fn write(cx: &mut Cx<'_>, pass: &mut Pass<'_>, doing: &str) -> Step<()> {
    let status = &pass.job.status;
    let about = vec![
        ("who", pass.job.metadata.name.to_string()),
        ("active", status.active.to_string()),
        ("succeeded", status.succeeded.to_string()),
        ("failed", status.failed.to_string()),
    ];
    cx.because("job.status", about);
    match whole::set_status(cx, &pass.job)? {
        Ok(job) => pass.job = job,
        Err(refusal) => return Err(prefixed(doing, refusal).into()),
    }
    Ok(())
}

fn prefixed(doing: &str, mut refusal: Status) -> Status {
    refusal.message = format!("tracking status: {doing}: {}", refusal.message);
    refusal
}

/// Writes the uids, lets go of the pods and counts them. Upstream: flushUncountedAndRemoveFinalizers.
fn flush(
    cx: &mut Cx<'_>,
    pass: &mut Pass<'_>,
    remove: &[&Pod],
    tracked: &mut BTreeSet<String>,
    mut changed: bool,
) -> Step<bool> {
    if changed {
        write(cx, pass, "adding uncounted pods to status")?;
        remember(cx, &key_of(&pass.job), Some(pass.record));
        changed = false;
    }
    let (gone, refusal) = untrack_all(cx, remove)?;
    for (pod, _) in remove.iter().zip(&gone).filter(|(_, gone)| **gone) {
        tracked.remove(&*pod.metadata.uid);
    }
    changed |= clean(&mut pass.job.status, tracked);
    let Some(refusal) = refusal else { return Ok(changed) };
    if changed {
        write(cx, pass, "removing uncounted pods from status")?;
    }
    Err(error(format!("tracking status: {}", refusal.message)).into())
}

/// Whether the job is over now. Upstream: enactJobFinished.
fn enact_finished(cx: &mut Cx<'_>, pass: &mut Pass<'_>) -> bool {
    let Some(found) = pass.finished.clone() else { return false };
    let waiting = pass.uncounted(true).len() + pass.uncounted(false).len();
    if waiting > 0 || pass.terminating > 0 {
        cx.because(
            "job.wait-end",
            vec![
                ("who", pass.job.metadata.name.to_string()),
                ("uncounted", waiting.to_string()),
                ("going", pass.terminating.to_string()),
            ],
        );
        return false;
    }
    let status = &mut pass.job.status;
    ensure_condition(
        &mut status.conditions,
        &found.r#type,
        &found.status,
        (&found.reason, &found.message),
        cx.now(),
    );
    if found.r#type == "Complete" {
        status.completion_time = found.last_transition_time;
    }
    true
}

/// Upstream: recordJobFinished.
fn tell_end(cx: &mut Cx<'_>, pass: &Pass<'_>) {
    let Some(found) = &pass.finished else { return };
    let job = &pass.job;
    let about = job.to_object();
    if found.r#type != "Complete" {
        cx.because(
            "job.failed",
            vec![("who", job.metadata.name.to_string()), ("why", found.message.clone())],
        );
        cx.event(&about, "Warning", &found.reason, found.message.clone());
        return;
    }
    cx.because("job.complete", vec![("who", job.metadata.name.to_string())]);
    if job.spec.completions.is_some_and(|wanted| job.status.succeeded > wanted) {
        let text = "Too many succeeded pods running after completion count reached";
        cx.event(&about, "Warning", "TooManySucceededPods", text.into());
    }
    cx.event(&about, "Normal", "Completed", "Job completed".into());
}

/// A pod whose job is gone or over: nobody counts it any more. Upstream: syncOrphanPod.
pub(super) fn free_orphan(cx: &mut Cx<'_>, pod: &Pod) -> Result<Result<(), Status>, Halt> {
    if !is_tracked(pod) {
        return Ok(Ok(()));
    }
    if let Some(job) = super::wakes::job_of(cx.view(), &pod.metadata)
        && job.finished().is_none()
    {
        return Ok(Ok(()));
    }
    cx.because("job.free-orphan", vec![("pod", pod.metadata.name.to_string())]);
    let (_, refusal) = untrack_all(cx, &[pod])?;
    Ok(refusal.map_or(Ok(()), Err))
}
