//! The characters of a text, one after another, with line and column.

use super::Fault;

/// A place in a text: line and column from 0, and the number of characters before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// What stands for "no character": upstream ends its buffer with it, and a text cannot hold one.
pub(super) const END: char = '\0';

/// Upstream loads a text in blocks of this many bytes. A character that no YAML text may hold is noticed when its
/// block is loaded, so it can hide a mistake that stands before it in the same block.
const BLOCK: usize = 512;

/// The reader's place in a text.
pub(super) struct Cursor {
    chars: Vec<char>,
    mark: Mark,
    /// As many characters can be seen before the block with a forbidden one must be loaded.
    safe: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Cursor {
        let text = text.strip_prefix('\u{feff}').map_or((text, 0), |rest| (rest, 3));
        let (text, skipped) = text;
        let chars: Vec<char> = text.chars().collect();
        let safe = first_unsafe(text, skipped).unwrap_or(usize::MAX);
        Cursor { chars, mark: Mark::default(), safe }
    }

    pub(super) fn mark(&self) -> Mark {
        self.mark
    }

    /// The stream's end counts as the start of a line of its own.
    pub(super) fn end_line(&mut self) {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
    }

    /// Makes sure that `count` characters from here on can be looked at.
    pub(super) fn need(&self, count: usize) -> Result<(), Fault> {
        if self.mark.index + count > self.safe {
            return Err(Fault::plain("control characters are not allowed".to_owned(), self.mark));
        }
        Ok(())
    }

    pub(super) fn at(&self, offset: usize) -> char {
        self.chars.get(self.mark.index + offset).copied().unwrap_or(END)
    }

    pub(super) fn here(&self) -> char {
        self.at(0)
    }

    pub(super) fn starts_with_mark(&self) -> bool {
        self.chars.first() == Some(&'\u{feff}')
    }

    pub(super) fn is_end(&self, offset: usize) -> bool {
        self.at(offset) == END
    }

    pub(super) fn is_break(&self, offset: usize) -> bool {
        matches!(self.at(offset), '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
    }

    pub(super) fn is_break_or_end(&self, offset: usize) -> bool {
        self.is_break(offset) || self.is_end(offset)
    }

    pub(super) fn is_blank(&self, offset: usize) -> bool {
        matches!(self.at(offset), ' ' | '\t')
    }

    pub(super) fn is_gap(&self, offset: usize) -> bool {
        self.is_blank(offset) || self.is_break_or_end(offset)
    }

    /// A letter of a name: what anchors, tag handles and directives are made of.
    pub(super) fn is_word(&self, offset: usize) -> bool {
        let c = self.at(offset);
        c.is_ascii_alphanumeric() || c == '_' || c == '-'
    }

    pub(super) fn skip(&mut self) {
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Takes one character and makes sure of the next.
    pub(super) fn advance(&mut self) -> Result<(), Fault> {
        self.skip();
        self.need(1)
    }

    /// Takes one character into `text`.
    pub(super) fn take(&mut self, text: &mut String) {
        text.push(self.here());
        self.skip();
    }

    /// Passes a line break, if one stands here.
    pub(super) fn skip_line(&mut self) {
        let width = if self.here() == '\r' && self.at(1) == '\n' { 2 } else { usize::from(self.is_break(0)) };
        if width > 0 {
            self.mark.index += width;
            self.mark.column = 0;
            self.mark.line += 1;
        }
    }

    /// Takes a line break into `text`: a line feed, but the two Unicode separators stay what they are.
    pub(super) fn take_line(&mut self, text: &mut String) {
        if self.is_break(0) {
            let c = self.here();
            text.push(if matches!(c, '\u{2028}' | '\u{2029}') { c } else { '\n' });
            self.skip_line();
        }
    }

    /// Passes spaces and tabs.
    pub(super) fn skip_blanks(&mut self) -> Result<(), Fault> {
        self.need(1)?;
        while self.is_blank(0) {
            self.advance()?;
        }
        Ok(())
    }

    /// Passes a comment up to the end of its line, if one stands here.
    pub(super) fn skip_comment(&mut self) -> Result<(), Fault> {
        if self.here() == '#' {
            while !self.is_break_or_end(0) {
                self.advance()?;
            }
        }
        Ok(())
    }

    /// `---` or `...` at the start of a line, followed by a gap.
    pub(super) fn is_document_indicator(&self, sign: char) -> bool {
        self.mark.column == 0 && (0..3).all(|i| self.at(i) == sign) && self.is_gap(3)
    }
}

/// How many characters come before the block that holds the first forbidden one.
fn first_unsafe(text: &str, skipped: usize) -> Option<usize> {
    let mut block_end = BLOCK.saturating_sub(skipped);
    let mut block_chars = 0;
    for (count, (offset, c)) in text.char_indices().enumerate() {
        if offset + c.len_utf8() > block_end {
            block_chars = count;
            block_end = offset + BLOCK;
        }
        if is_forbidden(c) {
            return Some(block_chars);
        }
    }
    None
}

fn is_forbidden(c: char) -> bool {
    !matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}
