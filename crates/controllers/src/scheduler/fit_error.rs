//! Why no node will do, in the words of the FailedScheduling event.
//! Upstream: pkg/scheduler/framework/types.go, FitError and Diagnosis (v1.37).

use super::plugins::Rejection;
use kubestep_model::arrange::Arrange;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A node's rejection and the plugin it comes from.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Refusal {
    pub plugin: &'static str,
    pub rejection: Rejection,
}

/// What came out of an attempt in vain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// How many nodes there are.
    pub all: usize,
    /// The nodes that were refused.
    pub nodes: BTreeMap<Arc<str>, Refusal>,
    /// Why the other nodes were not looked at.
    pub absent: Option<Refusal>,
    /// The plugins that refused nodes.
    pub rejectors: BTreeSet<&'static str>,
    /// What was said before the nodes were looked at.
    pub before: String,
    /// What preemption says.
    pub after: String,
}

/// `1 Insufficient cpu, 2 node(s) were unschedulable`: reasons with their numbers, sorted as text.
fn histogram(nodes: &BTreeMap<Arc<str>, Refusal>, absent: Option<&Refusal>, all: usize) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in nodes.values().flat_map(|r| &r.rejection.reasons) {
        *counts.entry(reason).or_insert(0) += 1;
    }
    let others = all.saturating_sub(nodes.len());
    if others > 0 {
        for reason in absent.iter().flat_map(|r| &r.rejection.reasons) {
            *counts.entry(reason).or_insert(0) += others;
        }
    }
    let mut texts: Vec<String> = counts.into_iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    texts.arrange();
    texts.join(", ")
}

impl Diagnosis {
    /// The whole text. Upstream: FitError.Error.
    pub fn message(&self) -> String {
        let mut text = format!("0/{} nodes are available:", self.all);
        let reasons = if self.before.is_empty() {
            histogram(&self.nodes, self.absent.as_ref(), self.all)
        } else {
            self.before.clone()
        };
        if !reasons.is_empty() {
            text.push_str(&format!(" {reasons}."));
        }
        if !self.after.is_empty() {
            text.push(' ');
            text.push_str(&self.after);
        }
        text
    }

    /// The text of an inner attempt, such as preemption's.
    pub fn of_nodes(all: usize, nodes: &BTreeMap<Arc<str>, Refusal>, absent: Option<&Refusal>) -> String {
        let reasons = histogram(nodes, absent, all);
        let tail = if reasons.is_empty() { String::new() } else { format!(" {reasons}.") };
        format!("0/{all} nodes are available:{tail}")
    }
}
