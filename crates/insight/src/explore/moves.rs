//! Which moves a search makes from a world.

use super::{Move, state::Reader};
use kubestep_cluster::{Step, World};

/// Moves that count: not the clock's, unless nothing else is left and a key waits for its next try.
pub(super) fn moves(world: &World, reader: &Reader) -> Vec<Move> {
    let enabled: Vec<Step> = world.enabled().into_iter().map(|(_, s)| s).collect();
    let acts = || enabled.iter().filter(|s| counts(s, reader));
    if let Some(step) = acts().find(|s| goes_on(world, s)) {
        return vec![Move::Step(step.clone())];
    }
    let found: Vec<Move> = acts().cloned().map(Move::Step).collect();
    if !found.is_empty() {
        return found;
    }
    let waits = |s: &&Step| match s {
        Step::Wake(_, controller) => world.loops().nth(*controller).is_some_and(|(_, l)| {
            l.queue.delayed().any(|(k, _)| !k.name.is_empty() && l.queue.failures(k) > 0)
        }),
        _ => false,
    };
    enabled.iter().find(waits).cloned().map(Move::Step).into_iter().collect()
}

fn counts(step: &Step, reader: &Reader) -> bool {
    match step {
        Step::Deliver(_, kind) => reader.reads(*kind),
        Step::Think(_, _, key) => !key.name.is_empty(),
        Step::Serve(_) | Step::Client(_) => true,
        Step::Wake(..) | Step::Timer(..) | Step::Runtime(_) | Step::Period(..) => false,
    }
}

/// Whether a reconcile goes on with the replies it has been given.
fn goes_on(world: &World, step: &Step) -> bool {
    let Step::Think(_, controller, key) = step else { return false };
    world.loops().nth(*controller).is_some_and(|(_, l)| l.working.contains_key(key))
}
