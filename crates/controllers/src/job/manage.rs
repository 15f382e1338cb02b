//! Makes pods and takes them away. Upstream: pkg/controller/job/job_controller.go, manageJob (v1.37).

use super::{
    context::{
        FAILURES, IGNORED, Pass, completions, index_failures, number, per_index, replaces_failed_only,
    },
    indexes, policy,
};
use crate::{
    claim::JOB_TRACKING,
    order::sort_by_less,
    pods::{from_template, is_terminating, ready_since},
    stop::{error, namespace_terminating},
};
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    DeleteOptions, Job, Key, Object, PatchKind, Pod, PodTemplateSpec, Reply, Resource, Status, Subresource,
    Verb, Whole,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// At most so many pods are created or deleted in one pass. Upstream: MaxPodCreateDeletePerSync.
const MOST_AT_ONCE: usize = 500;

/// How many pods are active now, and what failed.
pub(super) type Managed = (i32, Option<Status>);

fn who(job: &Job) -> (&'static str, String) {
    ("who", job.metadata.name.to_string())
}

/// The key of a job.
pub(super) fn key_of(job: &Job) -> Key {
    Key::new(Job::KIND, job.metadata.namespace.clone(), job.metadata.name.clone())
}

/// Upstream: manageJob.
pub(super) fn manage(cx: &mut Cx<'_>, pass: &mut Pass<'_>) -> Result<Managed, Halt> {
    let active = number(pass.active_pods.len());
    if pass.job.spec.suspend == Some(true) {
        cx.because("job.suspended", vec![who(&pass.job), ("active", active.to_string())]);
        let pods = for_removal(pass, pass.active_pods.len());
        return remove(cx, pass, pods, active);
    }
    let parallelism = pass.job.spec.parallelism.unwrap_or(1);
    let want = match pass.job.spec.completions {
        None if pass.succeeded > 0 => active,
        None => parallelism,
        Some(all) => all.saturating_sub(pass.succeeded).min(parallelism).max(0),
    };
    let surplus = usize::try_from(active.saturating_sub(want)).unwrap_or(0);
    let mut pods = for_removal(pass, surplus);
    pods.truncate(MOST_AT_ONCE);
    if !pods.is_empty() {
        let change = ("change", pods.len().to_string());
        cx.because(
            "job.too-many",
            vec![who(&pass.job), ("have", active.to_string()), ("want", want.to_string()), change],
        );
        return remove(cx, pass, pods, active);
    }
    let going = if replaces_failed_only(&pass.job) { pass.terminating } else { 0 };
    let lacking = want.saturating_sub(going).saturating_sub(active);
    if lacking <= 0 {
        return Ok((active, None));
    }
    add(cx, pass, active, usize::try_from(lacking).unwrap_or(0).min(MOST_AT_ONCE))
}

/// Active pods that have to go: those that stand twice or for no index, then the least useful.
/// Upstream: activePodsForRemoval.
fn for_removal<'p>(pass: &Pass<'p>, at_least: usize) -> Vec<&'p Pod> {
    let sort = |pods: &mut Vec<&'p Pod>| sort_by_less(pods, |a, b| goes_before(a, b));
    let (mut remove, mut left) = if pass.job.is_indexed() {
        indexes::duplicates(&pass.active_pods, completions(&pass.job), sort)
    } else {
        (Vec::new(), pass.active_pods.clone())
    };
    if remove.len() < at_least {
        sort(&mut left);
        left.truncate(at_least - remove.len());
        remove.extend(left);
    }
    remove
}

/// Unassigned, then pending, then not ready, then shorter ready, then more restarts, then younger.
/// Upstream: ActivePods.Less.
fn goes_before(a: &Pod, b: &Pod) -> bool {
    let phase = |pod: &Pod| match pod.status.phase.as_str() {
        "Unknown" => 1,
        "Running" => 2,
        _ => 0,
    };
    let restarts =
        |pod: &Pod| pod.status.container_statuses.iter().map(|c| c.restart_count).max().unwrap_or(0);
    // A time that nobody wrote down counts as the latest.
    let late = |pod: &Pod| ready_since(pod).map_or(i64::MAX, |at| at.0);
    let born = |pod: &Pod| pod.metadata.creation_timestamp.map_or(i64::MAX, |at| at.0);
    let rank = |pod: &Pod| (!pod.spec.node_name.is_empty(), phase(pod), pod.is_ready());
    if rank(a) != rank(b) {
        return rank(a) < rank(b);
    }
    if a.is_ready() && late(a) != late(b) {
        return late(a) > late(b);
    }
    if restarts(a) != restarts(b) {
        return restarts(a) > restarts(b);
    }
    born(a) > born(b)
}

