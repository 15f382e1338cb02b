//! The cells of a table, one behind the other in one text: a list of thousands has no text of its own for each cell, and
//! how wide its columns are is known once all cells stand there.

use crate::printers::Cell;
use std::fmt::Write;

/// Texts one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells {
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    /// Adds a cell.
    pub(crate) fn put(&mut self, text: &str) {
        self.add(text);
        self.end();
    }

    /// Adds the value of a cell.
    pub(crate) fn put_cell(&mut self, cell: &Cell) {
        match cell {
            Cell::Text(text) => self.add(text),
            other => write!(self.text, "{other}").unwrap_or(()),
        }
        self.end();
    }

    /// Adds to the cell that is being written.
    pub(crate) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds to it in small letters.
    pub(crate) fn add_small(&mut self, text: &str) {
        let from = self.text.len();
        self.text.push_str(text);
        if let Some(added) = self.text.get_mut(from..) {
            added.make_ascii_lowercase();
        }
    }

    /// Ends it.
    pub(crate) fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of them.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }
}

/// The cells of all rows, as they are shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    cells: Cells,
    /// How many cells there are up to the end of each row.
    ends: Vec<usize>,
    /// How many bytes the longest cell of each column has, before it is cut.
    uncut: Vec<usize>,
    /// How many characters the longest has.
    chars: Vec<usize>,
    /// A cell has a tab or more than one line.
    broken: bool,
}

impl Grid {
    /// One for so many rows, each with so many cells.
    pub(crate) fn with(rows: usize, columns: usize) -> Grid {
        let cells = Cells {
            text: String::with_capacity(rows * columns * 16),
            ends: Vec::with_capacity(rows * columns),
        };
        Grid { cells, ends: Vec::with_capacity(rows), ..Grid::default() }
    }

    /// Adds a cell to the row. It is cut at its first line break; characters that steer a terminal are made visible.
    pub(super) fn put(&mut self, cell: &str) {
        let signs = Signs::of(cell);
        self.measure(cell.len(), false);
        if !signs.steers {
            return self.add(cell, signs);
        }
        let cut = match cell.find(['\u{c}', '\n', '\r']) {
            Some(end) => cell[..end].replace('\u{1b}', "^[") + "...",
            None => cell.replace('\u{1b}', "^["),
        };
        self.add(&cut, Signs::of(&cut));
    }

    /// Adds a cell as it is.
    pub(crate) fn put_whole(&mut self, cell: &str) {
        self.add(cell, Signs::of(cell));
    }

    fn add(&mut self, cell: &str, signs: Signs) {
        self.broken |= signs.breaks;
        self.measure(if signs.plain { cell.len() } else { cell.chars().count() }, true);
        self.cells.put(cell);
    }

    fn measure(&mut self, width: usize, chars: bool) {
        let at = self.cells.len() - self.ends.last().copied().unwrap_or(0);
        let widths = if chars { &mut self.chars } else { &mut self.uncut };
        if widths.len() <= at {
            widths.resize(at + 1, 0);
        }
        widths[at] = widths[at].max(width);
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        self.ends.push(self.cells.len());
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cells of a row.
    pub(crate) fn row(&self, at: usize) -> impl ExactSizeIterator<Item = &str> {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        (start..end).map(|cell| self.cells.get(cell).unwrap_or_default())
    }

    /// How many bytes the longest cell of each column of the first row has, before it is cut.
    pub(super) fn uncut(&self) -> &[usize] {
        let columns = self.ends.first().copied().unwrap_or(0);
        self.uncut.get(..columns).unwrap_or_default()
    }

    /// How many characters the longest cell of each column has.
    pub(super) fn chars(&self) -> &[usize] {
        &self.chars
    }

    /// Whether every row has so many cells, each of one line and without a tab.
    pub(super) fn even(&self, columns: usize) -> bool {
        !self.broken && self.ends.iter().enumerate().all(|(at, end)| *end == (at + 1) * columns)
    }
}

/// What a cell is made of.
#[derive(Clone, Copy)]
struct Signs {
    /// Characters of ASCII only.
    plain: bool,
    /// One that ends a line or steers a terminal.
    steers: bool,
    /// A tab or a line break.
    breaks: bool,
}

impl Signs {
    /// Eight bytes at a time: of thousands of messages hardly one has such a sign.
    fn of(text: &str) -> Signs {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let (mut low, mut high) = (0, 0);
        let words = text.as_bytes().chunks_exact(8);
        let rest = words.remainder();
        for word in words {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            low |= word.wrapping_sub(EACH * 0x20) & !word;
            high |= word;
        }
        let low = low & (EACH * 0x80) != 0 || rest.iter().any(|b| *b < b' ');
        let plain = high & (EACH * 0x80) == 0 && rest.is_ascii();
        Signs {
            plain,
            steers: low && text.bytes().any(|b| matches!(b, b'\x0c' | b'\n' | b'\r' | b'\x1b')),
            breaks: low && text.bytes().any(|b| matches!(b, b'\t' | b'\n')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Signs;

    #[test]
    fn signs_are_found_wherever_they_stand() {
        for at in 0..40 {
            for (sign, want) in [
                ("\n", (true, true, true)),
                ("\t", (true, false, true)),
                ("\u{1b}", (true, true, false)),
                ("\u{1}", (true, false, false)),
                ("\u{7f} ", (true, false, false)),
                ("\u{e9}", (false, false, false)),
                ("\u{a0}\r", (false, true, false)),
            ] {
                let signs = Signs::of(&format!("{}{sign}{}", "a ".repeat(at / 2), "~".repeat(40 - at)));
                assert_eq!((signs.plain, signs.steers, signs.breaks), want, "{sign:?} {at}");
            }
        }
    }
}
