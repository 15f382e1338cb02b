//! Random scenarios: things of every kind are made, changed, broken and healed; then the cluster must come to rest as it
//! would have without the faults, names aside.

mod digest;
mod faults;
mod works;

pub use digest::{Digest, digest};

use crate::{Gaps, requests::Requests, settled, verdict};
use kubestep_cluster::{
    Act, FaultAct, Health, Image, Latencies, Mood, NodeAct, NodeSpec, ProcessId, Registry, Settings, Start,
    World,
};
use kubestep_model::{DeleteOptions, Dice, Key, Kind, PatchKind, Request, Resource, Subresource, Verb};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// How long the cluster gets to come to rest after everything was healed.
const CALM_WITHIN: Duration = Duration::from_secs(3600);
/// So many steps at most.
const MOST_STEPS: u32 = 400_000;

/// One thing that happens in a scenario, after a wait.
#[derive(Clone, Debug)]
pub enum Turn {
    /// An object is asked for.
    Make(Value),
    /// An object is changed.
    Change(Key, Value),
    /// An object is deleted.
    Delete(Key),
    /// All pods with this value of the label `app` are deleted, or (`evict`) the first of them is evicted.
    Away {
        /// The label's value.
        app: &'static str,
        /// Only one, and only if its budget allows it.
        evict: bool,
    },
    /// Something that is no fault happens to the cluster.
    Do(Act),
    /// Something breaks.
    Fault(Act),
    /// All that is broken is mended.
    Heal,
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
    let turns = scenario(seed);
    let story = turns.iter().map(|(after, turn)| format!("+{}ms {turn:?}", after.as_millis())).collect();
    let broken = play(seed, &turns, true);
    let plain = play(seed, &turns, false);
    let wrong = match (&broken, &plain) {
        (Err(text), _) => Some(format!("with faults: {text}")),
        (_, Err(text)) => Some(format!("without faults: {text}")),
        (Ok((_, a)), Ok((_, b))) if a != b => Some(differences(a, b)),
        _ => None,
    };
    Outcome { story, wrong, hash: broken.map(|(w, _)| w.hash()).unwrap_or_default() }
}

fn differences(a: &Digest, b: &Digest) -> String {
    let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
    let keys = keys.filter(|k| a.get(*k) != b.get(*k));
    let lines = keys.map(|k| format!("{k}: with faults {:?}, without {:?}", a.get(k), b.get(k)));
    lines.collect::<Vec<_>>().join("; ")
}

/// What happens in the scenario of a seed, each after a wait: what is made, then changes and faults.
pub fn scenario(seed: u64) -> Vec<(Duration, Turn)> {
    let dice = &mut Dice::new(seed);
    let works = works::drawn(dice);
    let first = works.iter().flat_map(|work| work.objects(dice));
    let mut turns: Vec<_> = first.map(|object| (Duration::ZERO, Turn::Make(object))).collect();
    for _ in 0..3 + dice.below("changes", 5) {
        let after = wait(dice);
        let turn = match dice.below("kind", 12) {
            0..=3 => works[dice.below("work", u32::try_from(works.len()).unwrap_or(1)) as usize].change(dice),
            4 => Turn::Heal,
            _ => Turn::Fault(faults::fault(dice)),
        };
        turns.push((after, turn));
    }
    turns.extend(works.iter().flat_map(|work| work.last()).map(|turn| (Duration::ZERO, turn)));
    turns
}

/// Mostly some seconds; sometimes long enough for a node to be given up, or for a schedule to come due.
fn wait(dice: &mut Dice) -> Duration {
    let most = [8_000, 8_000, 8_000, 8_000, 90_000, 400_000][dice.below("long", 6) as usize % 6];
    Duration::from_millis(u64::from(dice.below("after", most)))
}