/// The request that lets go of a pod that was counted. Upstream: removeTrackingFinalizerPatch.
pub(super) fn untrack(pod: &Pod) -> Verb {
    let patch = json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": [JOB_TRACKING] } });
    let patch = Arc::new(patch);
    Verb::Patch { key: pod.key(), subresource: Subresource::None, kind: PatchKind::Strategic, patch }
}

/// Deletes pods that nobody has to count: first the finalizer, then the pod. Upstream: deleteJobPods.
fn remove(cx: &mut Cx<'_>, pass: &mut Pass<'_>, pods: Vec<&Pod>, active: i32) -> Result<Managed, Halt> {
    let tracked: Vec<&Pod> = pods.iter().copied().filter(|pod| super::context::is_tracked(pod)).collect();
    let patched = cx.ask_all(tracked.iter().map(|pod| untrack(pod).into()).collect())?;
    let refused = |pod: &Pod| {
        let place = tracked.iter().position(|t| t.metadata.uid == pod.metadata.uid)?;
        patched.get(place)?.as_ref().err().cloned()
    };
    let (mut failure, mut failed) = (None, 0);
    let mut left = Vec::new();
    for pod in pods {
        match refused(pod) {
            None => left.push(pod),
            Some(status) if status.is_not_found() => {}
            Some(status) => {
                failed += 1;
                let text = format!("removing completion finalizer: {}", status.message);
                failure.get_or_insert(error(text));
            }
        }
    }
    let (ready, deleted, refusal) = delete(cx, &pass.job, &left)?;
    failed += number(left.len()) - deleted;
    let removed = number(left.len()) - failed.min(number(left.len()));
    pass.terminating = pass.terminating.saturating_add(removed);
    pass.ready -= ready;
    Ok((active - removed, failure.or(refusal)))
}

/// Asks pods to go, all at once: how many of them were ready, how many requests were granted, the first refusal.
pub(super) fn delete(cx: &mut Cx<'_>, job: &Job, pods: &[&Pod]) -> Result<(i32, i32, Option<Status>), Halt> {
    let about = job.to_object();
    let replies = cx.delete_all(pods.iter().map(|pod| (pod.key(), DeleteOptions::default())).collect())?;
    let (mut granted, mut failure) = (0, None);
    for (pod, reply) in pods.iter().zip(replies) {
        let name = &pod.metadata.name;
        match reply {
            Ok(()) => cx.event(&about, "Normal", "SuccessfulDelete", format!("Deleted pod: {name}")),
            Err(status) if status.is_not_found() => {}
            Err(status) => {
                cx.event(&about, "Warning", "FailedDelete", format!("Error deleting: {}", status.message));
                failure.get_or_insert(error(format!("unable to delete pods: {}", status.message)));
                continue;
            }
        }
        granted += 1;
    }
    Ok((number(pods.iter().filter(|pod| pod.is_ready()).count()), granted, failure))
}

fn wait(cx: &mut Cx<'_>, job: &Job, after: Duration) -> Managed {
    cx.because("job.back-off", vec![who(job), ("after", after.as_secs().to_string())]);
    cx.again(key_of(job), after);
    // Upstream answers that no pod is active; the status says so until the wait is over.
    (0, None)
}

/// Creates pods, unless earlier failures say to wait. Upstream: manageJob, the part that creates.
fn add(cx: &mut Cx<'_>, pass: &Pass<'_>, active: i32, lacking: usize) -> Result<Managed, Halt> {
    let job = &pass.job;
    if !per_index(job) {
        let remaining = pass.record.remaining(cx.now());
        if !remaining.is_zero() {
            return Ok(wait(cx, job, remaining));
        }
    }
    let mut wanted: Vec<Option<i32>> = vec![None; lacking];
    if job.is_indexed() {
        let mut pending = pending_indexes(pass, lacking);
        if per_index(job) {
            let (now, remaining) = free_indexes(cx, pass, pending);
            if !remaining.is_zero() {
                return Ok(wait(cx, job, remaining));
            }
            pending = now;
        }
        wanted = pending.into_iter().map(Some).collect();
    }
    let change = ("change", wanted.len().to_string());
    cx.because("job.too-few", vec![who(job), ("have", active.to_string()), change]);
    create(cx, pass, active, wanted)
}

/// The first indexes that are neither done nor under way. Upstream: firstPendingIndexes.
fn pending_indexes(pass: &Pass<'_>, count: usize) -> Vec<i32> {
    let mut taken = pass.done.with(indexes::indexes(pass.active_pods.iter().copied()));
    if replaces_failed_only(&pass.job) {
        let going = pass.pods.iter().copied().filter(|pod| is_terminating(pod));
        taken = taken.with(indexes::indexes(going));
    }
    if let Some(failed) = &pass.failed_indexes {
        taken = taken.union(failed);
    }
    taken.gaps(count, completions(&pass.job))
}

