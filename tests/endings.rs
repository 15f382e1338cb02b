//! Every order of the loops that take away: namespaces, taints and those who do not bear them, what has lost its owner.

use kubestep_cluster::{Act, ProcessId, Step, World};
use kubestep_insight::explore::{Found, Promise, Rules, Stub, endings, search, small_world_of};
use kubestep_insight::requests::{Requests, create};
use kubestep_model::{DeleteOptions, Key, Kind, PatchKind, Propagation, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const LIMIT: usize = 300_000;

fn whole(name: &str, world: &World, rules: Rules, promise: Promise<'_>) -> usize {
    let found: Found = search(world, rules, promise, LIMIT);
    println!(
        "{name}, {} crashes or lost answers: {} states, {} quiet",
        rules.troubles, found.states, found.ends
    );
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.ends > 0, "{name}: never quiet");
    found.states
}

fn with(troubles: u32, stub: Stub) -> Rules {
    Rules { troubles, lost: true, stub }
}

/// A program asks; `exclusive`: and nothing else happens before it is answered.
fn asks(world: &mut World, requests: Vec<Request>, exclusive: bool) {
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
}

fn pod(name: &str, namespace: &str, node: &str, tolerations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
        "spec": {"nodeName": node, "tolerations": tolerations, "containers": [{"name": "web", "image": "web"}]}})
}

fn patch(key: Key, patch: Value) -> Request {
    Verb::Patch { key, subresource: Subresource::None, kind: PatchKind::Merge, patch: Arc::new(patch) }.into()
}

#[test]
fn every_order_of_a_namespace_that_ends_empties_it_first() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "north"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "north"}});
    let objects = [namespace, pod("a", "north", "", &json!([])), map];
    let mut world = small_world_of(&objects, &["namespace"]).expect("a world");
    let delete =
        Verb::Delete { key: Key::new(Kind::Namespace, "", "north"), options: DeleteOptions::default() };
    asks(&mut world, vec![delete.into()], true);
    let states =
        [0, 1].map(|n| whole("a namespace", &world, with(n, Stub::Nothing), &endings::emptied_first));
    assert!(states[0] < states[1], "{states:?}");
}

#[test]
fn a_namespace_is_not_empty_while_something_holds_what_is_in_it() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "north"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "north", "finalizers": ["example.com/keep"]}});
    let mut world = small_world_of(&[namespace, map], &["namespace"]).expect("a world");
    let delete =
        Verb::Delete { key: Key::new(Kind::Namespace, "", "north"), options: DeleteOptions::default() };
    asks(&mut world, vec![delete.into()], true);
    let found = search(&world, with(1, Stub::Nothing), &endings::emptied_first, LIMIT);
    let (_, text) = found.broken.expect("it never goes");
    assert_eq!(text, "north is still there in the end");
    let never_early = |world: &World, _: bool| endings::emptied_first(world, false);
    whole("a namespace that is held", &world, with(1, Stub::Nothing), &never_early);
}

/// One bears nothing, one bears it for a second, one for ever; somebody takes the taint away at some time.
#[test]
fn every_order_of_a_taint_lets_those_stay_who_bear_it() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},
        "spec": {"taints": [{"key": "broken", "effect": "NoExecute"}]}});
    let bears = |seconds: Option<u32>| {
        let mut toleration = json!({"key": "broken", "operator": "Exists", "effect": "NoExecute"});
        if let Some(seconds) = seconds {
            toleration["tolerationSeconds"] = json!(seconds);
        }
        json!([toleration])
    };
    let pods = [
        pod("none", "default", "a", &json!([])),
        pod("short", "default", "a", &bears(Some(1))),
        pod("long", "default", "a", &bears(None)),
    ];
    let objects: Vec<Value> = [node].into_iter().chain(pods).collect();
    let world = small_world_of(&objects, &["taint-eviction"]).expect("a world");
    let states =
        [0, 1].map(|n| whole("a taint", &world, with(n, Stub::Nothing), &endings::only_those_go_who_must));
    assert!(states[0] < states[1], "{states:?}");
    let mut world = world;
    asks(&mut world, vec![patch(Key::new(Kind::Node, "", "a"), json!({"spec": {"taints": null}}))], false);
    let patient = |world: &World, _: bool| endings::only_those_go_who_must(world, false);
    whole("a taint that is taken away", &world, with(1, Stub::Nothing), &patient);
}

