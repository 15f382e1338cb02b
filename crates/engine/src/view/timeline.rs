//! The score: a mark for every step, the age of the oldest gap, deadlines, other branches.

use crate::session::{Note, Session};
use kubestep_model::{Deployment, Kind};
use kubestep_protocol::{Branch, BranchId, Flag, GapSpan, Lane, Mark, Moment, Timeline, age};
use std::time::Duration;

/// Everything that the time panel draws.
pub(super) fn timeline(session: &Session) -> Timeline {
    let mut timeline = Timeline::default();
    let notes = &session.track().notes;
    for (i, note) in notes.iter().enumerate() {
        let at = session.moment(i).map_or(session.now(), |m| session.at(m.at));
        if i > 0 {
            let lane = lane_of(&mut timeline.lanes, note);
            timeline.marks.push(Mark { at, lane, stored: note.stored });
        }
        let opened = note.gaps.oldest().map(|(_, g)| session.at(g.opened));
        if timeline.gaps.last().is_none_or(|g| g.opened != opened) {
            timeline.gaps.push(GapSpan { from: at, opened });
        }
    }
    timeline.flags = flags(session);
    timeline.branches = branches(session);
    timeline
}

fn lane_of(lanes: &mut Vec<Lane>, note: &Note) -> u8 {
    let index = lanes.iter().position(|l| l.who == note.who && l.name == note.lane).unwrap_or_else(|| {
        lanes.push(Lane { who: note.who, name: note.lane.clone() });
        lanes.len() - 1
    });
    u8::try_from(index).unwrap_or(u8::MAX)
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
