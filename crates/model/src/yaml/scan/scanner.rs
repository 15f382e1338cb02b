//! The scanner: which token comes next, and which earlier text turns out to be a key.

use std::collections::{BTreeMap, VecDeque};

use super::cursor::{Cursor, Mark};
use super::{Fault, Token, TokenKind};

/// Upstream refuses deeper nesting, of either kind, with these numbers.
const MAX_FLOW_LEVEL: usize = 10_000;
const MAX_INDENTS: usize = 10_000;

/// A key without `?` must end on its line and within so many characters.
const MAX_SIMPLE_KEY: usize = 1024;

/// A place where a key may have begun: it is one if a `:` follows on the same line.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// Nothing else can stand here: without a `:` the text is wrong.
    required: bool,
    token: usize,
    mark: Mark,
}

/// Yields the tokens of a text one after another.
pub(crate) struct Scanner {
    pub(super) cursor: Cursor,
    tokens: VecDeque<Token>,
    taken: usize,
    started: bool,
    /// The column of the innermost block; -1 outside of all.
    pub(super) indent: isize,
    indents: Vec<isize>,
    pub(super) simple_key_allowed: bool,
    /// One place for each flow level, the block context first.
    simple_keys: Vec<SimpleKey>,
    /// Which of them begins at which token.
    simple_key_of: BTreeMap<usize, usize>,
}

impl Scanner {
    pub(crate) fn new(text: &str) -> Scanner {
        Scanner {
            cursor: Cursor::new(text),
            tokens: VecDeque::new(),
            taken: 0,
            started: false,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: false,
            simple_keys: Vec::new(),
            simple_key_of: BTreeMap::new(),
        }
    }

    /// The next token, which stays the next one.
    pub(crate) fn peek(&mut self) -> Result<&Token, Fault> {
        self.fill()?;
        self.tokens
            .front()
            .ok_or_else(|| Fault::plain("unexpected end of stream".to_owned(), self.cursor.mark()))
    }

    /// Takes the token that [`Scanner::peek`] showed.
    pub(crate) fn pop(&mut self) {
        if self.tokens.pop_front().is_some() {
            self.taken += 1;
        }
    }

    pub(super) fn in_flow(&self) -> bool {
        self.simple_keys.len() > 1
    }

    /// Scans on until the first token in the queue can no longer become a key.
    fn fill(&mut self) -> Result<(), Fault> {
        loop {
            if !self.tokens.is_empty() {
                let Some(&key) = self.simple_key_of.get(&self.taken) else { return Ok(()) };
                if !self.check_simple_key(key)? {
                    return Ok(());
                }
            }
            self.fetch()?;
        }
    }

    fn push(&mut self, kind: TokenKind, start: Mark) {
        let end = self.cursor.mark();
        self.tokens.push_back(Token { kind, start, end });
    }

    fn insert(&mut self, number: usize, kind: TokenKind, mark: Mark) {
        let place = number.saturating_sub(self.taken).min(self.tokens.len());
        self.tokens.insert(place, Token { kind, start: mark, end: mark });
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        self.cursor.need(1)?;
        if !self.started {
            self.started = true;
            self.simple_keys.push(SimpleKey::default());
            self.simple_key_allowed = true;
            self.push(TokenKind::StreamStart, self.cursor.mark());
            return Ok(());
        }
        self.skip_to_next()?;
        self.unroll(self.column());
        self.cursor.need(4)?;
        if self.cursor.is_end(0) {
            return self.fetch_stream_end();
        }
        if self.cursor.mark().column == 0 && self.cursor.here() == '%' {
            self.leave_blocks()?;
            let token = self.scan_directive()?;
            self.tokens.push_back(token);
            return Ok(());
        }
        for (sign, kind) in [('-', TokenKind::DocumentStart), ('.', TokenKind::DocumentEnd)] {
            if self.cursor.is_document_indicator(sign) {
                self.leave_blocks()?;
                let start = self.cursor.mark();
                (0..3).for_each(|_| self.cursor.skip());
                self.push(kind, start);
                return Ok(());
            }
        }
        self.fetch_by_sign()
    }

