//! Random scenarios: things are changed, broken and healed; then the cluster must come to rest as it would have
//! without the faults, names aside.

use crate::{
    Gaps,
    requests::{Requests, create},
    settled, verdict,
};
use kubestep_cluster::{
    Act, FaultAct, Health, Image, Latencies, Mood, NodeAct, NodeSpec, ProcessId, Registry, Settings, Start,
    Trouble, World,
};
use kubestep_model::{
    Deployment, Dice, EndpointSlice, Key, Kind, PatchKind, Pod, Request, Subresource, Verb,
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How long the cluster gets to come to rest after everything was healed.
const CALM_WITHIN: Duration = Duration::from_secs(3600);
/// So many steps at most.
const MOST_STEPS: u32 = 200_000;

/// One thing that happens in a scenario, after a wait.
#[derive(Clone, Debug)]
enum Turn {
    Ask(Request),
    Fault(Act),
}

/// How a seed ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What happened, a line each, for people who want to repeat it.
    pub story: Vec<String>,
    /// Why it is not as it should be; `None` if all is well.
    pub wrong: Option<String>,
    /// The world's hash at the end.
    pub hash: String,
}

/// Plays the scenario of a seed twice, with its faults and without, and compares.
pub fn sweep(seed: u64) -> Outcome {
    let turns = scenario(&mut Dice::new(seed));
    let story = turns.iter().map(|(after, turn)| format!("+{}ms {turn:?}", after.as_millis())).collect();
    let broken = play(seed, &turns, true);
    let plain = play(seed, &turns, false);
    let wrong = match (&broken, &plain) {
        (Err(text), _) => Some(format!("with faults: {text}")),
        (_, Err(text)) => Some(format!("without faults: {text}")),
        (Ok((_, a)), Ok((_, b))) if a != b => Some(format!("with faults: {a:?}; without: {b:?}")),
        _ => None,
    };
    Outcome { story, wrong, hash: broken.map(|(w, _)| w.hash()).unwrap_or_default() }
}

fn scenario(dice: &mut Dice) -> Vec<(Duration, Turn)> {
    let mut turns = vec![
        (Duration::ZERO, Turn::Ask(deployment(1 + dice.below("replicas", 4)))),
        (Duration::ZERO, Turn::Ask(service())),
    ];
    for _ in 0..2 + dice.below("changes", 4) {
        let after = Duration::from_millis(u64::from(dice.below("after", 8_000)));
        let turn =
            if dice.below("kind", 3) == 0 { Turn::Ask(change(dice)) } else { Turn::Fault(fault(dice)) };
        turns.push((after, turn));
    }
    turns
}

fn deployment(replicas: u32) -> Request {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}});
    let spec =
        json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    ask(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}))
}

fn service() -> Request {
    ask(
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}),
    )
}

fn ask(object: serde_json::Value) -> Request {
    create(&object)
        .unwrap_or_else(|| Verb::List { kind: Kind::Pod, namespace: None, labels: None, fields: None }.into())
}

fn change(dice: &mut Dice) -> Request {
    let patch = match dice.below("change", 3) {
        0 => json!({"spec": {"replicas": dice.below("replicas", 6)}}),
        1 => {
            json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": format!("web:{}", 1 + dice.below("image", 3))}]}}}})
        }
        _ => {
            json!({"spec": {"template": {"metadata": {"annotations": {"note": dice.below("note", 3).to_string()}}}}})
        }
    };
    let key = Key::new(Kind::Deployment, "default", "web");
    Verb::Patch { key, subresource: Subresource::None, kind: PatchKind::Strategic, patch: Arc::new(patch) }
        .into()
}

/// A process of the control plane.
fn process(dice: &mut Dice) -> ProcessId {
    if dice.below("process", 4) == 0 { ProcessId::Scheduler } else { ProcessId::Manager }
}

