//! Many replicas of one Deployment on ten nodes, from apply to calm.

use super::{measure, scene};
use kubestep_cluster::World;

const RUNS: usize = 3;

/// One run: milliseconds of a processor.
fn once(replicas: usize, service: bool) -> (World, scene::Ran, f64) {
    let mut world = World::boot(&scene::start(replicas.div_ceil(100)));
    let (ran, cpu) = measure::timed(|| {
        world.act(scene::apply(scene::manifest(replicas, service)));
        scene::until_calm(&mut world, 2_000_000)
    });
    (world, ran, cpu)
}

pub(super) fn run(replicas: usize) {
    for (service, beside) in [(false, ""), (true, " behind a Service")] {
        let name = format!("{replicas} replicas{beside}");
        let runs: Vec<_> = (0..RUNS).map(|_| once(replicas, service)).collect();
        let Some((world, ran, _)) = runs.last() else { return };
        let clock = world.now().since(World::boot(&scene::start(replicas.div_ceil(100))).now());
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        if !ran.calm {
            println!("{name}: not calm after {} records", ran.records);
        }
        measure::say(&format!("{name}, steps"), count(ran.steps), "steps", 1);
        measure::say(&format!("{name}, records"), count(ran.records), "records", 1);
        measure::say(&format!("{name}, clock of the cluster"), clock.as_secs_f64(), "s", 1);
        measure::say_spread(&format!("{name}, CPU"), runs.iter().map(|r| r.2).collect(), "ms");
    }
}
