//! What one pass of a job knows. Upstream: syncJobCtx of pkg/controller/job/job_controller.go (v1.37).

use super::{
    backoff::{Record, finished_at},
    indexes::{Intervals, index_of, indexes, valid_index},
    policy,
};
use crate::{claim::JOB_TRACKING, pods::is_terminating};
use kubestep_model::{Job, JobCondition, Pod};
use std::collections::BTreeMap;

/// Upstream: JobIndexFailureCountAnnotation, JobIndexIgnoredFailureCountAnnotation.
pub(super) const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
pub(super) const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// What one pass knows and has decided.
#[derive(Debug)]
pub(super) struct Pass<'p> {
    /// The job, with the status as far as it is decided.
    pub(super) job: Job,
    pub(super) pods: Vec<&'p Pod>,
    pub(super) active_pods: Vec<&'p Pod>,
    pub(super) ready: i32,
    pub(super) terminating: i32,
    pub(super) succeeded: i32,
    pub(super) failed: i32,
    pub(super) before: Intervals,
    pub(super) done: Intervals,
    pub(super) failed_indexes: Option<Intervals>,
    /// Failed pods that stay until their replacement has taken over the count of their index.
    pub(super) delayed: BTreeMap<i32, &'p Pod>,
    pub(super) finished: Option<JobCondition>,
    pub(super) record: Record,
}

/// A number as the API counts.
pub(super) fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Whether a pod still has to be counted. Upstream: hasJobTrackingFinalizer.
pub(super) fn is_tracked(pod: &Pod) -> bool {
    pod.metadata.finalizers.iter().any(|f| f == JOB_TRACKING)
}

/// Whether pods that are going are not yet replaced. Upstream: onlyReplaceFailedPods.
pub(super) fn replaces_failed_only(job: &Job) -> bool {
    job.spec.pod_replacement_policy.as_deref() == Some("Failed") || job.spec.pod_failure_policy.is_some()
}

/// Upstream: isPodFailed. A pod that is being deleted counts, unless only failed ones do.
pub(super) fn is_failed(pod: &Pod, job: &Job) -> bool {
    pod.status.phase == "Failed"
        || !replaces_failed_only(job) && pod.metadata.is_terminating() && pod.status.phase != "Succeeded"
}

/// Upstream: hasBackoffLimitPerIndex.
pub(super) fn per_index(job: &Job) -> bool {
    job.spec.backoff_limit_per_index.is_some()
}

/// How many pods have to succeed; 0 for a job that says nothing.
pub(super) fn completions(job: &Job) -> i32 {
    job.spec.completions.unwrap_or(0)
}

