//! The faults menu.

use super::sorted;
use crate::session::Session;
use kubestep_cluster::{Health, ProcessId, loops::ALL};
use kubestep_model::Kind;
use kubestep_protocol::FaultItem;
use std::sync::Arc;

/// Watches that the menu offers to hold.
const HELD: [(&str, ProcessId, Kind); 3] = [
    ("scheduler", ProcessId::Scheduler, Kind::Pod),
    ("manager", ProcessId::Manager, Kind::Pod),
    ("manager", ProcessId::Manager, Kind::ReplicaSet),
];
/// Controllers that the menu offers to stop.
const STOPPED: [&str; 4] = ["deployment", "replicaset", "endpointslice", "garbage-collector"];

/// The entries.
pub(super) fn items(session: &mut Session) -> Vec<Arc<FaultItem>> {
    let world = session.world();
    let mut found: Vec<(String, String, String, bool)> = vec![];
    for name in STOPPED.iter().filter(|n| ALL.iter().any(|c| c.name() == **n)) {
        let on = world.loops().any(|(c, l)| c.name() == *name && l.stopped);
        found.push((
            format!("stop:{name}"),
            format!("Stop the {name} controller"),
            "its notifications wait unread".into(),
            on,
        ));
    }
    for (who, process, kind) in &HELD {
        let on = world.faults().holds(process, *kind);
        let seen = world.process(process).and_then(|p| p.seen.get(kind).copied()).unwrap_or(0);
        found.push((
            format!("hold:{who}:{}", kind.resource()),
            format!("Hold the watch of the {} for {}", long(who), kind.resource()),
            format!("its cache stays at revision {seen}"),
            on,
        ));
    }
    for (who, process) in [("manager", ProcessId::Manager), ("scheduler", ProcessId::Scheduler)] {
        let down = world.process(&process).is_some_and(|p| p.health == Health::Down);
        found.push((
            format!("crash:{who}"),
            format!("Crash the {}", long(who)),
            "its memory is lost; off starts it again".into(),
            down,
        ));
    }
    let armed = world.faults().crash_after.contains_key(&ProcessId::Manager);
    found.push((
        "crash-after:manager:1".into(),
        "Crash the controller manager after its next write".into(),
        "between two writes of one reconcile".into(),
        armed,
    ));
    let rows = found
        .into_iter()
        .map(|(key, name, note, on)| FaultItem {
            id: session.ids.of(&format!("fault:{key}")),
            key,
            name,
            note,
            on,
        })
        .collect();
    sorted(rows, |r| r.id)
}

fn long(who: &str) -> &str {
    if who == "manager" { "controller manager" } else { who }
}
