//! Compares the events: which came, about what, from whom and in which words.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::{About, words};
use super::recording::Event;
use super::report::{Difference, Report, Section};
use super::table::May;
use super::view::{Verdict, View, verdict};

/// How an event came again and again: the counts it was written with.
type Counts = Vec<i64>;

pub(super) fn compare(golden: &View<'_>, ours: &View<'_>, twin: Option<&View<'_>>, report: &mut Report) {
    let (theirs, mine, second) = (read(golden), read(ours), twin.map(read));
    let none = Counts::new();
    let same = |a: &Counts, b: &Counts| {
        if golden.reader.allow.has(May::Repeats) { a.is_empty() == b.is_empty() } else { a == b }
    };
    for event in theirs.keys().chain(mine.keys().filter(|event| !theirs.contains_key(*event))) {
        let of = |events: &BTreeMap<String, Counts>| events.get(event).unwrap_or(&none).clone();
        let (there, here, second) = (of(&theirs), of(&mine), second.as_ref().map(of));
        let mut found = verdict(&there, &here, second.as_ref(), same);
        if found == Verdict::Same && !here.is_empty() {
            let leaps = |counts: &Counts| (starts(counts), leaps(counts));
            let runs =
                verdict(&leaps(&there), &leaps(&here), second.as_ref().map(leaps).as_ref(), |a, b| a == b);
            if runs == Verdict::Differs {
                found = runs;
            }
        }
        match found {
            Verdict::Free => report.tally(Section::Events).free += 1,
            Verdict::Same => report.record(Section::Events, Vec::new()),
            Verdict::Differs => {
                let side = |counts: &Counts| {
                    if counts.is_empty() { "(none)".to_owned() } else { format!("counts {counts:?}") }
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
    counts.iter().filter(|count| **count == 1).count()
}

/// An event that comes again counts on by one; anything else is a gap or a double.
fn leaps(counts: &Counts) -> usize {
    let seen: BTreeSet<i64> = counts.iter().copied().collect();
    let doubles =
        counts.iter().filter(|count| **count != 1).count() - seen.iter().filter(|count| **count != 1).count();
    doubles + seen.iter().filter(|count| **count > 1 && !seen.contains(&(*count - 1))).count()
}

fn read(view: &View<'_>) -> BTreeMap<String, Counts> {
    let mut events: BTreeMap<String, Counts> = BTreeMap::new();
    for event in &view.recording.events {
        events.entry(key(view, event)).or_default().push(event.count);
    }
    events
}

fn key(view: &View<'_>, event: &Event) -> String {
    let named = words(&event.regarding).chain(words(&event.message));
    let nodes = view.reader.dictionary.nodes_of(named);
    let read = |text: &str| view.reader.read(text, About { at: None, nodes: &nodes }).skeleton;
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
