//! What the notes of this loop mean.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

const CONTROL: &str = "pkg/controller/statefulset/stateful_set_control.go";
const PODS: &str = "pkg/controller/statefulset/stateful_pod_control.go";

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    of("sts.adopt-revision", "{who} adopts the revision {revision}: it has no owner.", CONTROL),
    of("sts.claim", "{who} makes the claim {claim} before the pod {pod}.", PODS),
    of("sts.claim-owner", "{who} changes who owns the claim {claim}, as its retention policy says.", PODS),
    of("sts.create", "{who} creates {pod} of the revision {revision}.", CONTROL),
    of("sts.deleting", "{who} is being deleted: only its status is counted.", CONTROL),
    of("sts.ended", "{pod} of {who} has ended, so it is deleted to be made again.", CONTROL),
    of(
        "sts.gone",
        "{who} is no longer in the cache: there is nothing to do.",
        "pkg/controller/statefulset/stateful_set.go",
    ),
    of("sts.new-revision", "{who} has a new template: it is kept as revision {number}, {revision}.", CONTROL),
    of("sts.repair", "{who} gives {pod} its labels and volumes back.", PODS),
    of(
        "sts.revision-again",
        "{who} has an earlier template again: {revision} becomes revision {number}.",
        CONTROL,
    ),
    of(
        "sts.stale-claim",
        "{who} waits to make {pod}: a claim of an earlier pod of that name is going.",
        PODS,
    ),
    of(
        "sts.status",
        "{who} writes its status: {replicas} pods, {ready} ready, {updated} of the new revision.",
        CONTROL,
    ),
    of("sts.too-many", "{who} wants {want} pods: the last one, {pod}, is deleted.", CONTROL),
    of("sts.trim-history", "{who} keeps {limit} old revisions and deletes the oldest, {revision}.", CONTROL),
    of("sts.unchanged", "{who} has nothing new to say in its status.", CONTROL),
    of("sts.update", "{who} deletes {pod}, so that it comes back at the revision {revision}.", CONTROL),
    of(
        "sts.wait-available",
        "{who} waits {after} s until a ready pod counts as available.",
        "pkg/controller/statefulset/stateful_set.go",
    ),
    of("sts.wait-gone", "{who} waits until {pod} is gone: it goes one pod at a time.", CONTROL),
    of("sts.wait-lower", "{who} does not scale down while {pod} is not available.", CONTROL),
    of(
        "sts.wait-ready",
        "{who} waits until {pod} is ready: no other pod is made, replaced or deleted before that.",
        CONTROL,
    ),
    of("sts.wait-turn", "{who} waits until {pod} has been ready for long enough.", CONTROL),
    of("sts.wait-unavailable", "{who} replaces no pod now: {away} are away and {most} may be.", CONTROL),
];
