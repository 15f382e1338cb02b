//! What happens at once in a search, because no loop that is awake can tell when it happened.

use super::state::{Reader, is_dead};
use kubestep_cluster::{Asker, Flight, Step, World};
use kubestep_model::{Body, Key, Kind, Verb};

/// Lets everything happen that makes no difference to any order.
pub(super) fn settle(world: &mut World, reader: &Reader) {
    loop {
        let step = world.due().map(|(_, s)| s).find(|s| is_quiet(world, s, reader)).cloned();
        let Some(step) = step else { return };
        world.advance(&step);
    }
}

fn is_quiet(world: &World, step: &Step, reader: &Reader) -> bool {
    match step {
        Step::Deliver(process, kind) => !reader.hears(process, *kind),
        Step::Serve(id) => world.flight(*id).is_some_and(|f| {
            matches!(f.asker, Asker::Events { .. })
                || finds_nothing(world, f)
                || changes_nothing(world, step, f)
        }),
        // What a person's program sends next is on its way at once; when it arrives is a move.
        Step::Client(_) => true,
        _ => false,
    }
}

/// Requests of a life that ended, which are refused now and at any later time: replacing a version that is no longer
/// there, deleting what is gone, creating what is there (no controller deletes what it still makes by name). What was
/// replaced or is gone does not come back.
fn changes_nothing(world: &World, step: &Step, flight: &Flight) -> bool {
    let final_refusal = match &flight.request.verb {
        Verb::Replace { .. } | Verb::Delete { .. } | Verb::Get { .. } => true,
        Verb::Create { body: Body::Typed(object), .. } => !object.meta().name.is_empty(),
        _ => false,
    };
    final_refusal
        && is_dead(world, flight)
        && world.step(step).0.store().revision() == world.store().revision()
}

/// A look at all of a kind in a namespace that ends, or their removal, where there is none: nobody can make one any more.
fn finds_nothing(world: &World, flight: &Flight) -> bool {
    let (Verb::DeleteCollection { kind, namespace, .. }
    | Verb::List { kind, namespace: Some(namespace), .. }) = &flight.request.verb
    else {
        return false;
    };
    let ends = world.store().get(&Key::new(Kind::Namespace, "", namespace.clone()));
    ends.is_some_and(|n| n.meta().is_terminating())
        && world.store().list(*kind, Some(namespace)).next().is_none()
}
