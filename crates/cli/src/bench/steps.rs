//! What each sort of step costs while many pods come up and after: which loop's is the slowest.

use super::{measure, scene};
use kubestep_cluster::{Step, What, World};
use kubestep_insight::{Gaps, settled};
use std::collections::BTreeMap;

/// So many steps are made after all are calm.
const AFTER: usize = 20_000;
/// No run makes more.
const MOST: usize = 10_000_000;
/// So many plays of the same steps.
const PLAYS: usize = 3;
/// A picture's time, in milliseconds.
const FRAME: f64 = 16.0;

/// What a step was, and of which loop.
fn sort_of(step: &Step, what: &What) -> String {
    match (step, what) {
        (Step::Deliver(process, kind), _) if process.is_manager() => {
            format!("delivery of a {kind}, {process}")
        }
        (Step::Deliver(_, kind), What::Delivered { process, .. }) => {
            let who = process.to_string();
            format!("delivery of a {kind}, {}", who.split(' ').next().unwrap_or_default())
        }
        (_, What::Thought { controller, asks, .. }) => {
            format!("{controller} thinks and {}", if asks.is_empty() { "ends" } else { "asks" })
        }
        (_, What::Served { verb, key, subresource, .. }) => {
            format!("{verb} {} {subresource} served", key.kind)
        }
        (Step::Timer(process, _), What::ByClock { timer, .. }) => {
            let who = process.to_string();
            let timer = format!("{timer:?}");
            let name = timer.split([' ', '(', '{']).next().unwrap_or_default();
            format!("timer {name}, {}", who.split(' ').next().unwrap_or_default())
        }
        (Step::Runtime(_), _) => "container runtime".to_owned(),
        (Step::Client(_), _) => "a person's command".to_owned(),
        (_, What::Woke { controller }) => format!("{controller} is woken"),
        (Step::Period(..), _) => "a loop that runs by time".to_owned(),
        _ => "other".to_owned(),
    }
}

/// One play: each step's sort, and what it took by the clock on the wall.
fn play(pods: usize, service: bool) -> Vec<(String, f64)> {
    let mut world = World::boot(&scene::start(pods.div_ceil(100)));
    world.act(scene::apply(scene::manifest(pods, service)));
    let mut gaps = Gaps::begin(&world);
    let mut steps = vec![];
    let mut left = MOST;
    while left > 0
        && let Some((_, step)) = world.next()
    {
        let (record, time) = measure::clocked(|| world.advance(&step));
        steps.push((sort_of(&step, &record.what), time));
        gaps.follow(&world, &record.changes);
        left -= 1;
        if left > AFTER && gaps.is_empty() && !world.is_exclusive() && settled(&world) {
            left = AFTER;
        }
    }
    steps
}

/// Every play makes the same steps: of each the middle of its times counts, so that what others did on the machine in one of
/// them does not.
fn middle(plays: &[Vec<(String, f64)>]) -> Vec<(String, f64)> {
    let Some(first) = plays.first() else { return vec![] };
    let time = |at: usize| {
        let mut times: Vec<f64> = plays.iter().filter_map(|p| p.get(at)).map(|s| s.1).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    first.iter().enumerate().map(|(at, (name, _))| (name.clone(), time(at))).collect()
}

fn at(pods: usize, service: bool) {
    let plays: Vec<_> = (0..PLAYS).map(|_| play(pods, service)).collect();
    let steps = middle(&plays);
    let beside = if service { " behind a Service" } else { "" };
    let name = format!("{pods} pods{beside}");
    measure::say_spread(&format!("{name}, any step"), steps.iter().map(|s| s.1).collect(), "ms");
    let over = steps.iter().filter(|s| s.1 > FRAME).count();
    let over = f64::from(u32::try_from(over).unwrap_or(u32::MAX));
    measure::say(&format!("{name}, steps over 16 ms"), over, "steps", steps.len());
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, time) in steps {
        times.entry(name).or_default().push(time);
    }
    let mut rows: Vec<(f64, String, Vec<f64>)> = times
        .into_iter()
        .map(|(name, times)| (times.iter().copied().fold(0.0, f64::max), name, times))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, sort, times) in rows.into_iter().take(12) {
        measure::say(&format!("{name}, {sort}, sum"), times.iter().sum(), "ms", times.len());
        measure::say_spread(&format!("{name}, {sort}"), times, "ms");
    }
}

pub(super) fn run(pods: usize) {
    at(pods, false);
    at(pods, true);
}
