//! Every order: races and crashes on tiny worlds, searched completely.

use kubestep_cluster::World;
use kubestep_insight::explore::{Found, Move, explore, promise, promise_without_crashes, small_world, way};
use serde_json::{Value, json};

const LIMIT: usize = 300_000;

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}})
}

fn workload(kind: &str, replicas: u32) -> (Value, World) {
    let selector = json!({"matchLabels": {"app": "web"}});
    let spec = json!({"replicas": replicas, "selector": selector, "template": template()});
    let object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec});
    let world = small_world(std::slice::from_ref(&object)).expect("a small world");
    (object, world)
}

fn whole(name: &str, found: &Found) {
    println!("{name}: {} states, {} of them quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.ends > 0, "{name}: never quiet");
}

#[test]
fn every_order_of_two_replicas_with_up_to_two_crashes_ends_with_two_pods() {
    let states = [0, 1, 2].map(|crashes| {
        let found = explore(&workload("ReplicaSet", 2).1, crashes, &promise, LIMIT);
        whole(&format!("a ReplicaSet, {crashes} crashes"), &found);
        found.states
    });
    assert!(states[0] < states[1] && states[1] < states[2], "{states:?}");
}

#[test]
fn every_order_of_a_deployment_with_a_crash_ends_with_two_pods() {
    let states = [0, 1].map(|crashes| {
        let found = explore(&workload("Deployment", 2).1, crashes, &promise, LIMIT);
        whole(&format!("a Deployment, {crashes} crashes"), &found);
        if crashes == 0 {
            assert_eq!(found.ends, 1, "names, numbers and clocks aside, there is one end");
        }
        found.states
    });
    assert!(states[0] < states[1], "{states:?}");
}

#[test]
fn no_order_without_a_crash_makes_more_pods_than_wanted() {
    let found = explore(&workload("ReplicaSet", 2).1, 0, &promise_without_crashes, LIMIT);
    whole("never more than two", &found);
}

#[test]
fn controllers_that_forget_their_writes_make_too_many() {
    let (object, mut world) = workload("ReplicaSet", 2);
    world.forget_writes();
    let found = explore(&world, 0, &promise_without_crashes, LIMIT);
    let (way, text) = found.broken.expect("a way to too many pods");
    assert_eq!(text, "ReplicaSet web wants 2 pods and has 3");
    assert!(way.len() < 15, "the shortest way has {} moves", way.len());
    let script = way::script(&[object], &world, &way);
    println!("{}", kubestep_model::yaml::to_yaml(&script));
    let there = way::play(&script).expect("the way can be gone again");
    assert_eq!(promise_without_crashes(&there, false), Err(text));
}

#[test]
fn a_crash_can_make_too_many_for_a_while() {
    let found = explore(&workload("ReplicaSet", 2).1, 1, &promise_without_crashes, LIMIT);
    let (way, _) = found.broken.expect("a way to too many pods");
    assert!(way.contains(&Move::Crash));
}
