//! Which object of one recording stands for which of the other.
//!
//! Objects with a name of their own stand for themselves. Drawn names are paired within their family (the same owner)
//! so that lives and events fit best: the pod that was deleted at the first step with the one deleted there.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::assign::assign;
use super::clock::Clock;
use super::dictionary::{Dictionary, Label};
use super::equals::{self, Equals};
use super::reader::{About, Reader};
use super::recording::{Ident, Life, Recording};
use super::table::{Allow, May};

/// From objects of a recording to those of the golden one.
pub(super) type Pairing = BTreeMap<Ident, Ident>;

pub(super) fn pair(golden: &Recording, ours: &Recording, clock: &Clock, allow: Allow) -> Pairing {
    let drawn = |ident: &Ident| {
        let one_of_many = |recording| equals::volume(recording, ident).is_some();
        allow.has(May::EqualVolume) && one_of_many(ours) && one_of_many(golden)
    };
    let mut pairing: Pairing = ours
        .lives
        .keys()
        .filter(|ident| golden.lives.contains_key(*ident) && !drawn(ident))
        .map(|i| (i.clone(), i.clone()))
        .collect();
    if !allow.has(May::Suffix) {
        return pairing;
    }
    let here = Side::new(ours, clock.clone(), allow);
    let there = Side::new(golden, Clock::default(), allow);
    // Owners first: each round pairs the objects whose owners are paired. Three rounds reach CronJob, Job, Pod.
    for round in 0..4 {
        let mut families: BTreeMap<Family, (Vec<&Ident>, Vec<&Ident>)> = BTreeMap::new();
        let taken: BTreeSet<&Ident> = pairing.values().collect();
        let identity = |owner: &Ident| golden.lives.contains_key(owner).then(|| owner.clone());
        for ident in ours.lives.keys().filter(|ident| !pairing.contains_key(*ident)) {
            if let Some(family) = family(ours, ident, round == 3, |owner| pairing.get(owner).cloned()) {
                families.entry(family).or_default().0.push(ident);
            }
        }
        for ident in golden.lives.keys().filter(|ident| !taken.contains(ident)) {
            if let Some(family) = family(golden, ident, round == 3, identity) {
                families.entry(family).or_default().1.push(ident);
            }
        }
        let mut found = Vec::new();
        for (mine, theirs) in
            families.into_values().filter(|(mine, theirs)| !mine.is_empty() && !theirs.is_empty())
        {
            if mine.len() * theirs.len() > MOST {
                found.extend(one_after_the_other((ours, mine), (golden, theirs)));
                continue;
            }
            let a: Vec<Features> = mine.iter().map(|ident| here.features(ident)).collect();
            let b: Vec<Features> = theirs.iter().map(|ident| there.features(ident)).collect();
            let costs: Vec<Vec<f64>> = a.iter().map(|x| b.iter().map(|y| x.distance(y)).collect()).collect();
            let pairs = assign(mine.len(), theirs.len(), |row, column| costs[row][column]);
            found.extend(pairs.into_iter().map(|(i, j)| (mine[i].clone(), theirs[j].clone())));
        }
        pairing.extend(found);
    }
    pairing
}

/// Families beyond this are paired in order of creation: the best fit would take too long.
const MOST: usize = 250_000;

fn one_after_the_other(
    (ours, mut mine): (&Recording, Vec<&Ident>),
    (golden, mut theirs): (&Recording, Vec<&Ident>),
) -> Vec<(Ident, Ident)> {
    mine.sort_by(|a, b| ours.lives[*a].created().total_cmp(&ours.lives[*b].created()));
    theirs.sort_by(|a, b| golden.lives[*a].created().total_cmp(&golden.lives[*b].created()));
    mine.into_iter().cloned().zip(theirs.into_iter().cloned()).collect()
}

/// Kind, namespace, and what the members have in common.
type Family = (String, String, String);

