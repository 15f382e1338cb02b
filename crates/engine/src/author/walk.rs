//! A session played again, with an eye on what the person did and how long nothing was done in between.

use crate::{
    lesson::Shelf,
    link::{self, Saved},
    session::Session,
};
use kubestep_cluster::{ClientId, World};
use kubestep_insight::Gaps;
use kubestep_model::{Instant, Pod};
use kubestep_protocol::{Doc, LinkRefused};
use std::time::Duration;

/// Labels that loops put on pods: they name one version or one pod, not what a person means.
const OF_LOOPS: [&str; 5] = [
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    "apps.kubernetes.io/pod-index",
    "statefulset.kubernetes.io/pod-name",
];

/// Something that the person did.
pub(super) struct Did {
    /// How long nothing was done before.
    pub(super) wait: Duration,
    pub(super) saved: Saved,
    /// What its command ended with.
    pub(super) exit: Option<i32>,
    /// The labels of the pod that it was done to, as a selector.
    pub(super) labels: String,
    client: Option<ClientId>,
}

/// A session that was played again to its moment.
pub(super) struct Walk {
    pub(super) session: Session,
    /// The editor's files at the beginning.
    pub(super) files: Vec<Doc>,
    /// The world and its gaps when it was handed to the person.
    pub(super) begin: (World, Gaps),
    pub(super) did: Vec<Did>,
    /// How long it went on after the last act.
    pub(super) rest: Duration,
    /// It parted from the beginning that its scenario plays.
    pub(super) parted: bool,
}

/// Plays a link's session again. Errors: what is wrong with the text.
pub(super) fn walk(text: &str, shelf: &Shelf) -> Result<Walk, LinkRefused> {
    let packed = link::unpack(text)?;
    let (mut session, files) = link::begin(&packed, shelf)?;
    let begin = (session.world().clone(), session.note().gaps.clone());
    let mut through = session.world().now();
    let mut did: Vec<Did> = vec![];
    for (i, (after, at, saved)) in packed.inputs.iter().enumerate() {
        session.run_to(*after, Instant(*at));
        let wait = session.world().now().since(through);
        let labels = labels(&session, saved);
        session.put(saved.clone());
        let next = packed.inputs.get(i + 1).map_or(packed.end.0, |next| next.0);
        // As a step of a lesson does it: a command has the cluster to itself until it ends or waits.
        while session.history.live().is_exclusive() && session.history.live().next_record() < next {
            if session.advance().is_none() {
                break;
            }
        }
        let live = session.history.live();
        through = live.now();
        let client = live.last_client().filter(|_| matches!(saved, Saved::Run { .. }));
        did.push(Did { wait, saved: saved.clone(), exit: None, labels, client });
    }
    if !packed.ends_where_it_parted() {
        session.run_to(packed.end.0, Instant(packed.end.1));
    }
    let live = session.history.live();
    for one in &mut did {
        one.exit = one.client.and_then(|id| live.client(id)?.ended).map(|(code, _)| code);
    }
    let rest = session.world().now().since(through);
    Ok(Walk { session, files, begin, did, rest, parted: packed.parted.is_some() })
}

/// What a person would write to mean this pod: its labels, but for those that loops gave it.
fn labels(session: &Session, saved: &Saved) -> String {
    let (Saved::Probe { namespace, pod, .. } | Saved::Exit { namespace, pod, .. }) = saved else {
        return String::new();
    };
    let store = session.history.live().store();
    let pods = store.list(kubestep_model::Kind::Pod, Some(namespace)).filter_map(|o| o.get::<Pod>());
    let found = pods.filter(|p| *p.metadata.name == **pod).last();
    let Some(found) = found else { return String::new() };
    let own = found.metadata.labels.iter().filter(|(key, _)| !OF_LOOPS.contains(&&***key));
    own.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}
