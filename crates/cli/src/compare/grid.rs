//! The tables that kubectl prints, cut into cells.

use super::reader::{About, Reader, Text, duration};
use super::table::May;

/// Where the columns of a table begin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    starts: Vec<usize>,
    heads: Vec<String>,
    indent: usize,
}

/// Columns that hold ages.
const AGES: &[&str] = &["AGE", "LAST SEEN", "FIRST SEEN", "LAST SCHEDULE", "Age"];

impl Grid {
    /// Reads a head: capitals only, or a line with dashes below it, as `describe` has.
    pub(super) fn head(line: &str, below: Option<&str>) -> Option<Self> {
        let cells = cells(line);
        let first = cells.first()?.0;
        let capitals = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || " ()-/".contains(c);
        let shouted = first == 0 && line.chars().all(capitals) && (cells.len() > 1 || line == "NAME");
        let ruled = below.is_some_and(|below| {
            let rules = below.split_whitespace();
            below.contains("--")
                && rules.clone().all(|r| r.chars().all(|c| c == '-'))
                && self::cells(below).len() == cells.len()
        });
        (shouted || ruled).then(|| Grid {
            starts: cells.iter().map(|(start, _)| *start).collect(),
            heads: cells.into_iter().map(|(_, head)| head.to_owned()).collect(),
            indent: first,
        })
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &str> {
        self.heads.iter().map(String::as_str)
    }

    /// The cells of a row; none if the line is no row of this table.
    pub(super) fn row<'a>(&self, line: &'a str) -> Option<Vec<&'a str>> {
        if !line.is_ascii() || line.trim().is_empty() || line.len() - line.trim_start().len() < self.indent {
            return None;
        }
        let cut = |i: usize| -> Option<&'a str> {
            let start = self.starts[i];
            if start > 0 && start <= line.len() && line.as_bytes()[start - 1] != b' ' {
                return None;
            }
            let end = self.starts.get(i + 1).copied().unwrap_or(line.len()).min(line.len());
            Some(line.get(start.min(end)..end)?.trim())
        };
        (0..self.starts.len()).map(cut).collect()
    }

    /// How far each column is from the widest cell of the one before it: kubectl leaves three spaces, `describe` two.
    pub(super) fn gaps(&self, rows: &[Vec<&str>]) -> String {
        let gap = |i: usize| {
            let cells = || rows.iter().map(|row| row[i]).chain(std::iter::once(self.heads[i].as_str()));
            let stretched =
                cells().any(|cell| cell.starts_with("T+") || cell.starts_with("T-") || cell.contains("uid-"));
            let widest = cells().map(str::len).max().unwrap_or_default();
            if stretched {
                "~".to_owned()
            } else {
                (self.starts[i + 1] - self.starts[i]).saturating_sub(widest).to_string()
            }
        };
        (0..self.starts.len().saturating_sub(1)).map(gap).collect::<Vec<_>>().join(",")
    }

    pub(super) fn title(&self, gaps: &str) -> Text {
        Text::plain(&format!("{}{}  (gaps {gaps})", " ".repeat(self.indent), self.heads.join(" | ")))
    }

    pub(super) fn read(&self, row: &[&str], reader: &Reader, about: About<'_>) -> Text {
        let mut out = Text::plain(&" ".repeat(self.indent));
        for (i, cell) in row.iter().enumerate() {
            if i > 0 {
                out.skeleton.push_str(" | ");
            }
            let head = self.heads[i].as_str();
            let timed = match head {
                _ if AGES.contains(&head) => aged(cell, reader, about),
                "DURATION" if reader.allow.has(May::Age) => duration(cell),
                _ => None,
            };
            out.append(timed.unwrap_or_else(|| unordered(reader.read(cell, about))));
        }
        out
    }
}

/// An age, with or without how often an event came: `28s (x3 over 40s)`.
fn aged(cell: &str, reader: &Reader, about: About<'_>) -> Option<Text> {
    let (age, often) = cell.split_once(" (x").map_or((cell, None), |(age, often)| (age, Some(often)));
    if let Some(often) = often {
        let (count, over) = often.strip_suffix(')')?.split_once(" over ")?;
        let read = reader.allow.has(May::Repeats) && count.parse::<u32>().is_ok() && duration(over).is_some();
        read.then_some(())?;
    }
    reader.age(age, about)
}

/// Addresses come in the order in which pods came; of a long list only some are shown.
pub(super) fn unordered(mut text: Text) -> Text {
    if !text.skeleton.contains("ip(") || !text.skeleton.contains(',') {
        return text;
    }
    let cut = text.skeleton.ends_with("more...");
    let words = text.skeleton.split(' ').map(|word| {
        let mut parts: Vec<String> = word.split(',').map(str::to_owned).collect();
        if cut {
            parts.iter_mut().for_each(|part| *part = anonymous(part));
        }
        parts.sort();
        parts.join(",")
    });
    text.skeleton = words.collect::<Vec<_>>().join(" ");
    text
}

fn anonymous(part: &str) -> String {
    match (part.find("ip("), part.find(')')) {
        (Some(start), Some(end)) if start < end => format!("{}ip(?){}", &part[..start], &part[end + 1..]),
        _ => part.to_owned(),
    }
}

/// Cells and where they begin: runs of text with at most one space within.
pub(super) fn cells(line: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = None;
    let bytes = line.as_bytes();
    for i in 0..=bytes.len() {
        let blank = |at: usize| bytes.get(at).is_none_or(|b| *b == b' ');
        match start {
            None if !blank(i) => start = Some(i),
            Some(from) if blank(i) && blank(i + 1) => {
                out.push((from, &line[from..i]));
                start = None;
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_cut_at_its_head() {
        let grid = Grid::head("NAME   READY   STATUS    RESTARTS     AGE", None).expect("a head");
        assert_eq!(
            grid.row("web    0/1     Running   1 (3s ago)   12s"),
            Some(vec!["web", "0/1", "Running", "1 (3s ago)", "12s"])
        );
        assert_eq!(grid.row("web-long-name 0/1"), None);
        assert_eq!(grid.gaps(&[vec!["web", "0/1", "Running", "1 (3s ago)", "12s"]]), "3,3,3,3");
        assert_eq!(Grid::head("Name:  web", None), None);
        let ruled = Grid::head("  Type    Reason", Some("  ----    ------")).expect("a head");
        assert_eq!(ruled.row("  Normal  Pulled"), Some(vec!["Normal", "Pulled"]));
        assert_eq!(ruled.row("Events: none"), None);
    }
}