/// The family of an object whose name is drawn; none if it has a name of its own, or its owner has no partner yet.
fn family(
    recording: &Recording,
    ident: &Ident,
    last: bool,
    partner: impl Fn(&Ident) -> Option<Ident>,
) -> Option<Family> {
    let life = &recording.lives[ident];
    let whose = |common: String| Some((ident.kind.clone(), ident.namespace.clone(), common));
    if let Some(owner) = owner(ident, life) {
        if let Some(golden) = partner(&owner) {
            return whose(format!("{}/{}", golden.kind, golden.name));
        }
        if recording.lives.contains_key(&owner) && !last {
            return None;
        }
    }
    if let Some(generate) = life.values("metadata.generateName").next() {
        return whose(generate.trim_matches('"').to_owned());
    }
    if ident.name.starts_with("pvc-") {
        return whose(life.values("spec.claimRef.name").next()?.to_owned());
    }
    whose(equals::volume(recording, ident)?)
}

/// The first owner an object has had.
pub(super) fn owner(ident: &Ident, life: &Life) -> Option<Ident> {
    let path = life
        .moves
        .keys()
        .find(|path| path.starts_with("metadata.ownerReferences[") && path.ends_with(".kind"))?;
    let kind = life.values(path).next()?.trim_matches('"').to_owned();
    let name = life.values(&path.replace(".kind", ".name")).next()?.trim_matches('"').to_owned();
    Some(Ident { kind, namespace: ident.namespace.clone(), name })
}

/// A recording with every drawn word masked.
struct Side<'a> {
    recording: &'a Recording,
    reader: Reader,
    nodes: BTreeSet<String>,
    events: BTreeMap<String, Vec<u64>>,
}

impl<'a> Side<'a> {
    fn new(recording: &'a Recording, clock: Clock, allow: Allow) -> Self {
        let dictionary = Dictionary::new(recording, allow, |_| Label::Masked);
        let nodes = dictionary.all_nodes();
        let equals = Equals::of(recording);
        let mut side = Side {
            recording,
            reader: Reader { dictionary, equals, clock, allow },
            nodes,
            events: BTreeMap::new(),
        };
        for event in &recording.events {
            let about = format!("{} {}", event.namespace, event.regarding);
            let hash = hash(&(&event.reason, side.masked(&event.message)));
            let of = side.events.entry(about).or_default();
            if !of.contains(&hash) {
                of.push(hash);
            }
        }
        side
    }

    fn masked(&self, text: &str) -> String {
        self.reader.read(text, About { at: None, step: None, nodes: &self.nodes }).skeleton
    }

    fn features(&self, ident: &Ident) -> Features {
        let life = &self.recording.lives[ident];
        let mut leaves = BTreeSet::new();
        for (path, moves) in life.moves.iter().filter(|(path, _)| !path.starts_with("metadata.")) {
            let values: Vec<String> = moves
                .iter()
                .map(|(_, value)| value.as_deref().map_or(String::new(), |v| self.masked(v)))
                .collect();
            let path = self.masked(path);
            let last = values.last().map(|last| hash(&(&path, "last", last)));
            leaves.extend(last);
            leaves.insert(hash(&(&path, values)));
        }
        let about = format!("{} {}/{}", ident.namespace, ident.kind, ident.name);
        let clock = |at: f64| self.reader.clock.golden(at);
        Features {
            leaves,
            events: self.events.get(&about).into_iter().flatten().copied().collect(),
            created: clock(life.created()),
            deleted: life.deleted().map(clock),
            node: life.values("spec.nodeName").next().map(str::to_owned),
        }
    }
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What objects are paired by.
struct Features {
    leaves: BTreeSet<u64>,
    events: BTreeSet<u64>,
    created: f64,
    deleted: Option<f64>,
    node: Option<String>,
}

impl Features {
    fn distance(&self, other: &Features) -> f64 {
        let apart = |a: f64, b: f64| (a - b).abs().min(60.0) * 0.5;
        let lives = match (self.deleted, other.deleted) {
            (Some(a), Some(b)) => apart(a, b),
            (None, None) => 0.0,
            _ => 30.0,
        };
        let node = if self.node == other.node { 0.0 } else { 0.1 };
        unlike(&self.leaves, &other.leaves)
            + unlike(&self.events, &other.events)
            + apart(self.created, other.created)
            + lives
            + node
    }
}

#[allow(clippy::cast_precision_loss)]
fn unlike(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
    a.symmetric_difference(b).count() as f64
}
