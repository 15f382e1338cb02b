//! Seeking in a long run: with every world kept, and with the old ones thinned out or all dropped.

use super::{measure, scene};
use kubestep_cluster::History;
use kubestep_model::Dice;

const SEEKS: u32 = 1000;

fn seeks(history: &mut History, dice: &mut Dice) -> Vec<f64> {
    let last = u32::try_from(history.last()).unwrap_or(u32::MAX);
    let target = |dice: &mut Dice| dice.below("seek", last + 1) as usize;
    (0..SEEKS)
        .map(|_| {
            let step = target(dice);
            measure::clocked(|| std::hint::black_box(history.seek(step))).1
        })
        .collect()
}

pub(super) fn run(steps: usize) {
    let mut dice = Dice::new(7);
    let (mut history, cpu) = measure::timed(|| scene::long_history(steps, |_| {}));
    let made = history.last();
    measure::say(&format!("a run of {made} steps, made"), cpu, "ms", 1);
    measure::say_spread("seek, all worlds kept", seeks(&mut history, &mut dice), "ms");
    history.thin();
    measure::say(
        "worlds kept after thinning",
        f64::from(u32::try_from(history.kept()).unwrap_or(0)),
        "worlds",
        1,
    );
    measure::say_spread("seek, thinned", seeks(&mut history, &mut dice), "ms");
    let way: Vec<f64> = (0..=200)
        .map(|i| {
            let step = made.saturating_sub(made / 2 + i);
            measure::clocked(|| std::hint::black_box(history.seek(step))).1
        })
        .collect();
    measure::say_spread("step by step backwards, thinned", way, "ms");
    history.drop_worlds();
    let (_, cpu) = measure::timed(|| std::hint::black_box(history.seek(made / 2)));
    measure::say("first seek to the middle, all worlds dropped", cpu, "ms", 1);
    measure::say_spread("seeks after it, all worlds dropped", seeks(&mut history, &mut dice), "ms");
}
