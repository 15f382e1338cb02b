//! The promise of going back: inputs are the truth, kept worlds are a cache, the past is never changed.

use kubestep_cluster::{
    Act, FaultAct, History, Image, Latencies, NodeAct, NodeSpec, ProcessId, Record, Registry, Settings,
    Start, What,
};
use kubestep_kubectl::Kubectl;
use kubestep_model::{Dice, Kind};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

fn start(seed: u64) -> Start {
    let nodes = (1..=2).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect();
    let mut registry = Registry::default();
    registry.push("web:1", Image::pulled_in(1));
    registry.push("web:2", Image::pulled_in(2));
    let settings = Settings { selector_check: true };
    Start { nodes, registry, seed, latencies: Latencies::default(), settings }
}

const MANIFEST: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'web:1'}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
";

fn kubectl(line: &str) -> Act {
    let files = BTreeMap::from([("web.yaml".to_owned(), MANIFEST.to_owned())]);
    Act::Run {
        terminal: 1,
        program: Arc::new(Kubectl::new(line, Arc::new(files), "default")),
        exclusive: true,
    }
}

fn run_for(history: &mut History, time: Duration) {
    let until = history.live().now() + time;
    while history.live().next().is_some_and(|(at, _)| at <= until) {
        history.advance();
    }
    history.idle_until(until);
}

/// What a person may do, by chance.
fn deed(dice: &mut Dice) -> Act {
    match dice.below("deed", 9) {
        0 => kubectl(&format!("scale deployment web --replicas={}", dice.below("replicas", 5))),
        1 => kubectl(&format!("set image deployment/web web=web:{}", 1 + dice.below("image", 3))),
        2 => kubectl("delete pods -l app=web --wait=false"),
        3 => kubectl("rollout undo deployment/web"),
        4 => Act::Fault(FaultAct::Crash { process: ProcessId::Manager }),
        5 => Act::Fault(FaultAct::Restart { process: ProcessId::Manager }),
        6 => Act::Fault(FaultAct::Hold {
            process: ProcessId::Manager,
            kind: Kind::Pod,
            held: dice.below("held", 2) == 0,
        }),
        7 => Act::Node(NodeAct::Stop("node-2".into())),
        _ => Act::Node(NodeAct::Start("node-2".into())),
    }
}

/// A session of acts, hand-made choices and waits.
fn story(seed: u64) -> History {
    let mut dice = Dice::new(seed);
    let mut history = History::new(start(seed));
    history.act(kubectl("apply -f web.yaml"));
    for _ in 0..6 {
        run_for(&mut history, Duration::from_millis(u64::from(dice.below("wait", 9_000))));
        if dice.below("choose", 3) == 0 {
            let enabled = history.live().enabled();
            let at = dice.below("which", u32::try_from(enabled.len()).unwrap_or(1).max(1)) as usize;
            if let Some((_, step)) = enabled.get(at) {
                history.choose(step.clone());
            }
        }
        history.act(deed(&mut dice));
    }
    run_for(&mut history, Duration::from_secs(20));
    let said: Vec<_> =
        history.live().clients().map(|(_, c)| (c.program.line(), &c.output, c.ended)).collect();
    let written = history.live().store().list(Kind::Deployment, None).count();
    assert_eq!(written, 1, "the story of seed {seed} has a Deployment: {said:?}");
    assert!(history.last() > 30, "the story of seed {seed} has only {} steps", history.last());
    history
}

/// Hashes of the worlds at every so many steps, and at the last.
fn hashes(history: &History, every: usize) -> Vec<String> {
    (0..=history.last()).step_by(every).chain([history.last()]).map(|s| history.world_at(s).hash()).collect()
}

const SEEDS: std::ops::Range<u64> = 1..9;

#[test]
fn inputs_played_again_give_the_same_world() {
    for seed in SEEDS {
        let live = story(seed);
        let mut again = History::replay(&live.session());
        again.run_to(live.live().next_record(), live.live().now());
        assert_eq!(again.live().hash(), live.live().hash(), "seed {seed}");
        let moments =
            |h: &History| h.branches()[0].moments.iter().map(|m| (m.next_record, m.at)).collect::<Vec<_>>();
        assert_eq!(moments(&again), moments(&live), "the steps of seed {seed}");
        let records = |h: &History| h.branches()[0].records.clone();
        assert_eq!(records(&again), records(&live), "the records of seed {seed}");
    }
}

