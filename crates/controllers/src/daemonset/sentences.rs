//! What the notes of this loop mean.

use crate::sentences::Sentence;

const fn of(code: &'static str, text: &'static str, upstream: &'static str) -> Sentence {
    Sentence { code, text, upstream }
}

const CONTROL: &str = "pkg/controller/daemon/daemon_controller.go";
const UPDATE: &str = "pkg/controller/daemon/update.go";

/// Every code of this loop.
pub static SENTENCES: &[Sentence] = &[
    of("ds.back-off", "{who} waits before it deletes another failed pod on {node}.", CONTROL),
    of("ds.deleting", "{who} is being deleted: it does nothing more.", CONTROL),
    of("ds.gone", "{who} is no longer in the cache: there is nothing to do.", CONTROL),
    of("ds.new-revision", "{who} has a new template: it is kept as revision {number}, {revision}.", UPDATE),
    of("ds.not-here", "{who} may not run on {node}: its pods there are deleted.", CONTROL),
    of("ds.pods", "{who} creates {create} pods and deletes {delete}.", CONTROL),
    of(
        "ds.revision-again",
        "{who} has an earlier template again: {revision} becomes revision {number}.",
        UPDATE,
    ),
    of("ds.selects-all", "{who} has an empty selector and does nothing.", CONTROL),
    of(
        "ds.status",
        "{who} writes its status: {desired} nodes want a pod, {ready} are ready, {updated} of the new template.",
        CONTROL,
    ),
    of("ds.trim-history", "{who} deletes the old revision {revision}.", UPDATE),
    of("ds.unchanged", "{who} has nothing new to say in its status.", CONTROL),
    of("ds.wait-available", "{who} waits {after} s until a ready pod counts as available.", CONTROL),
    of("ds.wait-surge", "{who} doubles no more nodes now: {doubled} have two pods, and {most} may.", UPDATE),
    of(
        "ds.wait-unavailable",
        "{who} replaces no pod now: {away} nodes are without one, and {most} may be.",
        UPDATE,
    ),
];
