//! How far apart the moments of what a kubelet tries again and again may lie.

use super::grid::Grid;
use super::recording::{Event, Recording, Step};

/// What a kubelet says each time that it looks at a container that waits.
const AGAIN: &[&str] =
    &["BackOff", "Created", "ErrImageNeverPull", "Failed", "InspectFailed", "Pulled", "Pulling", "Started"];

/// A wait is at most half as long again: of two runs of the same waits, the shorter lacks a third of the longer.
const SHARE: f64 = 1.0 / 3.0;

/// The seconds that the age of an event in a table may differ by, beyond what any moment may.
pub(super) fn of(recording: &Recording, step: &Step, name: &str, grid: &Grid, row: &[&str]) -> f64 {
    let cell =
        |heads: &[&str]| grid.heads().zip(row).find(|(head, _)| heads.contains(head)).map(|(_, cell)| *cell);
    let (Some(reason), Some(message)) = (cell(&["REASON", "Reason"]), cell(&["MESSAGE", "Message"])) else {
        return 0.0;
    };
    let object = cell(&["OBJECT"]).map_or(format!("Pod/{name}"), str::to_owned);
    let same = |event: &&Event| {
        event.reason == reason
            && event.regarding.eq_ignore_ascii_case(&object)
            && message.ends_with(&event.message)
            && event.at <= step.at + step.took
    };
    if AGAIN.contains(&reason) { since_first(recording.events.iter().filter(same)) * SHARE } else { 0.0 }
}

/// How long ago, at its last time, an event came for the first time; one that is counted anew is another.
fn since_first<'a>(events: impl Iterator<Item = &'a Event>) -> f64 {
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for event in events {
        if event.count <= 1 {
            first = event.at;
        }
        last = event.at;
    }
    if last > first { last - first } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_again_may_lie_apart() {
        let event = |at: f64, count: i64| Event {
            at,
            regarding: "Pod/web".to_owned(),
            reason: "BackOff".to_owned(),
            message: "Back-off pulling image".to_owned(),
            count,
            ..Event::default()
        };
        let events = vec![event(1.0, 1), event(13.0, 2), event(31.0, 3), event(50.0, 1)];
        let recording = Recording { events, ..Recording::default() };
        let grid = Grid::head("LAST SEEN   REASON    OBJECT    MESSAGE", None).expect("a head");
        let spread = |at: f64, reason: &str, object: &str| {
            let step = Step { at, ..Step::default() };
            of(&recording, &step, "", &grid, &["1s", reason, object, "Back-off pulling image"])
        };
        assert_eq!(spread(5.0, "BackOff", "pod/web"), 0.0);
        assert_eq!(spread(40.0, "BackOff", "pod/web"), 10.0);
        assert_eq!(spread(60.0, "BackOff", "pod/web"), 0.0);
        assert_eq!(spread(40.0, "BackOff", "pod/api"), 0.0);
        assert_eq!(spread(40.0, "Killing", "pod/web"), 0.0);
    }
}
