//! The score: a mark for every step, the age of the oldest gap, deadlines, other branches.

use crate::session::Session;
use kubestep_model::{Deployment, Kind};
use kubestep_protocol::{Branch, BranchId, Flag, Moment, Timeline, age};
use std::time::Duration;

/// Everything that the time panel draws.
pub(super) fn timeline(session: &Session) -> Timeline {
    let score = &session.track().score;
    Timeline { flags: flags(session), branches: branches(session), ..score.clone() }
}

/// Deadlines of Deployments whose gap is open.
fn flags(session: &Session) -> Vec<Flag> {
    let deployments =
        session.world().store().list(Kind::Deployment, None).filter_map(|o| o.get::<Deployment>());
    let flag = |d: &Deployment| {
        let progressing = d.condition("Progressing").filter(|c| c.reason != "NewReplicaSetAvailable")?;
        let limit = Duration::from_secs(u64::try_from(d.spec.progress_deadline_seconds?).ok()?);
        session.note().gaps.get(&kubestep_model::Resource::key(d))?;
        let from = if progressing.status == "False" {
            progressing.last_update_time?.instant()
        } else {
            progressing.last_update_time?.instant() + limit
        };
        Some(Flag {
            at: session.at(from),
            name: format!("deadline {}", age(u64::try_from(limit.as_millis()).unwrap_or(0))),
        })
    };
    deployments.filter_map(flag).collect()
}

fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn branches(session: &Session) -> Vec<Branch> {
    let all = session.history.branches();
    let shown = session.history.branch();
    let row = |(i, b): (usize, &kubestep_cluster::Branch)| {
        // The oldest timeline parts from the shown one where that one began.
        let (branch, step) =
            b.parent.or_else(|| all[shown].parent.map(|(_, s)| (shown, s))).unwrap_or((shown, 0));
        let name = b
            .inputs
            .iter()
            .find(|input| b.moments.get(step).is_some_and(|m| input.after >= m.next_record))
            .map_or(String::new(), crate::words::of_input);
        let ends = b.moments.last().map_or(session.now(), |m| session.at(m.at));
        let from = Moment { branch: BranchId(number(branch)), step: number(step) };
        Branch {
            id: BranchId(number(i)),
            from,
            name,
            steps: number((b.moments.len() - 1).saturating_sub(step)),
            ends,
        }
    };
    all.iter().enumerate().filter(|(i, _)| *i != shown).map(row).collect()
}
