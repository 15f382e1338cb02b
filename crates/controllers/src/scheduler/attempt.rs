//! What is kept of each attempt to find a node, for those who ask why.

use super::{fit_error::Refusal, node_info::NodeInfo};
use kubestep_model::{Instant, Key};
use std::sync::Arc;

/// So many nodes are written down for an attempt.
const ROWS: usize = 100;

/// Scores by plugin. Nodes that got the same share them.
pub type Scores = Arc<[(&'static str, i64)]>;

/// One node in an attempt.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct NodeRow {
    pub node: Arc<str>,
    /// Why it will not do; `None` if it will.
    pub refusal: Option<Refusal>,
    /// Each plugin's score times its weight; empty if only one node would do.
    pub scores: Scores,
    pub total: i64,
}

/// One attempt to find a node for a pod.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Attempt {
    pub pod: Key,
    pub uid: Arc<str>,
    pub at: Instant,
    /// 1 for the first.
    pub number: u32,
    /// In the order in which they were looked at.
    pub nodes: Vec<NodeRow>,
    /// How many nodes were looked at but not written down.
    pub left_out: usize,
    /// The best nodes, if there were several; one of them was drawn.
    pub tied: Vec<Arc<str>>,
    pub chosen: Option<Arc<str>>,
    /// The text of the refusal.
    pub message: Option<String>,
}

/// The rows of an attempt one after the other: nodes are scored in the order in which they were looked at.
#[derive(Debug)]
pub struct Rows<'a> {
    rows: std::slice::IterMut<'a, NodeRow>,
    last: Scores,
}

impl Rows<'_> {
    /// Writes a node's scores down, if it has a row.
    pub fn score(
        &mut self,
        node: &Arc<str>,
        scores: &mut dyn Iterator<Item = (&'static str, i64)>,
        total: i64,
    ) {
        let Some(row) = self.rows.find(|row| row.node == *node) else { return };
        let scores: Vec<_> = scores.collect();
        if *self.last != *scores {
            self.last = scores.into();
        }
        row.scores = self.last.clone();
        row.total = total;
    }
}

fn none() -> Scores {
    Arc::from([])
}

impl Attempt {
    /// An attempt about which nothing is known yet.
    pub fn new(pod: Key, uid: Arc<str>, at: Instant, number: u32) -> Self {
        Attempt {
            pod,
            uid,
            at,
            number,
            nodes: vec![],
            left_out: 0,
            tied: vec![],
            chosen: None,
            message: None,
        }
    }

    /// Writes a node down.
    pub fn row(&mut self, node: &NodeInfo, refusal: Option<Refusal>) {
        if self.nodes.len() < ROWS {
            self.nodes.push(NodeRow { node: node.name.clone(), refusal, scores: none(), total: 0 });
        } else {
            self.left_out += 1;
        }
    }

    /// The rows, for scores to be written down.
    pub fn rows(&mut self) -> Rows<'_> {
        Rows { rows: self.nodes.iter_mut(), last: none() }
    }

    /// `node-1: Insufficient cpu (NodeResourcesFit); node-2: 417`, for notes.
    pub fn verdicts(&self) -> String {
        let row = |row: &NodeRow| match &row.refusal {
            Some(refusal) => {
                format!("{}: {} ({})", row.node, refusal.rejection.reasons.join(", "), refusal.plugin)
            }
            None if row.scores.is_empty() => format!("{}: fits", row.node),
            None => format!("{}: {}", row.node, row.total),
        };
        const SHOWN: usize = 12;
        let mut text = self.nodes.iter().take(SHOWN).map(row).collect::<Vec<_>>().join("; ");
        let more = self.nodes.len().saturating_sub(SHOWN) + self.left_out;
        if more > 0 {
            text.push_str(&format!("; and {more} more"));
        }
        text
    }
}
