//! Checking a draft: a dry run of `kubectl apply` against the world that is looked at. The words are kubectl's and the
//! API server's own; here they find their places in the text.

mod changes;
mod notes;
mod place;
mod remedy;
mod words;

use crate::{
    ask::{Answer, ask},
    parts::{Part, parts},
    session::Session,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    client::Stream,
    yaml::{self, ReadError, json},
};
use kubestep_protocol::{Checked, Doc, Place, Problem, Severity};
use std::collections::BTreeMap;

/// So many objects of a file are put to the API server.
const MOST_PARTS: usize = 40;
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
    let all = parts(&reading, most);
    for part in &all {
        let answer = dry_run(session, &doc.name, part);
        if comes_first(part, &all, &answer) {
            checked.changes.push(changes::new_part(part));
            continue;
        }
        checked.problems.extend(words::problems(&doc.name, part, &answer));
        checked.changes.extend(changes::changes(&answer));
    }
    if let Some(error) = &reading.error {
        checked.problems.push(unreadable(&doc.name, &doc.text, error));
    } else if all.is_empty() && !doc.text.trim().is_empty() {
        checked.problems.push(simple(
            Place { line: 1, column: 1, length: 0 },
            "error: no objects passed to apply".into(),
        ));
    }
    checked.notes = notes::notes(session, &doc.text, &all);
    checked.problems.arrange_by_key(|p| (p.place.line, p.place.column));
    checked.problems.truncate(MOST_PROBLEMS);
    checked.notes.arrange_by_key(|n| (n.place.line, n.place.column));
    checked.notes.truncate(MOST_NOTES);
    checked.changes.truncate(MOST_CHANGES);
    checked
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
fn dry_run(session: &Session, name: &str, part: &Part<'_>) -> Answer {
    let file = if name.is_empty() { "manifest.yaml" } else { name };
    let files = BTreeMap::from([(file.to_string(), json::encode(part.value))]);
    let line = format!("kubectl apply -f '{}' --dry-run=server", file.replace('\'', "'\\''"));
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
