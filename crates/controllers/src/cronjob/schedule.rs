//! Which time of a schedule is due, and when the next comes.
//! Upstream: pkg/controller/cronjob/utils.go (v1.37), mostRecentScheduleTime and what uses it.

use kubestep_model::{CronJob, Instant, Time, cron::Schedule};
use std::time::Duration;

/// More missed times than these are worth a warning.
const MANY: i64 = 100;
/// A key comes back a little after its time. Upstream: nextScheduleDelta.
const DELTA: Duration = Duration::from_millis(100);

/// What was found between the last run and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missed {
    /// From when on was looked.
    pub(super) earliest: Time,
    /// The last time that has come, if one has.
    pub(super) recent: Option<Time>,
    /// Roughly how many have come.
    pub(super) count: i64,
}

/// Upstream: mostRecentScheduleTime. Errors: the schedule never comes.
pub(super) fn most_recent(
    cron: &CronJob,
    now: Instant,
    schedule: &Schedule,
    with_deadline: bool,
) -> Result<Missed, String> {
    let created = cron.metadata.creation_timestamp.unwrap_or_default();
    let mut earliest = cron.status.last_schedule_time.unwrap_or(created);
    if let Some(deadline) = cron.spec.starting_deadline_seconds.filter(|_| with_deadline) {
        // What is older than the deadline does not count; a part of a second does not matter to a schedule.
        let oldest = Time(now.to_time().0.saturating_sub(deadline));
        earliest = earliest.max(oldest);
    }
    let found = |recent, count| Ok(Missed { earliest, recent, count });
    let never = || "time difference between two schedules is less than 1 second".to_owned();
    let first = schedule.next(earliest).ok_or_else(never)?;
    if now < first.instant() {
        return found(None, 0);
    }
    let second = schedule.next(first).ok_or_else(never)?;
    if now < second.instant() {
        return found(Some(first), 0);
    }
    let between = second.0 - first.0;
    if between < 1 {
        return Err(never());
    }
    let count = (now.to_time().0 - first.0) / between + 1;
    // Not every schedule is even: begin one earlier than it seems, and go on from there.
    let mut recent = None;
    let mut next = schedule.next(Time(first.0 + (count - 2) * between));
    while let Some(time) = next.filter(|time| time.instant() <= now) {
        recent = Some(time);
        next = schedule.next(time);
    }
    found(recent, count)
}

/// The time that a job is due for, and whether far too many were missed. Upstream: nextScheduleTime.
pub(super) fn due(cron: &CronJob, now: Instant, schedule: &Schedule) -> Result<Option<(Time, bool)>, String> {
    let missed = most_recent(cron, now, schedule, true)?;
    Ok(missed.recent.filter(|time| time.instant() <= now).map(|time| (time, missed.count > MANY)))
}

/// How long until the next time. Upstream: nextScheduleTimeDuration.
pub(super) fn until_next(cron: &CronJob, now: Instant, schedule: &Schedule) -> Duration {
    let from = match most_recent(cron, now, schedule, false) {
        Ok(Missed { recent: Some(recent), .. }) => recent,
        Ok(Missed { earliest, count: 0, .. }) => earliest,
        Ok(_) | Err(_) => now.to_time(),
    };
    schedule.next(from).map_or(DELTA, |next| (next.instant() + DELTA).since(now))
}