/// A node that is not ready, closed and opened again while its taints are written.
#[test]
fn every_order_of_a_nodes_taints_ends_as_its_state_says() {
    let room = json!({"cpu": "1", "memory": "1Gi", "pods": "10"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "False"}]}});
    let mut world = small_world_of(&[node], &["node-lifecycle"]).expect("a world");
    let close =
        |closed: Value| patch(Key::new(Kind::Node, "", "a"), json!({"spec": {"unschedulable": closed}}));
    asks(&mut world, vec![close(json!(true))], false);
    let states = [0, 1, 2]
        .map(|n| whole("a node that is closed", &world, with(n, Stub::Nothing), &endings::tainted_as_it_is));
    assert!(states.is_sorted_by(|a, b| a < b), "{states:?}");
    asks(&mut world, vec![close(Value::Null)], false);
    whole("a node that is closed and opened", &world, with(1, Stub::Nothing), &endings::tainted_as_it_is);
}

/// An owner that is deleted in the foreground, and what it owns: the first of these holds it back.
fn owner_that_goes_last(owned: usize) -> World {
    let key = Key::new(Kind::ConfigMap, "default", "owner");
    let set = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}});
    let mut world = small_world_of(&[set], &["garbage-collector"]).expect("a world");
    let uid = world.store().get(&key).expect("it is there").meta().uid.clone();
    let map = |(i, name): (usize, &&str)| {
        let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "blockOwnerDeletion": i == 0}]);
        create(
            &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "ownerReferences": owner}}),
        )
    };
    let made: Vec<Request> = ["a", "b"].iter().take(owned).enumerate().filter_map(map).collect();
    asks(&mut world, made, true);
    let options = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
    asks(&mut world, vec![Verb::Delete { key, options }.into()], true);
    world
}

/// As upstream, the collector looks into its own graph only (processDeletingDependentsItem): where the watch of the
/// dependents is late, the owner goes first, and they after it.
#[test]
fn every_order_of_a_deletion_in_the_foreground_leaves_nothing() {
    let in_the_end =
        |world: &World, quiet: bool| if quiet { endings::owner_last(world, quiet) } else { Ok(()) };
    whole("an owner of two", &owner_that_goes_last(2), with(0, Stub::Nothing), &in_the_end);
    let mut world = owner_that_goes_last(1);
    let states = [0, 1, 2].map(|n| whole("an owner of one", &world, with(n, Stub::Nothing), &in_the_end));
    assert!(states.is_sorted_by(|a, b| a < b), "{states:?}");
    let found = search(&world, with(0, Stub::Nothing), &endings::owner_last, LIMIT);
    let (_, text) = found.broken.expect("a watch that is late");
    assert_eq!(text, "a outlives owner, which waits for it");
    // Once the collector has heard of what it owns, the owner waits for it.
    let tells = |s: &&Step| matches!(s, Step::Deliver(ProcessId::Manager, kind) if kind.name() == "Secret");
    loop {
        let step = world.due().map(|(_, s)| s).find(tells).cloned();
        let Some(step) = step else { break };
        world.advance(&step);
    }
    whole("an owner whose dependents are known", &world, with(0, Stub::Nothing), &endings::owner_last);
}

/// All that comes by the clock within so many seconds happens.
#[test]
fn what_a_search_leaves_to_the_clock_ends_well() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "north"}});
    let mut world =
        small_world_of(&[namespace, pod("a", "north", "", &json!([]))], &["namespace"]).expect("a world");
    let delete =
        Verb::Delete { key: Key::new(Kind::Namespace, "", "north"), options: DeleteOptions::default() };
    asks(&mut world, vec![delete.into()], true);
    let until = world.now() + Duration::from_secs(60);
    while let Some((_, step)) = world.next().filter(|(at, _): &(_, Step)| *at <= until) {
        world.advance(&step);
    }
    assert_eq!(endings::emptied_first(&world, true), Ok(()));
}
