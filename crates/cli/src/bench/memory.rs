//! What kept worlds weigh.

use super::{measure, scene};

pub(super) fn run(steps: usize) {
    let before = measure::resident();
    let history = scene::long_history(steps, |_| {});
    let worlds = history.kept();
    let grown = measure::resident() - before;
    let count = f64::from(u32::try_from(worlds).unwrap_or(u32::MAX)).max(1.0);
    measure::say("resident memory before", before, "MiB", 1);
    measure::say(&format!("resident memory for {worlds} kept worlds"), grown, "MiB", 1);
    measure::say("for each 10,000 worlds", grown / count * 10_000.0, "MiB", 1);
    measure::say("for each world", grown / count * 1024.0, "KiB", worlds);
}
