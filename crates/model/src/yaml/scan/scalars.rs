//! Plain texts and block texts (`|`, `>`), and how lines fold into one.

use super::cursor::Mark;
use super::{Fault, Scanner, Token, TokenKind};

/// The gap between two words of a text that may go over several lines.
#[derive(Debug, Default)]
pub(super) struct Folding {
    /// Blanks before the first line break.
    blanks: String,
    first_break: String,
    more_breaks: String,
    /// A line break has been seen.
    pub(super) broken: bool,
}

impl Folding {
    /// Writes the gap: blanks as they are, one line break as a space, more as line feeds.
    pub(super) fn flush(&mut self, text: &mut String) {
        if self.broken {
            if !self.first_break.starts_with('\n') {
                text.push_str(&self.first_break);
                text.push_str(&self.more_breaks);
            } else if self.more_breaks.is_empty() {
                text.push(' ');
            } else {
                text.push_str(&self.more_breaks);
            }
            self.first_break.clear();
            self.more_breaks.clear();
            self.broken = false;
        } else {
            text.push_str(&self.blanks);
            self.blanks.clear();
        }
    }
}

/// What the head of a block text says.
struct BlockHead {
    /// `+` keeps the last line breaks, `-` drops them.
    chomp: Option<char>,
    indent: isize,
}

impl Scanner {
    /// Takes one blank or line break of a gap between words.
    pub(super) fn scan_gap(&mut self, fold: &mut Folding) -> Result<(), Fault> {
        if self.cursor.is_blank(0) {
            if fold.broken {
                self.cursor.skip();
            } else {
                self.cursor.take(&mut fold.blanks);
            }
        } else {
            self.cursor.need(2)?;
            if fold.broken {
                self.cursor.take_line(&mut fold.more_breaks);
            } else {
                fold.blanks.clear();
                self.cursor.take_line(&mut fold.first_break);
                fold.broken = true;
            }
        }
        self.cursor.need(1)
    }

    pub(super) fn scan_plain(&mut self) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        let mut end = start;
        let mut text = String::new();
        let mut fold = Folding::default();
        let indent = self.indent + 1;
        loop {
            self.cursor.need(4)?;
            if self.cursor.is_document_indicator('-')
                || self.cursor.is_document_indicator('.')
                || self.cursor.here() == '#'
            {
                break;
            }
            while !self.cursor.is_gap(0) && !self.ends_plain() {
                fold.flush(&mut text);
                self.cursor.take(&mut text);
                end = self.cursor.mark();
                self.cursor.need(2)?;
            }
            if !self.cursor.is_blank(0) && !self.cursor.is_break(0) {
                break;
            }
            self.cursor.need(1)?;
            while self.cursor.is_blank(0) || self.cursor.is_break(0) {
                if fold.broken && self.cursor.here() == '\t' && self.column_before(indent) {
                    let problem = "found a tab character that violates indentation";
                    return Err(Fault::scanning(problem, start, self.cursor.mark()));
                }
                self.scan_gap(&mut fold)?;
            }
            if !self.in_flow() && self.column_before(indent) {
                break;
            }
        }
        if fold.broken {
            self.simple_key_allowed = true;
        }
        Ok(Token { kind: TokenKind::Scalar { text, plain: true }, start, end })
    }

    fn column_before(&self, indent: isize) -> bool {
        isize::try_from(self.cursor.mark().column).unwrap_or(isize::MAX) < indent
    }

    fn ends_plain(&self) -> bool {
        let c = self.cursor.here();
        (c == ':' && self.cursor.is_gap(1)) || (self.in_flow() && ",?[]{}".contains(c))
    }

    pub(super) fn scan_block_scalar(&mut self, literal: bool) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        let head = self.scan_block_head(start)?;
        let mut indent = head.indent;
        let (mut text, mut line_break, mut breaks) = (String::new(), String::new(), String::new());
        let mut end = self.scan_block_breaks(&mut indent, &mut breaks, start)?;
        self.cursor.need(1)?;
        let mut was_blank = false;
        while isize::try_from(self.cursor.mark().column) == Ok(indent) && !self.cursor.is_end(0) {
            let blank = self.cursor.is_blank(0);
            if !literal && !was_blank && !blank && line_break.starts_with('\n') {
                if breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&line_break);
            }
            line_break.clear();
            text.push_str(&breaks);
            breaks.clear();
            was_blank = blank;
            while !self.cursor.is_break_or_end(0) {
                self.cursor.take(&mut text);
                self.cursor.need(1)?;
            }
            self.cursor.need(2)?;
            self.cursor.take_line(&mut line_break);
            end = self.scan_block_breaks(&mut indent, &mut breaks, start)?;
        }
        if head.chomp != Some('-') {
            text.push_str(&line_break);
        }
        if head.chomp == Some('+') {
            text.push_str(&breaks);
        }
        Ok(Token { kind: TokenKind::Scalar { text, plain: false }, start, end })
    }

    /// `|`, `>+`, `|2-` and so on, up to the end of the line.
    fn scan_block_head(&mut self, start: Mark) -> Result<BlockHead, Fault> {
        self.cursor.advance()?;
        let mut chomp = None;
        let mut increment = None;
        // The two indicators stand in either order, each at most once.
        for _ in 0..2 {
            match self.cursor.here() {
                c @ ('+' | '-') if chomp.is_none() => chomp = Some(c),
                '0' if increment.is_none() => {
                    let problem = "found an indentation indicator equal to 0";
                    return Err(Fault::scanning(problem, start, self.cursor.mark()));
                }
                c @ '1'..='9' if increment.is_none() => increment = c.to_digit(10),
                _ => break,
            }
            self.cursor.advance()?;
        }
        self.cursor.skip_blanks()?;
        self.cursor.skip_comment()?;
        if !self.cursor.is_break_or_end(0) {
            return Err(Fault::scanning(
                "did not find expected comment or line break",
                start,
                self.cursor.mark(),
            ));
        }
        self.cursor.need(2)?;
        self.cursor.skip_line();
        let indent = increment.map_or(0, |n| self.indent.max(0) + isize::try_from(n).unwrap_or(0));
        Ok(BlockHead { chomp, indent })
    }

    /// Passes the indentation and empty lines before the next line of a block text; finds out the indentation
    /// from the first line if the head did not say it. Yields where the text ended.
    fn scan_block_breaks(
        &mut self,
        indent: &mut isize,
        breaks: &mut String,
        start: Mark,
    ) -> Result<Mark, Fault> {
        let mut end = self.cursor.mark();
        let mut deepest = 0;
        loop {
            self.cursor.need(1)?;
            while (*indent == 0 || self.column_before(*indent)) && self.cursor.here() == ' ' {
                self.cursor.advance()?;
            }
            deepest = deepest.max(isize::try_from(self.cursor.mark().column).unwrap_or(isize::MAX));
            if (*indent == 0 || self.column_before(*indent)) && self.cursor.here() == '\t' {
                let problem = "found a tab character where an indentation space is expected";
                return Err(Fault::scanning(problem, start, self.cursor.mark()));
            }
            if !self.cursor.is_break(0) {
                break;
            }
            self.cursor.need(2)?;
            self.cursor.take_line(breaks);
            end = self.cursor.mark();
        }
        if *indent == 0 {
            *indent = deepest.max(self.indent + 1).max(1);
        }
        Ok(end)
    }
}
