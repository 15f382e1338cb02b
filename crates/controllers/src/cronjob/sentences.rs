//! What the notes of this loop mean.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str) -> Sentence {
    Sentence { code, text, upstream: "pkg/controller/cronjob/cronjob_controllerv2.go" }
}

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    of("cron.deleting", "{who} is being deleted: it starts no more jobs."),
    of("cron.done-already", "{who} has started {job} already."),
    of("cron.forbid", "{who} starts no job: {active} of its jobs still run, and it forbids two at once."),
    of("cron.gone", "{who} is no longer in the cache: there is nothing to do."),
    of(
        "cron.new-schedule",
        "{who} has a new schedule: it comes in {after} s, and nothing is caught up with.",
    ),
    of("cron.replace", "{who} deletes {job}, which still runs, to start another."),
    of("cron.start", "{who} starts {job}: its time has come."),
    of("cron.status", "{who} writes its status: {active} jobs are active."),
    of("cron.suspended", "{who} is suspended: it starts no jobs."),
    of("cron.trim-history", "{who} keeps {limit} jobs that ended and deletes the oldest, {job}."),
    of("cron.wait", "{who} waits {after} s for the next time of its schedule."),
];
