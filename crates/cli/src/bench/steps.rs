//! What each sort of step costs while many pods come up and after: which loop's is the slowest.

use super::{measure, scene};
use kubestep_cluster::{Step, What, World};
use kubestep_insight::{Gaps, settled};
use std::collections::BTreeMap;

/// So many steps are made after all are calm.
const AFTER: usize = 20_000;
/// No run makes more.
const MOST: usize = 10_000_000;

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

fn at(pods: usize, service: bool) {
    let mut world = World::boot(&scene::start(pods.div_ceil(100)));
    world.act(scene::apply(scene::manifest(pods, service)));
    let mut gaps = Gaps::begin(&world);
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut left = MOST;
    while left > 0
        && let Some((_, step)) = world.next()
    {
        let (record, time) = measure::clocked(|| world.advance(&step));
        times.entry(sort_of(&step, &record.what)).or_default().push(time);
        gaps.follow(&world, &record.changes);
        left -= 1;
        if left > AFTER && gaps.is_empty() && !world.is_exclusive() && settled(&world) {
            left = AFTER;
        }
    }
    let beside = if service { " behind a Service" } else { "" };
    let mut rows: Vec<(f64, String, Vec<f64>)> = times
        .into_iter()
        .map(|(name, times)| (times.iter().copied().fold(0.0, f64::max), name, times))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, name, times) in rows.into_iter().take(12) {
        measure::say(&format!("{pods} pods{beside}, {name}, sum"), times.iter().sum(), "ms", times.len());
        measure::say_spread(&format!("{pods} pods{beside}, {name}"), times, "ms");
    }
}

pub(super) fn run(pods: usize) {
    at(pods, false);
    at(pods, true);
}
