//! Tables in which every row has every column and no cell a tab, as nearly all have: written at once, with what each cell
//! stands for, because where it stands is known then.

use super::{Printed, Shape, columns, heads, span};
use crate::output::tabs::{Tabs, blanks};
use kubestep_model::{Kind, Object, client::Span};

/// The table, if it is such a one. `uncut` says how wide the cells were before they were cut.
pub(super) fn table(
    kind: Kind,
    objects: &[&Object],
    rows: &[Vec<String>],
    uncut: &[usize],
    shape: &Shape,
) -> Option<Printed> {
    let shown = columns(kind, shape);
    let heads = heads(&shown, shape);
    let whole = |row: &Vec<String>| row.len() == heads.len() && !row.iter().any(|cell| cell.contains('\t'));
    if rows.is_empty() || !rows.iter().all(whole) {
        return None;
    }
    let widths = widths(&heads, rows, uncut, shape);
    let mut text = String::with_capacity((rows.len() + 1) * (widths.iter().sum::<usize>() + 32));
    let mut spans: Vec<Span> = Vec::with_capacity(rows.len());
    if !shape.no_headers {
        for (at, head) in heads.iter().enumerate() {
            put(&mut text, head, widths.get(at));
        }
    }
    // The columns of the kind stand behind those of the table.
    let first = usize::from(shape.namespace) + usize::from(shape.event.is_some());
    for (row, object) in rows.iter().zip(objects) {
        for (at, cell) in row.iter().enumerate() {
            if !cell.is_empty() {
                let column = at.checked_sub(first).and_then(|at| shown.get(at)).map(|(_, name)| *name);
                spans.extend(span(kind, column, at == 0 && shape.namespace, cell, object, text.len()));
            }
            put(&mut text, cell, widths.get(at));
        }
    }
    Some(Printed { text, spans })
}

/// How wide each column is but the last. Upstream makes the first line as wide as the widest uncut cells, counted in bytes.
fn widths(heads: &[String], rows: &[Vec<String>], uncut: &[usize], shape: &Shape) -> Vec<usize> {
    let first = if shape.no_headers { rows.first().map_or(heads, Vec::as_slice) } else { heads };
    let width = |at: usize| {
        let padded = chars(&first[at]) + uncut[at].saturating_sub(first[at].len());
        let cells = rows.iter().map(|row| chars(&row[at])).max().unwrap_or(0);
        (padded.max(cells) + Tabs::TABLE.padding).max(Tabs::TABLE.min)
    };
    (0..heads.len().saturating_sub(1)).map(width).collect()
}

fn chars(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Writes a cell: as wide as its column, or at the end of a line.
fn put(text: &mut String, cell: &str, width: Option<&usize>) {
    text.push_str(cell);
    match width {
        Some(width) => blanks(text, width.saturating_sub(chars(cell))),
        None => text.push('\n'),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{clean_all, lines, rows, spans, widths};
    use super::*;
    use kubestep_model::Instant;
    use serde_json::json;

    fn event(name: &str, kind: &str, message: &str) -> Object {
        let value = json!({"metadata": {"name": name, "namespace": "shop"}, "reason": "Because", "type": kind,
            "message": message, "involvedObject": {"kind": "Pod", "name": "w\u{e9}b"}});
        Object::from_value(Kind::Event, value).unwrap()
    }

    #[test]
    fn a_table_is_as_its_lines_aligned() {
        let events = [
            event("a", "Normal", "short"),
            event("b", "Warning", "two\nlines, of which the second one is long"),
            event("c", "", "an \u{1b}[31m escape"),
        ];
        let objects: Vec<&Object> = events.iter().collect();
        for shape in [
            Shape::default(),
            Shape { wide: true, namespace: true, ..Shape::default() },
            Shape { no_headers: true, show_labels: true, wide: true, ..Shape::default() },
            Shape { event: Some("ADDED"), label_columns: vec!["app".into()], kind: true, ..Shape::default() },
        ] {
            let mut rows = rows(Kind::Event, &objects, Instant::START, &shape);
            let uncut = widths(&rows);
            clean_all(&mut rows);
            let aligned = Tabs::TABLE.align(&lines(Kind::Event, &rows, &uncut, &shape));
            let spans = spans(Kind::Event, &aligned, &objects, &rows, &shape);
            let even = table(Kind::Event, &objects, &rows, &uncut, &shape).expect("an even table");
            assert_eq!(even, Printed { text: aligned, spans });
        }
        let tab = event("d", "Normal", "a\ttab");
        let mut rows = rows(Kind::Event, &[&tab], Instant::START, &Shape::default());
        clean_all(&mut rows);
        assert_eq!(table(Kind::Event, &[&tab], &rows, &widths(&rows), &Shape::default()), None);
    }
}
