//! A pod's scheduling attempts: filters, scores, the drawn tie.

use crate::session::Session;
use kubestep_cluster::{
    Brain, ProcessId,
    loops::scheduler::{Attempt as Kept, weight},
};
use kubestep_protocol::{Attempt, FilterCell, Filtered, Rich, Scored};

/// So many of the last attempts are shown.
const MOST: usize = 5;

/// The attempts, oldest first.
pub(super) fn attempts(session: &Session, uid: &str) -> Vec<Attempt> {
    let Some(process) = session.world().process(&ProcessId::Scheduler) else { return vec![] };
    let Brain::Scheduler(scheduler) = &process.brain else { return vec![] };
    let kept: Vec<&Kept> = scheduler.attempts(uid).map(|a| &**a).collect();
    kept.iter().skip(kept.len().saturating_sub(MOST)).map(|a| row(session, a)).collect()
}

fn row(session: &Session, kept: &Kept) -> Attempt {
    let mut filters: Vec<String> = vec![];
    for node in &kept.nodes {
        if let Some(refusal) = &node.refusal
            && !filters.iter().any(|f| f == refusal.plugin)
        {
            filters.push(refusal.plugin.into());
        }
    }
    filters.push(if filters.is_empty() { "all filters".into() } else { "the others".into() });
    let cells = |node: &kubestep_cluster::loops::scheduler::NodeRow| {
        let at = node.refusal.as_ref().and_then(|r| filters.iter().position(|f| f == r.plugin));
        (0..filters.len())
            .map(|i| match at {
                None => FilterCell::Pass,
                Some(at) if i < at => FilterCell::Pass,
                Some(at) if i == at => FilterCell::Fail(
                    node.refusal.as_ref().map_or(String::new(), |r| r.rejection.reasons.join(", ")),
                ),
                Some(_) => FilterCell::NotAsked,
            })
            .collect()
    };
    let filtered =
        kept.nodes.iter().map(|n| Filtered { node: n.node.to_string(), cells: cells(n) }).collect();
    let names: Vec<&'static str> = kept
        .nodes
        .iter()
        .find(|n| !n.scores.is_empty())
        .map(|n| n.scores.iter().map(|(name, _)| *name).collect())
        .unwrap_or_default();
    let scored = kept.nodes.iter().filter(|n| n.refusal.is_none() && !n.scores.is_empty()).map(|n| Scored {
        node: n.node.to_string(),
        cells: n.scores.iter().map(|(_, s)| *s).collect(),
        sum: n.total,
        result: if kept.chosen.as_ref() == Some(&n.node) {
            "bound".into()
        } else if kept.tied.contains(&n.node) {
            "tie".into()
        } else {
            String::new()
        },
        won: kept.chosen.as_ref() == Some(&n.node),
    });
    let note =
        if kept.tied.len() > 1 { "The tie was drawn at random, with this session's seed." } else { "" };
    Attempt {
        at: session.at(kept.at),
        result: kept.chosen.as_ref().map_or("no node fits".into(), ToString::to_string),
        why: if kept.number == 1 { "the pod was new".into() } else { format!("attempt {}", kept.number) },
        filters: filters.clone(),
        filtered,
        scores: names.into_iter().map(|n| (n.to_string(), weight(n))).collect(),
        scored: scored.collect(),
        quote: kept.message.as_ref().map(|text| kubestep_protocol::Quote {
            by: super::why::written("kube-scheduler", session.at(kept.at)),
            source: Rich::words("Event FailedScheduling"),
            text: text.clone(),
        }),
        note: if note.is_empty() { Rich::default() } else { Rich::words(note) },
    }
}
