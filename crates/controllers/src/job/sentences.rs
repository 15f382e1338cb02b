//! What the notes of this loop mean.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

const SYNC: &str = "pkg/controller/job/job_controller.go, syncJob";
const MANAGE: &str = "pkg/controller/job/job_controller.go, manageJob";
const TRACK: &str = "pkg/controller/job/job_controller.go, trackJobStatusAndRemoveFinalizers";

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    of("job.back-off", "{who} waits {after} s before it makes another pod: one has failed.", MANAGE),
    of("job.complete", "{who} is complete.", TRACK),
    of("job.deadline", "{who} may be active for {left} s more.", SYNC),
    of("job.ends", "{who} ends, and what still runs is deleted: {why}.", SYNC),
    of("job.failed", "{who} has failed: {why}.", TRACK),
    of(
        "job.free-orphan",
        "{pod} has no job that would count it: its finalizer is taken away.",
        "pkg/controller/job/job_controller.go, syncOrphanPod",
    ),
    of("job.gone", "{who} is no longer in the cache: there is nothing to do.", SYNC),
    of("job.managed-elsewhere", "{who} is managed by somebody else.", SYNC),
    of("job.over", "{who} is over: there is nothing to do.", SYNC),
    of("job.slow-start-ends", "{who} stops after a refusal, with {left} pods not tried: {why}", MANAGE),
    of(
        "job.status",
        "{who} writes its status: {active} active, {succeeded} succeeded, {failed} failed.",
        TRACK,
    ),
    of("job.suspended", "{who} is suspended: its {active} active pods are deleted.", MANAGE),
    of("job.too-few", "{who} has {have} active pods: it creates {change}.", MANAGE),
    of("job.too-many", "{who} has {have} active pods and wants {want}: it deletes {change}.", MANAGE),
    of(
        "job.wait-end",
        "{who} is not over yet: {uncounted} pods are not counted and {going} are still going.",
        TRACK,
    ),
];
