//! From a file to documents, as kubectl cuts it up: by `---` lines, or one JSON value after another.
//!
//! Upstream: k8s.io/apimachinery, pkg/util/yaml, YAMLReader and YAMLOrJSONDecoder (v1.37).

use serde_json::Value;

use super::compose::Tree;
use super::json;
use super::spans::{Span, Spans};
use super::value::{Decoder, Refusal};
use super::{Document, MAX_TEXT, Note, ReadError, Reading};

/// How far kubectl looks into a file for the brace that tells JSON.
const PEEK: usize = 4096;

/// A document's text and the number of lines before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) lines_before: usize,
}

/// Cuts a file at its `---` lines. What comes before a broken separator is lost, as in kubectl.
pub(super) struct Pieces<'a> {
    lines: std::iter::Enumerate<std::str::Split<'a, char>>,
    done: bool,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(text: &'a str) -> Pieces<'a> {
        let lines = text.strip_suffix('\n').unwrap_or(text);
        Pieces { lines: lines.split('\n').enumerate(), done: text.is_empty() }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Piece, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = Piece { text: String::new(), lines_before: 0 };
        while !self.done {
            let Some((number, line)) = self.lines.next() else {
                self.done = true;
                break;
            };
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(rest) = line.strip_prefix("---") {
                let rest = rest.trim();
                if !rest.is_empty() && !rest.starts_with('#') {
                    self.done = true;
                    let text = format!("invalid Yaml document separator: {rest}");
                    return Some(Err(ReadError { text, line: number + 1, column: 4 }));
                }
                if !piece.text.is_empty() {
                    return Some(Ok(piece));
                }
            }
            if piece.text.is_empty() {
                piece.lines_before = number;
            }
            piece.text.push_str(line);
            piece.text.push('\n');
        }
        if piece.text.is_empty() { None } else { Some(Ok(piece)) }
    }
}

/// Decodes a file into documents, the empty ones among them, up to the first mistake.
pub(super) fn decode(text: &str) -> Reading {
    let mut reading = Reading::default();
    if text.len() > MAX_TEXT {
        let text = format!("the file is too large: {} bytes, limit is {MAX_TEXT}", text.len());
        reading.error = Some(ReadError { text, line: 1, column: 1 });
        return reading;
    }
    let head: String = text.chars().take(PEEK).collect();
    let (rest, mut first_error) = if head.trim_start().starts_with('{') {
        match decode_json(text, &mut reading) {
            Some((rest, error)) => (rest, Some(error)),
            None => return reading,
        }
    } else {
        (0, None)
    };
    let lines_before = text[..rest].matches('\n').count();
    for piece in Pieces::new(&text[rest..]) {
        let document = piece.and_then(|mut piece| {
            piece.lines_before += lines_before;
            decode_piece(&piece)
        });
        match document {
            Ok(document) => reading.documents.push(document),
            // A text that is neither JSON nor YAML gets the complaint about JSON.
            Err(error) => reading.error = Some(first_error.take().unwrap_or(error)),
        }
        if reading.error.is_some() {
            break;
        }
        first_error = None;
    }
    if reading.documents.is_empty() && reading.error.is_none() {
        reading.error = first_error;
    }
    reading
}

/// Decodes JSON values as long as they come. Yields where YAML takes over, with the complaint about JSON.
fn decode_json(text: &str, reading: &mut Reading) -> Option<(usize, ReadError)> {
    let mut at = 0;
    loop {
        match json::parse_first(text, at) {
            Ok(None) => return None,
            Ok(Some((value, end))) => {
                let lines_before = text[..at].matches('\n').count();
                let spans = Tree::read(&text[at..end]).map(|tree| Spans::new(tree, lines_before));
                let line = lines_before + 1;
                let spans = spans.unwrap_or_default();
                reading.documents.push(Document { value, spans, line, notes: Vec::new() });
                at = end;
            }
            Err(broken) => {
                let place = broken.offset.map_or(text.len(), |offset| offset - 1);
                let (line, column) = line_and_column(text, place);
                if reading.documents.len() > 1 {
                    reading.error = Some(ReadError { text: broken.text, line, column });
                    return None;
                }
                let words = match broken.offset {
                    Some(offset) => format!("json: offset {offset}: {}", broken.text),
                    None => broken.text,
                };
                return Some((after_space(text, at), ReadError { text: words, line, column }));
            }
        }
    }
}

/// Passes space up to the end of the line.
fn after_space(text: &str, at: usize) -> usize {
    for (offset, c) in text[at..].char_indices() {
        if c == '\n' {
            return at + offset + 1;
        }
        if !c.is_whitespace() {
            return at + offset;
        }
    }
    text.len()
}

fn line_and_column(text: &str, place: usize) -> (usize, usize) {
    let before: Vec<char> = text.char_indices().take_while(|(at, _)| *at < place).map(|(_, c)| c).collect();
    let line = before.iter().filter(|c| **c == '\n').count() + 1;
    let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
    (line, column)
}

fn decode_piece(piece: &Piece) -> Result<Document, ReadError> {
    let refuse = |refusal: Refusal| ReadError {
        text: format!("error converting YAML to JSON: {}", refusal.text),
        line: piece.lines_before + refusal.at.line + 1,
        column: refusal.at.column + 1,
    };
    let tree = Tree::read(&piece.text).map_err(|fault| refuse(fault.into()))?;
    let decoded = Decoder::new(&tree, false).decode().map_err(refuse)?;
    if let Some(refusal) = decoded.refusal {
        return Err(refuse(refusal));
    }
    let notes = decoded.duplicates.into_iter().map(|duplicate| {
        let (line, column) = (piece.lines_before + duplicate.at.line + 1, duplicate.at.column + 1);
        let text = format!("line {line}: key {} already set in map", duplicate.key);
        Note { text, span: Span { line, column, end_line: line, end_column: column + 1 } }
    });
    let notes = notes.collect();
    let spans = Spans::new(tree, piece.lines_before);
    Ok(Document { value: decoded.value, spans, line: piece.lines_before + 1, notes })
}

/// Whether kubectl passes over a document: one that is empty or null.
pub(super) fn is_empty(value: &Value) -> bool {
    value.is_null()
}