    fn fetch_by_sign(&mut self) -> Result<(), Fault> {
        let gap_follows = self.cursor.is_gap(1);
        match self.cursor.here() {
            '[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            '{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            ']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            '}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            ',' => {
                self.forget_simple_key()?;
                self.simple_key_allowed = true;
                self.push_sign(TokenKind::FlowEntry);
                Ok(())
            }
            '-' if gap_follows => self.fetch_block_entry(),
            '?' if self.in_flow() || gap_follows => self.fetch_key(),
            ':' if self.in_flow() || gap_follows => self.fetch_value(),
            '*' => self.fetch_word(|s| s.scan_anchor(true)),
            '&' => self.fetch_word(|s| s.scan_anchor(false)),
            '!' => self.fetch_word(Scanner::scan_tag),
            '|' if !self.in_flow() => self.fetch_block_scalar(true),
            '>' if !self.in_flow() => self.fetch_block_scalar(false),
            '\'' => self.fetch_word(|s| s.scan_quoted(true)),
            '"' => self.fetch_word(|s| s.scan_quoted(false)),
            _ if self.starts_plain() => self.fetch_word(Scanner::scan_plain),
            _ => {
                let mark = self.cursor.mark();
                Err(Fault::scanning("found character that cannot start any token", mark, mark))
            }
        }
    }

    fn starts_plain(&self) -> bool {
        let c = self.cursor.here();
        match c {
            '-' => !self.cursor.is_blank(1),
            '?' | ':' => !self.in_flow() && !self.cursor.is_gap(1),
            _ => !self.cursor.is_gap(0) && !",[]{}#&*!|>'\"%@`".contains(c),
        }
    }

    fn column(&self) -> isize {
        isize::try_from(self.cursor.mark().column).unwrap_or(isize::MAX)
    }

    fn push_sign(&mut self, kind: TokenKind) {
        let start = self.cursor.mark();
        self.cursor.skip();
        self.push(kind, start);
    }

    /// Passes gaps and comments. Tabs count as gaps only where no key can begin.
    fn skip_to_next(&mut self) -> Result<(), Fault> {
        loop {
            self.cursor.need(1)?;
            // A second byte order mark at the very start makes upstream pass one character on every line.
            if self.cursor.mark().column == 0 && self.cursor.starts_with_mark() {
                self.cursor.skip();
            }
            self.cursor.need(1)?;
            let tabs = self.in_flow() || !self.simple_key_allowed;
            while self.cursor.here() == ' ' || (tabs && self.cursor.here() == '\t') {
                self.cursor.advance()?;
            }
            self.cursor.skip_comment()?;
            if !self.cursor.is_break(0) {
                return Ok(());
            }
            self.cursor.need(2)?;
            self.cursor.skip_line();
            if !self.in_flow() {
                self.simple_key_allowed = true;
            }
        }
    }

