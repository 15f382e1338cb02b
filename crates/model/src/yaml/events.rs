//! From tokens to events: which collection a token opens or closes, and where an empty value stands.
//!
//! A machine with a stack of states, so that deep nesting costs memory and not stack.
//! Upstream: go.yaml.in/yaml/v2, parser (v1.37).

mod block;
mod flow;

use super::scan::{Fault, Mark, Scanner, Token, TokenKind};

/// What the text says next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EventKind {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(String),
    Scalar {
        text: String,
        tag: String,
        /// Written plainly and without a tag: its type is to be found out.
        implicit: bool,
    },
    SequenceStart {
        flow: bool,
    },
    SequenceEnd,
    MappingStart {
        flow: bool,
    },
    MappingEnd,
}

/// One event with its place and anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) anchor: Option<String>,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

impl Event {
    fn new(kind: EventKind, start: Mark, end: Mark) -> Event {
        Event { kind, anchor: None, start, end }
    }

    /// The value that is not written: null.
    fn empty(mark: Mark) -> Event {
        Event::new(EventKind::Scalar { text: String::new(), tag: String::new(), implicit: true }, mark, mark)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FirstDocument,
    NextDocument,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockEntry,
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowEntry { first: bool },
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowKey { first: bool },
    FlowValue,
    FlowEmptyValue,
    End,
}

/// A tag and an anchor that stand before a node.
#[derive(Default)]
struct Properties {
    anchor: Option<String>,
    tag: String,
    start: Mark,
    end: Mark,
}

/// Yields the events of a text one after another.
pub(super) struct Events {
    scanner: Scanner,
    state: State,
    states: Vec<State>,
    marks: Vec<Mark>,
    tags: Vec<(String, String)>,
}

impl Events {
    pub(super) fn new(text: &str) -> Events {
        Events {
            scanner: Scanner::new(text),
            state: State::FirstDocument,
            states: Vec::new(),
            marks: Vec::new(),
            tags: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> Result<Event, Fault> {
        match self.state {
            State::FirstDocument => {
                self.scanner.peek()?;
                self.scanner.pop();
                self.document_start(true)
            }
            State::NextDocument => self.document_start(false),
            State::DocumentContent => self.document_content(),
            State::DocumentEnd => self.document_end(),
            State::BlockNode => self.node(true, false),
            State::BlockEntry => self.block_entry(),
            State::IndentlessEntry => self.indentless_entry(),
            State::BlockKey => self.block_key(),
            State::BlockValue => self.block_value(),
            State::FlowEntry { first } => self.flow_entry(first),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => {
                let start = self.scanner.peek()?.start;
                self.state = State::FlowEntry { first: false };
                Ok(Event::new(EventKind::MappingEnd, start, start))
            }
            State::FlowKey { first } => self.flow_key(first),
            State::FlowValue => self.flow_value(),
            State::FlowEmptyValue => self.empty_at_next(State::FlowKey { first: false }),
            State::End => {
                let mark = self.scanner.peek().map(|t| t.start).unwrap_or_default();
                Ok(Event::new(EventKind::StreamEnd, mark, mark))
            }
        }
    }

    fn peek(&mut self) -> Result<Token, Fault> {
        self.scanner.peek().cloned()
    }

    fn peek_after_pop(&mut self) -> Result<Token, Fault> {
        self.scanner.pop();
        self.peek()
    }

    fn leave(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// An empty value where the next token stands.
    fn empty_at_next(&mut self, then: State) -> Result<Event, Fault> {
        let start = self.scanner.peek()?.start;
        self.state = then;
        Ok(Event::empty(start))
    }

    fn empty_at(&mut self, mark: Mark, then: State) -> Result<Event, Fault> {
        self.state = then;
        Ok(Event::empty(mark))
    }

    fn node_then(&mut self, then: State, block: bool, indentless: bool) -> Result<Event, Fault> {
        self.states.push(then);
        self.node(block, indentless)
    }

    fn fail(&mut self, problem: &str, at: Mark) -> Fault {
        let context = self.marks.pop().unwrap_or_default();
        Fault::parsing(problem, context, at)
    }

    fn document_start(&mut self, first: bool) -> Result<Event, Fault> {
        let mut token = self.peek()?;
        while !first && token.kind == TokenKind::DocumentEnd {
            token = self.peek_after_pop()?;
        }
        let start = token.start;
        let explicit = matches!(
            token.kind,
            TokenKind::Version { .. } | TokenKind::TagDirective { .. } | TokenKind::DocumentStart
        );
        if token.kind == TokenKind::StreamEnd {
            self.state = State::End;
            return Ok(Event::new(EventKind::StreamEnd, token.start, token.end));
        }
        self.directives()?;
        if first && !explicit {
            self.states.push(State::DocumentEnd);
            self.state = State::BlockNode;
            return Ok(Event::new(EventKind::DocumentStart, token.start, token.end));
        }
        let token = self.peek()?;
        if token.kind != TokenKind::DocumentStart {
            let problem = "did not find expected <document start>";
            return Err(Fault::parsing(problem, Mark::default(), token.start));
        }
        self.scanner.pop();
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        Ok(Event::new(EventKind::DocumentStart, start, token.end))
    }

    fn directives(&mut self) -> Result<(), Fault> {
        let mut version = false;
        loop {
            let token = self.peek()?;
            let problem = match token.kind {
                TokenKind::Version { .. } if version => "found duplicate %YAML directive",
                TokenKind::Version { major: 1, minor: 1 } => {
                    version = true;
                    self.scanner.pop();
                    continue;
                }
                TokenKind::Version { .. } => "found incompatible YAML document",
                TokenKind::TagDirective { handle, prefix } => {
                    if self.tags.iter().all(|(known, _)| *known != handle) {
                        self.tags.push((handle, prefix));
                        self.scanner.pop();
                        continue;
                    }
                    "found duplicate %TAG directive"
                }
                _ => break,
            };
            return Err(Fault::parsing(problem, Mark::default(), token.start));
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if self.tags.iter().all(|(known, _)| known != handle) {
                self.tags.push((handle.to_owned(), prefix.to_owned()));
            }
        }
        Ok(())
    }

    fn document_content(&mut self) -> Result<Event, Fault> {
        let token = self.scanner.peek()?;
        match token.kind {
            TokenKind::Version { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                let start = token.start;
                self.leave();
                Ok(Event::empty(start))
            }
            _ => self.node(true, false),
        }
    }

    fn document_end(&mut self) -> Result<Event, Fault> {
        let token = self.peek()?;
        if token.kind == TokenKind::DocumentEnd {
            self.scanner.pop();
        }
        self.tags.clear();
        self.state = State::NextDocument;
        Ok(Event::new(EventKind::DocumentEnd, token.start, token.end))
    }

    /// The tag and anchor before a node, in either order, and the token after them.
    fn properties(&mut self, mut token: Token) -> Result<(Properties, Token), Fault> {
        let mut found = Properties { start: token.start, end: token.start, ..Properties::default() };
        let (mut anchored, mut tagged, mut undefined) = (false, false, None);
        loop {
            match token.kind {
                TokenKind::Anchor(name) if !anchored => {
                    anchored = true;
                    found.anchor = Some(name);
                }
                TokenKind::Tag { handle, suffix } if !tagged => {
                    tagged = true;
                    match self.tags.iter().find(|(known, _)| *known == handle) {
                        _ if handle.is_empty() => found.tag = suffix,
                        Some((_, prefix)) => found.tag = format!("{prefix}{suffix}"),
                        // Upstream looks at the next token before it says so.
                        None => undefined = Some(token.start),
                    }
                }
                kind => {
                    return match undefined {
                        Some(at) => Err(Fault::parsing("found undefined tag handle", found.start, at)),
                        None => Ok((found, Token { kind, ..token })),
                    };
                }
            }
            found.end = token.end;
            token = self.peek_after_pop()?;
        }
    }

    fn node(&mut self, block: bool, indentless: bool) -> Result<Event, Fault> {
        let token = self.peek()?;
        if let TokenKind::Alias(name) = token.kind {
            self.leave();
            self.scanner.pop();
            return Ok(Event::new(EventKind::Alias(name), token.start, token.end));
        }
        let (found, token) = self.properties(token)?;
        let (kind, state) = match token.kind {
            TokenKind::BlockEntry if indentless => {
                (EventKind::SequenceStart { flow: false }, State::IndentlessEntry)
            }
            TokenKind::Scalar { text, plain } => {
                let implicit = (found.tag.is_empty() && plain) || found.tag == "!";
                self.leave();
                self.scanner.pop();
                let kind = EventKind::Scalar { text, tag: found.tag, implicit };
                return Ok(Event { kind, anchor: found.anchor, start: found.start, end: token.end });
            }
            TokenKind::FlowSequenceStart => {
                (EventKind::SequenceStart { flow: true }, State::FlowEntry { first: true })
            }
            TokenKind::FlowMappingStart => {
                (EventKind::MappingStart { flow: true }, State::FlowKey { first: true })
            }
            TokenKind::BlockSequenceStart if block => {
                (EventKind::SequenceStart { flow: false }, State::BlockEntry)
            }
            TokenKind::BlockMappingStart if block => {
                (EventKind::MappingStart { flow: false }, State::BlockKey)
            }
            _ if found.anchor.is_some() || !found.tag.is_empty() => {
                self.leave();
                let implicit = found.tag.is_empty();
                let kind = EventKind::Scalar { text: String::new(), tag: found.tag, implicit };
                return Ok(Event { kind, anchor: found.anchor, start: found.start, end: found.end });
            }
            _ => return Err(Fault::parsing("did not find expected node content", found.start, token.start)),
        };
        self.state = state;
        if state != State::IndentlessEntry {
            self.marks.push(token.start);
            self.scanner.pop();
        }
        Ok(Event { kind, anchor: found.anchor, start: found.start, end: token.end })
    }

    fn close(&mut self, kind: EventKind, token: &Token) -> Result<Event, Fault> {
        self.leave();
        self.marks.pop();
        self.scanner.pop();
        Ok(Event::new(kind, token.start, token.end))
    }
}
