//! How long a failed pod's replacement waits. Upstream: pkg/controller/job/backoff_utils.go (v1.37).

use kubestep_model::{Instant, Pod};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Upstream: DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff.
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);

/// What is remembered of a job's failures. Upstream: backoffRecord.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How many pods failed since the last one that succeeded.
    pub failures: u32,
    /// When the last one failed, in seconds.
    pub last: Option<i64>,
}

/// When a pod ended: its containers, else since when it is not ready, else when it was asked to go.
/// Upstream: getFinishedTime.
pub(super) fn finished_at(pod: &Pod) -> i64 {
    let ends = |state: &kubestep_model::ContainerStatus| state.state.terminated.as_ref()?.finished_at;
    let containers = &pod.status.container_statuses;
    let all: Option<Vec<_>> = containers.iter().map(ends).collect();
    if let Some(last) = all.and_then(|all| all.into_iter().max()) {
        return last.0;
    }
    let unready = pod.condition("Ready").filter(|c| c.status == "False");
    if let Some(at) = unready.and_then(|c| c.last_transition_time) {
        return at.0;
    }
    if let Some(at) = pod.metadata.deletion_timestamp {
        return at.0.saturating_sub(pod.metadata.deletion_grace_period_seconds.unwrap_or(0));
    }
    pod.metadata.creation_timestamp.map_or(0, |at| at.0)
}

impl Record {
    /// With pods that ended since. Upstream: newBackoffRecord.
    pub fn after(self, succeeded: &[i64], failed: &[i64]) -> Record {
        let Some(success) = succeeded.iter().max() else {
            let failures = self.failures.saturating_add(u32::try_from(failed.len()).unwrap_or(u32::MAX));
            return Record { failures, last: failed.iter().max().copied().or(self.last) };
        };
        let later: Vec<i64> = failed.iter().filter(|at| *at > success).copied().collect();
        let failures = u32::try_from(later.len()).unwrap_or(u32::MAX);
        Record { failures, last: later.into_iter().max() }
    }

    /// How long until the next pod may be made. Upstream: getRemainingTimeForFailuresCount.
    pub fn remaining(self, now: Instant) -> Duration {
        let Some(last) = self.last.filter(|_| self.failures > 0) else { return Duration::ZERO };
        let doubled = FIRST.saturating_mul(1u32.checked_shl(self.failures - 1).unwrap_or(u32::MAX));
        let due = Instant::from_secs(last) + doubled.min(LONGEST);
        due.since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_ten_minutes() {
        let wait =
            |failures| Record { failures, last: Some(100) }.remaining(Instant::from_secs(100)).as_secs();
        assert_eq!([0, 1, 2, 3, 6, 7, 8, 40].map(wait), [0, 10, 20, 40, 320, 600, 600, 600]);
        let record = Record { failures: 1, last: Some(100) };
        assert_eq!(record.remaining(Instant::from_secs(110)), Duration::ZERO);
    }

    #[test]
    fn a_success_forgets_the_failures_before_it() {
        let before = Record { failures: 3, last: Some(50) };
        assert_eq!(before.after(&[], &[]), before);
        assert_eq!(before.after(&[], &[60, 55]), Record { failures: 5, last: Some(60) });
        assert_eq!(before.after(&[70], &[60, 71, 70]), Record { failures: 1, last: Some(71) });
        assert_eq!(before.after(&[70], &[]), Record::default());
    }
}
