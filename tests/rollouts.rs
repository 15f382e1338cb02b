//! Every order of a rollout, of two owners and one pod, and what is left when nothing moves any more: calm, or a blocker
//! that has a name.

use kubestep_cluster::{Act, World};
use kubestep_insight::explore::{Promise, Rules, Stub, promises, rollout, search, small_world_of};
use kubestep_insight::requests::Requests;
use kubestep_model::{Key, Kind, PatchKind, Pod, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const LIMIT: usize = 300_000;

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
    let states =
        [0, 1].map(|n| whole("two owners and one pod", &world, n, Stub::Nothing, &rollout::one_owner));
    assert!(states[0] < states[1], "{states:?}");
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
