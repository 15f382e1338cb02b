//! Checking a draft: `kubectl apply` against the world that is looked at, with nothing kept. The words are kubectl's and the
//! API server's own; here they find their places in the text.

mod changes;
mod defined;
mod field;
mod notes;
mod place;
mod remedy;
mod words;

pub(crate) use field::field;

use crate::{
    ask::{Answer, ask},
    parts::{Part, parts},
    session::Session,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Key, Kind,
    client::Stream,
    yaml::{self, ReadError, json},
};
use kubestep_protocol::{Checked, Counts, Doc, Place, Problem, Severity, WouldChange};
use std::collections::BTreeMap;

/// So many objects of a file are put to the API server.
const MOST_PARTS: usize = 60;
/// So many are counted.
const MOST_COUNTED: usize = 20_000;
/// Of a larger file, only so many.
const LARGE: usize = 256 << 10;
const MOST_OF_LARGE: usize = 8;
/// As many as a page can show.
const MOST_PROBLEMS: usize = 100;
const MOST_NOTES: usize = 50;
const MOST_CHANGES: usize = 50;

/// What applying a file would do, as far as it can be known now.
pub(crate) fn check(session: &Session, doc: &Doc, version: u32) -> Checked {
    let mut checked =
        Checked { doc: doc.name.clone(), version, applied: session.applied_at(doc), ..Checked::default() };
    let reading = yaml::read(&doc.text);
    let most = if doc.text.len() > LARGE { MOST_OF_LARGE } else { MOST_PARTS };
    let all = parts(&reading, MOST_COUNTED);
    for (i, part) in all.iter().enumerate() {
        if i >= most {
            count_unread(session, part, &mut checked.counts);
            continue;
        }
        let answer = tried(session, &doc.name, part.value);
        let (problems, changes) = if comes_first(part, &all, &answer) {
            (vec![], vec![changes::new_part(part)])
        } else {
            (
                words::problems(session, &doc.name, part, &answer),
                changes::changes(session.world().store(), &answer),
            )
        };
        if !problems.iter().any(|p| p.severity == Severity::Error) {
            count(&changes, &mut checked.counts);
        }
        checked.problems.extend(problems);
        checked.changes.extend(changes);
    }
    if let Some(error) = &reading.error {
        checked.problems.push(unreadable(&doc.name, &doc.text, error));
    } else if all.is_empty() && !doc.text.trim().is_empty() {
        checked.problems.push(simple(
            Place { line: 1, column: 1, length: 0 },
            "error: no objects passed to apply".into(),
        ));
    }
    checked.notes = notes::notes(session, &doc.text, &all[..all.len().min(most)]);
    checked.problems.arrange_by_key(|p| (p.place.line, p.place.column));
    checked.problems.truncate(MOST_PROBLEMS);
    checked.notes.arrange_by_key(|n| (n.place.line, n.place.column));
    checked.notes.truncate(MOST_NOTES);
    checked.changes.truncate(MOST_CHANGES);
    checked
}

/// Counts one object that was put to the API server and was not refused.
fn count(changes: &[WouldChange], counts: &mut Counts) {
    match changes.first() {
        None => counts.same += 1,
        Some(first) if first.field.is_empty() && first.before.is_none() => counts.new += 1,
        Some(_) => counts.changed += 1,
    }
}

/// Counts one object of a file that has too many: whether it is there can be seen without asking.
fn count_unread(session: &Session, part: &Part<'_>, counts: &mut Counts) {
    let there = Kind::of_manifest(part.api_version(), part.kind()).is_some_and(|kind| {
        let namespace = if kind.namespaced() { part.namespace() } else { "" };
        session.world().store().get(&Key::new(kind, namespace, part.name())).is_some()
    });
    if there {
        counts.unread += 1;
    } else {
        counts.new += 1;
    }
}

/// A file that is too large to be read while a person types.
pub(crate) fn too_large(doc: &Doc, version: u32) -> Checked {
    let megabytes = doc.text.len() >> 20;
    let text = format!("error: {} is {megabytes} MiB: Kubestep reads files of up to 4 MiB", doc.name);
    Checked {
        doc: doc.name.clone(),
        version,
        problems: vec![simple(Place { line: 1, column: 1, length: 0 }, text)],
        ..Checked::default()
    }
}

/// Whether an object is refused only because its namespace is not there yet, and the file makes it before.
fn comes_first(part: &Part<'_>, all: &[Part<'_>], answer: &Answer) -> bool {
    let missing = format!("namespaces \"{}\" not found", part.namespace());
    let makes = |p: &&Part<'_>| p.kind() == "Namespace" && p.name() == part.namespace();
    let before = all.iter().take_while(|p| !std::ptr::eq(*p, part)).any(|p| makes(&p));
    before && answer.exit != Some(0) && answer.text(Stream::Err).trim_end().ends_with(&missing)
}

/// One object alone, so that what is said about it is about nothing else, and so that many objects take linear time.
fn tried(session: &Session, name: &str, object: &serde_json::Value) -> Answer {
    let file = if name.is_empty() { "manifest.yaml" } else { name };
    let files = BTreeMap::from([(file.to_string(), json::encode(object))]);
    // Nothing is kept of it anyway; a dry run would pass over quotas.
    let line = format!("kubectl apply -f '{}'", file.replace('\'', "'\\''"));
    ask(session.world(), &line, files)
}

fn simple(place: Place, message: String) -> Problem {
    Problem { place, severity: Severity::Error, message, remedy: None }
}

/// What kubectl says of a file that it cannot read on.
fn unreadable(name: &str, text: &str, error: &ReadError) -> Problem {
    let lines = text.split('\n').count().max(1);
    let line = error.line.clamp(1, lines);
    let width = text.split('\n').nth(line - 1).map_or(0, |l| l.chars().count());
    let place = Place {
        line: place::number(line),
        column: place::number(error.column.clamp(1, width + 1)),
        length: 0,
    };
    simple(place, format!("error: error parsing {name}: {}", error.text))
}
