//! A recording seen in the golden recording's words, and the rule for what counts.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::clock::Clock;
use super::dictionary::{Dictionary, Label, drawn_name};
use super::equals::Equals;
use super::facts::Facts;
use super::identity::{self, Pairing};
use super::objects::Seen;
use super::output::Vocabulary;
use super::reader::Reader;
use super::recording::{Ident, Recording};
use super::scenes::Together;
use super::table::Allow;
use super::told::Told;

pub(super) struct View<'a> {
    pub(super) recording: &'a Recording,
    pub(super) reader: Reader,
    pairing: Option<Pairing>,
    /// What was read from it once is kept: many recordings may be held against one.
    pub(super) told: OnceCell<BTreeMap<(i64, usize), Told>>,
    pub(super) facts: OnceCell<BTreeMap<Ident, Facts>>,
    pub(super) known: OnceCell<Vocabulary>,
    pub(super) shown: OnceCell<(Seen, Together)>,
}

impl<'a> View<'a> {
    /// The golden recording itself: names stand as they are, only what can never be compared is replaced.
    pub(super) fn golden(golden: &'a Recording, allow: Allow) -> Self {
        let dictionary = Dictionary::new(golden, allow, |ident| Label::Known(ident.name.clone()));
        let reader = Reader { dictionary, equals: Equals::of(golden), clock: Clock::default(), allow };
        Self::new(golden, reader, None)
    }

    pub(super) fn of(recording: &'a Recording, golden: &'a Recording, allow: Allow) -> Self {
        let clock = aligned(golden, recording);
        let pairing = identity::pair(golden, recording, &clock, allow);
        let dictionary = Dictionary::new(recording, allow, |ident| match pairing.get(ident) {
            Some(golden) => Label::Known(golden.name.clone()),
            None => Label::Alone,
        });
        let reader = Reader { dictionary, equals: Equals::of(golden), clock, allow };
        Self::new(recording, reader, Some(pairing))
    }

    fn new(recording: &'a Recording, reader: Reader, pairing: Option<Pairing>) -> Self {
        let (told, facts, known, shown) =
            (OnceCell::new(), OnceCell::new(), OnceCell::new(), OnceCell::new());
        View { recording, reader, pairing, told, facts, known, shown }
    }

    /// The golden object for which an object of this recording stands.
    pub(super) fn ident(&self, ident: &Ident) -> Ident {
        let Some(pairing) = &self.pairing else { return ident.clone() };
        pairing.get(ident).cloned().unwrap_or_else(|| {
            let drawn = self.recording.lives.get(ident).is_some_and(drawn_name);
            let mark = if drawn { "(only-here)" } else { "" };
            Ident { name: format!("{}{mark}", ident.name), ..ident.clone() }
        })
    }

    /// The nodes on which a pod has been.
    pub(super) fn nodes_of(&self, ident: &Ident) -> BTreeSet<String> {
        self.reader.dictionary.nodes_of(std::iter::once(ident.name.as_str()))
    }
}

/// The steps of two recordings of one session, by their number and their place within it.
pub(super) fn numbered<T>(steps: impl Iterator<Item = (i64, T)>) -> BTreeMap<(i64, usize), T> {
    let mut seen: BTreeMap<i64, usize> = BTreeMap::new();
    steps
        .map(|(number, step)| {
            let place = seen.entry(number).or_default();
            *place += 1;
            ((number, *place - 1), step)
        })
        .collect()
}

fn aligned(golden: &Recording, recording: &Recording) -> Clock {
    let there = numbered(golden.steps.iter().map(|step| (step.number, step.at)));
    let here = numbered(recording.steps.iter().map(|step| (step.number, step.at)));
    Clock::aligned(here.iter().filter_map(|(place, at)| Some((*at, *there.get(place)?))))
}

/// What a record comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    Differs,
    /// The two real runs do not agree on it.
    Free,
}

/// Only a record on which the real runs agree counts; without a second real run, every record.
pub(super) fn verdict<T: ?Sized>(
    golden: &T,
    ours: &T,
    twin: Option<&T>,
    same: impl Fn(&T, &T) -> bool,
) -> Verdict {
    match twin {
        Some(twin) if !same(golden, twin) => Verdict::Free,
        _ if same(golden, ours) => Verdict::Same,
        _ => Verdict::Differs,
    }
}
