//! One pass of a job. Upstream: pkg/controller/job/job_controller.go, syncJob (v1.37).

use super::{
    condition,
    context::{Pass, completions, is_failed, is_tracked, number, per_index},
    ensure_condition, manage, policy, recall, remember, track,
};
use crate::{
    claim::{JOB_TRACKING, Owner, claim_pods_for},
    stop::Step,
};
use kubestep_control::{Cx, Done, Halt};
use kubestep_model::{Job, JobCondition, Key, Pod, Status, Whole, text::Selector};
use std::{borrow::Cow, time::Duration};

/// The value of `managedBy` that means this controller. Upstream: batch.JobControllerName.
const OURS: &str = "kubernetes.io/job-controller";

/// Upstream: syncJob.
pub(super) fn sync_job(cx: &mut Cx<'_>, key: &Key, job: Job) -> Step<Done> {
    if job.spec.managed_by.as_deref().is_some_and(|manager| manager != OURS) {
        cx.because("job.managed-elsewhere", vec![("who", key.name.to_string())]);
        return Ok(Done::Settled);
    }
    if job.finished().is_some() {
        cx.because("job.over", vec![("who", key.name.to_string())]);
        remember(cx, key, None);
        return Ok(Done::Settled);
    }
    let pods = own_pods(cx, &job)?;
    let mut pass = Pass::new(job, pods.iter().map(|pod| &**pod).collect(), recall(cx, key));
    let suspended = pass.job.spec.suspend == Some(true);
    if pass.job.status.start_time.is_none() && !suspended {
        pass.job.status.start_time = Some(cx.now().to_time());
    }
    pass.finished = find_end(cx, key, &pass, suspended);
    if pass.job.is_indexed() {
        look_at_indexes(cx, &mut pass);
    }
    let (active, resumed, failure) = act(cx, &mut pass)?;
    let status = &mut pass.job.status;
    let changed = resumed
        || active != status.active
        || status.ready != Some(pass.ready)
        || status.terminating != Some(pass.terminating);
    status.active = active;
    status.ready = Some(pass.ready);
    status.terminating = Some(pass.terminating);
    track::track(cx, &mut pass, changed)?;
    failure.map_or(Ok(Done::Settled), |status| Err(status.into()))
}

/// The job's pods, and orphans that it adopts; those count from now on. Upstream: getPodsForJob.
fn own_pods<'a>(cx: &mut Cx<'a>, job: &Job) -> Step<Vec<Cow<'a, Pod>>> {
    let selector = job.spec.selector.as_ref().map(|selector| selector.to_selector());
    let selector = match selector {
        None => Selector::nothing(),
        Some(Ok(selector)) => selector,
        Some(Err(text)) => {
            let text = format!("couldn't convert Job selector: {text:?}");
            return Err(crate::stop::error(text).into());
        }
    };
    let view = cx.view();
    let here = |pod: &&'a Pod| pod.metadata.namespace == job.metadata.namespace;
    let ours = view.owned_by::<Pod>(&job.metadata.uid).filter(here);
    let candidates: Vec<&'a Pod> = ours.chain(view.owned_by::<Pod>("").filter(here)).collect();
    let owner = Owner { kind: Job::KIND, meta: &job.metadata };
    let claimed = claim_pods_for(cx, owner, candidates, |meta| selector.matches(&meta.labels))?;
    let tracked = |pod: &'a Pod| {
        let adopted = pod.metadata.owner_references.iter().all(|o| o.uid != job.metadata.uid);
        if !adopted || is_tracked(pod) {
            return Cow::Borrowed(pod);
        }
        let mut copy = pod.clone();
        copy.metadata.finalizers.push(JOB_TRACKING.into());
        Cow::Owned(copy)
    };
    Ok(claimed.into_iter().map(tracked).collect())
}

/// Whether the job has to end, and why.
fn find_end(cx: &mut Cx<'_>, key: &Key, pass: &Pass<'_>, suspended: bool) -> Option<JobCondition> {
    let job = &pass.job;
    let holds = |r#type: &str| job.condition(r#type).filter(|c| c.status == "True");
    if let Some(met) = holds("SuccessCriteriaMet") {
        return Some(met.clone());
    }
    if let Some(target) = holds("FailureTarget") {
        return Some(condition("Failed", &target.reason, &target.message, cx.now()));
    }
    let fail = |cx: &Cx<'_>, reason: &str, text: &str| condition("FailureTarget", reason, text, cx.now());
    let by_policy =
        pass.pods.iter().filter(|pod| is_failed(pod, job)).find_map(|pod| policy::judge(job, pod).fails_job);
    if let Some(text) = by_policy {
        return Some(fail(cx, "PodFailurePolicy", &text));
    }
    if pass.failed > job.spec.backoff_limit.unwrap_or(6) || too_many_restarts(pass) {
        return Some(fail(cx, "BackoffLimitExceeded", "Job has reached the specified backoff limit"));
    }
    let deadline = job.spec.active_deadline_seconds.filter(|_| !suspended)?;
    let deadline = Duration::from_secs(u64::try_from(deadline).unwrap_or(0));
    let due = job.status.start_time?.instant() + deadline;
    if due <= cx.now() {
        return Some(fail(cx, "DeadlineExceeded", "Job was active longer than specified deadline"));
    }
    let left = due.since(cx.now());
    cx.because("job.deadline", vec![("who", key.name.to_string()), ("left", left.as_secs().to_string())]);
    cx.again(key.clone(), left);
    None
}

