//! Collections in block form: told by indentation, dashes and colons.

use super::super::scan::{Fault, TokenKind};
use super::{Event, EventKind, Events, State};

impl Events {
    pub(super) fn block_entry(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::BlockEntry => {
                let next = self.peek_after_pop()?;
                if matches!(next.kind, TokenKind::BlockEntry | TokenKind::BlockEnd) {
                    return self.empty_at(token.end, State::BlockEntry);
                }
                self.node_then(State::BlockEntry, true, false)
            }
            TokenKind::BlockEnd => self.close(EventKind::SequenceEnd, &token),
            _ => Err(self.fail("did not find expected '-' indicator", token.start)),
        }
    }

    pub(super) fn indentless_entry(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if token.kind != TokenKind::BlockEntry {
            self.leave();
            return Ok(Event::new(EventKind::SequenceEnd, token.start, token.start));
        }
        let next = self.peek_after_pop()?;
        if matches!(
            next.kind,
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
        ) {
            return self.empty_at(token.end, State::IndentlessEntry);
        }
        self.node_then(State::IndentlessEntry, true, false)
    }

    pub(super) fn block_key(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::Key => {
                let next = self.peek_after_pop()?;
                if matches!(next.kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd) {
                    return self.empty_at(token.end, State::BlockValue);
                }
                self.node_then(State::BlockValue, true, true)
            }
            TokenKind::BlockEnd => self.close(EventKind::MappingEnd, &token),
            _ => Err(self.fail("did not find expected key", token.start)),
        }
    }

    pub(super) fn block_value(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if token.kind != TokenKind::Value {
            return self.empty_at(token.start, State::BlockKey);
        }
        let next = self.peek_after_pop()?;
        if matches!(next.kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd) {
            return self.empty_at(token.end, State::BlockKey);
        }
        self.node_then(State::BlockKey, true, true)
    }
}
