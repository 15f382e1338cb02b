//! What kubectl's commands cost in a cluster of many pods: all that one command makes the simulator do.

use super::{measure, scene};
use kubestep_cluster::World;

/// Each is run so many times.
const TIMES: usize = 15;
/// No command makes more records than this.
const MOST: usize = 200_000;

/// Commands that read all pods, in every form.
const LINES: [&str; 24] = [
    "get pods",
    "get pods -o wide",
    "get pods -A",
    "get pods -o yaml",
    "get pods -o json",
    "get pods -o name",
    "get pods -o jsonpath={.items[*].metadata.name}",
    "get pods -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
    "get pods --sort-by=.metadata.name",
    "get pods --show-labels -L app",
    "get pods -l app=web",
    "get pods --field-selector=status.phase=Running",
    "get all",
    "get events",
    "get events --sort-by=.metadata.creationTimestamp",
    "events",
    "get rs,deploy -o wide",
    "get nodes -o wide",
    "describe deploy web",
    "describe node node-1",
    "describe pod -l app=none",
    "rollout status deploy/web",
    "rollout history deploy/web",
    "wait --for=condition=Ready pod -l app=web --timeout=1s",
];

fn ran(world: &mut World, line: &str) -> usize {
    world.act(scene::kubectl(&format!("kubectl {line}")));
    let mut records = 0;
    while world.is_exclusive() && records < MOST {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
        records += 1;
    }
    records
}

pub(super) fn run(pods: usize) {
    let mut world = World::boot(&scene::start(pods.div_ceil(100)));
    world.act(scene::apply(scene::manifest(pods, false)));
    let calm = scene::until_calm(&mut world, 10_000_000).calm;
    for line in LINES {
        let mut times = vec![];
        for _ in 0..TIMES {
            let mut copy = world.clone();
            times.push(measure::timed(|| ran(&mut copy, line)).1);
        }
        times.sort_by(f64::total_cmp);
        measure::say(&format!("{pods} pods (calm: {calm}), kubectl {line}"), times[TIMES / 2], "ms", TIMES);
    }
}
