//! What was asked for and what there was, over time: of objects that count their pods.

use crate::session::Session;
use kubestep_insight::counts;
use kubestep_model::Object;
use kubestep_protocol::TracePoint;

/// So many writes of the object are looked at, and so many changes drawn: the latest.
const WRITES: usize = 200;
const MOST: usize = 60;

/// The trace up to the shown moment: a point wherever one of the two changed. It goes from each write to the one before
/// it, so that it costs what this object was written, however long the log is.
pub(super) fn trace(session: &Session, object: &Object) -> Vec<TracePoint> {
    let store = session.world().store();
    let mut trace: Vec<TracePoint> = vec![];
    let mut next = Some(object);
    for _ in 0..WRITES {
        let Some((write, (have, want))) = next.and_then(|o| store.entry(o.meta().revision()).zip(counts(o)))
        else {
            break;
        };
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
        next = write.old.as_ref();
    }
    trace.reverse();
    trace
}
