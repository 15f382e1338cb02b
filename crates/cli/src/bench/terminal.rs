//! What a command costs that is typed on the page, with the picture that shows it.

use super::{
    measure,
    page::{Page, size},
};
use kubestep_protocol::Command;

/// Each is typed so many times.
const TIMES: usize = 9;

/// Short and long answers, in the order in which they are typed: what was printed before must not make later ones slow.
const LINES: [&str; 9] = [
    "get pods",
    "get pods -o wide",
    "get deploy",
    "get pods -o yaml",
    "get deploy",
    "get pods -o json",
    "get deploy",
    "get pods",
    "get events",
];

pub(super) fn run(pods: usize) {
    let mut page = Page::with(pods, false);
    page.ask(Command::UntilCalm);
    for line in LINES {
        let (mut times, mut bytes) = (vec![], 0);
        for _ in 0..TIMES {
            let typed = Command::Kubectl { terminal: 0, line: format!("kubectl {line}"), files: vec![] };
            let (updates, cpu) = measure::timed(|| page.ask(typed));
            times.push(cpu);
            bytes = size(&updates);
        }
        times.sort_by(f64::total_cmp);
        let name = format!("{pods} pods, typed: kubectl {line} ({} KiB to the page)", bytes / 1024);
        measure::say(&name, times[TIMES / 2], "ms", TIMES);
    }
}
