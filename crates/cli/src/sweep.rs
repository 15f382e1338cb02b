//! `kubestep sweep`: random scenarios with faults, healed, compared with a run without faults.

use kubestep_insight::sweep::sweep;
use std::time::Instant;

const USAGE: &str = "usage: kubestep sweep --seeds A..B    (or one seed: kubestep sweep 1234)";

/// The command. Exit code 0, 1 when a seed went wrong, 2 for a bad call.
pub fn main(args: &[String]) -> i32 {
    let Some((from, to)) = seeds(args) else {
        eprintln!("{USAGE}");
        return 2;
    };
    let begun = Instant::now();
    let mut wrong = 0;
    for seed in from..to {
        let outcome = sweep(seed);
        if let Some(text) = outcome.wrong {
            wrong += 1;
            println!("seed {seed}: {text}\n  {}\n  again: kubestep sweep {seed}", outcome.story.join("\n  "));
        } else if to - from == 1 {
            println!(
                "seed {seed}: calm and right\n  {}\n  hash {}",
                outcome.story.join("\n  "),
                outcome.hash
            );
        }
    }
    println!("{} seeds, {wrong} wrong, {:.1} s", to - from, begun.elapsed().as_secs_f64());
    i32::from(wrong > 0)
}

fn seeds(args: &[String]) -> Option<(u64, u64)> {
    match args {
        [flag, range] if flag == "--seeds" => {
            let (from, to) = range.split_once("..")?;
            Some((from.parse().ok()?, to.parse().ok()?)).filter(|(a, b)| a < b)
        }
        [seed] => seed.parse().ok().map(|s: u64| (s, s + 1)),
        _ => None,
    }
}
