//! The page's pictures: what a frame and its delta cost, and how large they are.

use super::{
    measure,
    page::{Page, size},
};
use kubestep_protocol::{Command, Stop, Update};

/// So many pictures are taken while the pods come up.
const FRAMES: usize = 400;

fn at(pods: usize) {
    let mut page = Page::with(pods, true);
    let name = format!("{pods} pods");
    let (mut steps, mut bytes) = (vec![], vec![]);
    let mut run = |page: &mut Page, kept: bool| {
        let command = Command::Step { inner: false };
        let (updates, cpu) = measure::clocked(|| page.ask(command));
        let size = size(&updates);
        if kept {
            steps.push(cpu);
            bytes.push(f64::from(u32::try_from(size).unwrap_or(u32::MAX)) / 1024.0);
        }
    };
    for _ in 0..FRAMES {
        run(&mut page, true);
    }
    measure::say_spread(&format!("{name} coming up, a step with its picture"), steps, "ms");
    measure::say_spread(&format!("{name} coming up, size of its delta"), bytes, "KiB");
    let (updates, cpu) = measure::timed(|| page.ask(Command::UntilCalm));
    let calm = updates.iter().any(|u| matches!(u, Update::Done { stop: Stop::Calm(_), .. }));
    measure::say(&format!("{name}, until calm with pictures (calm: {calm})"), cpu, "ms", 1);
    let whole: Vec<f64> =
        (0..50).map(|_| measure::clocked(|| std::hint::black_box(page.ask(Command::Whole))).1).collect();
    measure::say_spread(&format!("{name}, a whole picture"), whole, "ms");
    let updates = page.ask(Command::Whole);
    let size = size(&updates);
    measure::say(
        &format!("{name}, size of a whole picture"),
        f64::from(u32::try_from(size).unwrap_or(0)) / 1024.0,
        "KiB",
        1,
    );
}

pub(super) fn run() {
    at(300);
    at(1000);
}
