//! The scheduler's behaviour step by step.

use super::super::{Place, Scheduler, Timer, queue::LONGEST_BACKOFF};
use kubestep_control::{Agent, AgentCx, Change, Input, Out, Ticket, View};
use kubestep_model::{
    Answer, Dice, Instant, Kind, Object, Pod, Reason, Reply, Request, Resource, Status, Verb,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

struct Stage {
    scheduler: Scheduler,
    view: View,
    now: Instant,
    dice: Dice,
    next_ticket: Ticket,
    timers: BTreeMap<Timer, Instant>,
    asked: Vec<(Ticket, Request)>,
    said: Vec<(String, String)>,
}

fn node(name: &str, cpu: &str) -> Object {
    let amounts = json!({ "cpu": cpu, "memory": "8Gi", "pods": "110" });
    let value = json!({ "metadata": { "name": name, "uid": name, "labels": { "kubernetes.io/hostname": name } },
        "status": { "allocatable": amounts } });
    Object::from_value(Kind::Node, value).expect("a node")
}

fn pod(name: &str, cpu: &str, priority: i32) -> Object {
    let container = json!({ "name": "c", "image": "web:1", "resources": { "requests": { "cpu": cpu } } });
    let value = json!({ "metadata": { "name": name, "namespace": "default", "uid": format!("uid-{name}") },
        "spec": { "containers": [container], "priority": priority } });
    Object::from_value(Kind::Pod, value).expect("a pod")
}

fn on(object: &Object, node: &str) -> Object {
    let mut pod = Pod::of(object).expect("a pod").clone();
    pod.spec.node_name = node.into();
    pod.into()
}

fn granted() -> Reply {
    Ok(Answer::Json { value: Arc::new(Value::Null), warnings: vec![] })
}

impl Stage {
    fn new(objects: Vec<Object>) -> Self {
        let mut stage = Stage {
            scheduler: Scheduler::new(),
            view: View::default(),
            now: Instant::START,
            dice: Dice::new(7),
            next_ticket: 0,
            timers: BTreeMap::new(),
            asked: vec![],
            said: vec![],
        };
        for object in objects {
            stage.view.apply(&object.key(), Some(object));
        }
        stage.tell(Input::Started);
        stage
    }

    fn tell(&mut self, input: Input<Timer>) {
        let view = self.view.clone();
        let (dice, next_ticket) = (&mut self.dice, &mut self.next_ticket);
        let (asks, timers, orders) = (vec![], BTreeMap::new(), vec![]);
        let out = Out { asks, timers, orders, events: vec![], notes: vec![] };
        let mut cx = AgentCx { now: self.now, view: &view, dice, next_ticket, out };
        self.scheduler.on(&mut cx, input);
        self.asked.extend(cx.out.asks);
        self.said.extend(cx.out.events.into_iter().map(|e| (e.reason, e.message)));
        for (timer, at) in cx.out.timers {
            match at {
                Some(at) => drop(self.timers.insert(timer, at)),
                None => drop(self.timers.remove(&timer)),
            }
        }
    }

    fn change(&mut self, object: Object) {
        let (key, new) = (object.key(), Some(object));
        let old = self.view.apply(&key, new.clone());
        self.tell(Input::Changed(Change { key, old, new }));
        self.run();
    }

    fn delete(&mut self, object: &Object) {
        let key = object.key();
        let old = self.view.apply(&key, None);
        self.tell(Input::Changed(Change { key, old, new: None }));
        self.run();
    }

    /// Lets the timers of this moment come.
    fn run(&mut self) {
        while let Some(timer) = self.timers.iter().find(|(_, at)| **at <= self.now).map(|(t, _)| t.clone()) {
            self.timers.remove(&timer);
            self.tell(Input::Due(timer));
        }
    }

    fn wait(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.timers.values().min().copied().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.run();
        }
        self.now = until;
    }

    fn answer(&mut self, reply: Reply) {
        let (ticket, request) = self.asked.remove(0);
        self.tell(Input::Answered { ticket, request, reply });
        self.run();
    }

    /// Where pods are to be bound, of the requests not answered yet.
    fn bindings(&self) -> Vec<(String, String)> {
        let of = |(_, request): &(Ticket, Request)| match &request.verb {
            Verb::Bind { pod, node, .. } => Some((pod.name.to_string(), node.to_string())),
            _ => None,
        };
        self.asked.iter().filter_map(of).collect()
    }

    fn place(&self, name: &str) -> Option<Place> {
        self.scheduler.place_of(&format!("uid-{name}"))
    }
}

