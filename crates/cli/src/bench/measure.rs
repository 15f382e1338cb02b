//! What is measured, and how it is printed.

use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Prints a number as a line of JSON.
pub(super) fn say(name: &str, value: f64, unit: &str, samples: usize) {
    let value = (value * 1000.0).round() / 1000.0;
    println!("{}", json!({"name": name, "value": value, "unit": unit, "samples": samples}));
}

/// Prints the least, the middle, the 99th of a hundred and the greatest.
pub(super) fn say_spread(name: &str, mut values: Vec<f64>, unit: &str) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let Some(most) = n.checked_sub(1) else { return };
    for (part, i) in [("min", 0), ("median", n / 2), ("p99", n * 99 / 100), ("max", most)] {
        say(&format!("{name}, {part}"), values[i.min(most)], unit, n);
    }
}

/// The time that this thread has been on a processor: what others do on the machine does not count.
pub(super) fn cpu() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// Does something and tells how many milliseconds of a processor it took.
pub(super) fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let begun = cpu();
    let value = f();
    (value, millis(cpu().saturating_sub(begun)))
}

/// As [`timed`], by the clock on the wall: for what is too short for the kernel's account of processor time.
pub(super) fn clocked<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let value = f();
    (value, millis(begun.elapsed()))
}

/// A time in milliseconds.
pub(super) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Resident memory in MiB.
pub(super) fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u32 = text.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    f64::from(pages) / 256.0
}
