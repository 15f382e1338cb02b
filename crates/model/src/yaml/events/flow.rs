//! Collections in flow form: `[a, b]` and `{a: b}`.

use super::super::scan::{Fault, TokenKind};
use super::{Event, EventKind, Events, State};

impl Events {
    pub(super) fn flow_entry(&mut self, first: bool) -> Result<Event, Fault> {
        let mut token = self.peek()?;
        if token.kind != TokenKind::FlowSequenceEnd && !first {
            if token.kind != TokenKind::FlowEntry {
                return Err(self.fail("did not find expected ',' or ']'", token.start));
            }
            token = self.peek_after_pop()?;
        }
        match token.kind {
            TokenKind::FlowSequenceEnd => self.close(EventKind::SequenceEnd, &token),
            TokenKind::Key => {
                self.state = State::FlowPairKey;
                self.scanner.pop();
                Ok(Event::new(EventKind::MappingStart { flow: true }, token.start, token.end))
            }
            _ => self.node_then(State::FlowEntry { first: false }, false, false),
        }
    }

    pub(super) fn flow_pair_key(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if matches!(token.kind, TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
            // Upstream takes the token away, whichever it is.
            self.scanner.pop();
            return self.empty_at(token.end, State::FlowPairValue);
        }
        self.node_then(State::FlowPairValue, false, false)
    }

    pub(super) fn flow_pair_value(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if token.kind == TokenKind::Value {
            let next = self.peek_after_pop()?;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
                return self.node_then(State::FlowPairEnd, false, false);
            }
        }
        self.empty_at(token.start, State::FlowPairEnd)
    }

    pub(super) fn flow_key(&mut self, first: bool) -> Result<Event, Fault> {
        let mut token = self.peek()?;
        if token.kind != TokenKind::FlowMappingEnd && !first {
            if token.kind != TokenKind::FlowEntry {
                return Err(self.fail("did not find expected ',' or '}'", token.start));
            }
            token = self.peek_after_pop()?;
        }
        match token.kind {
            TokenKind::FlowMappingEnd => self.close(EventKind::MappingEnd, &token),
            TokenKind::Key => {
                let next = self.peek_after_pop()?;
                if matches!(next.kind, TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                    return self.empty_at(next.start, State::FlowValue);
                }
                self.node_then(State::FlowValue, false, false)
            }
            _ => self.node_then(State::FlowEmptyValue, false, false),
        }
    }

    pub(super) fn flow_value(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if token.kind == TokenKind::Value {
            let next = self.peek_after_pop()?;
            if !matches!(next.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
                return self.node_then(State::FlowKey { first: false }, false, false);
            }
        }
        self.empty_at_next(State::FlowKey { first: false })
    }
}
