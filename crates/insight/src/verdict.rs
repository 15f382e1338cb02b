//! The verdict: converged, converging, or stalled since when.

use crate::{Blocker, Gaps, end};
use kubestep_cluster::{Asker, ProcessId, Step, World};
use kubestep_model::{
    Endpoint, EndpointSlice, Instant, Job, Key, Kind as ObjectKind, Node, Object, Service, Whole,
};
use std::time::Duration;

/// How the world stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No gap.
    Converged,
    /// A gap, and something that is not a repetition can still move.
    Converging,
    /// A gap, and all that is left is waiting.
    Stalled,
}

impl Kind {
    /// As questions and results write it: `converged`, `converging` or `stalled`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Converged => "converged",
            Kind::Converging => "converging",
            Kind::Stalled => "stalled",
        }
    }
}

/// The verdict of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How it stands.
    pub kind: Kind,
    /// Since when: converged, the last gap closed; else the oldest gap's measure last got better.
    pub since: Instant,
    /// The object whose gap has been open longest, and since when.
    pub object: Option<(Key, Instant)>,
    /// What it waits for.
    pub blocker: Option<(Key, Blocker)>,
}

/// A pull that failed is tried again after 10 s, so by now the second result of any first retry is known. From here on
/// what goes on between retries (statuses, events, heartbeats) is repetition.
const PATIENCE: Duration = Duration::from_secs(12);

/// The verdict.
pub fn verdict(world: &World, gaps: &Gaps) -> Verdict {
    let kind = kind(world, gaps);
    let Some((key, gap)) = gaps.oldest() else {
        return Verdict { kind, since: gaps.closed_since(), object: None, blocker: None };
    };
    Verdict {
        kind,
        since: if kind == Kind::Stalled { gaps.last_moved() } else { gap.opened },
        object: Some((key.clone(), gap.opened)),
        blocker: end(world, gaps, key),
    }
}

/// The verdict in one word.
pub fn kind(world: &World, gaps: &Gaps) -> Kind {
    if gaps.is_empty() {
        return Kind::Converged;
    }
    let patient = world.now().since(gaps.last_news()) >= PATIENCE;
    let stalled =
        |key: &Key| end(world, gaps, key).is_some_and(|(_, b)| b.stalls() && (patient || !b.retries()));
    let waits = (patient || !something_moves(world)) && gaps.iter().all(|(k, _)| stalled(k));
    if waits { Kind::Stalled } else { Kind::Converging }
}

/// Whether an object's change is on its way, a loop thinks, or a request that is no repetition is under way.
fn something_moves(world: &World) -> bool {
    let counts = |kind: ObjectKind| !matches!(kind, ObjectKind::Event | ObjectKind::Lease);
    world.due().any(|(_, step)| match step {
        Step::Deliver(ProcessId::Kubelet(_), _)
        | Step::Wake(..)
        | Step::Timer(..)
        | Step::Runtime(_)
        | Step::Period(..)
        | Step::Client(_) => false,
        Step::Deliver(_, kind) => counts(*kind),
        Step::Think(_, _, key) => !key.name.is_empty(),
        Step::Serve(id) => world.flight(*id).is_some_and(|f| {
            let kind = f.request.verb.kind();
            !f.request.verb.reads() && counts(kind) && kind != ObjectKind::Node
        }),
    })
}

/// Whether nothing but timers and background moves.
pub fn settled(world: &World) -> bool {
    !something_moves(world)
}

/// Whether no loop has work: as [`settled`], and no key of a controller is due, no loop waits for what it asked.
pub fn idle(world: &World) -> bool {
    let background =
        |kind: ObjectKind| matches!(kind, ObjectKind::Event | ObjectKind::Lease | ObjectKind::Node);
    let asked = |asker: &Asker| matches!(asker, Asker::Controller { key, .. } if !key.name.is_empty());
    let waits = world.flights().any(|(_, f)| asked(&f.asker) && !background(f.request.verb.kind()));
    let mut due = world.due().take_while(|(at, _)| *at <= world.now());
    settled(world) && !waits && !due.any(|(_, step)| matches!(step, Step::Wake(..)))
}

/// A node whose kubelet is not heard while the API still says that it is ready: Kubernetes notices only later.
pub fn unnoticed(world: &World) -> Option<std::sync::Arc<str>> {
    let nodes = world.store().list(ObjectKind::Node, None).filter_map(|o| o.get::<Node>());
    nodes
        .filter(|n| n.is_ready())
        .map(|n| &n.metadata.name)
        .find(|name| crate::waits::is_silent(world, name))
        .cloned()
}

/// What is at its end, and not what was asked for: by Kubernetes a legitimate answer, by the teacher worth a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum But {
    /// The API server answers nobody.
    Unanswered,
    /// A loop was stopped: it does not look.
    Stopped(&'static str),
    /// A Job that has failed.
    Failed(Key),
    /// A Service that selects nothing that is ready.
    SelectsNothing(Key),
}

/// The first of those.
pub fn but(world: &World) -> Option<But> {
    if world.faults().api_away {
        return Some(But::Unanswered);
    }
    let stopped = world.loops().find(|(_, l)| l.stopped).map(|(c, _)| But::Stopped(c.name()));
    if stopped.is_some() {
        return stopped;
    }
    let job = world.store().list(Job::KIND, None).find(|job| has_failed(job)).map(|o| But::Failed(o.key()));
    job.or_else(|| selects_nothing(world).map(But::SelectsNothing))
}

/// Whether an object says that it has failed for good, as a Job does.
pub fn has_failed(object: &Object) -> bool {
    let Object::Custom(custom) = object else { return false };
    let conditions = custom.rest.get("status").and_then(|s| s.get("conditions")?.as_array());
    conditions.is_some_and(|list| list.iter().any(|c| c["type"] == "Failed" && c["status"] == "True"))
}

fn selects_nothing(world: &World) -> Option<Key> {
    let services = world.store().list(ObjectKind::Service, None).filter_map(|o| o.get::<Service>());
    let ready = |e: &Endpoint| e.conditions.ready != Some(false);
    services.filter(|s| !s.spec.selector.is_empty()).find_map(|s| {
        let mut slices = world
            .store()
            .list(ObjectKind::EndpointSlice, Some(&s.metadata.namespace))
            .filter_map(|o| o.get::<EndpointSlice>());
        let label = "kubernetes.io/service-name";
        let any = slices.any(|slice| {
            slice.metadata.labels.get(label).is_some_and(|n| **n == *s.metadata.name)
                && slice.endpoints.iter().any(|e| ready(e))
        });
        (!any).then(|| Key::new(ObjectKind::Service, s.metadata.namespace.clone(), s.metadata.name.clone()))
    })
}
