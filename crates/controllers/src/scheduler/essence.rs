//! What of a scheduler decides what it does next.

use super::{Flight, Room, Scheduler, queue::Place};
use std::sync::Arc;

type Texts<'a> = Vec<(&'a str, &'a str, String)>;

impl Scheduler {
    /// All that decides what it does next beside what its process was told: where pods are counted, who waits where, what
    /// is asked for. Without attempts that are over, clocks, and counters.
    pub fn essence(&self) -> (Texts<'_>, Texts<'_>, Texts<'_>, bool) {
        let counted = |name: &Arc<str>| self.cache.node(name).into_iter().flat_map(|n| n.pods.keys());
        let assumed = |uid: &Arc<str>| self.cache.placed(uid).is_some_and(|p| p.assumed);
        let nodes =
            self.cache.order().iter().flat_map(|name| {
                counted(name).map(move |uid| (&**name, &**uid, format!("{}", assumed(uid))))
            });
        let waits = [Place::Active, Place::Backoff, Place::Unschedulable].map(|p| self.queue.in_place(p));
        let waits = waits.into_iter().flatten().map(|w| {
            let words = format!("{:?} {:?} {} {}", w.place, w.rejectors, w.errors > 0, w.gated);
            ("waits", &**w.info.uid(), words)
        });
        let promised = self.nominated.iter().map(|(uid, (node, _))| (&**node, &**uid, String::new()));
        let flights = self.flights.values().map(flight);
        (nodes.collect(), waits.chain(promised).collect(), flights.collect(), self.cycle_set)
    }
}

fn flight(flight: &Flight) -> (&str, &str, String) {
    let made = |room: &Room, what: &str| {
        let last = room.last.as_ref().map_or("", |p| &*p.metadata.uid);
        format!("{what} for {} on {}, then {last} ;", room.preemptor, room.node)
    };
    match flight {
        Flight::Bind { waiting, node } => (&**node, &**waiting.info.uid(), "bind".into()),
        Flight::Volume { pod } => ("volume", &**pod, String::new()),
        Flight::Condemn { victim, room } => ("condemn", &*victim.metadata.uid, made(room, "condemn")),
        Flight::Delete { victim, room } => ("delete", &*victim.metadata.uid, made(room, "delete")),
    }
}
