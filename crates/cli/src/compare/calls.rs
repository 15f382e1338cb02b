//! Compares the calls: who asked the API server for what, and the answer's code.

use std::collections::BTreeMap;

use super::reader::About;
use super::recording::{Call, Ident};
use super::report::{Difference, Report, Section};
use super::table::May;
use super::view::{Verdict, View, verdict};

pub(super) fn compare(golden: &View<'_>, ours: &View<'_>, twin: Option<&View<'_>>, report: &mut Report) {
    let repeats = golden.reader.allow.has(May::Repeats);
    let often = |a: &i64, b: &i64| if repeats { (*a == 0) == (*b == 0) } else { a == b };
    rows(report, kinds(golden), kinds(ours), twin.map(kinds), |place, a, b| {
        if place.starts_with("kubectl ") { a == b } else { often(a, b) }
    });
    rows(report, books(golden), books(ours), twin.map(books), |_, a, b| a == b);
}

fn rows<T: Default + Clone + std::fmt::Debug>(
    report: &mut Report,
    theirs: BTreeMap<String, T>,
    mine: BTreeMap<String, T>,
    second: Option<BTreeMap<String, T>>,
    same: impl Fn(&str, &T, &T) -> bool,
) {
    for place in theirs.keys().chain(mine.keys().filter(|place| !theirs.contains_key(*place))) {
        let of = |rows: &BTreeMap<String, T>| rows.get(place).cloned().unwrap_or_default();
        let (there, here, second) = (of(&theirs), of(&mine), second.as_ref().map(of));
        match verdict(&there, &here, second.as_ref(), |a, b| same(place, a, b)) {
            Verdict::Free => report.tally(Section::Calls).free += 1,
            Verdict::Same => report.record(Section::Calls, Vec::new()),
            Verdict::Differs => {
                let (golden, ours) = (format!("{there:?}"), format!("{here:?}"));
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
        let who = view.reader.read(&call.who, About { at: None, nodes: &nodes }).skeleton;
        let slash = if call.subresource.is_empty() { "" } else { "/" };
        let kind = format!("{who} {} {}{slash}{} {}", call.verb, call.resource, call.subresource, call.code);
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

/// Holds successful calls against changes, object by object: a change without a call, or a call without a change,
/// shows as another balance. How often a status was written may vary; that each write is a change does not.
fn books(view: &View<'_>) -> BTreeMap<String, BTreeMap<i64, usize>> {
    let mut balance: BTreeMap<Ident, i64> = BTreeMap::new();
    let mut tokens = 0;
    for call in view.recording.calls.iter().filter(|call| call.code < 300 && call.verb != "deletecollection")
    {
        match call.subresource.as_str() {
            "token" => tokens += 1,
            _ => *balance.entry(called(view, call)).or_default() += 1,
        }
        tokens -= i64::from(call.subresource == "binding");
    }
    for (ident, life) in &view.recording.lives {
        let known = view.ident(ident);
        let changed = Ident { kind: resource(&known.kind), ..known };
        *balance.entry(changed).or_default() -= i64::try_from(life.changes.len()).unwrap_or_default();
    }
    let mut books: BTreeMap<String, BTreeMap<i64, usize>> = BTreeMap::new();
    for (ident, left) in balance {
        *books
            .entry(format!("calls less changes of {}", ident.kind))
            .or_default()
            .entry(left)
            .or_default() += 1;
    }
    books.insert("tokens less bindings".to_owned(), BTreeMap::from([(tokens, 1)]));
    books
}

fn called(view: &View<'_>, call: &Call) -> Ident {
    let nodes = Default::default();
    let name = view.reader.read(&call.name, About { at: None, nodes: &nodes }).skeleton;
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
