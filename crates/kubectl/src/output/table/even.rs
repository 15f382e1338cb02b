//! Tables in which every row has every column and no cell a tab, as nearly all have: written at once, with what each cell
//! stands for, because where it stands is known then. A long one is written when it is read, and from its end where no
//! more is shown.

use super::{Grid, Printed, Shape, columns, heads, span};
use crate::output::tabs::{Tabs, blanks};
use kubestep_model::{
    Kind, Object,
    client::{Print, Span},
};

/// A table that is not written yet.
#[derive(Clone, Debug)]
pub(crate) struct Even {
    heads: Vec<String>,
    grid: Grid,
    /// How wide each column is but the last.
    widths: Vec<usize>,
    means: Option<Means>,
}

/// What the rows of a table are about.
#[derive(Clone, Debug)]
struct Means {
    kind: Kind,
    objects: Vec<Object>,
    shape: Shape,
}

impl Even {
    /// The table of these rows, if it is such a one.
    pub(super) fn of(kind: Kind, objects: &[&Object], grid: Grid, shape: &Shape) -> Result<Even, Grid> {
        let heads = heads(&columns(kind, shape), shape);
        if grid.len() == 0 || !grid.even(heads.len()) {
            return Err(grid);
        }
        let widths = widths(&heads, &grid, shape);
        let objects = objects.iter().map(|o| (*o).clone()).collect();
        let means = Some(Means { kind, objects, shape: shape.clone() });
        Ok(Even { heads: if shape.no_headers { vec![] } else { heads }, grid, widths, means })
    }

    /// The table of rows under these heads, if there are any, whose cells stand for nothing.
    pub(crate) fn plain(heads: &[&str], grid: Grid) -> Result<Even, Grid> {
        let columns = if heads.is_empty() { grid.row(0).len() } else { heads.len() };
        if grid.len() == 0 || !grid.even(columns) {
            return Err(grid);
        }
        let head = |at: usize| heads.get(at).map_or(0, |head| chars(head));
        let width = |at: usize| (head(at).max(grid.chars()[at]) + Tabs::TABLE.padding).max(Tabs::TABLE.min);
        let widths = (0..columns.saturating_sub(1)).map(width).collect();
        Ok(Even { heads: heads.iter().map(|head| (*head).to_owned()).collect(), grid, widths, means: None })
    }

    /// How many bytes it has at least.
    pub(crate) fn least(&self) -> usize {
        self.grid.len() * self.least_row(0)
    }

    fn least_row(&self, last: usize) -> usize {
        self.widths.iter().sum::<usize>() + last + 1
    }

    /// The table.
    pub(crate) fn printed(&self) -> Printed {
        self.rows(0)
    }

    /// The rows from one on; with the heads, if it is the first.
    fn rows(&self, first: usize) -> Printed {
        let rows = self.grid.len() - first.min(self.grid.len());
        let mut text = String::with_capacity((rows + 1) * (self.least_row(0) + 32));
        let mut spans: Vec<Span> = Vec::with_capacity(if self.means.is_some() { rows } else { 0 });
        if first == 0 {
            for (at, head) in self.heads.iter().enumerate() {
                put(&mut text, head, self.widths.get(at));
            }
        }
        let shown = self.means.as_ref().map(|m| columns(m.kind, &m.shape)).unwrap_or_default();
        for at in first..self.grid.len() {
            let object = self.means.as_ref().and_then(|m| Some((m, m.objects.get(at)?)));
            for (column, cell) in self.grid.row(at).enumerate() {
                if let Some((means, object)) = object.filter(|_| !cell.is_empty()) {
                    spans.extend(means.span(&shown, column, cell, object, text.len()));
                }
                put(&mut text, cell, self.widths.get(column));
            }
        }
        Printed { text, spans }
    }

    /// So many bytes of the end at least, if there are so many.
    fn last(&self, bytes: usize) -> Printed {
        let (mut first, mut length) = (self.grid.len(), 0);
        while first > 0 && length < bytes {
            first -= 1;
            length += self.least_row(self.grid.row(first).last().map_or(0, str::len));
        }
        self.rows(first)
    }
}

