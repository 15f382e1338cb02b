//! What was asked for and what there was, over time: of objects that count their pods.

use crate::session::Session;
use kubestep_insight::{counts, writes};
use kubestep_model::Object;
use kubestep_protocol::TracePoint;

/// So many changes are drawn: the latest.
const MOST: usize = 60;

/// The trace up to the shown moment: a point wherever one of the two changed. It goes from each write to the one before
/// it, so that it costs what this object was written, however long the log is.
pub(super) fn trace(session: &Session, object: &Object) -> Vec<TracePoint> {
    let mut trace: Vec<TracePoint> = vec![];
    for (object, write) in writes(session.world().store(), object) {
        let Some((have, want)) = counts(object) else { break };
        let count = |n: i32| u32::try_from(n).unwrap_or(0);
        let point = TracePoint { at: session.at(write.at), desired: count(want), observed: count(have) };
        let full = trace.len() == MOST;
        match trace.last_mut() {
            // The same since longer.
            Some(last) if (last.desired, last.observed) == (point.desired, point.observed) => {
                last.at = point.at;
            }
            _ if full => break,
            _ => trace.push(point),
        }
    }
    trace.reverse();
    trace
}
