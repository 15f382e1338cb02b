//! From characters to tokens, by the rules of YAML 1.1 as Kubernetes' reader has them.
//!
//! Kubernetes reads manifests with a YAML 1.1 reader that descends from libyaml. What it takes for a key, where it
//! lets a plain text go on to the next line and which words it refuses a file with all follow from the way it looks
//! ahead for a `:`; so this scanner looks ahead in the same way. Upstream: go.yaml.in/yaml/v2, scanner (v1.37).

mod cursor;
mod quoted;
mod scalars;
mod scanner;
mod words;

pub(super) use cursor::Mark;
pub(super) use scanner::Scanner;

/// One token with the place it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    StreamStart,
    StreamEnd,
    Version { major: u8, minor: u8 },
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { text: String, plain: bool },
}

/// Why a text cannot be read as YAML, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The reader's own words, without a place.
    pub(super) problem: String,
    /// The line the words name, counted as the reader counts (see [`Fault::text`]); 0 names none.
    pub(super) line: usize,
    /// Where the reader stood.
    pub(super) at: Mark,
}

impl Fault {
    /// A fault of the scanner: it names the line it stands in, unless that is the first.
    pub(super) fn scanning(problem: &str, context: Mark, at: Mark) -> Fault {
        let line = if at.line > 0 { at.line + 1 } else { context.line };
        Fault { problem: problem.to_owned(), line, at }
    }

    /// A fault of the parser: it names the line *before* the one it stands in (upstream counts from 0 there).
    pub(super) fn parsing(problem: &str, context: Mark, at: Mark) -> Fault {
        let line = if at.line > 0 { at.line } else { context.line };
        Fault { problem: problem.to_owned(), line, at }
    }

    /// A fault that names no line.
    pub(super) fn plain(problem: String, at: Mark) -> Fault {
        Fault { problem, line: 0, at }
    }

    /// The words as Kubernetes prints them, `yaml: line 3: could not find expected ':'`.
    pub(super) fn text(&self) -> String {
        if self.line == 0 {
            format!("yaml: {}", self.problem)
        } else {
            format!("yaml: line {}: {}", self.line, self.problem)
        }
    }
}
