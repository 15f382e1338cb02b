//! Where in a text each field of a value stands.

use std::collections::BTreeSet;

use super::compose::{NodeId, NodeKind, Tree};
use super::key::Key;
use super::resolve;

/// A stretch of text; lines and columns count from 1, the end is the place after the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

/// One step of a path into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Where a field stands: its key, if it has one, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub key: Option<Span>,
    pub value: Span,
}

/// The places of all fields of one document.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    tree: Tree,
    /// How many lines of the text come before the document.
    lines_before: usize,
}

/// So many fields are named at most.
const MAX_DUPLICATES: usize = 100;

/// How many merge keys are looked through for one step.
const MAX_MERGES: usize = 100;

impl Spans {
    pub(super) fn new(tree: Tree, lines_before: usize) -> Spans {
        Spans { tree, lines_before }
    }

    /// Where the field at a path stands; none if the text does not hold it.
    #[must_use]
    pub fn at(&self, path: &[Step<'_>]) -> Option<Place> {
        let mut id = self.tree.root?;
        let mut key = None;
        for step in path {
            (key, id) = self.step(id, *step)?;
        }
        Some(Place { key: key.map(|k| self.span(k)), value: self.span(id) })
    }

    /// Where the field stands that Kubernetes names in a message, such as `spec.template.spec.containers[0].image`
    /// or `metadata.labels[app.kubernetes.io/name]`; of a field that is missing, the nearest one above it.
    #[must_use]
    pub fn find(&self, field: &str) -> Option<Place> {
        let mut id = self.tree.root?;
        let mut key = None;
        let mut rest = field;
        while !rest.is_empty() {
            let Some((found, child, left)) = self.follow_text(id, rest) else { break };
            (key, id, rest) = (found, child, left);
        }
        Some(Place { key: key.map(|k| self.span(k)), value: self.span(id) })
    }

    /// The fields whose keys stand twice or more in one map, as paths, in the order of the text.
    #[must_use]
    pub fn duplicates(&self) -> Vec<String> {
        let Some(root) = self.tree.root else { return Vec::new() };
        let mut found = Vec::new();
        let mut stack = vec![(root, String::new())];
        while let Some((id, path)) = stack.pop() {
            let mut children = Vec::new();
            match self.tree.nodes.get(id).map(|node| &node.kind) {
                Some(NodeKind::Sequence(items)) => {
                    let items = items.iter().enumerate();
                    children.extend(items.map(|(place, item)| (*item, format!("{path}[{place}]"))));
                }
                Some(NodeKind::Mapping(pairs)) => {
                    let mut seen = BTreeSet::new();
                    for pair in pairs.chunks_exact(2) {
                        let Some(key) = self.key_text(pair[0]) else { continue };
                        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                        if !seen.insert(key) && !found.contains(&path) && found.len() < MAX_DUPLICATES {
                            found.push(path.clone());
                        }
                        children.push((pair[1], path));
                    }
                }
                _ => {}
            }
            stack.extend(children.into_iter().rev());
        }
        found
    }

    /// Takes one step along a path in text form. A key may hold dots: the longest one that fits is taken.
    fn follow_text<'t>(&self, id: NodeId, text: &'t str) -> Option<(Option<NodeId>, NodeId, &'t str)> {
        let text = text.strip_prefix('.').unwrap_or(text);
        if let Some((inside, left)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let inside = inside.trim_matches('"');
            let step = inside.parse().map_or(Step::Key(inside), Step::Index);
            let found = self.step(id, step).or_else(|| self.step(id, Step::Key(inside)))?;
            return Some((found.0, found.1, left));
        }
        let ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.chain([text.len()]).collect();
        ends.truncate(64);
        ends.iter().rev().find_map(|end| {
            let (key, child) = self.step(id, Step::Key(&text[..*end]))?;
            Some((key, child, &text[*end..]))
        })
    }

    fn target(&self, id: NodeId) -> NodeId {
        match self.tree.nodes.get(id).map(|node| &node.kind) {
            Some(NodeKind::Alias { target, .. }) => *target,
            _ => id,
        }
    }

    fn step(&self, id: NodeId, step: Step<'_>) -> Option<(Option<NodeId>, NodeId)> {
        match (&self.tree.nodes.get(self.target(id))?.kind, step) {
            (NodeKind::Sequence(items), Step::Index(index)) => Some((None, *items.get(index)?)),
            (NodeKind::Mapping(_), Step::Key(key)) => self.entry(self.target(id), key),
            _ => None,
        }
    }

    /// The last entry with this key, looking through merge keys after the mapping's own.
    fn entry(&self, id: NodeId, wanted: &str) -> Option<(Option<NodeId>, NodeId)> {
        let mut queue = vec![id];
        let mut looked = 0;
        while looked < queue.len().min(MAX_MERGES) {
            let NodeKind::Mapping(pairs) = &self.tree.nodes.get(queue[looked])?.kind else {
                looked += 1;
                continue;
            };
            for pair in pairs.chunks_exact(2).rev() {
                match self.key_text(pair[0]) {
                    Some(text) if text == wanted => return Some((Some(pair[0]), pair[1])),
                    Some(text) if text == "<<" => match &self.tree.nodes.get(pair[1])?.kind {
                        NodeKind::Sequence(items) => {
                            queue.extend(items.iter().map(|item| self.target(*item)))
                        }
                        _ => queue.push(self.target(pair[1])),
                    },
                    _ => {}
                }
            }
            looked += 1;
        }
        None
    }

    fn key_text(&self, id: NodeId) -> Option<String> {
        match &self.tree.nodes.get(self.target(id))?.kind {
            NodeKind::Scalar { text, tag, implicit } => {
                resolve::scalar(text, tag, *implicit).ok().map(|scalar| Key::new(scalar).text())
            }
            _ => None,
        }
    }

    fn span(&self, id: NodeId) -> Span {
        let (start, end) = self.tree.nodes.get(id).map(|node| (node.start, node.end)).unwrap_or_default();
        Span {
            line: self.lines_before + start.line + 1,
            column: start.column + 1,
            end_line: self.lines_before + end.line + 1,
            end_column: end.column + 1,
        }
    }
}
