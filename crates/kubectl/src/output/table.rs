//! Tables: rows of one kind, with the columns that flags add. Upstream: cli-runtime/pkg/printers, TablePrinter (v1.37).

use crate::{
    output::tabs::Tabs,
    printers::{self, Cell},
};
use kubestep_model::{Instant, Key, Kind, Object, client::Span};
use serde_json::Value;
use std::sync::Arc;

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
    let text = lines(kind, objects, now, shape);
    let aligned = Tabs::TABLE.align(&text);
    let spans = spans(&aligned, objects, usize::from(!shape.no_headers));
    Printed { text: aligned, spans }
}

/// More of a table that grows, as with `--watch`: its columns are never narrower than they were.
pub fn more(
    kind: Kind,
    objects: &[&Object],
    now: Instant,
    shape: &Shape,
    widths: &mut Vec<usize>,
) -> Printed {
    let text = lines(kind, objects, now, shape);
    let aligned = Tabs::TABLE.align_on(&text, widths);
    let spans = spans(&aligned, objects, usize::from(!shape.no_headers));
    Printed { text: aligned, spans }
}

/// The lines of a table, with tabs between the cells.
fn lines(kind: Kind, objects: &[&Object], now: Instant, shape: &Shape) -> String {
    if objects.is_empty() {
        return String::new();
    }
    let printer = printers::of(kind);
    let heads_of: Vec<(&str, bool)> = match &shape.definition {
        Some(columns) => printers::defined::heads(columns),
        None => printer.columns.iter().map(|c| (c.name, c.wide)).collect(),
    };
    let named = heads_of.into_iter().enumerate();
    let shown: Vec<(usize, &str)> =
        named.filter(|(_, (_, wide))| shape.wide || !wide).map(|(at, (name, _))| (at, name)).collect();
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(objects.len() + 1);
    let mark = if shape.listed { printers::mark(kind, objects) } else { None };
    for object in objects {
        let mut row = match &shape.definition {
            Some(columns) => printers::defined::row(columns, object, now),
            None => (printer.row)(object, now, shape.wide || shape.full),
        };
        if let (Some((name, mark)), Some(Cell::Text(first))) = (&mark, row.first_mut())
            && *object.meta().name == **name
        {
            first.push_str(mark);
        }
        rows.push(cells(kind, &shown, &row, object, shape));
    }
    let mut lines: Vec<Vec<String>> = if shape.no_headers { vec![] } else { vec![heads(&shown, shape)] };
    let widths = widths(&rows);
    lines.extend(rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()));
    if let Some(first) = lines.first_mut() {
        pad(first, &widths);
    }
    lines.iter().map(|line| line.join("\t") + "\n").collect()
}

/// How many bytes the longest cell of each column has, before it is cut.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or(0))
        .collect()
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
        last.to_uppercase()
    });
    let own = shown.iter().map(|(_, name)| name.to_uppercase());
    namespace
        .into_iter()
        .chain(own)
        .chain(labels)
        .chain(shape.show_labels.then(|| "LABELS".to_owned()))
        .collect()
}

fn cells(kind: Kind, shown: &[(usize, &str)], row: &[Cell], object: &Object, shape: &Shape) -> Vec<String> {
    let meta = object.meta();
    let mut line = Vec::with_capacity(shown.len() + 2);
    if shape.namespace {
        line.push(meta.namespace.to_string());
    }
    for (at, head) in shown {
        // A row may end early.
        let Some(text) = row.get(*at).map(Cell::to_string) else { continue };
        let text = if shape.kind && *head == "Name" {
            format!("{}/{text}", kind.qualified_kind().to_lowercase())
        } else {
            text
        };
        line.push(text);
    }
    line.extend(shape.label_columns.iter().map(|label| meta.labels.get(label).cloned().unwrap_or_default()));
    if shape.show_labels {
        line.push(show_labels(&meta.labels));
    }
    line
}

/// Labels between commas; `<none>` if there are none.
fn show_labels(labels: &kubestep_model::Labels) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
}

/// A cell is cut at its first line break; characters that steer a terminal are made visible.
fn clean(text: &str) -> String {
    match text.find(['\u{c}', '\n', '\r']) {
        Some(end) => text[..end].replace('\u{1b}', "^[") + "...",
        None => text.replace('\u{1b}', "^["),
    }
}

/// Where the names stand in the text.
fn spans(text: &str, objects: &[&Object], skip: usize) -> Vec<Span> {
    let mut spans = Vec::with_capacity(objects.len());
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if let Some(object) = at.checked_sub(skip).and_then(|at| objects.get(at)) {
            let key: Key = object.key();
            if let Some(place) = word(line, &key.name) {
                let (from, to) = (start + place, start + place + key.name.len());
                spans.push(Span {
                    start: u32::try_from(from).unwrap_or(0),
                    end: u32::try_from(to).unwrap_or(0),
                    key,
                });
            }
        }
        start += line.len();
    }
    spans
}

/// Where a name stands in a line as a word of its own, or after a kind and a slash.
fn word(line: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(place) = line[from..].find(name).map(|p| p + from) {
        let before = place == 0 || matches!(line.as_bytes()[place - 1], b' ' | b'/');
        let after = matches!(line.as_bytes().get(place + name.len()), None | Some(b' ' | b'\n'));
        if before && after && !name.is_empty() {
            return Some(place);
        }
        from = place + name.chars().next().map_or(1, char::len_utf8);
    }
    None
}