/// Upstream: pastBackoffLimitOnFailure.
fn too_many_restarts(pass: &Pass<'_>) -> bool {
    let spec = &pass.job.spec;
    if spec.template.spec.restart_policy != "OnFailure" {
        return false;
    }
    let alive = pass.pods.iter().filter(|pod| matches!(&*pod.status.phase, "Running" | "Pending"));
    let containers =
        alive.flat_map(|pod| pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses));
    let restarts = containers.map(|c| c.restart_count).fold(0i32, i32::saturating_add);
    match spec.backoff_limit.unwrap_or(6) {
        0 => restarts > 0,
        limit => restarts >= limit,
    }
}

/// Counts indexes; too many failed ones end the job, and so may few that succeeded.
fn look_at_indexes(cx: &Cx<'_>, pass: &mut Pass<'_>) {
    pass.count_indexes();
    let most = completions(&pass.job);
    if per_index(&pass.job) {
        let failed = pass.failed_indexes.as_ref().map_or(0, super::Intervals::total);
        let fail = |reason: &str, text: &str| condition("FailureTarget", reason, text, cx.now());
        if pass.finished.is_none() {
            if pass.job.spec.max_failed_indexes.is_some_and(|limit| failed > limit) {
                let text = "Job has exceeded the specified maximal number of failed indexes";
                pass.finished = Some(fail("MaxFailedIndexesExceeded", text));
            } else if failed > 0 && failed.saturating_add(pass.done.total()) >= most {
                pass.finished = Some(fail("FailedIndexes", "Job has failed indexes"));
            }
        }
        pass.delay_deletions();
    }
    if let (None, Some(policy)) = (&pass.finished, &pass.job.spec.success_policy)
        && let Some(text) = policy::succeeded(policy, most, &pass.done)
    {
        pass.finished = Some(condition("SuccessCriteriaMet", "SuccessPolicy", &text, cx.now()));
    }
}

/// Deletes what still runs of a job that ends; else makes and deletes pods. How many are active then, whether a
/// suspension began or ended, and what failed.
fn act(cx: &mut Cx<'_>, pass: &mut Pass<'_>) -> Result<(i32, bool, Option<Status>), Halt> {
    let mut active = number(pass.active_pods.len());
    if let Some(end) = &pass.finished {
        cx.because(
            "job.ends",
            vec![("who", pass.job.metadata.name.to_string()), ("why", end.message.clone())],
        );
        let (ready, deleted, failure) = manage::delete(cx, &pass.job, &pass.active_pods)?;
        if deleted != active {
            pass.finished = None;
        }
        active -= deleted;
        pass.terminating = pass.terminating.saturating_add(deleted);
        pass.ready -= ready;
        return Ok((active, false, failure));
    }
    let mut failure = None;
    let managed = !pass.job.metadata.is_terminating();
    if managed {
        (active, failure) = manage::manage(cx, pass)?;
    }
    let complete = match pass.job.spec.completions {
        None => pass.succeeded > 0 && active == 0,
        Some(wanted) => pass.succeeded >= wanted && active == 0,
    };
    if complete {
        let text = "Reached expected number of succeeded pods";
        pass.finished = Some(condition("SuccessCriteriaMet", "CompletionsReached", text, cx.now()));
        return Ok((active, false, failure));
    }
    Ok((active, managed && note_suspension(cx, pass), failure))
}

/// Says when a job is suspended and resumed; a resumed one starts anew.
fn note_suspension(cx: &mut Cx<'_>, pass: &mut Pass<'_>) -> bool {
    let suspended = pass.job.spec.suspend == Some(true);
    let (status, reason, text) = if suspended {
        ("True", "JobSuspended", "Job suspended")
    } else {
        ("False", "JobResumed", "Job resumed")
    };
    let now = cx.now();
    let conditions = &mut pass.job.status.conditions;
    if !ensure_condition(conditions, "Suspended", status, (reason, text), now) {
        return false;
    }
    cx.event(&pass.job.to_object(), "Normal", if suspended { "Suspended" } else { "Resumed" }, text.into());
    // Time does not count against the deadline of a suspended job.
    pass.job.status.start_time = (!suspended).then(|| now.to_time());
    true
}
