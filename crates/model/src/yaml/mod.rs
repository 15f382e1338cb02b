//! Reading and writing manifests: YAML and JSON as kubectl and the API server read them, YAML as kubectl prints it.

mod compose;
mod documents;
mod events;
pub mod json;
mod key;
mod resolve;
mod scan;
mod spans;
#[cfg(test)]
mod tests;
mod value;
pub mod vectors;
mod write;

use serde_json::Value;

pub use spans::{Place, Span, Spans, Step};
pub use write::to_yaml;

/// Deeper nesting is refused: no object of Kubernetes comes near, and what walks a value may recurse this far.
pub const MAX_DEPTH: usize = 256;

/// Longer texts are refused; the API server takes no request over 3 MiB.
pub const MAX_TEXT: usize = 4 << 20;

/// One document of a file.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What it says.
    pub value: Value,
    /// Where in the file each field stands.
    pub spans: Spans,
    /// The line it begins at, from 1.
    pub line: usize,
    /// What kubectl passes over in silence and a teacher would not: keys that stand twice.
    pub notes: Vec<Note>,
}

/// A remark about a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub text: String,
    pub span: Span,
}

/// Why a file cannot be read on, in the words that kubectl prints after `error parsing <file>: `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    pub text: String,
    /// Where the reader stood, from 1. The words may name another line: upstream counts in more ways than one.
    pub line: usize,
    pub column: usize,
}

/// The documents of a file, and why there are no more.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub documents: Vec<Document>,
    /// The mistake that ended the reading. kubectl acts on the documents before it.
    pub error: Option<ReadError>,
}

/// Reads a file of manifests as kubectl does. Empty documents are left out.
#[must_use]
pub fn read(text: &str) -> Reading {
    let mut reading = documents::decode(text);
    reading.documents.retain(|document| !documents::is_empty(&document.value));
    reading
}

/// Reads the first document of a text.
///
/// # Errors
/// In the words of Kubernetes' reader; a key that stands twice is an error if `strict`.
pub fn yaml_to_json(text: &str, strict: bool) -> Result<Value, String> {
    let tree = compose::Tree::read(text).map_err(|fault| fault.text())?;
    let decoded = value::Decoder::new(&tree, strict).decode().map_err(|refusal| refusal.text)?;
    if strict && !decoded.duplicates.is_empty() {
        let lines = decoded.duplicates.iter().map(|duplicate| {
            format!("\n  line {}: key {} already set in map", duplicate.at.line + 1, duplicate.key)
        });
        return Err(format!("yaml: unmarshal errors:{}", lines.collect::<String>()));
    }
    match decoded.refusal {
        Some(refusal) => Err(refusal.text),
        None => Ok(decoded.value),
    }
}
