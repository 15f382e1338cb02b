//! Tables: rows of one kind, with the columns that flags add. Upstream: cli-runtime/pkg/printers, TablePrinter (v1.37).

mod even;
mod grid;

pub(crate) use even::Even;
pub(crate) use grid::{Cells, Grid};

use crate::{output::tabs::Tabs, printers};
use kubestep_model::{
    Instant, Key, Kind, Object,
    client::{Sense, Span},
};
use serde_json::Value;
use std::sync::Arc;

/// A text that is longer is written when somebody reads it: a terminal shows no more of one.
pub(crate) const LONG: usize = 64 << 10;

/// Which columns a table has besides those of its kind.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// `-o wide`.
    pub wide: bool,
    /// `--no-headers`.
    pub no_headers: bool,
    /// `--show-labels`.
    pub show_labels: bool,
    /// `-L`.
    pub label_columns: Vec<String>,
    /// A column with the namespace.
    pub namespace: bool,
    /// The kind before each name.
    pub kind: bool,
    /// Whether cells are as the API server makes them: with all of their columns, none cut.
    pub full: bool,
    /// The columns behind the name, of a kind that somebody defined.
    pub definition: Option<Arc<Vec<Value>>>,
    /// Whether the objects were listed, not named.
    pub listed: bool,
    /// A column with what a watch says happened.
    pub event: Option<&'static str>,
}

/// Text in which some parts name objects.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Printed {
    pub text: String,
    pub spans: Vec<Span>,
}

/// The table of objects of one kind; nothing if there are none.
pub fn table(kind: Kind, objects: &[&Object], now: Instant, shape: &Shape) -> Printed {
    shown(kind, objects, now, shape).unwrap_or_else(|even| even.printed())
}

/// The same, or how it can be written when somebody reads it, if it is longer than what a terminal shows.
pub(crate) fn shown(kind: Kind, objects: &[&Object], now: Instant, shape: &Shape) -> Result<Printed, Even> {
    match Even::of(kind, objects, grid(kind, objects, now, shape), shape) {
        Ok(even) if even.least() > LONG => Err(even),
        Ok(even) => Ok(even.printed()),
        Err(grid) => {
            let text = Tabs::TABLE.align(&lines(kind, &grid, shape));
            Ok(Printed { spans: spans(kind, &text, objects, &grid, shape), text })
        }
    }
}

/// More of a table that grows, as with `--watch`: its columns are never narrower than they were.
pub fn more(
    kind: Kind,
    objects: &[&Object],
    now: Instant,
    shape: &Shape,
    widths: &mut Vec<usize>,
) -> Printed {
    let grid = grid(kind, objects, now, shape);
    let text = Tabs::TABLE.align_on(&lines(kind, &grid, shape), widths);
    Printed { spans: spans(kind, &text, objects, &grid, shape), text }
}

/// The columns that are shown, by their names, with their places in a printer's row.
fn columns(kind: Kind, shape: &Shape) -> Vec<(usize, &str)> {
    let all: Vec<(&str, bool)> = match &shape.definition {
        Some(columns) => printers::defined::heads(columns),
        None => printers::of(kind).columns.iter().map(|c| (c.name, c.wide)).collect(),
    };
    let named = all.into_iter().enumerate();
    named.filter(|(_, (_, wide))| shape.wide || !wide).map(|(at, (name, _))| (at, name)).collect()
}

/// The cells of a table, row by row.
fn grid(kind: Kind, objects: &[&Object], now: Instant, shape: &Shape) -> Grid {
    let shown = columns(kind, shape);
    let mut grid = Grid::with(objects.len(), shown.len());
    let mark = if shape.listed { printers::mark(kind, objects) } else { None };
    let before = shape.kind.then(|| kind.qualified_kind().to_ascii_lowercase() + "/");
    let mut row = Cells::default();
    for object in objects {
        row.clear();
        match &shape.definition {
            Some(columns) => {
                printers::defined::row(columns, object, now).iter().for_each(|cell| row.put_cell(cell));
            }
            None => printers::write(kind, object, now, shape.wide, shape.full, &mut row),
        }
        let name = &object.meta().name;
        let mark = mark.as_ref().filter(|(marked, _)| marked == name).map(|(_, mark)| *mark);
        put(&mut grid, &shown, &row, object, shape, before.as_deref(), mark);
    }
    grid
}

