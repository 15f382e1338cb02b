//! Every order: from a world on, all ways in which loops, deliveries and requests may follow each other, with a
//! budget of crashes. A breadth-first search, so the way it prints is the shortest.
//!
//! Reductions, each of which leaves out orders that come to the same: what no loop that is awake reads happens at once
//! (`quiet`); a reconcile that has its replies goes on before anything else, because it reads only what it froze, so
//! that nothing but a crash can tell the difference (`moves`); worlds that differ in names, numbers and clocks only
//! count as one (`state`).

pub mod around;
pub mod bounds;
pub mod endings;
mod moves;
pub mod promises;
mod quiet;
pub mod rollout;
pub mod scheduling;
mod small;
mod state;
mod stub;
pub mod way;
mod words;

pub use promises::{promise, promise_without_crashes};
pub use small::{small_world, small_world_of};
pub use stub::Stub;

use kubestep_cluster::{Step, World};
use moves::moves;
use state::Reader;
use std::collections::{BTreeSet, VecDeque};

/// One move of the search.
#[derive(Clone, Debug, PartialEq)]
pub enum Move {
    /// Something that is enabled.
    Step(Step),
    /// The process that is searched, the scheduler or the controller manager, ends and is started again.
    Crash,
    /// A request is served, and its answer gets lost: whoever asked hears of a timeout.
    Lost(Step),
    /// What the neighbours that are not there would do to a pod.
    Said(stub::Said),
}

/// What may happen in a search beside the steps of the loops. Watches that are held back need no word here: each
/// delivery is a move of its own, and may come as late as it likes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// How often the process that is searched may crash, or an answer to it get lost.
    pub troubles: u32,
    /// Whether answers get lost, too.
    pub lost: bool,
    /// Who plays scheduler and kubelet.
    pub stub: Stub,
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
    search(world, Rules { troubles: crashes, ..Rules::default() }, promise, limit)
}

/// Searches all orders from a world on under these rules, up to a number of states.
pub fn search(world: &World, rules: Rules, promise: Promise<'_>, limit: usize) -> Found {
    let mut found = Found::default();
    let mut start = world.clone();
    let mut seen = BTreeSet::new();
    let reader = Reader::new(&start);
    let mut lexicon = words::Lexicon::default();
    quiet::settle(&mut start, &reader);
    seen.insert((reader.print(&start, &mut lexicon), rules.troubles));
    let mut parents: Vec<(usize, Option<Move>)> = vec![(0, None)];
    let mut queue = VecDeque::from([(start, rules.troubles, 0usize)]);
    while let Some((world, left, at)) = queue.pop_front() {
        let mut moves = moves(&world, &reader, left > 0);
        moves.extend(rules.stub.moves(&world).into_iter().map(Move::Said));
        let quiet = moves.is_empty();
        found.states += 1;
        found.ends += usize::from(quiet);
        if let Err(text) = promise(&world, quiet) {
            found.broken = Some((way_to(&parents, at), text));
            return found;
        }
        if left > 0 {
            let lost = moves.iter().filter_map(|m| if let Move::Step(s) = m { Some(s) } else { None });
            let lost = lost.filter(|s| rules.lost && matches!(s, Step::Serve(_))).cloned();
            let lost: Vec<Move> = lost.map(Move::Lost).collect();
            moves.extend(lost);
            moves.push(Move::Crash);
        }
        for step in moves {
            let mut next = world.clone();
            way::make(&mut next, &step);
            quiet::settle(&mut next, &reader);
            let left = left - u32::from(matches!(step, Move::Crash | Move::Lost(_)));
            if seen.insert((reader.print(&next, &mut lexicon), left)) {
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

fn way_to(parents: &[(usize, Option<Move>)], mut at: usize) -> Vec<Move> {
    let mut way = vec![];
    while let Some((parent, Some(step))) = parents.get(at) {
        way.push(step.clone());
        at = *parent;
    }
    way.reverse();
    way
}