/// The cluster of a seed: two nodes, and the images of [`images`].
fn start(seed: u64) -> Start {
    let nodes = (1..=2).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect();
    let mut registry = Registry::default();
    for (name, image) in images() {
        registry.push(name, image);
    }
    Start {
        nodes,
        registry,
        seed,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

/// What the registry has: three that run, one that ends well, one that fails.
pub fn images() -> [(&'static str, Image); 5] {
    let ends = |code: i32| Image { exit: Some(code), after: Duration::from_secs(2), ..Image::pulled_in(1) };
    // Who is asked to stop has not done its work, either.
    let fails = Image { stop_exit: 143, ..ends(1) };
    let runs = || Image::pulled_in(1);
    [("web:1", runs()), ("web:2", runs()), ("web:3", runs()), ("ends:1", ends(0)), ("fails:1", fails)]
}

fn play(seed: u64, turns: &[(Duration, Turn)], faults: bool) -> Result<(World, Digest), String> {
    let mut world = World::boot(&start(seed));
    for (after, turn) in turns {
        let until = world.now() + *after;
        run_until(&mut world, until);
        match turn {
            Turn::Do(act) => drop(world.act(act.clone())),
            Turn::Fault(act) if faults => drop(world.act(act.clone())),
            Turn::Fault(_) => {}
            Turn::Heal => heal(&mut world),
            asked => asks(&mut world, asked),
        }
    }
    heal(&mut world);
    if !world.faults().is_none() {
        return Err(format!("not all is healed: {:?}", world.faults()));
    }
    rest(&mut world)?;
    let digest = digest(&world);
    Ok((world, digest))
}

/// A person asks, waits until somebody answers, and asks again where no answer came.
fn asks(world: &mut World, turn: &Turn) {
    if world.faults().api_away {
        api_again(world);
    }
    let troubled = world.faults().programs;
    ask(world, turn);
    if let Some((trouble, _)) = troubled {
        world.act(Act::Fault(FaultAct::Programs { trouble, next: 0 }));
        ask(world, turn);
    }
}

fn ask(world: &mut World, turn: &Turn) {
    let requests = requests(world, turn);
    let slow = world.faults().programs_slow * 3 * (1 + u32::try_from(requests.len()).unwrap_or(0));
    let program = Arc::new(Requests(requests));
    world.act(Act::Run { terminal: 0, program, exclusive: false });
    let until = world.now() + Duration::from_millis(200) + slow;
    run_until(world, until);
}

fn requests(world: &World, turn: &Turn) -> Vec<Request> {
    let options = DeleteOptions::default;
    match turn {
        Turn::Make(object) => crate::requests::create(object).into_iter().collect(),
        Turn::Change(key, patch) => {
            let (key, patch) = (key.clone(), Arc::new(patch.clone()));
            let kind = PatchKind::Strategic;
            vec![Verb::Patch { key, subresource: Subresource::None, kind, patch }.into()]
        }
        Turn::Delete(key) => vec![Verb::Delete { key: key.clone(), options: options() }.into()],
        Turn::Away { app, evict } => {
            let pods = world.store().list(Kind::Pod, None).filter_map(|o| o.get::<kubestep_model::Pod>());
            let keys =
                pods.filter(|p| p.metadata.labels.get("app").is_some_and(|l| *l == **app)).map(Resource::key);
            let (most, evict) = if *evict { (1, true) } else { (usize::MAX, false) };
            let ask = |key: Key| match evict {
                true => Verb::Evict { pod: key, options: options() }.into(),
                false => Verb::Delete { key, options: options() }.into(),
            };
            keys.take(most).map(ask).collect()
        }
        Turn::Do(_) | Turn::Fault(_) | Turn::Heal => vec![],
    }
}

fn run_until(world: &mut World, end: kubestep_model::Instant) {
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= end) {
        world.advance(&step);
    }
    world.idle_until(end);
}

/// The API server answers again. Who was not heard for so long that it lost its lease would have ended (upstream:
/// client-go/tools/leaderelection, RenewDeadline): there is no election here, so it begins anew when it is heard again.
fn api_again(world: &mut World) {
    world.act(Act::Fault(FaultAct::ApiServer { away: false }));
    for process in LEADERS {
        world.act(Act::Fault(FaultAct::Crash { process: process.clone() }));
        world.act(Act::Fault(FaultAct::Restart { process }));
    }
}

/// Who leads only as long as its lease is renewed.
const LEADERS: [ProcessId; 2] = [ProcessId::Manager, ProcessId::Scheduler];

/// Ends every fault.
pub fn heal(world: &mut World) {
    let faults = world.faults().clone();
    let mut acts = vec![];
    if faults.api_away {
        api_again(world);
    }
    let unheard = LEADERS.into_iter().filter(|process| faults.mute.contains(process));
    acts.extend(unheard.map(|process| FaultAct::Crash { process }));
    acts.push(FaultAct::Registry(Mood::Well));
    if world.process(&ProcessId::SecondManager).is_some() {
        acts.push(FaultAct::SecondManager { running: false });
    }
    let crashing = faults.crash_after.keys().cloned();
    acts.extend(crashing.map(|process| FaultAct::CrashAfter { process, writes: 0 }));
    let troubled = faults.requests.iter().map(|(p, (trouble, _))| (p.clone(), *trouble));
    acts.extend(troubled.map(|(process, trouble)| FaultAct::Requests { process, trouble, next: 0 }));
    acts.extend(faults.programs.map(|(trouble, _)| FaultAct::Programs { trouble, next: 0 }));
    let delayed = faults.delayed.keys().cloned();
    acts.extend(delayed.map(|(process, kind)| FaultAct::Delay { process, kind, by: Duration::ZERO }));
    acts.push(FaultAct::SlowPrograms { by: Duration::ZERO });
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

/// Whether no gap is open but that of an autoscaler that has no metrics, which stays open whatever happens.
fn calm(gaps: &Gaps) -> bool {
    gaps.iter().all(|(key, _)| key.kind.name() == "HorizontalPodAutoscaler")
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
        if calm(&gaps) && settled(world) {
            // What was forgotten in caches and timers shows within some resyncs.
            let until = world.now() + Duration::from_secs(120);
            while let Some((_, step)) = world.next().filter(|(at, _)| *at <= until) {
                let record = world.advance(&step);
                gaps.follow(world, &record.changes);
            }
            if calm(&gaps) {
                return Ok(());
            }
        }
    }
    let found = verdict(world, &gaps);
    let open: Vec<String> = gaps.iter().map(|(k, g)| format!("{k:?} {}", g.measure.text)).collect();
    Err(format!("{:?} after an hour ({:?}): {}", found.kind, found.blocker.map(|b| b.1), open.join(", ")))
}
