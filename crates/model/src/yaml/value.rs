//! From a tree of nodes to a JSON value, as Kubernetes converts YAML to JSON.
//!
//! Anchors are expanded within a budget, merge keys are merged, keys of any type become texts, and of two equal
//! keys the last one wins (or the first, with a complaint, in the strict manner).
//! Upstream: go.yaml.in/yaml/v2, decoder; sigs.k8s.io/yaml, convertToJSONableObject (v1.37).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::compose::{NodeId, NodeKind, Tree};
use super::key::Key;
use super::resolve::{self, Scalar};
use super::scan::{Fault, Mark};
use super::{MAX_DEPTH, json};

/// A key that stands twice in one map.
#[derive(Debug, Clone)]
pub(super) struct Duplicate {
    /// The key as Go prints it: `"replicas"`, `1`.
    pub(super) key: String,
    /// Where the second value begins.
    pub(super) at: Mark,
}

/// What came of a document.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) value: Value,
    pub(super) duplicates: Vec<Duplicate>,
    /// The first thing that JSON has no form for. Upstream notices it only when all is decoded.
    pub(super) refusal: Option<Refusal>,
}

/// A refusal in the words upstream uses, with the `yaml: ` or `json: ` before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) text: String,
    pub(super) at: Mark,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal { text: fault.text(), at: fault.at }
    }
}

/// A collection that is being filled.
enum Frame {
    Seq { items: Vec<NodeId>, next: usize, done: Vec<Value>, alias: Option<NodeId> },
    Map(MapFrame),
}

struct MapFrame {
    node: NodeId,
    /// The mapping itself and those merged into it, the innermost last.
    sources: Vec<Source>,
    done: BTreeMap<Key, Value>,
    key: Option<(Key, NodeId)>,
    alias: Option<NodeId>,
}

struct Source {
    pairs: Vec<NodeId>,
    next: usize,
    alias: Option<NodeId>,
}

pub(super) struct Decoder<'a> {
    tree: &'a Tree,
    strict: bool,
    /// The aliases that are being expanded; upstream refuses one within itself.
    expanding: BTreeSet<NodeId>,
    decoded: usize,
    from_aliases: usize,
    duplicates: Vec<Duplicate>,
    late: Option<Refusal>,
}

/// What a node turned out to be.
enum Entered {
    Value(Value),
    Frame(Frame),
}

