//! Every order: from a world on, all ways in which loops, deliveries and requests may follow each other, with a
//! budget of crashes. A breadth-first search, so the way it prints is the shortest.

use kubestep_cluster::{Act, Asker, FaultAct, ProcessId, Step, World};
use kubestep_model::Kind;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt::{self, Write},
};

/// One move of the search.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// Something that is enabled.
    Step(Step),
    /// The controller manager ends and is started again.
    Crash,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// How many different states were seen.
    pub states: usize,
    /// How many of them were quiet: nothing left to move.
    pub ends: usize,
    /// The shortest way to a state that breaks the promise, and what is broken.
    pub broken: Option<(Vec<Move>, String)>,
    /// The search ended at its limit, not because all was seen.
    pub cut: bool,
}

/// What must hold: in every state, and (`quiet`) where nothing is left to move.
pub type Promise<'a> = &'a dyn Fn(&World, bool) -> Result<(), String>;

/// Searches all orders from a world on, with at most so many crashes anywhere, up to a number of states.
pub fn explore(world: &World, crashes: u32, promise: Promise<'_>, limit: usize) -> Found {
    let mut found = Found::default();
    let mut start = world.clone();
    let mut seen = BTreeSet::new();
    tidy(&mut start);
    seen.insert((print(&start), crashes));
    let mut parents: Vec<(usize, Option<Move>)> = vec![(0, None)];
    let mut queue = VecDeque::from([(start, crashes, 0usize)]);
    while let Some((world, left, at)) = queue.pop_front() {
        let mut moves = moves(&world);
        let quiet = moves.is_empty();
        found.states += 1;
        found.ends += usize::from(quiet);
        if let Err(text) = promise(&world, quiet) {
            found.broken = Some((way(&parents, at), text));
            return found;
        }
        if left > 0 {
            moves.push(Move::Crash);
        }
        for step in moves {
            let mut next = world.clone();
            match &step {
                Move::Step(step) => drop(next.advance(step)),
                Move::Crash => {
                    next.act(Act::Fault(FaultAct::Crash { process: ProcessId::Manager }));
                    next.act(Act::Fault(FaultAct::Restart { process: ProcessId::Manager }));
                }
            }
            tidy(&mut next);
            let left = left - u32::from(step == Move::Crash);
            if seen.insert((print(&next), left)) {
                if seen.len() > limit {
                    found.cut = true;
                    return found;
                }
                parents.push((at, Some(step)));
                queue.push_back((next, left, parents.len() - 1));
            }
        }
    }
    found
}

fn way(parents: &[(usize, Option<Move>)], mut at: usize) -> Vec<Move> {
    let mut way = vec![];
    while let Some((parent, Some(step))) = parents.get(at) {
        way.push(step.clone());
        at = *parent;
    }
    way.reverse();
    way
}

/// Moves that count: not the clock's, unless nothing else is left and a key waits for its next try.
fn moves(world: &World) -> Vec<Move> {
    let enabled: Vec<Step> = world.enabled().into_iter().map(|(_, s)| s).collect();
    let acts: Vec<Move> = enabled.iter().filter(|s| counts(world, s)).cloned().map(Move::Step).collect();
    if !acts.is_empty() {
        return acts;
    }
    let waits = |s: &&Step| match s {
        Step::Wake(_, controller) => world.loops().nth(*controller).is_some_and(|(_, l)| {
            l.queue.delayed().any(|(k, _)| !k.name.is_empty() && l.queue.failures(k) > 0)
        }),
        _ => false,
    };
    enabled.iter().find(waits).cloned().map(Move::Step).into_iter().collect()
}

fn counts(world: &World, step: &Step) -> bool {
    match step {
        Step::Deliver(_, kind) => !matches!(kind, Kind::Event | Kind::Lease),
        Step::Think(_, _, key) => !key.name.is_empty(),
        Step::Serve(id) => !is_event(world, *id),
        Step::Client(_) => true,
        Step::Wake(..) | Step::Timer(..) | Step::Runtime(_) | Step::Period(..) => false,
    }
}

fn is_event(world: &World, id: u64) -> bool {
    world.flights().any(|(f, flight)| *f == id && matches!(flight.asker, Asker::Events { .. }))
}

