//! The faults menu.

use super::sorted;
use crate::session::Session;
use kubestep_cluster::{
    Health, Mood, ProcessId, Trouble, World,
    loops::{ALL, scheduler::WATCHES},
};
use kubestep_model::Kind;
use kubestep_protocol::FaultItem;
use std::sync::{Arc, OnceLock};

/// Processes whose requests and watches the menu offers to trouble, with their groups.
const TROUBLED: [(&str, &str, ProcessId); 2] =
    [("Controller manager", "manager", ProcessId::Manager), ("Scheduler", "scheduler", ProcessId::Scheduler)];
/// So many nodes have entries of their own.
const MOST_NODES: usize = 8;
/// How much later the events of a watch arrive that the menu delays.
const LATE: &str = "5000";

/// One entry: its key, its name, what it does, whether it is in force; whether it is for those who search.
type Entry = (String, String, String, bool, bool);
/// The entries of one part of the cluster.
type Group = (&'static str, Vec<Entry>);

fn entry(key: String, name: String, note: &str, on: bool) -> Entry {
    (key, name, note.into(), on, false)
}

/// The entries. Loops and watches of kinds of which there is nothing are for those who search.
pub(super) fn items(session: &mut Session) -> Vec<Arc<FaultItem>> {
    let world = session.world();
    let mut groups: Vec<Group> = vec![("Controllers", controllers(world))];
    for (title, who, process) in &TROUBLED {
        let mut found = crashes(world, who, long(who), process);
        found.extend(requests(world, who, process));
        found.extend(watches(world, who, &format!("the {}", long(who)), process));
        groups.push((title, found));
    }
    groups.push(("Your own network", programs(world)));
    groups.push(("Nodes", nodes(world)));
    groups.push(("API server, registry, clocks", surroundings(world)));
    let flat = groups.into_iter().flat_map(|(group, entries)| entries.into_iter().map(move |e| (group, e)));
    let rows = flat
        .map(|(group, (key, name, note, on, rare))| FaultItem {
            id: session.ids.apart(&format!("fault:{key}")),
            key,
            name,
            note,
            group: group.into(),
            on,
            rare: rare && !on,
        })
        .collect();
    sorted(rows, |r| r.id)
}

/// Whether there is something of a kind.
fn is_there(world: &World, kind: Kind) -> bool {
    world.store().list(kind, None).next().is_some()
}

fn controllers(world: &World) -> Vec<Entry> {
    let mut found = vec![];
    let mut names: Vec<String> = vec![];
    for (controller, state) in world.loops() {
        let name = controller.name();
        let mut long = crate::words::who::long(name);
        // Two loops of one name on the page are told apart by their own.
        if names.contains(&long) {
            long = format!("{long} ({name})");
        }
        let text = format!("Stop the {long}");
        names.push(long);
        let own = controller.watches().first().map(|w| w.kind);
        let rare = !own.is_some_and(|kind| is_there(world, kind));
        let row = entry(format!("stop:{name}"), text, "its notifications wait unread", state.stopped);
        found.push(searched(row, rare));
    }
    let on = world.process(&ProcessId::SecondManager).is_some();
    let note = "two that do not know of each other, as without leader election";
    found.push(entry("second:manager".into(), "Run a second controller manager".into(), note, on));
    found
}

/// What may become of each watch of a process: nothing comes, it is lost, it comes later.
fn watches(world: &World, who: &str, name: &str, process: &ProcessId) -> Vec<Entry> {
    let faults = world.faults();
    let mut found = vec![];
    for kind in watched(process) {
        let (resource, watch) = (kind.resource(), (process.clone(), kind));
        let rare = !is_there(world, kind);
        let rows = [
            (
                entry(
                    format!("hold:{who}:{resource}"),
                    format!("Hold the watch of {name} for {resource}"),
                    "its cache stays as it is",
                    faults.held.contains(&watch),
                ),
                rare,
            ),
            (
                entry(
                    format!("lose:{who}:{resource}"),
                    format!("Lose the watch of {name} for {resource}"),
                    "what happens meanwhile it learns from a list when this ends",
                    faults.lost.contains(&watch),
                ),
                rare,
            ),
            (
                entry(
                    format!("delay:{who}:{resource}:{LATE}"),
                    format!("Delay the watch of {name} for {resource}"),
                    "each event arrives five seconds later, in the same order",
                    faults.delayed.contains_key(&watch),
                ),
                rare,
            ),
        ];
        found.extend(rows.into_iter().map(|(row, rare)| searched(row, rare)));
    }
    found
}

/// The kinds that a process watches, one of each name.
fn watched(process: &ProcessId) -> Vec<Kind> {
    static OF_MANAGER: OnceLock<Vec<Kind>> = OnceLock::new();
    match process {
        ProcessId::Scheduler => WATCHES.to_vec(),
        ProcessId::Kubelet(_) => vec![Kind::Pod, Kind::Node],
        ProcessId::Manager | ProcessId::SecondManager => {
            let first = |kind: Kind| Kind::all().find(|k| k.resource() == kind.resource()) == Some(kind);
            let heard = |kind: &Kind| first(*kind) && ALL.iter().any(|c| c.hears(*kind));
            OF_MANAGER.get_or_init(|| Kind::all().filter(heard).collect()).clone()
        }
    }
}

fn searched(mut entry: Entry, rare: bool) -> Entry {
    entry.4 = rare;
    entry
}

fn crashes(world: &World, who: &str, name: &str, process: &ProcessId) -> Vec<Entry> {
    let down = world.process(process).is_some_and(|p| p.health == Health::Down);
    let text = format!("Crash the {name}");
    let mut found =
        vec![entry(format!("crash:{who}"), text, "its memory is lost; off starts it again", down)];
    let left = world.faults().crash_after.get(process).copied();
    let after =
        ["its next write", "two more writes", "three more writes", "four more writes", "five more writes"];
    for (writes, text) in (1..).zip(after) {
        let on = left == Some(writes);
        let key = format!("crash-after:{who}:{writes}");
        let row =
            entry(key, format!("Crash the {name} after {text}"), "between two writes of one reconcile", on);
        found.push(searched(row, writes > 3));
    }
    let note = "fifty revisions behind; it catches up from there";
    found.push(entry(
        format!("stale:{who}:50"),
        format!("Restart the {name} with an old state"),
        note,
        false,
    ));
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
    let slow = entry(
        "delay:programs:2000".into(),
        "Delay all that you send and are told".into(),
        "two seconds more each way; the cluster goes on meanwhile",
        !world.faults().programs_slow.is_zero(),
    );
    let rows = [
        ("drop", Trouble::Dropped, "Drop your next write", "it never arrives"),
        (
            "unanswered",
            Trouble::Unanswered,
            "Lose the answer to your next write",
            "it is done, and you do not know",
        ),
        ("double", Trouble::Doubled, "Double your next write", "it arrives twice"),
    ];
    let one = |(key, trouble, name, note): (&str, Trouble, &str, &str)| {
        entry(format!("{key}:programs:1"), name.into(), note, now == Some(trouble))
    };
    rows.into_iter().map(one).chain([slow]).collect()
}

fn nodes(world: &World) -> Vec<Entry> {
    let mut found = vec![];
    for (node, machine) in world.machines().take(MOST_NODES) {
        let (id, faults) = (ProcessId::Kubelet(node.clone()), world.faults());
        let one_way = "the other way is open";
        let text = format!("Nothing that {node} sends arrives");
        found.push(entry(format!("mute:{node}"), text, one_way, faults.mute.contains(&id)));
        let text = format!("{node} is told nothing");
        found.push(entry(format!("deaf:{node}"), text, one_way, faults.deaf.contains(&id)));
        let text = format!("Slow the kubelet of {node} down");
        let note = "ten seconds more for all it sends and is told";
        found.push(entry(format!("slow:{node}:10000"), text, note, faults.slow.contains_key(&id)));
        let down = world.process(&id).is_some_and(|p| p.health == Health::Down);
        let dark = down && !machine.containers().any(|(_, c)| c.finished.is_none());
        let text = format!("Cut the power of {node}");
        found.push(entry(
            format!("power:{node}"),
            text,
            "its containers are gone, and nobody was told",
            dark,
        ));
        let kubelet = format!("kubelet of {node}");
        let more = crashes(world, node, &kubelet, &id).into_iter();
        let more = more.chain(watches(world, node, &format!("the {kubelet}"), &id));
        found.extend(more.map(|row| searched(row, true)));
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
