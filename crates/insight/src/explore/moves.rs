//! Which moves a search makes from a world.

use super::{
    Move,
    state::{Reader, is_dead},
};
use kubestep_cluster::{Asker, Flight, Loop, Step, TimerName, World, loops::ALL, loops::scheduler::Timer};
use kubestep_model::{Instant, Key, Kind, Verb};
use std::time::Duration;

/// See `waits_shortly`.
const SHORTLY: Duration = Duration::from_secs(2);
/// Who gathers for longer: the namespace controller lets the API server's caches learn that a namespace ends.
const LONGER: (&str, Duration) = ("namespace", Duration::from_secs(5));

/// Moves that count: not the clock's, unless nothing else is left and a key waits for its next try. `crashes`: whether
/// there may still be some.
pub(super) fn moves(world: &World, reader: &Reader, crashes: bool) -> Vec<Move> {
    let acts = || world.due().map(|(_, s)| s).filter(|s| counts(s, reader));
    if let Some(step) = acts().find(|s| goes_on(world, s)) {
        return vec![Move::Step(step.clone())];
    }
    if !crashes && let Some(step) = acts().find(|s| commutes(world, s)) {
        return vec![Move::Step(step.clone())];
    }
    let found: Vec<Move> = acts().cloned().map(Move::Step).collect();
    if !found.is_empty() {
        return found;
    }
    let waits = |s: &&Step| match s {
        Step::Wake(_, controller) => world
            .loops()
            .nth(*controller)
            .is_some_and(|(c, l)| l.queue.delayed().any(|(k, at)| waits_shortly(world, c.name(), l, k, *at))),
        Step::Timer(_, TimerName::Scheduler(Timer::Backoff)) => true,
        _ => false,
    };
    world.due().map(|(_, s)| s).find(waits).cloned().map(Move::Step).into_iter().collect()
}

/// Whether a key waits for its next try, or for less than the time that controllers gather changes for. A deadline or
/// a look from time to time is no move.
pub(super) fn waits_shortly(world: &World, name: &str, state: &Loop, key: &Key, at: Instant) -> bool {
    let shortly = if name == LONGER.0 { LONGER.1 } else { SHORTLY };
    !key.name.is_empty() && (state.queue.failures(key) > 0 || at.since(world.now()) <= shortly)
}

fn counts(step: &Step, reader: &Reader) -> bool {
    match step {
        Step::Deliver(process, kind) => reader.hears(process, *kind),
        Step::Think(_, _, key) => !key.name.is_empty(),
        Step::Serve(_) | Step::Client(_) | Step::Timer(_, TimerName::Scheduler(Timer::Cycle)) => true,
        Step::Wake(..) | Step::Timer(..) | Step::Runtime(_) | Step::Period(..) => false,
    }
}

/// Whether a reconcile goes on with the replies it has been given.
fn goes_on(world: &World, step: &Step) -> bool {
    let Step::Think(_, controller, key) = step else { return false };
    world.loops().nth(*controller).is_some_and(|(_, l)| l.working.contains_key(key))
}

/// What each controller writes, events aside. Of one that is not in this table nothing is assumed.
const WRITES: [(&str, &[Kind]); 2] =
    [("deployment", &[Kind::Deployment, Kind::ReplicaSet]), ("replicaset", &[Kind::ReplicaSet, Kind::Pod])];

/// Whether serving a request now comes to the same as serving it later, as long as nothing crashes: nobody else writes
/// objects of its kind, so that neither the reply nor the order in which watches tell of them can change; and a promise
/// cannot be broken by what was not yet created, or by a Deployment's status that was not yet written.
fn commutes(world: &World, step: &Step) -> bool {
    let Step::Serve(id) = step else { return false };
    let Some(flight) = world.flight(*id) else { return false };
    let Asker::Controller { controller, .. } = &flight.asker else { return false };
    let kind = flight.request.verb.kind();
    let grows = matches!(
        (&flight.request.verb, kind),
        (Verb::Create { .. }, Kind::Pod) | (Verb::Replace { .. }, Kind::Deployment)
    );
    let others = |(i, other): (usize, &Flight)| {
        let same = !is_dead(world, other) && other.asker.process().is_some() && asks(other) == Some(i);
        other.request.verb.kind() == kind && !same
    };
    grows
        && !is_dead(world, flight)
        && !world.flights().any(|(_, other)| others((*controller, other)))
        && writes_alone(world, *controller, kind)
}

fn asks(flight: &Flight) -> Option<usize> {
    if let Asker::Controller { controller, .. } = flight.asker { Some(controller) } else { None }
}

/// Whether no other controller that is awake writes a kind, and this one for one object only.
fn writes_alone(world: &World, controller: usize, kind: Kind) -> bool {
    let others = world.loops().enumerate().filter(|(i, (_, l))| *i != controller && !l.stopped);
    let mut others = others.map(|(_, (c, _))| WRITES.iter().find(|(name, _)| *name == c.name()));
    let owner = ALL.get(controller).and_then(|c| c.watches().first()).map(|w| w.kind);
    others.all(|row| row.is_some_and(|(_, kinds)| !kinds.contains(&kind)))
        && owner.is_some_and(|owner| world.store().list(owner, None).count() == 1)
}