    /// Whether the place can still become a key; an error if it had to.
    fn check_simple_key(&mut self, place: usize) -> Result<bool, Fault> {
        let mark = self.cursor.mark();
        let Some(key) = self.simple_keys.get_mut(place) else { return Ok(false) };
        if !key.possible {
            return Ok(false);
        }
        if key.mark.line < mark.line || key.mark.index + MAX_SIMPLE_KEY < mark.index {
            if key.required {
                return Err(Fault::scanning("could not find expected ':'", key.mark, mark));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn save_simple_key(&mut self) -> Result<(), Fault> {
        let required = !self.in_flow() && self.indent == self.column();
        if self.simple_key_allowed {
            let token = self.taken + self.tokens.len();
            self.forget_simple_key()?;
            let place = self.simple_keys.len().saturating_sub(1);
            if let Some(key) = self.simple_keys.last_mut() {
                *key = SimpleKey { possible: true, required, token, mark: self.cursor.mark() };
                self.simple_key_of.insert(token, place);
            }
        }
        Ok(())
    }

    fn forget_simple_key(&mut self) -> Result<(), Fault> {
        let mark = self.cursor.mark();
        if let Some(key) = self.simple_keys.last_mut()
            && key.possible
        {
            if key.required {
                return Err(Fault::scanning("could not find expected ':'", key.mark, mark));
            }
            key.possible = false;
            self.simple_key_of.remove(&key.token);
        }
        Ok(())
    }

    /// Opens a block at `column`, if it stands further in than the present one.
    fn roll(
        &mut self,
        column: isize,
        number: Option<usize>,
        kind: TokenKind,
        mark: Mark,
    ) -> Result<(), Fault> {
        if self.in_flow() || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_INDENTS {
            let context = self.simple_keys.last().map(|key| key.mark).unwrap_or_default();
            let problem = format!("exceeded max depth of {MAX_INDENTS}");
            return Err(Fault::scanning(&problem, context, self.cursor.mark()));
        }
        self.insert(number.unwrap_or(usize::MAX), kind, mark);
        Ok(())
    }

    /// Closes the blocks that stand further in than `column`.
    fn unroll(&mut self, column: isize) {
        while !self.in_flow() && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark());
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    fn leave_blocks(&mut self) -> Result<(), Fault> {
        self.unroll(-1);
        self.forget_simple_key()?;
        self.simple_key_allowed = false;
        Ok(())
    }

    fn fetch_stream_end(&mut self) -> Result<(), Fault> {
        self.cursor.end_line();
        self.leave_blocks()?;
        self.push(TokenKind::StreamEnd, self.cursor.mark());
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.save_simple_key()?;
        let mark = self.cursor.mark();
        self.simple_keys.push(SimpleKey {
            mark,
            token: self.taken + self.tokens.len(),
            ..SimpleKey::default()
        });
        if self.simple_keys.len() > MAX_FLOW_LEVEL + 1 {
            return Err(Fault::scanning(&format!("exceeded max depth of {MAX_FLOW_LEVEL}"), mark, mark));
        }
        self.simple_key_allowed = true;
        self.push_sign(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> Result<(), Fault> {
        self.forget_simple_key()?;
        if self.in_flow()
            && let Some(key) = self.simple_keys.pop()
        {
            self.simple_key_of.remove(&key.token);
        }
        self.simple_key_allowed = false;
        self.push_sign(kind);
        Ok(())
    }

    fn begin_block(&mut self, kind: TokenKind, problem: &str) -> Result<(), Fault> {
        if self.in_flow() {
            return Ok(());
        }
        let mark = self.cursor.mark();
        if !self.simple_key_allowed {
            return Err(Fault::scanning(problem, mark, mark));
        }
        self.roll(self.column(), None, kind, mark)
    }

    fn fetch_block_entry(&mut self) -> Result<(), Fault> {
        let problem = "block sequence entries are not allowed in this context";
        self.begin_block(TokenKind::BlockSequenceStart, problem)?;
        self.forget_simple_key()?;
        self.simple_key_allowed = true;
        self.push_sign(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), Fault> {
        self.begin_block(TokenKind::BlockMappingStart, "mapping keys are not allowed in this context")?;
        self.forget_simple_key()?;
        self.simple_key_allowed = !self.in_flow();
        self.push_sign(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), Fault> {
        let place = self.simple_keys.len().saturating_sub(1);
        if self.check_simple_key(place)? {
            let key = self.simple_keys[place];
            self.insert(key.token, TokenKind::Key, key.mark);
            let column = isize::try_from(key.mark.column).unwrap_or(isize::MAX);
            self.roll(column, Some(key.token), TokenKind::BlockMappingStart, key.mark)?;
            self.simple_keys[place].possible = false;
            self.simple_key_of.remove(&key.token);
            self.simple_key_allowed = false;
        } else {
            self.begin_block(TokenKind::BlockMappingStart, "mapping values are not allowed in this context")?;
            self.simple_key_allowed = !self.in_flow();
        }
        self.push_sign(TokenKind::Value);
        Ok(())
    }

    /// Anything that may itself be a key, and after which no key can begin on the same line.
    fn fetch_word(&mut self, scan: impl FnOnce(&mut Scanner) -> Result<Token, Fault>) -> Result<(), Fault> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = scan(self)?;
        self.tokens.push_back(token);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, literal: bool) -> Result<(), Fault> {
        self.forget_simple_key()?;
        self.simple_key_allowed = true;
        let token = self.scan_block_scalar(literal)?;
        self.tokens.push_back(token);
        Ok(())
    }
}
