//! Texts in single and double quotes.

use super::cursor::Mark;
use super::scalars::Folding;
use super::{Fault, Scanner, Token, TokenKind};

impl Scanner {
    pub(super) fn scan_quoted(&mut self, single: bool) -> Result<Token, Fault> {
        let start = self.cursor.mark();
        let quote = if single { '\'' } else { '"' };
        self.cursor.skip();
        let mut text = String::new();
        let mut fold = Folding::default();
        loop {
            self.cursor.need(4)?;
            if self.cursor.is_document_indicator('-') || self.cursor.is_document_indicator('.') {
                return Err(self.quoted_fault("found unexpected document indicator", start));
            }
            if self.cursor.is_end(0) {
                return Err(self.quoted_fault("found unexpected end of stream", start));
            }
            let continued = self.scan_quoted_word(single, start, &mut text)?;
            self.cursor.need(1)?;
            if self.cursor.here() == quote {
                break;
            }
            fold.broken = continued;
            while self.cursor.is_blank(0) || (self.cursor.is_break(0) && !self.cursor.is_end(0)) {
                self.scan_gap(&mut fold)?;
            }
            fold.flush(&mut text);
        }
        self.cursor.skip();
        Ok(Token { kind: TokenKind::Scalar { text, plain: false }, start, end: self.cursor.mark() })
    }

    fn quoted_fault(&self, problem: &str, start: Mark) -> Fault {
        Fault::scanning(problem, start, self.cursor.mark())
    }

    /// Takes characters up to a gap or the closing quote. True if the line ended with a backslash.
    fn scan_quoted_word(&mut self, single: bool, start: Mark, text: &mut String) -> Result<bool, Fault> {
        while !self.cursor.is_gap(0) {
            match (self.cursor.here(), single) {
                ('\'', true) if self.cursor.at(1) == '\'' => {
                    text.push('\'');
                    self.cursor.skip();
                    self.cursor.skip();
                }
                ('\'', true) | ('"', false) => return Ok(false),
                ('\\', false) if self.cursor.is_break(1) => {
                    self.cursor.need(3)?;
                    self.cursor.skip();
                    self.cursor.skip_line();
                    return Ok(true);
                }
                ('\\', false) => self.scan_escape(start, text)?,
                _ => self.cursor.take(text),
            }
            self.cursor.need(2)?;
        }
        Ok(false)
    }

    fn scan_escape(&mut self, start: Mark, text: &mut String) -> Result<(), Fault> {
        let (plain, digits) = match self.cursor.at(1) {
            '0' => ('\0', 0),
            'a' => ('\u{7}', 0),
            'b' => ('\u{8}', 0),
            't' | '\t' => ('\t', 0),
            'n' => ('\n', 0),
            'v' => ('\u{b}', 0),
            'f' => ('\u{c}', 0),
            'r' => ('\r', 0),
            'e' => ('\u{1b}', 0),
            ' ' => (' ', 0),
            '"' => ('"', 0),
            '\'' => ('\'', 0),
            '\\' => ('\\', 0),
            'N' => ('\u{85}', 0),
            '_' => ('\u{a0}', 0),
            'L' => ('\u{2028}', 0),
            'P' => ('\u{2029}', 0),
            'x' => (' ', 2),
            'u' => (' ', 4),
            'U' => (' ', 8),
            _ => return Err(self.quoted_fault("found unknown escape character", start)),
        };
        self.cursor.skip();
        self.cursor.skip();
        if digits == 0 {
            text.push(plain);
            return Ok(());
        }
        self.cursor.need(digits)?;
        let mut value = 0u32;
        for offset in 0..digits {
            let Some(digit) = self.cursor.at(offset).to_digit(16) else {
                return Err(self.quoted_fault("did not find expected hexdecimal number", start));
            };
            value = (value << 4) | digit;
        }
        let Some(c) = char::from_u32(value) else {
            return Err(self.quoted_fault("found invalid Unicode character escape code", start));
        };
        text.push(c);
        (0..digits).for_each(|_| self.cursor.skip());
        Ok(())
    }
}
