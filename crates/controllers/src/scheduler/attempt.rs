//! What is kept of each attempt to find a node, for those who ask why.

use super::{fit_error::Refusal, node_info::NodeInfo};
use kubestep_model::{Instant, Key};
use std::sync::Arc;

/// So many nodes are written down for an attempt.
const ROWS: usize = 100;

/// One node in an attempt.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct NodeRow {
    pub node: Arc<str>,
    /// Why it will not do; `None` if it will.
    pub refusal: Option<Refusal>,
    /// Each plugin's score times its weight; empty if only one node would do.
    pub scores: Vec<(&'static str, i64)>,
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
            self.nodes.push(NodeRow { node: node.name.clone(), refusal, scores: vec![], total: 0 });
        } else {
            self.left_out += 1;
        }
    }

    /// Writes a node's scores down.
    pub fn score(&mut self, node: &Arc<str>, scores: Vec<(&'static str, i64)>, total: i64) {
        if let Some(row) = self.nodes.iter_mut().find(|row| row.node == *node) {
            row.scores = scores;
            row.total = total;
        }
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
