//! Every order of the scheduler on two nodes: crashes, lost answers, and watches that come late.

use kubestep_cluster::{Flight, World};
use kubestep_insight::explore::{
    Found, Move, Promise, Rules, Stub,
    scheduling::{bound_once_and_never_too_much, nobody_is_asked_twice, was_drawn},
    search, small_world_of, way,
};
use kubestep_model::Verb;
use serde_json::{Value, json};

const LIMIT: usize = 300_000;

/// A node; they differ in size, so that the scheduler never has to draw.
fn node(name: &str, cpu: &str) -> Value {
    let room = json!({"cpu": cpu, "memory": "8Gi", "pods": "110"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn class(name: &str, value: i32) -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
}

fn pod(name: &str, class: &str, cpu: &str) -> Value {
    let container = json!({"name": "web", "image": "web", "resources": {"requests": {"cpu": cpu}}});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"priorityClassName": class, "containers": [container]}})
}

/// Two nodes and some pods.
fn objects(pods: &[Value]) -> Vec<Value> {
    let fixed = [node("big", "1100m"), node("small", "1"), class("low", 10), class("high", 1000)];
    fixed.into_iter().chain(pods.iter().cloned()).collect()
}

/// Two that are little wanted fill the nodes, unless one that is wanted more comes first.
fn crowded() -> Vec<Value> {
    objects(&[pod("a", "low", "600m"), pod("b", "", "600m"), pod("x", "high", "600m")])
}

fn world(objects: &[Value]) -> World {
    small_world_of(objects, &["scheduler"]).expect("a small world")
}

fn go(objects: &[Value], troubles: u32, promise: Promise<'_>) -> Found {
    let undrawn = |world: &World, quiet: bool| {
        if was_drawn(world) { Err("a node was drawn".into()) } else { promise(world, quiet) }
    };
    search(&world(objects), Rules { troubles, lost: false, stub: Stub::Gone }, &undrawn, LIMIT)
}

fn whole(name: &str, objects: &[Value], troubles: u32, promise: Promise<'_>) -> usize {
    let found = go(objects, troubles, promise);
    if let Some((way, text)) = &found.broken {
        let script = way::script(objects, &world(objects), way);
        println!("{name}: {text}\n{}", kubestep_model::yaml::to_yaml(&script));
    }
    println!("{name}, {troubles} crashes: {} states, {} quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken.map(|b| b.1));
    assert!(found.ends > 0, "{name}: never quiet");
    found.states
}

#[test]
fn every_order_of_the_scheduler_binds_once_and_never_too_much() {
    let pods = objects(&[pod("a", "", "600m"), pod("b", "", "600m"), pod("c", "", "600m")]);
    whole("three pods, two nodes", &pods, 0, &bound_once_and_never_too_much);
}

#[test]
fn every_order_of_a_preemption_makes_room_once() {
    whole("a preemption", &crowded(), 0, &nobody_is_asked_twice);
}

/// A scheduler that begins anew counts what is bound, not what its predecessor asked for and the API server has not yet
/// done: then a node may get too much.
#[test]
fn a_crash_can_put_too_much_on_a_node() {
    let found = go(&crowded(), 1, &bound_once_and_never_too_much);
    let (way, text) = found.broken.expect("a way to too much");
    assert!(way.contains(&Move::Crash) && text.contains("has 1100m and holds 1200m"), "{text}");
}

/// That the search sees victims at all: the shortest way to the first.
#[test]
fn the_shortest_way_to_a_victim_can_be_gone_again() {
    let nobody = |world: &World, _: bool| {
        let asks = |f: &Flight| matches!(f.request.verb, Verb::Delete { .. }) && f.asker.process().is_some();
        if world.flights().any(|(_, f)| asks(f)) { Err("somebody is asked to go".into()) } else { Ok(()) }
    };
    let found = go(&crowded(), 0, &nobody);
    let (way, text) = found.broken.expect("a way to a victim");
    let start = world(&crowded());
    let script = way::script(&crowded(), &start, &way);
    println!("{}", kubestep_model::yaml::to_yaml(&script));
    let there = way::play(&script).expect("the way can be gone again");
    assert_eq!(nobody(&there, false), Err(text));
    // From there on a scheduler that begins anew may ask once more: what its predecessor asked has not yet been done.
    let rules = Rules { troubles: 1, lost: false, stub: Stub::Gone };
    let (_, text) = search(&there, rules, &nobody_is_asked_twice, LIMIT).broken.expect("a way to ask twice");
    assert_eq!(text, "b is asked to go twice");
}

/// As upstream, which forgets a placed pod as soon as its binding fails, for whatever reason: when the answer alone was
/// lost, the next pod is put into the room that is taken.
#[test]
fn a_lost_answer_can_put_too_much_on_a_node() {
    let rules = Rules { troubles: 1, lost: true, stub: Stub::Gone };
    let found = search(&world(&crowded()), rules, &bound_once_and_never_too_much, LIMIT);
    let (way, text) = found.broken.expect("a way to too much");
    assert_eq!((way.len(), text.as_str()), (4, "big has 1100m and holds 1200m"));
    let script = way::script(&crowded(), &world(&crowded()), &way);
    println!("{}", kubestep_model::yaml::to_yaml(&script));
    let there = way::play(&script).expect("the way can be gone again");
    assert_eq!(bound_once_and_never_too_much(&there, false), Err(text));
}
