//! Random scenarios with faults, healed: each must end calm and as a run without faults ends, names aside.

use crate::golden;
use kubestep_insight::sweep::{Outcome, Turn, scenario, sweep};

const SEEDS: u64 = 200;

/// Which seeds: the first 200, or those that `SWEEP=A..B` names.
fn range() -> (u64, u64) {
    let named = std::env::var("SWEEP").ok();
    let parts = named.as_deref().and_then(|s| s.split_once(".."));
    parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))).unwrap_or((1, SEEDS))
}

fn told(seed: u64, outcome: &Outcome) -> Option<String> {
    let wrong = outcome.wrong.as_ref()?;
    Some(format!("seed {seed}: {wrong}\n  {}\n  again: cargo sim {seed}", outcome.story.join("\n  ")))
}

#[test]
fn healed_clusters_end_as_if_nothing_had_happened() {
    let (first, last) = range();
    let seeds: Vec<u64> = (first..=last).collect();
    let outcomes = golden::on_two_threads(&seeds, |seed| sweep(*seed));
    let wrong: Vec<String> = seeds.iter().zip(&outcomes).filter_map(|(s, o)| told(*s, o)).collect();
    println!("{} seeds, {} wrong", seeds.len(), wrong.len());
    let faults = outcomes.iter().filter(|o| o.story.iter().any(|l| l.contains("Fault("))).count();
    assert!(faults > seeds.len() * 3 / 4, "only {faults} of the scenarios hold a fault");
    assert!(wrong.is_empty(), "{} seeds of {}:\n{}", wrong.len(), seeds.len(), wrong.join("\n"));
}

#[test]
fn a_seed_always_ends_at_the_same_hash() {
    for seed in [7, 8, 9] {
        assert_eq!(sweep(seed), sweep(seed));
    }
}

/// Every workload, what stands around it, and every fault.
const DRAWN: [&str; 47] = [
    "Make Deployment",
    "Make StatefulSet",
    "Make DaemonSet",
    "Make Job",
    "Make CronJob",
    "Make ReplicationController",
    "Make HorizontalPodAutoscaler",
    "Make PodDisruptionBudget",
    "Make ResourceQuota",
    "Make PersistentVolumeClaim",
    "Make Namespace",
    "Recreate",
    "RollingUpdate",
    "Parallel",
    "volumeClaimTemplates",
    "Indexed",
    "fails:1",
    "Forbid",
    "Heal",
    "Delete(",
    "evict: true",
    "Hold",
    "Lose",
    "Delay",
    "SlowPrograms",
    "Stop {",
    "Stop(\"node",
    "Crash {",
    "Crash(\"node",
    "CrashAfter",
    "Requests",
    "Programs",
    "Dropped",
    "Unanswered",
    "Doubled",
    "Conflict",
    "Slow {",
    "Mute",
    "Deafen",
    "CutHistory",
    "ApiServer",
    "RestartStale",
    "SecondManager",
    "Registry(Away)",
    "Throttling",
    "ClockJump",
    "kube-scheduler",
];

#[test]
fn the_seeds_draw_every_workload_and_every_fault() {
    let turns = (1..=SEEDS).flat_map(scenario).map(|(_, turn)| match turn {
        Turn::Make(object) => format!("Make {} {object}", object["kind"].as_str().unwrap_or("")),
        other => format!("{other:?}"),
    });
    let told: Vec<String> = turns.collect();
    let missing: Vec<_> = DRAWN.iter().filter(|d| !told.iter().any(|line| line.contains(**d))).collect();
    assert!(missing.is_empty(), "never drawn: {missing:?}");
    let watches: std::collections::BTreeSet<&String> = told.iter().filter(|l| l.contains("Hold {")).collect();
    assert!(watches.len() > 20, "only {} watches are held", watches.len());
}