fn annotation(pod: &Pod, name: &str) -> i32 {
    pod.metadata.annotations.get(name).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// How often a pod's index has failed, counted and ignored. Upstream: getIndexFailureCount.
pub(super) fn index_failures(pod: &Pod) -> (i32, i32) {
    (annotation(pod, FAILURES), annotation(pod, IGNORED))
}

impl<'p> Pass<'p> {
    /// Counts pods and decides what the rest of the pass builds on.
    pub(super) fn new(job: Job, pods: Vec<&'p Pod>, remembered: Record) -> Self {
        let active_pods: Vec<&Pod> = pods.iter().copied().filter(|pod| pod.is_active()).collect();
        let mut pass = Pass {
            ready: number(active_pods.iter().filter(|pod| pod.is_ready()).count()),
            terminating: number(pods.iter().filter(|pod| is_terminating(pod)).count()),
            active_pods,
            pods,
            succeeded: 0,
            failed: 0,
            before: Intervals::default(),
            done: Intervals::default(),
            failed_indexes: None,
            delayed: BTreeMap::new(),
            finished: None,
            record: remembered,
            job,
        };
        pass.job.status.uncounted_terminated_pods.get_or_insert_default();
        let succeeded = pass.newly(true, |pod| pod.status.phase == "Succeeded");
        let failed = pass.newly(false, |pod| is_failed(pod, &pass.job));
        let counted = failed.iter().filter(|pod| !policy::judge(&pass.job, pod).ignored).count();
        let status = &pass.job.status;
        let (waiting, waiting_failed) = (pass.uncounted(true).len(), pass.uncounted(false).len());
        pass.succeeded = status.succeeded.saturating_add(number(succeeded.len() + waiting));
        pass.failed = status.failed.saturating_add(number(counted + waiting_failed));
        let ends = |pods: &[&Pod]| pods.iter().map(|pod| finished_at(pod)).collect::<Vec<i64>>();
        pass.record = remembered.after(&ends(&succeeded), &ends(&failed));
        pass
    }

    /// Uids that stand in the status and are not yet in its counters.
    pub(super) fn uncounted(&self, succeeded: bool) -> &[String] {
        let uncounted = self.job.status.uncounted_terminated_pods.as_ref();
        uncounted.map_or(&[], |u| if succeeded { u.succeeded.as_slice() } else { u.failed.as_slice() })
    }

    /// Whether a pod already stands in the status.
    pub(super) fn stands(&self, succeeded: bool, pod: &Pod) -> bool {
        self.uncounted(succeeded).iter().any(|uid| **uid == *pod.metadata.uid)
    }

    /// Pods that ended and are nowhere counted. Upstream: getValidPodsWithFilter.
    fn newly(&self, succeeded: bool, ended: impl Fn(&Pod) -> bool) -> Vec<&'p Pod> {
        let valid = |pod: &&&Pod| {
            is_tracked(pod)
                && !self.stands(succeeded, pod)
                && (!self.job.is_indexed() || valid_index(pod, completions(&self.job)).is_some())
        };
        self.pods.iter().filter(valid).copied().filter(|pod| ended(pod)).collect()
    }

    /// Which indexes are done, which failed, and which failed pods stay. Upstream: calculateSucceededIndexes,
    /// calculateFailedIndexes, getPodsWithDelayedDeletionPerIndex.
    pub(super) fn count_indexes(&mut self) {
        let most = completions(&self.job);
        let valid = |pod: &Pod| valid_index(pod, most).filter(|_| is_tracked(pod));
        self.before = Intervals::parse(&self.job.status.completed_indexes, most);
        let succeeded = self.pods.iter().filter(|pod| pod.status.phase == "Succeeded");
        self.done = self.before.with(succeeded.filter_map(|pod| valid(pod)));
        self.succeeded = self.done.total();
        if !per_index(&self.job) {
            return;
        }
        let before = Intervals::parse(self.job.status.failed_indexes.as_deref().unwrap_or(""), most);
        let failed = self.pods.iter().filter(|pod| self.index_is_failed(pod));
        self.failed_indexes = Some(before.with(failed.filter_map(|pod| valid(pod))));
    }

    /// Upstream: isIndexFailed.
    fn index_is_failed(&self, pod: &Pod) -> bool {
        if !is_failed(pod, &self.job) {
            return false;
        }
        let verdict = policy::judge(&self.job, pod);
        let limit = self.job.spec.backoff_limit_per_index.unwrap_or(i32::MAX);
        verdict.fails_index || !verdict.ignored && index_failures(pod).0 >= limit
    }

    /// Upstream: getPodsWithDelayedDeletionPerIndex.
    pub(super) fn delay_deletions(&mut self) {
        let active = indexes(self.active_pods.iter().copied());
        let all = |pod: &Pod| index_failures(pod).0.saturating_add(index_failures(pod).1);
        for &pod in &self.pods {
            let Some(index) = valid_index(pod, completions(&self.job)) else { continue };
            let settled = self.done.has(index)
                || self.failed_indexes.as_ref().is_some_and(|failed| failed.has(index))
                || active.contains(&index);
            if settled || !is_tracked(pod) || !is_failed(pod, &self.job) {
                continue;
            }
            let later = |other: &Pod| all(other) <= all(pod) && finished_at(pod) >= finished_at(other);
            if self.delayed.get(&index).is_none_or(|other| later(other)) {
                self.delayed.insert(index, pod);
            }
        }
    }

    /// Whether this failed pod has to stay for its count.
    pub(super) fn is_delayed(&self, pod: &Pod) -> bool {
        index_of(pod)
            .and_then(|index| self.delayed.get(&index))
            .is_some_and(|kept| kept.metadata.uid == pod.metadata.uid)
    }
}