/// Of indexes those whose wait is over, or the shortest wait. Upstream: getPodCreationInfoForIndependentIndexes.
fn free_indexes(cx: &Cx<'_>, pass: &Pass<'_>, pending: Vec<i32>) -> (Vec<i32>, Duration) {
    let wait = |index: &i32| {
        let Some(pod) = pass.delayed.get(index) else { return Duration::ZERO };
        let (counted, ignored) = index_failures(pod);
        let failures = u32::try_from(counted.saturating_add(ignored)).unwrap_or(0).saturating_add(1);
        super::Record { failures, last: Some(super::backoff::finished_at(pod)) }.remaining(cx.now())
    };
    let free: Vec<i32> = pending.iter().copied().filter(|index| wait(index).is_zero()).collect();
    let shortest = pending.iter().map(wait).min().unwrap_or_default();
    let remaining = if free.is_empty() { shortest } else { Duration::ZERO };
    (free, remaining)
}

/// A new pod, for one index or for none.
fn new_pod(pass: &Pass<'_>, template: &PodTemplateSpec, index: Option<i32>) -> Pod {
    let job = &pass.job;
    let Some(index) = index else { return from_template(template, Job::KIND, &job.metadata) };
    let mut template = template.clone();
    indexes::mark(&mut template, &job.metadata.name, index);
    if per_index(job) {
        let (counted, ignored) = pass.delayed.get(&index).map_or((0, 0), |pod| {
            let (counted, ignored) = index_failures(pod);
            if policy::judge(job, pod).ignored { (counted, ignored + 1) } else { (counted + 1, ignored) }
        });
        template.metadata.annotations.insert(FAILURES.into(), counted.to_string());
        if ignored > 0 {
            template.metadata.annotations.insert(IGNORED.into(), ignored.to_string());
        }
    }
    let mut pod = from_template(&template, Job::KIND, &job.metadata);
    pod.metadata.generate_name = indexes::generate_name(&job.metadata.name, index);
    pod
}

/// Creates in batches of 1, 2, 4, … pods; a refusal ends the next batch, not this one.
fn create(cx: &mut Cx<'_>, pass: &Pass<'_>, active: i32, wanted: Vec<Option<i32>>) -> Result<Managed, Halt> {
    let mut template = pass.job.spec.template.clone();
    if pass.job.is_indexed() {
        indexes::add_variables(&mut template);
    }
    if !template.metadata.finalizers.iter().any(|f| f == JOB_TRACKING) {
        template.metadata.finalizers.push(JOB_TRACKING.into());
    }
    let about: Object = pass.job.to_object();
    let (mut active, mut rest, mut batch) = (active, wanted.as_slice(), 1);
    let mut failure = None;
    while !rest.is_empty() && failure.is_none() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let pods = now.iter().map(|index| new_pod(pass, &template, *index)).collect();
        for reply in cx.create_all::<Pod>(pods)? {
            match reply {
                Ok(pod) => {
                    let text = format!("Created pod: {}", pod.metadata.name);
                    cx.event(&about, "Normal", "SuccessfulCreate", text);
                    active += 1;
                }
                Err(status) if namespace_terminating(&status) => active += 1,
                Err(status) => {
                    let text = format!("Error creating: {}", status.message);
                    cx.event(&about, "Warning", "FailedCreate", text);
                    failure.get_or_insert(status);
                }
            }
        }
        rest = later;
        batch *= 2;
    }
    if let (Some(status), false) = (&failure, rest.is_empty()) {
        let why = ("why", status.message.clone());
        cx.because("job.slow-start-ends", vec![who(&pass.job), ("left", rest.len().to_string()), why]);
    }
    Ok((active, failure))
}

/// Lets go of pods that were counted; which of them were let go of, and the first refusal.
/// Upstream: removeTrackingFinalizerFromPods.
pub(super) fn untrack_all(cx: &mut Cx<'_>, pods: &[&Pod]) -> Result<(Vec<bool>, Option<Status>), Halt> {
    let replies: Vec<Reply> = cx.ask_all(pods.iter().map(|pod| untrack(pod).into()).collect())?;
    let gone = |reply: &Reply| reply.as_ref().err().is_none_or(Status::is_not_found);
    let failure = replies.iter().filter(|reply| !gone(reply)).find_map(|reply| reply.as_ref().err().cloned());
    Ok((replies.iter().map(gone).collect(), failure))
}
