//! The keys of YAML maps: of any type when read, texts in JSON; and how Go prints them in its complaints.

use crate::arrange::Arrange;
use std::cmp::Ordering;

use serde_json::Value;

use super::compose::{NodeId, NodeKind, Tree};
use super::json;
use super::resolve::{self, Scalar};

/// A map's key. `1` and `"1"` are two keys.
#[derive(Debug, Clone)]
pub(super) struct Key(Scalar);

impl Key {
    pub(super) fn new(scalar: Scalar) -> Key {
        Key(scalar)
    }

    fn rank(&self) -> (u8, i128, u64, &str) {
        match &self.0 {
            Scalar::Null => (0, 0, 0, ""),
            Scalar::Bool(value) => (1, i128::from(*value), 0, ""),
            Scalar::Int(value) => (2, i128::from(*value), 0, ""),
            Scalar::Uint(value) => (3, i128::from(*value), 0, ""),
            // Zero has two signs and is one key.
            Scalar::Float(value) => (4, 0, (value + 0.0).to_bits(), ""),
            Scalar::Text(text) => (5, 0, 0, text),
        }
    }

    /// The key in JSON.
    pub(super) fn text(&self) -> String {
        match &self.0 {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Int(value) => value.to_string(),
            Scalar::Uint(value) => value.to_string(),
            Scalar::Float(value) if value.is_nan() => ".nan".to_owned(),
            Scalar::Float(value) if value.is_infinite() => {
                (if *value > 0.0 { ".inf" } else { "-.inf" }).to_owned()
            }
            #[expect(clippy::cast_possible_truncation, reason = "upstream prints keys with 32 bits")]
            Scalar::Float(value) => json::go_short_float32(*value as f32),
            Scalar::Text(text) => text.clone(),
        }
    }

    /// The key as Go's `%#v` prints it.
    pub(super) fn go_syntax(&self) -> String {
        match &self.0 {
            Scalar::Null => "<nil>".to_owned(),
            scalar => go_scalar(scalar),
        }
    }

    /// Upstream's complaint about keys it has no text for.
    pub(super) fn unsupported(&self, value: &Value) -> Option<String> {
        let (kind, key) = match &self.0 {
            Scalar::Null => ("%!s(<nil>)", "<nil>".to_owned()),
            Scalar::Uint(key) => ("uint64", format!("{key:#x}")),
            _ => return None,
        };
        let value = match value {
            Value::Null => "<nil>".to_owned(),
            Value::String(text) => json::go_quote(text),
            other => other.to_string(),
        };
        Some(format!("unsupported map key of type: {kind}, key: {key}, value: {value}"))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

fn go_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "interface {}(nil)".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Uint(value) => format!("{value:#x}"),
        Scalar::Float(value) if value.is_nan() => "NaN".to_owned(),
        Scalar::Float(value) if value.is_infinite() => {
            (if *value > 0.0 { "+Inf" } else { "-Inf" }).to_owned()
        }
        Scalar::Float(value) => json::go_short_float(*value),
        Scalar::Text(text) => json::go_quote(text),
    }
}

/// A complaint need not be longer than this.
const MAX_DUMP: usize = 2_000;

/// A piece of text still to be written, or a node whose text is.
enum Piece {
    Text(String),
    Node(NodeId),
}

/// A node as Go's `%#v` prints the value decoded from it: the words after `invalid map key: `, which everybody sees
/// who leaves `{{ }}` of a template in a manifest. Aliases within are not followed.
pub(super) fn go_dump(tree: &Tree, id: NodeId) -> String {
    let mut out = String::new();
    let mut stack = vec![Piece::Node(id)];
    while let Some(piece) = stack.pop() {
        if out.len() > MAX_DUMP {
            out.push('…');
            break;
        }
        let id = match piece {
            Piece::Text(text) => {
                out.push_str(&text);
                continue;
            }
            Piece::Node(id) => id,
        };
        match &tree.nodes[id].kind {
            NodeKind::Scalar { text, tag, implicit } => {
                let scalar = resolve::scalar(text, tag, *implicit).unwrap_or(Scalar::Text(text.clone()));
                out.push_str(&go_scalar(&scalar));
            }
            NodeKind::Alias { name, .. } => out.push_str(&json::go_quote(name)),
            NodeKind::Sequence(items) => {
                out.push_str("[]interface {}{");
                push_all(&mut stack, items.iter().map(|item| vec![Piece::Node(*item)]));
            }
            NodeKind::Mapping(pairs) => {
                out.push_str("map[interface {}]interface {}{");
                // Go prints the keys of a map sorted.
                let mut pairs: Vec<(NodeId, NodeId)> =
                    pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                pairs.arrange_by_key(|(key, _)| key_at(tree, *key));
                let pieces = pairs.into_iter().map(|(key, value)| {
                    vec![Piece::Node(key), Piece::Text(":".to_owned()), Piece::Node(value)]
                });
                push_all(&mut stack, pieces);
            }
        }
    }
    out
}

/// The key a node is; what is no scalar is taken for null.
fn key_at(tree: &Tree, id: NodeId) -> Key {
    match &tree.nodes[id].kind {
        NodeKind::Scalar { text, tag, implicit } => {
            Key::new(resolve::scalar(text, tag, *implicit).unwrap_or(Scalar::Null))
        }
        _ => Key::new(Scalar::Null),
    }
}

fn push_all(stack: &mut Vec<Piece>, groups: impl Iterator<Item = Vec<Piece>>) {
    let mut pieces = Vec::new();
    for group in groups {
        if !pieces.is_empty() {
            pieces.push(Piece::Text(", ".to_owned()));
        }
        pieces.extend(group);
    }
    pieces.push(Piece::Text("}".to_owned()));
    stack.extend(pieces.into_iter().rev());
}
