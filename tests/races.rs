//! Every order of loops that count something else than pods; orders of the scheduler, drawn by lot; and the search of
//! the page, which finds a race that is known to be there.

use kubestep_cluster::{Act, FaultAct, NodeSpec, Registry, Settings, Start, Step, World};
use kubestep_insight::explore::{Found, Promise, Rules, Stub, bounds, search, small_world_of};
use kubestep_insight::requests::{Requests, create};
use kubestep_model::{Dice, Key, Kind, PatchKind, Pod, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

const LIMIT: usize = 300_000;

fn whole(name: &str, world: &World, troubles: u32, promise: Promise<'_>) -> Found {
    let found = search(world, Rules { troubles, lost: true, stub: Stub::Nothing }, promise, LIMIT);
    println!("{name}, {troubles} crashes or lost answers: {} states, {} quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    found
}

/// A program asks, and whatever is due now happens.
fn asks(world: &mut World, requests: Vec<Request>, exclusive: bool) {
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
}

/// All that is due at this very moment happens.
fn rest(world: &mut World) {
    for _ in 0..10_000 {
        let Some((at, step)) = world.next() else { return };
        if at > world.now() + Duration::from_secs(2) {
            return;
        }
        world.advance(&step);
    }
}

fn container() -> Value {
    json!([{"name": "web", "image": "web"}])
}

#[test]
fn every_order_of_the_volume_binder_gives_a_volume_to_one_claim() {
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
        "spec": {"storageClassName": "fast", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/d"}}});
    let claim = |name: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    };
    let world =
        small_world_of(&[volume, claim("a"), claim("b")], &["persistentvolume-binder"]).expect("a world");
    // What is left waits for a look by the clock (15 s), which no search moves: a search judges what must never be.
    let never = |world: &World, _: bool| bounds::one_claim_one_volume(world, false);
    let states = [0, 1].map(|n| whole("a volume and two claims", &world, n, &never).states);
    assert!(states[0] < states[1], "{states:?}");
    assert_eq!(bounds::one_claim_one_volume(&in_the_end(&world), true), Ok(()));
}

/// The world after a minute, by the clock.
fn in_the_end(world: &World) -> World {
    let mut world = world.clone();
    let until = world.now() + Duration::from_secs(60);
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= until) {
        world.advance(&step);
    }
    world
}

#[test]
fn every_order_of_two_evictions_keeps_the_budget() {
    let pod = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"nodeName": "a", "containers": container()}});
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}});
    let mut world = small_world_of(&[pod("a"), pod("b"), budget], &["disruption"]).expect("a world");
    let key = |name: &str| Key::new(Kind::Pod, "default", name);
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let said = |name: &str| -> Request {
        let (subresource, kind) = (Subresource::Status, PatchKind::Merge);
        Verb::Patch { key: key(name), subresource, kind, patch: Arc::new(ready.clone()) }.into()
    };
    asks(&mut world, vec![said("a"), said("b")], true);
    rest(&mut world);
    let evict = |name: &str| -> Request { evict(key(name)) };
    // Two programs, each with a node of its own to empty.
    asks(&mut world, vec![evict("a")], false);
    asks(&mut world, vec![evict("b")], false);
    let states = [0, 1].map(|n| whole("two evictions", &world, n, &bounds::never_below_the_budget).states);
    assert!(states[0] < states[1], "{states:?}");
    let end = in_the_end(&world);
    let pods = end.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>());
    assert_eq!(pods.filter(|p| !p.metadata.is_terminating()).count(), 1, "one may go");
}

fn evict(pod: Key) -> Request {
    Verb::Evict { pod, options: Default::default() }.into()
}

#[test]
fn every_order_of_a_cron_job_starts_once_and_forbid_never_two() {
    let template =
        json!({"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": container()}}}});
    let cron = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "web"},
        "spec": {"schedule": "* * * * *", "concurrencyPolicy": "Forbid", "jobTemplate": template}});
    let mut world = small_world_of(&[cron], &["cronjob"]).expect("a world");
    rest(&mut world);
    let jump =
        |world: &mut World| drop(world.act(Act::Fault(FaultAct::ClockJump { by: Duration::from_secs(60) })));
    jump(&mut world);
    let states =
        [0, 1, 2].map(|n| whole("a CronJob at its time", &world, n, &bounds::never_two_at_once).states);
    assert!(states.is_sorted_by(|a, b| a < b), "{states:?}");
    // The job was made and nobody has read it when the next time comes.
    while world.store().list(Kind::find("batch", "Job").expect("jobs"), None).next().is_none() {
        let (_, step) = world.next().expect("it is made");
        world.advance(&step);
    }
    jump(&mut world);
    whole("a CronJob at its next time", &world, 0, &bounds::never_two_at_once);
}

#[test]
fn every_order_of_an_autoscaler_stays_within_its_bounds() {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": container()}}}});
    let scaler = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"minReplicas": 2, "maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]}});
    let world =
        small_world_of(&[target, scaler], &["horizontalpodautoscaler", "deployment"]).expect("a world");
    let never = |world: &World, _: bool| bounds::within_bounds(world, false, 5);
    let states = [0, 1].map(|n| whole("an autoscaler", &world, n, &never).states);
    assert!(states[0] < states[1], "{states:?}");
    assert_eq!(bounds::within_bounds(&in_the_end(&world), true, 5), Ok(()));
}