fn fault(dice: &mut Dice) -> Act {
    let node = format!("node-{}", 1 + dice.below("node", 2));
    let kubelet = ProcessId::Kubelet(node.as_str().into());
    let kind = [Kind::Pod, Kind::ReplicaSet, Kind::Deployment][dice.below("watch", 3) as usize % 3];
    let manager = ProcessId::Manager;
    let of = |fault| Act::Fault(fault);
    match dice.below("fault", 20) {
        0 => of(FaultAct::Hold { process: manager, kind, held: true }),
        1 => of(FaultAct::Crash { process: manager }),
        2 => of(FaultAct::CrashAfter { process: manager, writes: 1 + dice.below("writes", 4) }),
        3 => of(FaultAct::Crash { process: ProcessId::Scheduler }),
        4 => of(FaultAct::Stop {
            controller: ["deployment", "replicaset", "endpointslice"][dice.below("stop", 3) as usize % 3]
                .into(),
            stopped: true,
        }),
        5 => Act::Node(NodeAct::Stop(node)),
        6 => Act::Node(NodeAct::Crash(node)),
        7..=10 => {
            let troubles = [Trouble::Dropped, Trouble::Unanswered, Trouble::Doubled, Trouble::Conflict];
            let trouble = troubles[dice.below("trouble", 4) as usize % 4];
            of(FaultAct::Requests { process: process(dice), trouble, next: 1 + dice.below("next", 8) })
        }
        11 => of(FaultAct::Lose { process: manager, kind, lost: true }),
        12 => {
            let by = Duration::from_millis(u64::from(dice.below("slow", 5_000)));
            let process = if dice.below("who", 2) == 0 { kubelet } else { process(dice) };
            of(FaultAct::Slow { process, by })
        }
        13 => of(FaultAct::Mute { process: kubelet, mute: true }),
        14 => of(FaultAct::Deafen { process: kubelet, deaf: true }),
        15 => of(FaultAct::ApiServer { away: true }),
        16 => {
            of(FaultAct::RestartStale { process: process(dice), behind: u64::from(dice.below("behind", 40)) })
        }
        17 => of(FaultAct::SecondManager { running: true }),
        18 => of(FaultAct::Registry(
            [Mood::Away, Mood::Slow(20), Mood::Throttling(3)][dice.below("registry", 3) as usize % 3],
        )),
        _ => of(FaultAct::ClockJump { by: Duration::from_secs(u64::from(dice.below("jump", 120))) }),
    }
}

