//! Compares the events: which came, about what, from whom and in which words.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::{About, words};
use super::recording::Event;
use super::report::{Difference, Report, Section};
use super::table::May;
use super::view::{Verdict, View, verdict};

/// How an event came again and again: the counts it was written with.
#[derive(Clone, Debug, Default)]
struct Counts {
    counts: Vec<i64>,
    timed: bool,
}

/// Reasons of events that come again by a timer or a back-off: how often varies.
const TIMED: &[&str] = &[
    "BackOff",
    "Failed",
    "FailedBinding",
    "FailedCreate",
    "FailedMount",
    "FailedScheduling",
    "InspectFailed",
    "NoPods",
    "ProvisioningFailed",
    "Pulling",
    "Unhealthy",
    "UnexpectedJob",
];

/// Up to so many times an event of a timer came equally often in both real runs or not at all: this is no accident.
const FEW: usize = 3;

pub(super) fn compare(golden: &View<'_>, ours: &View<'_>, twin: Option<&View<'_>>, report: &mut Report) {
    let (theirs, mine, second) = (read(golden), read(ours), twin.map(read));
    let none = Counts::default();
    let free = golden.reader.allow.has(May::Repeats);
    let came = |a: &Counts, b: &Counts| a.counts.is_empty() == b.counts.is_empty();
    let series = |a: &Counts, b: &Counts| (starts(a), leaps(a)) == (starts(b), leaps(b));
    let often = |a: &Counts, b: &Counts| {
        (free && (a.timed || b.timed) && a.counts.len().max(b.counts.len()) > FEW)
            || a.counts.len() == b.counts.len()
    };
    for event in theirs.keys().chain(mine.keys().filter(|event| !theirs.contains_key(*event))) {
        let of = |events: &BTreeMap<String, Counts>| events.get(event).unwrap_or(&none).clone();
        let (there, here, second) = (of(&theirs), of(&mine), second.as_ref().map(of));
        let mut found = verdict(&there, &here, second.as_ref(), came);
        let differs = |same: &dyn Fn(&Counts, &Counts) -> bool| {
            verdict(&there, &here, second.as_ref(), same) == Verdict::Differs
        };
        if found == Verdict::Same && (differs(&series) || differs(&often)) {
            found = Verdict::Differs;
        }
        match found {
            Verdict::Free => report.tally(Section::Events).free += 1,
            Verdict::Same => report.record(Section::Events, Vec::new()),
            Verdict::Differs => {
                let side = |counts: &Counts| {
                    if counts.counts.is_empty() {
                        "(none)".to_owned()
                    } else {
                        format!("counts {:?}", counts.counts)
                    }
                };
                let (place, golden, ours) = (event.clone(), side(&there), side(&here));
                report.record(
                    Section::Events,
                    vec![Difference { section: Section::Events, place, golden, ours }],
                );
            }
        }
    }
}

/// How often a count began again: a new series, a new Event.
fn starts(counts: &Counts) -> usize {
    counts.counts.iter().filter(|count| **count == 1).count()
}

/// An event that comes again counts on by one; anything else is a gap or a double.
fn leaps(counts: &Counts) -> usize {
    let again = || counts.counts.iter().filter(|count| **count != 1);
    let seen: BTreeSet<i64> = counts.counts.iter().copied().collect();
    let doubles = again().count() - seen.iter().filter(|count| **count != 1).count();
    doubles + seen.iter().filter(|count| **count > 1 && !seen.contains(&(*count - 1))).count()
}

fn read(view: &View<'_>) -> BTreeMap<String, Counts> {
    let mut events: BTreeMap<String, Counts> = BTreeMap::new();
    for event in &view.recording.events {
        let counts = events.entry(key(view, event)).or_default();
        counts.counts.push(event.count);
        counts.timed |= TIMED.contains(&event.reason.as_str()) || event.message.starts_with("(combined");
    }
    events
}

fn key(view: &View<'_>, event: &Event) -> String {
    let named = words(&event.regarding).chain(words(&event.message));
    let nodes = view.reader.dictionary.nodes_of(named);
    let read = |text: &str| view.reader.read(text, About { at: None, step: None, nodes: &nodes }).skeleton;
    let message = read(&event.message);
    let namespace =
        if event.namespace == "default" { String::new() } else { format!("{} ", event.namespace) };
    format!(
        "{namespace}{} {} {} from {}: {message}",
        read(&event.regarding),
        event.kind,
        event.reason,
        event.from
    )
}
