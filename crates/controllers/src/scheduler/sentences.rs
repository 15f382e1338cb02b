//! What the scheduler's notes say.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

/// Every code of the scheduler.
pub static SENTENCES: &[Sentence] = &[
    of(
        "scheduler.attempt",
        "{node} is the best node for pod {pod}. {verdicts}.",
        "pkg/scheduler/schedule_one.go, selectHost",
    ),
    of(
        "scheduler.event",
        "{event} may make a difference to pods that wait for a node; {pods} of them come into line again.",
        "pkg/scheduler/backend/queue/scheduling_queue.go, MoveAllToActiveOrBackoffQueue",
    ),
    of(
        "scheduler.no-node",
        "No node will do for pod {pod}. {message}",
        "pkg/scheduler/schedule_one.go, handleSchedulingFailure",
    ),
    of(
        "scheduler.preempt",
        "{victims} must leave {node} to make room for pod {pod}, which is more important.",
        "pkg/scheduler/framework/preemption/preemption.go, prepareCandidate",
    ),
    of(
        "scheduler.tie",
        "{tied} are equally good for pod {pod}; {node} was drawn. {verdicts}.",
        "pkg/scheduler/schedule_one.go, selectHost",
    ),
    of(
        "scheduler.volumes",
        "Pod {pod} is to run on {node}; before it is bound, its claims are: {claims}.",
        "pkg/scheduler/framework/plugins/volumebinding/binder.go, BindPodVolumes",
    ),
];