/// The lines of a table, with tabs between the cells.
fn lines(kind: Kind, grid: &Grid, shape: &Shape) -> String {
    let mut out = String::new();
    if grid.len() == 0 {
        return out;
    }
    let mut first = heads(&columns(kind, shape), shape);
    if shape.no_headers {
        first = grid.row(0).map(str::to_owned).collect();
    }
    pad(&mut first, grid.uncut());
    out.push_str(&first.join("\t"));
    out.push('\n');
    for row in usize::from(shape.no_headers)..grid.len() {
        for (at, cell) in grid.row(row).enumerate() {
            out.push_str(if at > 0 { "\t" } else { "" });
            out.push_str(cell);
        }
        out.push('\n');
    }
    out
}

/// Upstream makes the first line as wide as the widest uncut cells, so that later pages of a long table fit.
fn pad(first: &mut [String], widths: &[usize]) {
    let last = first.len().saturating_sub(1);
    for (cell, width) in first.iter_mut().zip(widths).take(last) {
        let missing = width.saturating_sub(cell.len());
        cell.extend(std::iter::repeat_n(' ', missing));
    }
}

fn heads(shown: &[(usize, &str)], shape: &Shape) -> Vec<String> {
    let namespace = shape.namespace.then(|| "NAMESPACE".to_owned());
    let labels = shape.label_columns.iter().map(|label| {
        let last = label.rsplit('/').next().unwrap_or(label);
        last.to_ascii_uppercase()
    });
    let own = shown.iter().map(|(_, name)| name.to_ascii_uppercase());
    namespace
        .into_iter()
        .chain(shape.event.map(|_| "EVENT".to_owned()))
        .chain(own)
        .chain(labels)
        .chain(shape.show_labels.then(|| "LABELS".to_owned()))
        .collect()
}

/// Adds an object's row: the columns that are shown of its cells, and those that flags add. `before` stands before its name
/// and `mark` behind it.
fn put(
    grid: &mut Grid,
    shown: &[(usize, &str)],
    row: &Cells,
    object: &Object,
    shape: &Shape,
    before: Option<&str>,
    mark: Option<&str>,
) {
    let meta = object.meta();
    if shape.namespace {
        grid.put(&meta.namespace);
    }
    if let Some(event) = shape.event {
        grid.put(event);
    }
    for (at, head) in shown {
        // A row may end early.
        let Some(text) = row.get(*at) else { continue };
        let (before, mark) = (before.filter(|_| *head == "Name"), mark.filter(|_| *at == 0));
        match (before, mark) {
            (None, None) => grid.put(text),
            _ => grid.put(&[before.unwrap_or_default(), text, mark.unwrap_or_default()].concat()),
        }
    }
    for label in &shape.label_columns {
        grid.put(meta.labels.get(label).map(String::as_str).unwrap_or_default());
    }
    if shape.show_labels {
        grid.put(&show_labels(&meta.labels));
    }
    grid.end_row();
}

/// Labels between commas; `<none>` if there are none.
fn show_labels(labels: &kubestep_model::Labels) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
}

/// What the cells of a table stand for, and where they are in its text.
fn spans(kind: Kind, text: &str, objects: &[&Object], grid: &Grid, shape: &Shape) -> Vec<Span> {
    let first = usize::from(shape.namespace) + usize::from(shape.event.is_some());
    let columns: Vec<&str> = columns(kind, shape).iter().map(|(_, name)| *name).collect();
    let (mut spans, mut start) = (Vec::with_capacity(objects.len()), 0);
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let at = at.checked_sub(usize::from(!shape.no_headers));
        if let Some((at, object)) = at.and_then(|at| Some((at, objects.get(at)?))) {
            let mut place = 0;
            for (index, cell) in grid.row(at).enumerate() {
                place += line[place..].len() - line[place..].trim_start_matches(' ').len();
                if cell.is_empty() || !line[place..].starts_with(cell) {
                    continue;
                }
                let column = index.checked_sub(first).and_then(|i| columns.get(i)).copied();
                let named = index == 0 && shape.namespace;
                spans.extend(span(kind, column, named, cell, object, start + place));
                place += cell.len();
            }
        }
        start += line.len();
    }
    spans
}

