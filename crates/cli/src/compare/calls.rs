//! Compares the calls: who asked the API server for what, and the answer's code.

use std::collections::BTreeMap;

use super::reader::About;
use super::recording::{Call, Ident};
use super::report::{Difference, Report, Section};
use super::table::May;
use super::view::{Verdict, View, verdict};

/// Writes that succeed come more or less often as states are seen or missed; each is held against a change instead.
fn varies(kind: &str) -> bool {
    let written = kind.ends_with(" 200") && !kind.contains(" nodes/status ");
    written && (kind.contains("/status ") || kind.contains(" update "))
}

pub(super) fn compare(golden: &View<'_>, ours: &View<'_>, twin: Option<&View<'_>>, report: &mut Report) {
    let free = golden.reader.allow.has(May::Repeats);
    let often = |kind: &str| !free || kind.starts_with("kubectl ") || !varies(kind);
    rows(report, (kinds(golden), kinds(ours), twin.map(kinds)), often);
    rows(report, (books(golden), books(ours), twin.map(books)), |_| true);
}

type Counts = BTreeMap<String, i64>;

/// Whether something came at all always counts; how often, where `often` says so: as often as in the real runs, and
/// where these do not agree, neither more nor less than in both.
fn rows(
    report: &mut Report,
    (theirs, mine, second): (Counts, Counts, Option<Counts>),
    often: impl Fn(&str) -> bool,
) {
    for place in theirs.keys().chain(mine.keys().filter(|place| !theirs.contains_key(*place))) {
        let of = |rows: &Counts| rows.get(place).copied().unwrap_or_default();
        let (there, here, second) = (of(&theirs), of(&mine), second.as_ref().map(of));
        let came = |a: &i64, b: &i64| (*a == 0) == (*b == 0);
        let other = second.unwrap_or(there);
        let mut found = verdict(&there, &here, second.as_ref(), came);
        if found == Verdict::Same && often(place) && !(there.min(other)..=there.max(other)).contains(&here) {
            found = Verdict::Differs;
        }
        match found {
            Verdict::Free => report.tally(Section::Calls).free += 1,
            Verdict::Same => report.record(Section::Calls, Vec::new()),
            Verdict::Differs => {
                let side =
                    |times: i64| if times == 0 { "(none)".to_owned() } else { format!("{times} times") };
                let (golden, ours) = (side(there), side(here));
                let difference = Difference { section: Section::Calls, place: place.clone(), golden, ours };
                report.record(Section::Calls, vec![difference]);
            }
        }
    }
}

/// How often each kind of call came.
fn kinds(view: &View<'_>) -> BTreeMap<String, i64> {
    let mut kinds = BTreeMap::new();
    for call in &view.recording.calls {
        let nodes = view.reader.dictionary.all_nodes();
        let who = view.reader.read(&call.who, About { at: None, step: None, nodes: &nodes }).skeleton;
        let slash = if call.subresource.is_empty() { "" } else { "/" };
        let of =
            if call.verb == "deletecollection" { format!(" of {}", call.namespace) } else { String::new() };
        let kind =
            format!("{who} {} {}{slash}{}{of} {}", call.verb, call.resource, call.subresource, call.code);
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

/// Holds successful calls against changes, object by object: a change without a call, or a call without a change,
/// gives a balance that no real run has. How often a status was written may vary; that each write is a change does
/// not. (A graceful deletion is one call and two changes.)
fn books(view: &View<'_>) -> BTreeMap<String, i64> {
    let mut balance: BTreeMap<Ident, i64> = BTreeMap::new();
    let mut tokens = 0;
    for call in view.recording.calls.iter().filter(|call| call.code < 300 && call.verb != "deletecollection")
    {
        match (call.resource.as_str(), call.subresource.as_str()) {
            (_, "token") => tokens += 1,
            // Heartbeats are no changes in a recording.
            ("nodes", "status") => {}
            _ => *balance.entry(called(view, call)).or_default() += 1,
        }
        tokens -= i64::from(call.subresource == "binding");
    }
    for (ident, life) in &view.recording.lives {
        let known = view.ident(ident);
        let changed = Ident { kind: resource(&known.kind), ..known };
        let deletions = life.changes.iter().filter(|change| change.kind == "DELETED").count();
        let changes = i64::try_from(life.changes.len() - deletions).unwrap_or_default();
        *balance.entry(changed).or_default() -= changes;
    }
    let mut books: BTreeMap<String, i64> = BTreeMap::new();
    for (ident, left) in balance {
        *books.entry(format!("calls less changes of {}: {left}", ident.kind)).or_default() += 1;
    }
    books.insert(format!("tokens less bindings: {tokens}"), 1);
    books
}

fn called(view: &View<'_>, call: &Call) -> Ident {
    let nodes = Default::default();
    let name = view.reader.read(&call.name, About { at: None, step: None, nodes: &nodes }).skeleton;
    Ident { kind: call.resource.clone(), namespace: call.namespace.clone(), name }
}

/// The resource of a kind: its plural in small letters.
fn resource(kind: &str) -> String {
    let small = kind.to_lowercase();
    match small.as_str() {
        "endpoints" => small,
        _ if small.ends_with('y') => format!("{}ies", &small[..small.len() - 1]),
        _ if small.ends_with('s') => format!("{small}es"),
        _ => format!("{small}s"),
    }
}
