//! The faults menu.

use super::sorted;
use crate::session::Session;
use kubestep_cluster::{Health, Mood, ProcessId, Trouble, World, loops::ALL};
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

/// Processes whose requests and watches the menu offers to trouble.
const TROUBLED: [(&str, ProcessId); 2] =
    [("manager", ProcessId::Manager), ("scheduler", ProcessId::Scheduler)];
/// So many nodes have entries of their own.
const MOST_NODES: usize = 6;

/// One entry: its key, its name, what it does, whether it is in force.
type Entry = (String, String, String, bool);
/// The entries of one part of the cluster.
type Group = (&'static str, Vec<Entry>);

fn entry(key: String, name: String, note: &str, on: bool) -> Entry {
    (key, name, note.into(), on)
}

/// The entries.
pub(super) fn items(session: &mut Session) -> Vec<Arc<FaultItem>> {
    let world = session.world();
    let mut groups: Vec<Group> = vec![("Controllers", controllers(world))];
    for (title, (who, process)) in ["Controller manager", "Scheduler"].into_iter().zip(&TROUBLED) {
        let mut found = crashes(world, who, process);
        found.extend(requests(world, who, process));
        groups.push((title, found));
    }
    groups.push(("Your own network", programs(world)));
    groups.push(("Nodes", nodes(world)));
    groups.push(("API server, registry, clocks", surroundings(world)));
    let flat = groups.into_iter().flat_map(|(group, entries)| entries.into_iter().map(move |e| (group, e)));
    let rows = flat
        .map(|(group, (key, name, note, on))| FaultItem {
            id: session.ids.apart(&format!("fault:{key}")),
            key,
            name,
            note,
            group: group.into(),
            on,
        })
        .collect();
    sorted(rows, |r| r.id)
}

fn controllers(world: &World) -> Vec<Entry> {
    let mut found = vec![];
    for name in STOPPED.iter().filter(|n| ALL.iter().any(|c| c.name() == **n)) {
        let on = world.loops().any(|(c, l)| c.name() == *name && l.stopped);
        let text = format!("Stop the {}", crate::words::who::long(name));
        found.push(entry(format!("stop:{name}"), text, "its notifications wait unread", on));
    }
    for (who, process, kind) in &HELD {
        let on = world.faults().holds(process, *kind);
        let seen = world.process(process).and_then(|p| p.seen.get(kind).copied()).unwrap_or(0);
        let resource = kind.resource();
        let text = format!("Hold the watch of the {} for {resource}", long(who));
        found.push(entry(
            format!("hold:{who}:{resource}"),
            text,
            &format!("its cache stays at revision {seen}"),
            on,
        ));
        let on = world.faults().lost.contains(&(process.clone(), *kind));
        let text = format!("Lose the watch of the {} for {resource}", long(who));
        let note = "what happens meanwhile it learns from a list when this ends";
        found.push(entry(format!("lose:{who}:{resource}"), text, note, on));
    }
    let on = world.process(&ProcessId::SecondManager).is_some();
    let note = "two that do not know of each other, as without leader election";
    found.push(entry("second:manager".into(), "Run a second controller manager".into(), note, on));
    found
}

fn crashes(world: &World, who: &str, process: &ProcessId) -> Vec<Entry> {
    let down = world.process(process).is_some_and(|p| p.health == Health::Down);
    let text = format!("Crash the {}", long(who));
    let mut found =
        vec![entry(format!("crash:{who}"), text, "its memory is lost; off starts it again", down)];
    let left = world.faults().crash_after.get(process).copied();
    for (writes, text) in [(1, "its next write"), (2, "two more writes"), (3, "three more writes")] {
        let name = format!("Crash the {} after {text}", long(who));
        let on = left == Some(writes);
        found.push(entry(
            format!("crash-after:{who}:{writes}"),
            name,
            "between two writes of one reconcile",
            on,
        ));
    }
    let text = format!("Restart the {} with an old state", long(who));
    let note = "fifty revisions behind; it catches up from there";
    found.push(entry(format!("stale:{who}:50"), text, note, false));
    found
}

fn requests(world: &World, who: &str, process: &ProcessId) -> Vec<Entry> {
    let now = world.faults().requests.get(process).map(|(trouble, _)| *trouble);
    let long = long(who);
    let rows = [
        ("drop", Trouble::Dropped, format!("Drop the next 5 requests of the {long}"), "they never arrive"),
        (
            "unanswered",
            Trouble::Unanswered,
            format!("Lose the next 5 answers to the {long}"),
            "the writes are made, and it does not know",
        ),
        (
            "double",
            Trouble::Doubled,
            format!("Double the next 5 requests of the {long}"),
            "each arrives twice",
        ),
        (
            "conflict",
            Trouble::Conflict,
            format!("A conflict for the next 5 updates of the {long}"),
            "as if somebody else wrote first",
        ),
    ];
    let mut found: Vec<Entry> = rows
        .into_iter()
        .map(|(key, trouble, name, note)| entry(format!("{key}:{who}:5"), name, note, now == Some(trouble)))
        .collect();
    let slow = world.faults().slow.contains_key(process);
    let text = format!("Slow the {long} down");
    found.push(entry(
        format!("slow:{who}:2000"),
        text,
        "two seconds more for all it sends and is told",
        slow,
    ));
    found
}

/// What may become of the next write of kubectl and the programs beside it.
fn programs(world: &World) -> Vec<Entry> {
    let now = world.faults().programs.map(|(trouble, _)| trouble);
    [
        ("drop", Trouble::Dropped, "Drop your next write", "it never arrives"),
        (
            "unanswered",
            Trouble::Unanswered,
            "Lose the answer to your next write",
            "it is done, and you do not know",
        ),
        ("double", Trouble::Doubled, "Double your next write", "it arrives twice"),
    ]
    .into_iter()
    .map(|(key, trouble, name, note)| {
        entry(format!("{key}:programs:1"), name.into(), note, now == Some(trouble))
    })
    .collect()
}

fn nodes(world: &World) -> Vec<Entry> {
    let mut found = vec![];
    for (node, _) in world.machines().take(MOST_NODES) {
        let (id, faults) = (ProcessId::Kubelet(node.clone()), world.faults());
        let one_way = "the other way is open";
        let text = format!("Nothing that {node} sends arrives");
        found.push(entry(format!("mute:{node}"), text, one_way, faults.mute.contains(&id)));
        let text = format!("{node} is told nothing");
        found.push(entry(format!("deaf:{node}"), text, one_way, faults.deaf.contains(&id)));
        let text = format!("Slow the kubelet of {node} down");
        let note = "ten seconds more for all it sends and is told";
        found.push(entry(format!("slow:{node}:10000"), text, note, faults.slow.contains_key(&id)));
    }
    found
}

fn surroundings(world: &World) -> Vec<Entry> {
    let mood = world.registry().1;
    vec![
        entry(
            "api:away".into(),
            "Cut the API server off".into(),
            "nobody is answered; what runs goes on",
            world.faults().api_away,
        ),
        entry(
            "history:cut".into(),
            "Cut the API server's history".into(),
            "a held watch is too old when it goes on (410 Gone), and lists again",
            false,
        ),
        entry(
            "registry:away".into(),
            "Cut the registry off".into(),
            "no image can be pulled",
            mood == Mood::Away,
        ),
        entry(
            "registry:slow:10".into(),
            "Make the registry slow".into(),
            "a pull takes ten times as long",
            matches!(mood, Mood::Slow(_)),
        ),
        entry(
            "registry:throttling:3".into(),
            "Let the registry throttle".into(),
            "two of three pulls are refused, whoever asks",
            matches!(mood, Mood::Throttling(_)),
        ),
        entry(
            "jump:clock:600".into(),
            "Let all clocks jump ten minutes".into(),
            "as after a long sleep of the machine",
            false,
        ),
    ]
}

fn long(who: &str) -> &str {
    if who == "manager" { "controller manager" } else { who }
}