fn start(seed: u64) -> Start {
    let nodes = (1..=2).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect();
    let mut registry = Registry::default();
    for i in 1..=3 {
        registry.push(&format!("web:{i}"), Image::pulled_in(1));
    }
    Start {
        nodes,
        registry,
        seed,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

/// What a run came to, names aside.
pub type Digest = BTreeMap<String, String>;

fn play(seed: u64, turns: &[(Duration, Turn)], faults: bool) -> Result<(World, Digest), String> {
    let mut world = World::boot(&start(seed));
    for (after, turn) in turns {
        let until = world.now() + *after;
        run_until(&mut world, until);
        match turn {
            Turn::Ask(request) => {
                // A person waits until somebody answers.
                if world.faults().api_away {
                    world.act(Act::Fault(FaultAct::ApiServer { away: false }));
                }
                world.act(Act::Run {
                    terminal: 0,
                    program: Arc::new(Requests(vec![request.clone()])),
                    exclusive: false,
                });
                let until = world.now() + Duration::from_millis(200);
                run_until(&mut world, until);
            }
            Turn::Fault(act) if faults => drop(world.act(act.clone())),
            Turn::Fault(_) => {}
        }
    }
    heal(&mut world);
    rest(&mut world)?;
    let digest = digest(&world);
    Ok((world, digest))
}

fn run_until(world: &mut World, end: kubestep_model::Instant) {
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= end) {
        world.advance(&step);
    }
    world.idle_until(end);
}

/// Ends every fault.
pub fn heal(world: &mut World) {
    let faults = world.faults().clone();
    let mut acts = vec![];
    if faults.api_away {
        acts.push(FaultAct::ApiServer { away: false });
    }
    acts.push(FaultAct::Registry(Mood::Well));
    if world.process(&ProcessId::SecondManager).is_some() {
        acts.push(FaultAct::SecondManager { running: false });
    }
    let crashing = faults.crash_after.keys().cloned();
    acts.extend(crashing.map(|process| FaultAct::CrashAfter { process, writes: 0 }));
    let troubled = faults.requests.iter().map(|(p, (trouble, _))| (p.clone(), *trouble));
    acts.extend(troubled.map(|(process, trouble)| FaultAct::Requests { process, trouble, next: 0 }));
    acts.extend(faults.programs.map(|(trouble, _)| FaultAct::Programs { trouble, next: 0 }));
    acts.extend(faults.slow.keys().map(|p| FaultAct::Slow { process: p.clone(), by: Duration::ZERO }));
    acts.extend(faults.mute.iter().map(|p| FaultAct::Mute { process: p.clone(), mute: false }));
    acts.extend(faults.deaf.iter().map(|p| FaultAct::Deafen { process: p.clone(), deaf: false }));
    let held = faults.held.iter().cloned();
    acts.extend(held.map(|(process, kind)| FaultAct::Hold { process, kind, held: false }));
    let lost = faults.lost.iter().cloned();
    acts.extend(lost.map(|(process, kind)| FaultAct::Lose { process, kind, lost: false }));
    acts.extend([ProcessId::Manager, ProcessId::Scheduler].map(|process| FaultAct::Restart { process }));
    let stopped = world.loops().filter(|(_, l)| l.stopped).map(|(c, _)| c.name().to_owned());
    acts.extend(stopped.map(|controller| FaultAct::Stop { controller, stopped: false }));
    for act in acts {
        world.act(Act::Fault(act));
    }
    let down = |id: &ProcessId| world.process(id).is_some_and(|p| p.health == Health::Down);
    let nodes: Vec<String> = world
        .machines()
        .map(|(name, _)| name)
        .filter(|n| faults.cut.contains(*n) || down(&ProcessId::Kubelet((*n).clone())))
        .map(ToString::to_string)
        .collect();
    for name in nodes {
        world.act(Act::Node(NodeAct::Start(name)));
    }
}

/// Runs until no gap is open and nothing but the clock moves. Errors: it did not come to that in time.
fn rest(world: &mut World) -> Result<(), String> {
    let end = world.now() + CALM_WITHIN;
    let mut gaps = Gaps::begin(world);
    for _ in 0..MOST_STEPS {
        let Some((at, step)) = world.next() else { break };
        if at > end {
            break;
        }
        let record = world.advance(&step);
        gaps.follow(world, &record.changes);
        if gaps.is_empty() && settled(world) {
            // What was forgotten in caches and timers shows within some resyncs.
            let until = world.now() + Duration::from_secs(120);
            while let Some((_, step)) = world.next().filter(|(at, _)| *at <= until) {
                let record = world.advance(&step);
                gaps.follow(world, &record.changes);
            }
            if gaps.is_empty() {
                return Ok(());
            }
        }
    }
    let found = verdict(world, &gaps);
    let open: Vec<String> = gaps.iter().map(|(k, g)| format!("{k:?} {}", g.measure.text)).collect();
    Err(format!("{:?} after an hour ({:?}): {}", found.kind, found.blocker.map(|b| b.1), open.join(", ")))
}

/// Deployments, pods and endpoints as they ended.
pub fn digest(world: &World) -> Digest {
    let mut digest = Digest::new();
    for d in world.store().list(Kind::Deployment, None).filter_map(|o| o.get::<Deployment>()) {
        let s = &d.status;
        let text = format!(
            "{} replicas, {} updated, {} ready, {} available, {:?} terminating",
            s.replicas, s.updated_replicas, s.ready_replicas, s.available_replicas, s.terminating_replicas
        );
        digest.insert(format!("Deployment {}", d.metadata.name), text);
    }
    let mut pods: BTreeMap<String, u32> = BTreeMap::new();
    for p in world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()) {
        let images: Vec<&str> = p.spec.containers.iter().map(|c| c.image.as_str()).collect();
        let ready = if p.is_ready() { "ready" } else { "not ready" };
        *pods.entry(format!("{} {} {ready}", p.status.phase, images.join(","))).or_default() += 1;
    }
    digest.insert("pods".into(), format!("{pods:?}"));
    for s in world.store().list(Kind::EndpointSlice, None).filter_map(|o| o.get::<EndpointSlice>()) {
        let ready = s.endpoints.iter().filter(|e| e.conditions.ready == Some(true)).count();
        digest.insert(
            format!("EndpointSlice of {:?}", s.metadata.labels.get("kubernetes.io/service-name")),
            format!("{ready} ready of {}", s.endpoints.len()),
        );
    }
    digest
}