impl Means {
    /// What a cell that begins at a place stands for.
    fn span(
        &self,
        shown: &[(usize, &str)],
        at: usize,
        cell: &str,
        object: &Object,
        place: usize,
    ) -> Option<Span> {
        // The columns of the kind stand behind those of the table.
        let first = usize::from(self.shape.namespace) + usize::from(self.shape.event.is_some());
        let column = at.checked_sub(first).and_then(|at| shown.get(at)).map(|(_, name)| *name);
        span(self.kind, column, at == 0 && self.shape.namespace, cell, object, place)
    }
}

impl Print for Even {
    fn whole(&self) -> String {
        self.rows(0).text
    }

    fn end(&self, bytes: usize) -> String {
        self.last(bytes).text
    }

    fn marked(&self, bytes: Option<usize>) -> (String, Vec<Span>) {
        let printed = bytes.map_or_else(|| self.rows(0), |bytes| self.last(bytes));
        (printed.text, printed.spans)
    }

    fn lines(&self) -> Option<usize> {
        Some(self.grid.len() + usize::from(!self.heads.is_empty()))
    }
}

/// How wide each column is but the last. Upstream makes the first line as wide as the widest uncut cells, counted in bytes.
fn widths(heads: &[String], grid: &Grid, shape: &Shape) -> Vec<usize> {
    let first: Vec<&str> =
        if shape.no_headers { grid.row(0).collect() } else { heads.iter().map(String::as_str).collect() };
    let width = |at: usize| {
        let padded = chars(first[at]) + grid.uncut()[at].saturating_sub(first[at].len());
        (padded.max(grid.chars()[at]) + Tabs::TABLE.padding).max(Tabs::TABLE.min)
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
    use super::super::{grid, lines, spans};
    use super::*;
    use kubestep_model::Instant;
    use serde_json::json;

    fn event(name: &str, kind: &str, message: &str) -> Object {
        let value = json!({"metadata": {"name": name, "namespace": "shop"}, "reason": "Because", "type": kind,
            "message": message, "involvedObject": {"kind": "Pod", "name": "w\u{e9}b"}});
        Object::from_value(Kind::Event, value).unwrap()
    }

    fn events() -> [Object; 3] {
        [
            event("a", "Normal", "short"),
            event("b", "Warning", "two\nlines, of which the second one is long"),
            event("c", "", "an \u{1b}[31m escape"),
        ]
    }

    #[test]
    fn a_table_is_as_its_lines_aligned() {
        let events = events();
        let objects: Vec<&Object> = events.iter().collect();
        for shape in [
            Shape::default(),
            Shape { wide: true, namespace: true, ..Shape::default() },
            Shape { no_headers: true, show_labels: true, wide: true, ..Shape::default() },
            Shape { event: Some("ADDED"), label_columns: vec!["app".into()], kind: true, ..Shape::default() },
        ] {
            let cells = grid(Kind::Event, &objects, Instant::START, &shape);
            let text = Tabs::TABLE.align(&lines(Kind::Event, &cells, &shape));
            let spans = spans(Kind::Event, &text, &objects, &cells, &shape);
            let even = Even::of(Kind::Event, &objects, cells, &shape).expect("an even table");
            assert_eq!(even.printed(), Printed { text, spans });
        }
        let tab = event("d", "Normal", "a\ttab");
        let cells = grid(Kind::Event, &[&tab], Instant::START, &Shape::default());
        assert!(Even::of(Kind::Event, &[&tab], cells, &Shape::default()).is_err());
    }

    #[test]
    fn the_end_of_a_table_is_its_last_rows() {
        let events = events();
        let objects: Vec<&Object> = events.iter().collect();
        let cells = grid(Kind::Event, &objects, Instant::START, &Shape::default());
        let even = Even::of(Kind::Event, &objects, cells, &Shape::default()).expect("an even table");
        let whole = even.printed();
        assert_eq!((even.whole(), even.lines()), (whole.text.clone(), Some(4)));
        for bytes in 0..whole.text.len() + 9 {
            let end = even.last(bytes);
            let from = whole.text.len() - end.text.len();
            assert!(
                whole.text.ends_with(&end.text) && end.text.len() >= bytes.min(whole.text.len()),
                "{bytes}"
            );
            let moved = whole.spans.iter().filter(|s| s.start as usize >= from).cloned().map(|mut span| {
                span.start -= u32::try_from(from).unwrap();
                span.end -= u32::try_from(from).unwrap();
                span
            });
            assert_eq!(end.spans, moved.collect::<Vec<_>>(), "{bytes}");
        }
    }
}
