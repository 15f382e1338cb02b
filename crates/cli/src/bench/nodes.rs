//! A very large cluster: how far it can be loaded, and what a step costs then.

use super::{measure, scene};
use kubestep_cluster::World;
use std::time::Duration;

pub(super) fn run(nodes: usize, each: usize) {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    let (mut world, boot) = measure::timed(|| World::boot(&scene::start(nodes)));
    measure::say(&format!("{nodes} nodes, boot until ready"), boot, "ms", 1);
    measure::say(&format!("{nodes} nodes, resident"), measure::resident(), "MiB", 1);
    let pods = nodes * each;
    let (ran, cpu) = measure::timed(|| {
        world.act(scene::apply(scene::manifest(pods, false)));
        scene::until_calm(&mut world, pods * 400)
    });
    let name = format!("{nodes} nodes, {pods} pods");
    measure::say(&format!("{name}, to calm"), cpu, "ms", 1);
    measure::say(&format!("{name}, calm"), count(usize::from(ran.calm)), "yes=1", 1);
    measure::say(&format!("{name}, records"), count(ran.records), "records", 1);
    measure::say(&format!("{name}, resident"), measure::resident(), "MiB", 1);
    idle(&mut world, &name);
    let mut times = vec![];
    for _ in 0..10_000 {
        let Some((_, step)) = world.next() else { break };
        times.push(measure::clocked(|| world.advance(&step)).1);
    }
    measure::say_spread(&format!("{name}, one inner step"), times, "ms");
}

/// What it costs to keep a cluster in which nothing happens: leases, and looks at what is.
fn idle(world: &mut World, name: &str) {
    const WHILE: Duration = Duration::from_secs(60);
    let (end, first) = (world.now() + WHILE, world.next_record());
    let ((), cpu) = measure::timed(|| {
        while let Some((_, step)) = world.next().filter(|(at, _)| *at <= end) {
            world.advance(&step);
        }
    });
    let records = u32::try_from(world.next_record() - first).unwrap_or(u32::MAX);
    measure::say(&format!("{name}, a minute in which nothing happens"), cpu, "ms", 1);
    measure::say(&format!("{name}, its records"), f64::from(records), "records", 1);
}