/// A world with a scheduler, two nodes of one cpu each, two pods that fill them and one that may push one of them out.
fn crowded(seed: u64) -> World {
    let node = |i: u32| NodeSpec {
        name: format!("node-{i}"),
        cpu: kubestep_model::Quantity::parse("1").expect("a quantity"),
        ..NodeSpec::default()
    };
    let nodes = (1..=2).map(node).collect();
    let settings = Settings { selector_check: true };
    let mut world = World::boot(&Start {
        nodes,
        registry: Registry::default(),
        seed,
        latencies: Default::default(),
        settings,
    });
    let until = world.now() + Duration::from_secs(30);
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= until) {
        world.advance(&step);
    }
    let pod = |name: &str, class: &str| {
        let spec = json!({"priorityClassName": class, "containers": [{"name": "c", "image": "web", "resources": {"requests": {"cpu": "600m"}}}]});
        create(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}))
            .expect("a pod")
    };
    let class = create(
        &json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}),
    );
    let requests = class.into_iter().chain([
        pod("a", ""),
        pod("b", ""),
        pod("c", ""),
        pod("x", "high"),
        pod("y", "high"),
    ]);
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests.collect())), exclusive: false });
    world
}

/// What a scheduler promises, followed from step to step.
#[derive(Default)]
struct Bindings {
    node: BTreeMap<String, String>,
    victims: BTreeMap<String, u32>,
}

impl Bindings {
    fn follow(&mut self, world: &World, record: &kubestep_cluster::Record) {
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        for pod in world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
            let node = pod.spec.node_name.to_string();
            if node.is_empty() {
                continue;
            }
            // One that has ended holds nothing any more.
            let ended = matches!(pod.status.phase.as_str(), "Succeeded" | "Failed");
            *used.entry(node.clone()).or_default() += usize::from(!ended);
            let before = self.node.insert(pod.metadata.uid.to_string(), node.clone());
            assert!(before.is_none_or(|b| b == node), "{} was bound twice", pod.metadata.name);
        }
        assert!(used.values().all(|pods| *pods <= 1), "a node holds more than it has: {used:?}");
        if let kubestep_cluster::What::Served { who, verb: "delete", key, code: 200, .. } = &record.what
            && &**who == "kube-scheduler"
        {
            let times = self.victims.entry(key.name.to_string()).or_default();
            *times += 1;
        }
    }
}

/// Whether a step is one whose turn may be taken early.
fn early(step: &Step) -> bool {
    matches!(step, Step::Deliver(..) | Step::Serve(_) | Step::Client(_) | Step::Think(..))
}

#[test]
fn orders_of_the_scheduler_drawn_by_lot_bind_once_and_never_too_much() {
    let (mut pushed, mut steps, mut twice) = (0, 0, [0, 0]);
    for seed in 1..=150 {
        let mut world = crowded(seed);
        let (mut dice, mut seen) = (Dice::new(seed), Bindings::default());
        let until = world.now() + Duration::from_secs(60);
        let crash = u32::try_from(seed % 5).unwrap_or(0) * 40;
        for count in 0..3_000 {
            if crash > 0 && count == crash {
                let process = kubestep_cluster::ProcessId::Scheduler;
                world.act(Act::Fault(FaultAct::Crash { process: process.clone() }));
                world.act(Act::Fault(FaultAct::Restart { process }));
            }
            let Some((at, first)) = world.next() else { break };
            if at > until {
                break;
            }
            let turns: Vec<Step> =
                world.due().map(|(_, s)| s).filter(|s| early(s)).take(6).cloned().collect();
            let drawn = dice.below("turn", 3) == 0 && !turns.is_empty();
            let place = dice.below("which", u32::try_from(turns.len().max(1)).unwrap_or(1)) as usize;
            let step = if drawn { turns[place].clone() } else { first };
            let record = world.advance(&step);
            seen.follow(&world, &record);
            steps += 1;
        }
        pushed += seen.victims.len();
        let most = seen.victims.values().max().copied().unwrap_or(0);
        twice[usize::from(crash > 0)] += u32::from(most > 1);
        let high = ["x", "y"].map(|name| {
            let pod = world
                .store()
                .get(&Key::new(Kind::Pod, "default", name))
                .and_then(|o| o.get::<Pod>())
                .cloned();
            pod.is_some_and(|p| !p.spec.node_name.is_empty())
        });
        assert_eq!(high, [true, true], "seed {seed}: those of high priority have a node in the end");
    }
    println!("150 orders, {steps} steps, {pushed} victims, of these asked to go twice: {twice:?}");
    // A scheduler that begins anew does not know whom its predecessor asked to go, and asks once more: no harm is done.
    assert_eq!(twice[0], 0, "nobody is pushed out twice as long as nothing crashes");
    assert!(pushed > 20, "only {pushed} pods were pushed out");
}
