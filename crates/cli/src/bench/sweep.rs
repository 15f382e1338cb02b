//! Random scenarios with faults, each also without them.

use super::measure;
use kubestep_insight::sweep::sweep;

pub(super) fn run(seeds: usize) {
    let seeds = u64::try_from(seeds).unwrap_or(1);
    let mut times = vec![];
    for seed in 0..seeds {
        times.push(measure::timed(|| std::hint::black_box(sweep(seed))).1);
    }
    measure::say_spread("a seed of the sweep", times, "ms");
}