#[test]
fn a_pod_counts_on_its_node_before_the_binding_is_answered() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    stage.change(pod("a", "600m", 0));
    stage.change(pod("b", "600m", 0));
    assert_eq!(stage.bindings(), [("a".to_owned(), "node-1".to_owned())], "nothing is promised twice");
    assert_eq!(stage.place("b"), Some(Place::Unschedulable));
    let message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    assert_eq!(stage.said, [("FailedScheduling".to_owned(), message.to_owned())]);
}

#[test]
fn a_refused_binding_frees_the_node_and_the_pod_backs_off() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    stage.change(pod("a", "600m", 0));
    let refusal = Status::new(409, Reason::Conflict, "pod a is being deleted".to_owned());
    stage.answer(Err(refusal));
    assert_eq!(stage.place("a"), Some(Place::Backoff), "an error is not tried again at once");
    let text = "running Bind plugin \"DefaultBinder\": pod a is being deleted";
    assert_eq!(stage.said, [("FailedScheduling".to_owned(), text.to_owned())]);
    stage.asked.clear();
    stage.wait(Duration::from_secs(1));
    assert_eq!(stage.bindings(), [], "the back-off ends on a whole second after it");
    stage.wait(Duration::from_secs(1));
    assert_eq!(stage.bindings(), [("a".to_owned(), "node-1".to_owned())]);
    assert_eq!(stage.scheduler.attempts("uid-a").count(), 2);
}

#[test]
fn errors_back_off_up_to_ten_seconds() {
    let mut stage = Stage::new(vec![]);
    stage.change(pod("a", "1", 0));
    let mut waits = vec![];
    for _ in 0..6 {
        let before = stage.now;
        let tries = stage.said.len();
        while stage.said.len() == tries {
            while !stage.asked.is_empty() {
                stage.answer(granted());
            }
            stage.wait(Duration::from_secs(1));
        }
        waits.push(stage.now.since(before).as_secs());
    }
    assert_eq!(waits, [2, 3, 5, 9, 11, 11], "1, 2, 4, 8, 10, 10 and on to the next whole second");
    assert_eq!(stage.said[0].1, "no nodes available to schedule pods");
    assert!(LONGEST_BACKOFF == Duration::from_secs(10));
}

#[test]
fn only_events_that_may_help_bring_a_pod_back() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    stage.change(pod("big", "3", 0));
    assert_eq!(stage.said.len(), 1);
    stage.answer(granted());
    stage.change(node("node-2", "2"));
    assert_eq!(stage.said.len(), 1, "a node that is too small helps nobody");
    stage.change(node("node-3", "4"));
    assert_eq!(stage.bindings(), [("big".to_owned(), "node-3".to_owned())]);
}

#[test]
fn after_five_minutes_a_pod_is_tried_whatever_happened() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    stage.change(pod("big", "3", 0));
    stage.answer(granted());
    stage.wait(Duration::from_secs(299));
    assert_eq!(stage.scheduler.attempts("uid-big").count(), 1);
    stage.wait(Duration::from_secs(40));
    assert_eq!(stage.scheduler.attempts("uid-big").count(), 2);
}

