//! Every order of a rollout, of two owners and one pod, and what is left when nothing moves any more: calm, or a blocker
//! that has a name.

use kubestep_cluster::{Act, World};
use kubestep_insight::explore::{Promise, Rules, Stub, promises, rollout, search, small_world_of, way};
use kubestep_insight::requests::Requests;
use kubestep_model::{Key, Kind, PatchKind, Pod, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const LIMIT: usize = 300_000;
/// So many are seen where only the nearest are searched.
const FEW: usize = 2_000;

fn whole(name: &str, world: &World, troubles: u32, stub: Stub, promise: Promise<'_>) -> usize {
    let calm = |world: &World, quiet: bool| {
        promise(world, quiet)?;
        if quiet { rollout::calm_or_named(world) } else { Ok(()) }
    };
    let found = search(world, Rules { troubles, lost: true, stub }, &calm, LIMIT);
    println!("{name}, {troubles} crashes or lost answers: {} states, {} quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.ends > 0, "{name}: never quiet");
    found.states
}

/// The states that are nearest: where all are too many for a test.
fn near(name: &str, world: &World, rules: Rules, promise: Promise<'_>) {
    let found = search(world, rules, promise, FEW);
    println!("{name}, {} crashes or lost answers: the nearest {} states", rules.troubles, found.states);
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.cut, "{name}: all were seen, {}: it is no search of a part", found.states);
}

fn asks(world: &mut World, requests: Vec<Request>) {
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive: true });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
}

/// All that is due within two seconds happens.
fn rest(world: &mut World) {
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= world.now() + Duration::from_secs(2)) {
        world.advance(&step);
    }
}

fn patch(key: Key, subresource: Subresource, patch: Value) -> Request {
    Verb::Patch { key, subresource, kind: PatchKind::Merge, patch: Arc::new(patch) }.into()
}

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}]}})
}

/// A Deployment whose pods are ready, at the moment at which it gets another image.
fn begun(replicas: u32, surge: u32, unavailable: u32) -> World {
    let strategy =
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    let spec = json!({"replicas": replicas, "strategy": strategy, "selector": {"matchLabels": {"app": "web"}}, "template": template("web:1")});
    let object =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec});
    let mut world = small_world_of(&[object], &["deployment", "replicaset"]).expect("a world");
    rest(&mut world);
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    let pods: Vec<Key> = world.store().list(Kind::Pod, None).map(kubestep_model::Object::key).collect();
    assert_eq!(pods.len(), replicas as usize);
    asks(&mut world, pods.into_iter().map(|k| patch(k, Subresource::Status, ready.clone())).collect());
    rest(&mut world);
    let key = Key::new(Kind::Deployment, "default", "web");
    asks(&mut world, vec![patch(key, Subresource::None, json!({"spec": {"template": template("web:2")}}))]);
    world
}

#[test]
fn every_order_of_a_rollout_stays_between_surge_and_unavailability() {
    let within = |world: &World, quiet: bool| rollout::between(world, quiet, 1..=2, "web:2");
    whole("a rollout, one more", &begun(1, 1, 0), 0, Stub::Ready, &within);
}

/// What ReplicaSets together are asked for, which is what a Deployment counts, is never above; pods are above only while an
/// old one is still to be deleted.
fn one_less(world: &World, quiet: bool) -> Result<(), String> {
    rollout::asked_within(world, 2)?;
    rollout::above_while_some_are_to_go(world, 2)?;
    rollout::between(world, quiet, 1..=3, "web:2")
}

/// A rollout without surge may have three pods of two: the new one is made before the old ReplicaSet's key is looked at. As
/// upstream, whose Deployment counts `spec.replicas` of ReplicaSets, and whose ReplicaSets are looked at by five workers.
#[test]
fn without_surge_there_can_be_one_more_for_a_moment() {
    let world = begun(2, 0, 1);
    let rules = |troubles: u32| Rules { troubles, lost: true, stub: Stub::Ready };
    let strict = |world: &World, quiet: bool| rollout::between(world, quiet, 1..=2, "web:2");
    let (way, text) = search(&world, rules(0), &strict, LIMIT).broken.expect("a way to three pods");
    let script = way::script(&[], &world, &way);
    println!("{}", kubestep_model::yaml::to_yaml(&script));
    let steps = script["steps"].as_array().into_iter().flatten();
    let steps: Vec<&str> = steps.filter_map(|s| s["choose"].as_str()).collect();
    assert_eq!((way.len(), text.as_str()), (21, "3 pods, 2 may be there"));
    // The ReplicaSet controller has looked at the new one only, and has taken nothing away.
    let looks = steps.iter().filter(|s| s.starts_with("replicaset thinks")).count();
    assert!(looks == 1 && !steps.iter().any(|s| s.contains("delete pods")), "{steps:?}");
    assert!(steps.last().is_some_and(|s| s.contains("create pods")), "{steps:?}");
    // What does hold: from the beginning on, and from the moment at which there are three.
    near("a rollout, one less", &world, rules(1), &one_less);
    let mut walk = way::Walk::new(&world);
    way.iter().for_each(|step| walk.go(step));
    assert!(strict(&walk.world, false).is_err());
    for troubles in [0, 1] {
        near("a rollout, one less, with three pods", &walk.world, rules(troubles), &one_less);
    }
}

#[test]
fn every_order_of_two_owners_gives_a_pod_one() {
    let set = |name: &str, replicas: u32| {
        let selector = json!({"matchLabels": {"app": "web"}});
        let spec = json!({"replicas": replicas, "selector": selector, "template": template("web:1")});
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec})
    };
    let mut pod = template("web:1");
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"]["name"] = json!("alone");
    let world = small_world_of(&[pod, set("a", 1), set("b", 0)], &["replicaset"]).expect("a world");
    whole("two owners and one pod", &world, 0, Stub::Nothing, &rollout::one_owner);
    let rules = Rules { troubles: 1, lost: true, stub: Stub::Nothing };
    near("two owners and one pod", &world, rules, &rollout::one_owner);
}

#[test]
fn what_is_left_over_has_a_name() {
    let spec =
        json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template("web:1")});
    let set =
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec});
    let world = small_world_of(&[set], &["replicaset"]).expect("a world");
    whole("a pod that no scheduler sees", &world, 1, Stub::Nothing, &promises::promise);
    // It does not hold while its loop has something to do.
    assert!(rollout::calm_or_named(&world).is_err());
    let pods = world.store().list(Kind::Pod, None).filter_map(|o| o.get::<Pod>()).count();
    assert_eq!(pods, 0);
}
