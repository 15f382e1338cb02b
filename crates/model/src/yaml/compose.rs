//! From events to a tree of nodes, kept flat in one list so that nothing recurses.
//!
//! Upstream: go.yaml.in/yaml/v2, the node parser (v1.37).

use std::collections::BTreeMap;

use super::events::{EventKind, Events};
use super::scan::{Fault, Mark};

/// A node's place in its [`Tree`].
pub(super) type NodeId = usize;

#[derive(Debug, Clone)]
pub(super) enum NodeKind {
    Scalar {
        text: String,
        tag: String,
        implicit: bool,
    },
    Sequence(Vec<NodeId>),
    /// Keys and values in turn.
    Mapping(Vec<NodeId>),
    Alias {
        name: String,
        target: NodeId,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

/// All nodes of one document; `root` is absent if the text holds no document at all.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: Option<NodeId>,
}

/// A collection whose end has not been read yet.
struct Open {
    id: NodeId,
    children: Vec<NodeId>,
    mapping: bool,
    flow: bool,
}

impl Tree {
    /// Reads the first document of a text.
    pub(super) fn read(text: &str) -> Result<Tree, Fault> {
        let mut events = Events::new(text);
        let mut tree = Tree::default();
        let mut open: Vec<Open> = Vec::new();
        let mut anchors: BTreeMap<String, NodeId> = BTreeMap::new();
        loop {
            let event = events.next()?;
            let id = tree.nodes.len();
            if let Some(anchor) = event.anchor {
                anchors.insert(anchor, id);
            }
            let (kind, opens) = match event.kind {
                EventKind::StreamEnd => return Ok(tree),
                EventKind::DocumentStart => continue,
                EventKind::DocumentEnd => return Ok(tree),
                EventKind::Alias(name) => match anchors.get(&name) {
                    Some(&target) => (NodeKind::Alias { name, target }, None),
                    None => {
                        return Err(Fault::plain(format!("unknown anchor '{name}' referenced"), event.start));
                    }
                },
                EventKind::Scalar { text, tag, implicit } => (NodeKind::Scalar { text, tag, implicit }, None),
                EventKind::SequenceStart { flow } => (NodeKind::Sequence(Vec::new()), Some((false, flow))),
                EventKind::MappingStart { flow } => (NodeKind::Mapping(Vec::new()), Some((true, flow))),
                EventKind::SequenceEnd | EventKind::MappingEnd => {
                    if let Some(done) = open.pop() {
                        tree.close(done, event.end);
                    }
                    continue;
                }
            };
            match open.last_mut() {
                Some(parent) => parent.children.push(id),
                None => tree.root = Some(id),
            }
            tree.nodes.push(Node { kind, start: event.start, end: event.end });
            if let Some((mapping, flow)) = opens {
                open.push(Open { id, children: Vec::new(), mapping, flow });
            }
        }
    }

    /// Fills in what a collection holds. A block has no sign for its end: it ends where its last child does.
    fn close(&mut self, done: Open, end: Mark) {
        let last = done.children.last().map(|&id| self.nodes[id].end);
        let node = &mut self.nodes[done.id];
        node.end = if done.flow { end } else { last.unwrap_or(node.end) };
        node.kind =
            if done.mapping { NodeKind::Mapping(done.children) } else { NodeKind::Sequence(done.children) };
    }
}