/// What a cell that begins at a place stands for; `named` says whether it is a namespace's name.
fn span(
    kind: Kind,
    column: Option<&str>,
    named: bool,
    cell: &str,
    object: &Object,
    place: usize,
) -> Option<Span> {
    let (skip, means) = match column {
        None if named => (0, Some(Sense::Object(namespace(object)))),
        None => (0, None),
        Some("Object") if kind == Kind::Event => {
            (cell.find('/').map_or(0, |at| at + 1), involved(object).map(Sense::Object))
        }
        Some("Name") => (cell.rfind('/').map_or(0, |at| at + 1), Some(Sense::Object(object.key()))),
        Some(column) => (0, state(kind, column, cell)),
    };
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Span { start: number(place + skip), end: number(place + cell.len()), means: means? })
}

/// What an event is about.
fn involved(event: &Object) -> Option<Key> {
    let Object::Event(event) = event else { return None };
    let about = &event.involved_object;
    let kind = crate::resources::resolve(&about.kind).ok()?;
    let namespace = if kind.namespaced() { event.metadata.namespace.clone() } else { "".into() };
    Some(Key::new(kind, namespace, &*about.name))
}

/// The namespace that an object is in.
fn namespace(object: &Object) -> Key {
    Key::new(Kind::Namespace, "", object.meta().namespace.clone())
}

/// Words of a status that say that all is well, and such as pass.
const GOOD: [&str; 9] =
    ["Running", "Completed", "Complete", "Succeeded", "Ready", "Active", "Bound", "Available", "Valid"];
const PASSING: [&str; 9] = [
    "Pending",
    "ContainerCreating",
    "PodInitializing",
    "Terminating",
    "Released",
    "Suspended",
    "Unknown",
    "Ready,SchedulingDisabled",
    "SchedulingGated",
];

/// Whether a cell of this column says how an object is, and what.
fn state(kind: Kind, column: &str, cell: &str) -> Option<Sense> {
    match column {
        "Status" if GOOD.contains(&cell) => Some(Sense::Good),
        "Status" if PASSING.contains(&cell) || cell.starts_with("Init:") && cell.contains('/') => {
            Some(Sense::Waits)
        }
        "Status" => Some(Sense::Bad),
        "Ready" | "Completions" => {
            let (is, wanted) = cell.split_once('/')?;
            Some(if is == wanted { Sense::Good } else { Sense::Waits })
        }
        "Type" if kind == Kind::Event && cell == "Warning" => Some(Sense::Bad),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_say_what_they_stand_for() {
        let pod = |name: &str, phase: &str| {
            let value = json!({"metadata": {"name": name, "namespace": "shop"}, "spec": {"containers": [{"name": "a"}]},
                "status": {"phase": phase}});
            Object::from_value(Kind::Pod, value).unwrap()
        };
        let (a, b) = (pod("web", "Running"), pod("db", "Failed"));
        let shape = Shape { namespace: true, kind: true, ..Shape::default() };
        let shown = table(Kind::Pod, &[&a, &b], Instant::START, &shape);
        let words: Vec<(&str, String)> = shown
            .spans
            .iter()
            .map(|s| {
                let means = match &s.means {
                    Sense::Object(key) => format!("{} {}", key.kind.name(), key.name),
                    other => format!("{other:?}"),
                };
                (&shown.text[s.start as usize..s.end as usize], means)
            })
            .collect();
        let want = [
            ("shop", "Namespace shop"),
            ("web", "Pod web"),
            ("0/1", "Waits"),
            ("Running", "Good"),
            ("shop", "Namespace shop"),
            ("db", "Pod db"),
            ("0/1", "Waits"),
            ("Failed", "Bad"),
        ];
        assert_eq!(words, want.map(|(word, means)| (word, means.to_owned())), "{}", shown.text);
    }
}
