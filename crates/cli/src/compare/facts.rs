//! The facts about each object of a recording, in the golden recording's words.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::identity::owner;
use super::reader::{About, Text, words};
use super::recording::{Ident, Life, PRESENCE, Recording};
use super::scenes::{Scenes, Stage};
use super::table::{self, May};
use super::view::View;

/// What is known about one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Whether it stands in `final`, and its leaves there.
    pub(super) last: Option<BTreeMap<String, Text>>,
    /// For each leaf the distinct values it had, one after the other.
    pub(super) values: BTreeMap<String, Vec<Text>>,
    /// The distinct states of the whole, as sums.
    pub(super) states: Vec<u64>,
    /// What stood together in them.
    pub(super) scenes: Scenes,
}

impl Facts {
    pub(super) fn count(&self) -> usize {
        self.last.as_ref().map_or(0, |last| last.len() + 1)
            + self.values.len()
            + usize::from(!self.states.is_empty())
    }
}

/// Said of a path that is not there.
pub(super) const NOTHING: &str = "(none)";

/// The version counts writes, and these vary; calls and changes are held against each other elsewhere.
const NOT_COMPARED: &str = "metadata.resourceVersion";

pub(super) fn facts(view: &View<'_>, golden: &Recording) -> BTreeMap<Ident, Facts> {
    let mut all: BTreeMap<Ident, Facts> = BTreeMap::new();
    for (ident, life) in &view.recording.lives {
        let known = view.ident(ident);
        let mut facts = lived(view, ident, life);
        if let Some(hash) = hash_of(view, golden, ident, &known) {
            facts.values.insert("(the hash in its name)".to_owned(), vec![Text::plain(&hash)]);
        }
        all.insert(known, facts);
    }
    for (ident, flat) in &view.recording.finals {
        let nodes = about(view, ident);
        let read = |(path, value): (&String, &String)| leaf(view, path, value, &nodes);
        let kept = flat.iter().filter(|(path, _)| *path != NOT_COMPARED);
        all.entry(view.ident(ident)).or_default().last = Some(kept.map(read).collect());
    }
    all
}

/// The nodes of the pod that the object is.
fn about(view: &View<'_>, ident: &Ident) -> BTreeSet<String> {
    if ident.kind == "Pod" { view.nodes_of(ident) } else { BTreeSet::new() }
}

fn leaf(view: &View<'_>, path: &str, value: &str, nodes: &BTreeSet<String>) -> (String, Text) {
    let mut nodes = nodes.clone();
    if path.contains('[') {
        nodes.extend(view.reader.dictionary.nodes_of(words(path)));
    }
    let about = About { at: None, step: None, nodes: &nodes };
    (view.reader.read(path, about).skeleton, view.reader.read(value, about))
}

fn lived(view: &View<'_>, ident: &Ident, life: &Life) -> Facts {
    let nodes = about(view, ident);
    let mut facts = Facts::default();
    let mut turns: Vec<Vec<(String, Text)>> = vec![Vec::new(); life.changes.len()];
    for (path, moves) in life.moves.iter().filter(|(path, _)| *path != NOT_COMPARED) {
        let mut values: Vec<Text> = Vec::new();
        let mut name = path.clone();
        for (version, value) in moves {
            let (read, text) = match value {
                Some(value) => leaf(view, path, value, &nodes),
                None => (leaf(view, path, "", &nodes).0, Text::plain(NOTHING)),
            };
            turns[*version].push((read.clone(), text.clone()));
            name = read;
            if values.last().is_none_or(|last| !one_instant(last, &text)) {
                values.push(text);
            }
        }
        if moves.first().is_some_and(|(version, _)| *version > 0) && path != PRESENCE {
            values.insert(0, Text::plain(NOTHING));
        }
        facts.values.insert(name, values);
    }
    play(&turns, &mut facts);
    facts
}

/// Goes through the changes in their order and notes each state.
fn play(turns: &[Vec<(String, Text)>], facts: &mut Facts) {
    let mut state = 0;
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    let mut stage = Stage::default();
    for turn in turns {
        for (path, text) in turn {
            let sum = sum(&(path, &text.skeleton));
            state ^= sum ^ sums.insert(path, sum).unwrap_or_default();
            stage.set(path, Some(text.skeleton.as_str()).filter(|value| *value != NOTHING));
        }
        stage.show(&mut facts.scenes);
        if facts.states.last() != Some(&state) {
            facts.states.push(state);
        }
    }
}

/// The same words, and moments that the cut to whole seconds may have parted.
fn one_instant(a: &Text, b: &Text) -> bool {
    let near =
        |(a, b): (&super::clock::Time, &super::clock::Time)| (a.own - b.own).abs() <= table::SAME_INSTANT;
    a.skeleton == b.skeleton && a.times.len() == b.times.len() && a.times.iter().zip(&b.times).all(near)
}

fn sum(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// The template's hash in a name, unless the template makes it vary.
fn hash_of(view: &View<'_>, golden: &Recording, ident: &Ident, known: &Ident) -> Option<String> {
    if !matches!(ident.kind.as_str(), "ReplicaSet" | "ControllerRevision") {
        return None;
    }
    let varies = |path: &String| {
        [".resources.requests.", ".resources.limits.", "sizeLimit", "restartedAt"]
            .iter()
            .any(|part| path.contains(part))
    };
    let free = golden.lives.get(known).is_some_and(|life| life.moves.keys().any(varies));
    let (_, hash) = ident.name.rsplit_once('-')?;
    Some(if free && view.reader.allow.has(May::TemplateHash) {
        "(varies)".to_owned()
    } else {
        hash.to_owned()
    })
}

/// How many pods of one owner are on each node at the end, largest first: with equal nodes it does not count which.
pub(super) fn spread(view: &View<'_>) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (ident, flat) in view.recording.finals.iter().filter(|(ident, _)| ident.kind == "Pod") {
        let owner = view.recording.lives.get(ident).and_then(|life| owner(ident, life));
        if let (Some(owner), Some(node)) = (owner, flat.get("spec.nodeName")) {
            *counts.entry(format!("pods of {}", view.ident(&owner))).or_default().entry(node).or_default() +=
                1;
        }
    }
    let told = |counts: BTreeMap<&str, usize>| {
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.iter().map(usize::to_string).collect::<Vec<_>>().join("+")
    };
    counts.into_iter().map(|(owner, counts)| (owner, told(counts))).collect()
}