#[test]
fn another_input_gives_another_world() {
    let live = story(3);
    let mut session = live.session();
    session.inputs.pop();
    let mut again = History::replay(&session);
    again.run_to(live.live().next_record(), live.live().now());
    assert_ne!(again.live().hash(), live.live().hash());
}

#[test]
fn kept_worlds_can_be_dropped() {
    for seed in [1, 4, 6] {
        let mut history = story(seed);
        let before = hashes(&history, 9);
        assert!(history.kept() > 1);
        history.drop_worlds();
        assert_eq!(history.kept(), 0);
        assert_eq!(hashes(&history, 9), before, "seed {seed}");
    }
}

#[test]
fn looking_at_the_past_changes_nothing() {
    let mut history = story(2);
    let (hash, last) = (history.live().hash(), history.last());
    let inputs = history.branches()[0].inputs.len();
    for step in (0..=last).step_by(7) {
        let mut world = history.world_at(step);
        while let Some((_, step)) = world.next().filter(|(at, _)| *at <= history.live().now()) {
            world.advance(&step);
        }
        history.seek(step);
    }
    assert_eq!((history.live().hash(), history.last(), history.branches().len()), (hash, last, 1));
    assert_eq!(history.branches()[0].inputs.len(), inputs);
    let shown = history.world_at(last).hash();
    assert_eq!(history.seek(last).hash(), shown);
    assert!(history.at_present());
}

#[test]
fn going_on_from_the_past_begins_a_branch_and_leaves_the_old_one() {
    let mut history = story(5);
    let old = hashes(&history, 11);
    let middle = history.last() / 2;
    let there = history.seek(middle).hash();
    assert!(!history.at_present());
    history.act(kubectl("scale deployment web --replicas=1"));
    run_for(&mut history, Duration::from_secs(5));
    assert_eq!((history.branches().len(), history.branch()), (2, 1));
    assert_eq!(history.branches()[1].parent, Some((0, middle)));
    assert_eq!(history.world_at(middle).hash(), there);
    let new = hashes(&history, 11);

    history.switch(0);
    assert_eq!(hashes(&history, 11), old, "the old branch");
    history.drop_worlds();
    assert_eq!(hashes(&history, 11), old, "the old branch, made again");
    history.switch(1);
    assert_eq!(hashes(&history, 11), new, "the new branch, made again");
}

/// The record at which the causes of another end.
fn beginning<'h>(history: &'h History, from: &'h Record) -> &'h Record {
    let mut at = from;
    while let Some(cause) = at.cause.and_then(|id| history.record(id)) {
        assert!(cause.id < at.id, "a cause comes before what it leads to");
        at = cause;
    }
    at
}

#[test]
fn whatever_becomes_of_an_object_goes_back_to_a_person() {
    let mut history = History::new(start(1));
    history.act(kubectl("apply -f web.yaml"));
    run_for(&mut history, Duration::from_secs(20));
    history.act(kubectl("set image deployment/web web=web:none"));
    run_for(&mut history, Duration::from_secs(700));
    let about = |k: Kind| matches!(k, Kind::Deployment | Kind::ReplicaSet | Kind::Pod | Kind::EndpointSlice);
    let (mut asked, mut lost) = (0, vec![]);
    for record in history.branches()[0].records.iter().filter(|r| r.changes.iter().any(|c| about(c.key.kind)))
    {
        let first = beginning(&history, record);
        asked += 1;
        if !matches!(first.what, What::Act { .. } | What::Client { .. }) {
            lost.push(format!("{:?} <- {:?}", record.what, first.what));
        }
    }
    assert!(asked > 40, "{asked} writes");
    assert!(
        lost.is_empty(),
        "{} of {asked} writes come from nowhere: {:#?}",
        lost.len(),
        &lost[..lost.len().min(5)]
    );
}
