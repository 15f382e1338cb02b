//! Random scenarios with faults, healed: each must end calm and as a run without faults ends, names aside.

use crate::golden;
use kubestep_insight::sweep::{Outcome, sweep};

const SEEDS: u64 = 200;

fn told(seed: u64, outcome: &Outcome) -> Option<String> {
    let wrong = outcome.wrong.as_ref()?;
    Some(format!("seed {seed}: {wrong}\n  {}\n  again: cargo sim {seed}", outcome.story.join("\n  ")))
}

#[test]
fn healed_clusters_end_as_if_nothing_had_happened() {
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    let outcomes = golden::on_two_threads(&seeds, |seed| sweep(*seed));
    let wrong: Vec<String> = seeds.iter().zip(&outcomes).filter_map(|(s, o)| told(*s, o)).collect();
    println!("{SEEDS} seeds, {} wrong", wrong.len());
    let faults = outcomes.iter().filter(|o| o.story.iter().any(|l| l.contains("Fault("))).count();
    assert!(faults > 150, "only {faults} of the scenarios hold a fault");
    assert!(wrong.is_empty(), "{} seeds of {SEEDS}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_seed_always_ends_at_the_same_hash() {
    for seed in [7, 8, 9] {
        assert_eq!(sweep(seed), sweep(seed));
    }
}
