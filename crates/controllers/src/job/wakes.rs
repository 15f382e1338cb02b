//! Which jobs a change wakes, and when. Upstream: job_controller.go, the event handlers (v1.37).

use super::context::is_tracked;
use crate::{claim::matching_whole, whole};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{Job, Key, ObjectMeta, Pod, Resource, Whole};
use std::time::Duration;

/// Changes of pods and of a job's status are looked at together. Upstream: syncJobBatchPeriod.
const BATCH: Duration = Duration::from_secs(1);

/// The job that a pod names as its owner, if it is the very same. Upstream: resolveControllerRef.
pub(super) fn job_of(view: &View, pod: &ObjectMeta) -> Option<Job> {
    whole::controller_of(view, pod)
}

/// Upstream: addJob, updateJob, deleteJob.
pub(super) fn job(change: &Change, view: &View) -> Vec<Wake> {
    let read = |object: &Option<kubestep_model::Object>| object.as_ref().and_then(Job::read);
    match (read(&change.old), read(&change.new)) {
        (Some(old), Some(new)) => {
            let after =
                if old.metadata.generation == new.metadata.generation { BATCH } else { Duration::ZERO };
            vec![Wake::after(change.key.clone(), after)]
        }
        (Some(old), None) => {
            let owned = view.owned_by::<Pod>(&old.metadata.uid).filter(|pod| is_tracked(pod));
            let mut wakes: Vec<Wake> = owned.map(|pod| Wake::now(pod.key())).collect();
            wakes.push(Wake::now(change.key.clone()));
            wakes
        }
        (None, _) => vec![Wake::now(change.key.clone())],
    }
}

fn batched(job: &Job) -> Wake {
    Wake::after(super::manage::key_of(job), BATCH)
}

fn orphan(pod: &Pod) -> Vec<Wake> {
    if is_tracked(pod) { vec![Wake::now(pod.key())] } else { Vec::new() }
}

/// Jobs that might want a pod without owner, a second later.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    let found = matching_whole::<Job>(view, pod, |job| job.spec.selector.as_ref());
    found.into_iter().map(|wake| Wake::after(wake.key, BATCH)).collect()
}

/// Upstream: addPod, updatePod, deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), None) => deleted(view, old, true),
        (Some(old), Some(new)) if old.metadata.resource_version == new.metadata.resource_version => {
            Vec::new()
        }
        (_, Some(new)) if new.metadata.is_terminating() => deleted(view, new, false),
        (None, Some(new)) if new.metadata.controller().is_some() => {
            job_of(view, &new.metadata).iter().map(batched).collect()
        }
        (None, Some(new)) if is_tracked(new) => orphan(new),
        (None, Some(new)) => candidates(view, new),
        (Some(old), Some(new)) => updated(view, old, new),
    }
}

fn updated(view: &View, old: &Pod, new: &Pod) -> Vec<Wake> {
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes = Vec::new();
    if moved {
        wakes.extend(job_of(view, &old.metadata).iter().map(batched));
    }
    if new.metadata.controller().is_some() {
        wakes.extend(job_of(view, &new.metadata).iter().map(batched));
        return wakes;
    }
    if is_tracked(new) {
        wakes.extend(orphan(new));
    }
    if moved || old.metadata.labels != new.metadata.labels {
        wakes.extend(candidates(view, new));
    }
    wakes
}

/// Upstream: deletePod.
fn deleted(view: &View, pod: &Pod, gone: bool) -> Vec<Wake> {
    match job_of(view, &pod.metadata) {
        Some(job) if job.finished().is_none() => vec![batched(&job)],
        _ if gone => Vec::new(),
        _ => match pod.metadata.controller() {
            Some(reference) if reference.kind != Job::KIND.name() => Vec::new(),
            _ => orphan(pod),
        },
    }
}

/// The key of a job's memory.
pub(super) fn memory_name(key: &Key) -> String {
    format!("back-off {}/{}", key.namespace, key.name)
}