impl<'a> Decoder<'a> {
    pub(super) fn new(tree: &'a Tree, strict: bool) -> Decoder<'a> {
        Decoder {
            tree,
            strict,
            expanding: BTreeSet::new(),
            decoded: 0,
            from_aliases: 0,
            duplicates: Vec::new(),
            late: None,
        }
    }

    pub(super) fn decode(mut self) -> Result<Decoded, Refusal> {
        let Some(root) = self.tree.root else { return Ok(Decoded::default()) };
        self.count(root)?;
        let mut stack: Vec<Frame> = Vec::new();
        let mut finished = match self.enter(root)? {
            Entered::Value(value) => Some(value),
            Entered::Frame(frame) => {
                stack.push(frame);
                None
            }
        };
        while let Some(frame) = stack.last_mut() {
            let next = match frame {
                Frame::Seq { items, next, done, .. } => {
                    done.extend(finished.take());
                    *next += 1;
                    items.get(*next - 1).copied()
                }
                Frame::Map(map) => self.step(map, finished.take())?,
            };
            let Some(id) = next else {
                finished = stack.pop().map(|frame| self.finish(frame));
                continue;
            };
            match self.enter(id)? {
                Entered::Value(value) => finished = Some(value),
                Entered::Frame(frame) => {
                    stack.push(frame);
                    if stack.len() > MAX_DEPTH {
                        return Err(self.fail(format!("exceeded max depth of {MAX_DEPTH}"), id));
                    }
                }
            }
        }
        let value = finished.unwrap_or_default();
        Ok(Decoded { value, duplicates: self.duplicates, refusal: self.late })
    }

    fn fail(&self, problem: String, id: NodeId) -> Refusal {
        Refusal { text: format!("yaml: {problem}"), at: self.tree.nodes[id].start }
    }

    fn fail_late(&mut self, text: String, id: NodeId) {
        let at = self.tree.nodes[id].start;
        self.late.get_or_insert(Refusal { text, at });
    }

    /// Counts one decoded node; upstream refuses a document of which nearly all comes from aliases.
    #[expect(clippy::cast_precision_loss, reason = "upstream compares floats as well")]
    fn count(&mut self, id: NodeId) -> Result<(), Refusal> {
        const LOW: usize = 400_000;
        const HIGH: usize = 4_000_000;
        self.decoded += 1;
        if !self.expanding.is_empty() {
            self.from_aliases += 1;
        }
        let allowed = match self.decoded {
            ..=LOW => 0.99,
            HIGH.. => 0.10,
            n => 0.99 - 0.89 * ((n - LOW) as f64 / (HIGH - LOW) as f64),
        };
        let ratio = self.from_aliases as f64 / self.decoded as f64;
        if self.from_aliases > 100 && self.decoded > 1000 && ratio > allowed {
            return Err(self.fail("document contains excessive aliasing".to_owned(), id));
        }
        Ok(())
    }

    /// Follows an alias to its node; an alias never points to another.
    fn follow(&mut self, id: NodeId) -> Result<(NodeId, Option<NodeId>), Refusal> {
        self.count(id)?;
        let NodeKind::Alias { name, target } = &self.tree.nodes[id].kind else { return Ok((id, None)) };
        if !self.expanding.insert(id) {
            return Err(self.fail(format!("anchor '{name}' value contains itself"), id));
        }
        self.count(*target)?;
        Ok((*target, Some(id)))
    }

    fn release(&mut self, alias: Option<NodeId>) {
        if let Some(alias) = alias {
            self.expanding.remove(&alias);
        }
    }

    fn enter(&mut self, id: NodeId) -> Result<Entered, Refusal> {
        let (id, alias) = self.follow(id)?;
        let frame = match &self.tree.nodes[id].kind {
            NodeKind::Scalar { text, tag, implicit } => {
                self.release(alias);
                let scalar =
                    resolve::scalar(text, tag, *implicit).map_err(|problem| self.fail(problem, id))?;
                return Ok(Entered::Value(self.plain(scalar, id)));
            }
            NodeKind::Sequence(items) => {
                Frame::Seq { items: items.clone(), next: 0, done: Vec::new(), alias }
            }
            NodeKind::Mapping(pairs) => Frame::Map(MapFrame {
                node: id,
                sources: vec![Source { pairs: pairs.clone(), next: 0, alias: None }],
                done: BTreeMap::new(),
                key: None,
                alias,
            }),
            // An alias of an alias cannot be written.
            NodeKind::Alias { .. } => return Ok(Entered::Value(Value::Null)),
        };
        Ok(Entered::Frame(frame))
    }

    fn plain(&mut self, scalar: Scalar, id: NodeId) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => value.into(),
            Scalar::Uint(value) => value.into(),
            Scalar::Text(text) => Value::String(text),
            Scalar::Float(value) => json::go_number(value).unwrap_or_else(|| {
                let name = if value.is_nan() {
                    "NaN"
                } else if value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                self.fail_late(format!("json: unsupported value: {name}"), id);
                Value::Null
            }),
        }
    }

    /// Puts away the value that is ready and says which is to be decoded next.
    fn step(&mut self, map: &mut MapFrame, value: Option<Value>) -> Result<Option<NodeId>, Refusal> {
        if let (Some((key, id)), Some(value)) = (map.key.take(), value) {
            self.store(map, key, id, value);
        }
        while let Some(source) = map.sources.last_mut() {
            let Some(&[key, value]) = source.pairs.get(source.next..source.next + 2) else {
                let alias = source.alias;
                self.release(alias);
                map.sources.pop();
                continue;
            };
            source.next += 2;
            if self.is_merge(key) {
                self.merge(map, value)?;
                continue;
            }
            let key = self.key(key)?;
            map.key = Some((key, value));
            return Ok(Some(value));
        }
        Ok(None)
    }

    fn store(&mut self, map: &mut MapFrame, key: Key, id: NodeId, value: Value) {
        if map.done.contains_key(&key) {
            let at = self.tree.nodes[id].start;
            self.duplicates.push(Duplicate { key: key.go_syntax(), at });
            if self.strict {
                return;
            }
        }
        map.done.insert(key, value);
    }

    fn is_merge(&self, id: NodeId) -> bool {
        matches!(&self.tree.nodes[id].kind, NodeKind::Scalar { text, tag, implicit }
            if text == "<<" && (*implicit || tag == "tag:yaml.org,2002:merge"))
    }

    /// Lets the mappings that a merge key names be read into the map at hand. Of a list, the first has the last word.
    fn merge(&mut self, map: &mut MapFrame, id: NodeId) -> Result<(), Refusal> {
        let list = match &self.tree.nodes[id].kind {
            NodeKind::Sequence(items) => items.clone(),
            _ => vec![id],
        };
        for item in list {
            let (node, alias) = self.follow(item)?;
            let NodeKind::Mapping(pairs) = &self.tree.nodes[node].kind else {
                let problem = "map merge requires map or sequence of maps as the value";
                return Err(self.fail(problem.to_owned(), item));
            };
            map.sources.push(Source { pairs: pairs.clone(), next: 0, alias });
            if map.sources.len() > MAX_DEPTH {
                return Err(self.fail(format!("exceeded max depth of {MAX_DEPTH}"), item));
            }
        }
        Ok(())
    }

    /// A key's value; a collection cannot be one.
    fn key(&mut self, id: NodeId) -> Result<Key, Refusal> {
        let (node, alias) = self.follow(id)?;
        self.release(alias);
        match &self.tree.nodes[node].kind {
            NodeKind::Scalar { text, tag, implicit } => {
                let scalar =
                    resolve::scalar(text, tag, *implicit).map_err(|problem| self.fail(problem, id))?;
                Ok(Key::new(scalar))
            }
            _ => Err(self.fail(format!("invalid map key: {}", super::key::go_dump(self.tree, node)), id)),
        }
    }

    fn finish(&mut self, frame: Frame) -> Value {
        match frame {
            Frame::Seq { done, alias, .. } => {
                self.release(alias);
                Value::Array(done)
            }
            Frame::Map(map) => {
                self.release(map.alias);
                let mut object = Map::new();
                for (key, value) in map.done {
                    if let Some(problem) = key.unsupported(&value) {
                        self.fail_late(problem, map.node);
                    }
                    object.insert(key.text(), value);
                }
                Value::Object(object)
            }
        }
    }
}