/// Events and their deliveries touch nothing that a controller reads: they happen at once, in one order.
fn tidy(world: &mut World) {
    loop {
        let step = world.enabled().into_iter().map(|(_, s)| s).find(|s| match s {
            Step::Serve(id) => is_event(world, *id),
            Step::Deliver(_, kind) => matches!(kind, Kind::Event | Kind::Lease),
            _ => false,
        });
        let Some(step) = step else { return };
        world.advance(&step);
    }
}

/// What makes two worlds the same for a search: everything but clocks, counters and what was said in events. Names
/// that were drawn, uids and revisions count by their order only: worlds that differ in nothing else go on alike.
fn print(world: &World) -> u128 {
    let mut text = String::new();
    let mut add = |part: &dyn fmt::Debug| write!(text, "{part:?};").unwrap_or(());
    let mut drawn: Vec<(u64, String, String)> = vec![];
    let silent = |kind: Kind| matches!(kind, Kind::Event | Kind::Lease);
    for object in world.store().all().filter(|o| !silent(o.kind())) {
        add(object);
    }
    for entry in world.store().log_after(0).filter(|e| e.old.is_none()) {
        if let Some(meta) = entry.new.as_ref().map(kubestep_model::Object::meta) {
            drawn.push((entry.revision, meta.uid.to_string(), meta.name.to_string()));
        }
    }
    if let Some(process) = world.process(&ProcessId::Manager) {
        for (_, object) in process.view.iter().filter(|(k, _)| !silent(k.kind)) {
            add(object);
        }
    }
    for (_, state) in world.loops() {
        add(&state.queue.ready().collect::<Vec<_>>());
        let waiting = state.queue.delayed().filter(|(k, _)| !k.name.is_empty() && state.queue.failures(k) > 0);
        add(&waiting.map(|(k, _)| k).collect::<Vec<_>>());
        for (key, work) in &state.working {
            let seen: Vec<_> = work.running.view.iter().filter(|(k, _)| !silent(k.kind)).map(|(_, o)| o.meta()).map(|m| (&m.uid, &m.resource_version)).collect();
            add(&(key, &work.asked, &work.replies, &work.running.told, seen));
        }
    }
    for (_, flight) in world.flights().filter(|(_, f)| !matches!(f.asker, Asker::Events { .. })) {
        add(&(&flight.request, &flight.asker));
    }
    add(&world.enabled().into_iter().map(|(_, s)| s).filter(|s| matches!(s, Step::Deliver(..) | Step::Think(..))).collect::<BTreeSet<_>>());
    let mut hash = Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    hash.write_str(&renamed(&text, &drawn)).unwrap_or(());
    hash.0
}

/// A text in which drawn names, uids and resource versions are replaced by their places in order.
fn renamed(text: &str, drawn: &[(u64, String, String)]) -> String {
    let mut places: BTreeMap<&str, String> = BTreeMap::new();
    for (i, (_, uid, name)) in drawn.iter().enumerate() {
        places.insert(uid, format!("u{i}"));
        places.insert(name, format!("n{i}"));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = || text.split_inclusive(|c: char| !is_word(c));
    let mut after_version = false;
    let mut versions: BTreeSet<u64> = BTreeSet::new();
    for part in words() {
        let word = part.trim_end_matches(|c: char| !is_word(c));
        if after_version && let Ok(n) = word.parse() {
            versions.insert(n);
        }
        after_version = word == "resource_version" || (after_version && word.is_empty());
    }
    let ranks: BTreeMap<u64, usize> = versions.into_iter().enumerate().map(|(i, v)| (v, i)).collect();
    let mut out = String::with_capacity(text.len());
    let mut after_version = false;
    for part in words() {
        let word = part.trim_end_matches(|c: char| !is_word(c));
        let rank = if after_version { word.parse().ok().and_then(|n: u64| ranks.get(&n)) } else { None };
        match (rank, places.get(word)) {
            (Some(rank), _) => write!(out, "v{rank}").unwrap_or(()),
            (None, Some(place)) => out.push_str(place),
            (None, None) => out.push_str(word),
        }
        out.push_str(&part[word.len()..]);
        after_version = word == "resource_version" || (after_version && word.is_empty());
    }
    out
}

struct Fnv(u128);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        Ok(())
    }
}
