//! Passes of the cron job controller beyond the recorded vectors.

use super::*;
use crate::harness::pass;
use kubestep_control::Progress;
use kubestep_model::{Instant, Time};
use std::time::Duration;

fn cron(schedule: &str, created: &str) -> CronJob {
    let mut cron = CronJob::default();
    cron.metadata.name = "tick".into();
    cron.metadata.namespace = "default".into();
    cron.metadata.uid = "u".into();
    cron.metadata.creation_timestamp = Time::parse(created);
    cron.spec.schedule = schedule.into();
    cron
}

fn at(text: &str) -> Instant {
    Time::parse(text).expect(text).instant()
}

#[test]
fn how_long_until_the_next_time() {
    let rows = [
        ("*/5 * * * *", "2026-11-29T12:00:10Z", "2026-11-29T12:00:20Z", 280),
        ("0 * * * *", "2026-11-29T11:59:59Z", "2026-11-29T12:00:01Z", 3599),
        ("0 0 30 2 *", "2026-11-29T11:59:59Z", "2026-11-29T12:00:01Z", 0),
    ];
    for (text, created, now, want) in rows {
        let cron = cron(text, created);
        let schedule = Schedule::parse(text).expect(text);
        let wait = schedule::until_next(&cron, at(now), &schedule);
        assert_eq!(wait, Duration::from_secs(want) + Duration::from_millis(100), "{text}");
    }
}

#[test]
fn a_time_that_never_comes_is_said() {
    let cron = cron("0 0 30 2 *", "2026-11-29T11:00:00Z");
    let done = pass(
        &CronJobController,
        cron.to_object().key(),
        vec![cron.to_object()],
        at("2026-11-29T12:00:00Z"),
        vec![],
    );
    assert_eq!(done.events[0].reason, "InvalidSchedule");
    assert_eq!(
        done.events[0].message,
        "invalid schedule: 0 0 30 2 * : time difference between two schedules is less than 1 second"
    );
    assert_eq!(done.progress, Some(Progress::Done(Done::Settled)));
    assert!(done.notes.iter().all(|note| SENTENCES.iter().any(|s| s.code == note.code)));
}