#[test]
fn the_next_attempt_waits_until_it_is_written_why_the_last_one_failed() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    stage.change(pod("big", "3", 0));
    stage.change(pod("small", "100m", 0));
    stage.run();
    assert_eq!(stage.bindings(), []);
    stage.answer(granted());
    stage.run();
    assert_eq!(stage.bindings(), [("small".to_owned(), "node-1".to_owned())]);
}

#[test]
fn pods_that_wait_come_by_priority_one_at_a_time() {
    let mut stage = Stage::new(vec![]);
    for (name, priority) in [("low", 0), ("high", 10), ("middle", 5)] {
        let pod = pod(name, "100m", priority);
        stage.view.apply(&pod.key(), Some(pod));
    }
    let node = node("node-1", "1");
    stage.view.apply(&node.key(), Some(node));
    stage.tell(Input::Started);
    assert_eq!(stage.bindings().len(), 1, "one attempt at a time");
    stage.run();
    let order: Vec<String> = stage.bindings().into_iter().map(|(pod, _)| pod).collect();
    assert_eq!(order, ["high", "middle", "low"]);
}

#[test]
fn a_more_important_pod_makes_room_and_then_takes_it() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    let weak = pod("weak", "800m", 0);
    stage.change(on(&weak, "node-1"));
    stage.change(pod("vip", "800m", 100));
    let verbs: Vec<&str> = stage.asked.iter().map(|(_, r)| r.verb.name()).collect();
    assert_eq!(verbs, ["patch", "patch"], "the pod's own condition, then the victim's");
    stage.answer(granted());
    stage.answer(granted());
    assert!(
        matches!(&stage.asked[..], [(_, r)] if matches!(&r.verb, Verb::Delete { key, .. } if &*key.name == "weak"))
    );
    stage.answer(granted());
    assert_eq!(stage.said.last().map(|(r, _)| r.as_str()), Some("Preempted"));
    stage.change(pod("late", "800m", 50));
    assert_eq!(stage.bindings(), [], "the room is promised");
    stage.answer(granted());
    stage.delete(&weak);
    assert_eq!(stage.bindings(), [("vip".to_owned(), "node-1".to_owned())]);
}

#[test]
fn a_gated_pod_waits_until_its_gates_are_gone() {
    let mut stage = Stage::new(vec![node("node-1", "1")]);
    let mut gated = pod("a", "100m", 0).get::<Pod>().expect("a pod").clone();
    gated.metadata.resource_version = "1".into();
    gated.spec.scheduling_gates = vec![json!({ "name": "example.com/wait" })];
    stage.change(gated.clone().into());
    assert_eq!((stage.bindings(), stage.said.len()), (vec![], 0));
    gated.spec.scheduling_gates.clear();
    stage.change(gated.into());
    assert_eq!(stage.bindings(), [("a".to_owned(), "node-1".to_owned())]);
}

#[test]
fn a_draw_among_equal_nodes_is_kept_and_repeats() {
    let nodes = || (1..=3).map(|i| node(&format!("node-{i}"), "4")).collect();
    let draw = || {
        let mut stage = Stage::new(nodes());
        stage.change(pod("a", "100m", 0));
        let attempt = stage.scheduler.attempts("uid-a").last().cloned().expect("an attempt");
        assert_eq!(attempt.tied.len(), 3);
        assert!(attempt.nodes.iter().all(|row| row.refusal.is_none() && row.total > 0));
        attempt.chosen.clone()
    };
    assert_eq!(draw(), draw());
}

#[test]
fn huge_and_odd_amounts_break_nothing() {
    let mut stage = Stage::new(vec![node("node-1", "9223372036854775807"), node("node-2", "0")]);
    for (i, cpu) in ["9223372036854775807", "12E", "1e30", "-5", "0", "1n"].into_iter().enumerate() {
        stage.change(pod(&format!("p{i}"), cpu, i32::MIN));
        stage.change(pod(&format!("q{i}"), cpu, i32::MAX));
    }
    assert!(stage.scheduler.attempts("uid-p0").count() > 0);
}
