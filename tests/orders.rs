//! Every order: races and crashes on tiny worlds, searched completely.

use kubestep_cli::explore::{promise, small_world};
use kubestep_cluster::World;
use kubestep_insight::explore::{Found, explore};
use kubestep_model::{Kind, Pod};
use serde_json::json;

const LIMIT: usize = 300_000;

fn template() -> serde_json::Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}})
}

fn workload(kind: &str, replicas: u32) -> World {
    let selector = json!({"matchLabels": {"app": "web"}});
    let spec = json!({"replicas": replicas, "selector": selector, "template": template()});
    let object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec});
    small_world(&[object]).expect("a small world")
}

/// At no time more pods than two.
fn never_more_than_two(world: &World, _: bool) -> Result<(), String> {
    let pods = world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()).filter(|p| p.is_active());
    let count = pods.count();
    if count > 2 { Err(format!("{count} pods")) } else { Ok(()) }
}

fn whole(name: &str, found: &Found) {
    println!("{name}: {} states, {} of them quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.ends > 0, "{name}: never quiet");
}

#[test]
fn every_order_of_two_replicas_ends_with_two_pods() {
    let states = [0].map(|crashes| {
        let found = explore(&workload("ReplicaSet", 2), crashes, &promise, LIMIT);
        whole(&format!("a ReplicaSet, {crashes} crashes"), &found);
        found.states
    });
    assert_eq!(states, [25]);
}

#[test]
fn every_order_of_a_deployment_ends_with_two_pods() {
    let found = explore(&workload("Deployment", 2), 0, &promise, LIMIT);
    whole("a Deployment", &found);
    assert_eq!(found.states, 4518);
}

#[test]
fn no_order_without_a_crash_makes_more_pods_than_wanted() {
    let found = explore(&workload("ReplicaSet", 2), 0, &never_more_than_two, LIMIT);
    whole("never more than two", &found);
}

#[test]
fn controllers_that_forget_their_writes_make_too_many() {
    let mut world = workload("ReplicaSet", 2);
    world.forget_writes();
    let found = explore(&world, 0, &never_more_than_two, LIMIT);
    let (way, text) = found.broken.expect("a way to too many pods");
    println!("{text} after {} moves: {way:?}", way.len());
    assert_eq!(text, "3 pods");
}

#[test]
fn a_crash_can_make_too_many_for_a_while() {
    let found = explore(&workload("ReplicaSet", 2), 1, &never_more_than_two, LIMIT);
    let (way, _) = found.broken.expect("a way to too many pods");
    assert!(way.contains(&kubestep_insight::explore::Move::Crash));
}
