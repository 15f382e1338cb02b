//! The world as a whole.

use crate::{Act, FaultAct, Latencies, NodeSpec, ProcessId, Registry, Settings, Start, World};
use kubestep_apiserver::Actor;
use kubestep_model::{
    Body, Instant, Key, Kind, Node, PatchKind, Request, Verb,
    client::{Client, ClientAsk, ClientProgress, ClientTurn},
    defined::DEFINITION,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

fn start() -> Start {
    let nodes = (1..=3).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() }).collect();
    Start {
        nodes,
        registry: Registry::default(),
        seed: 1,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

#[test]
fn a_cluster_boots_and_its_nodes_are_ready() {
    let world = World::boot(&start());
    let nodes: Vec<&Node> = world.store().list(Kind::Node, None).filter_map(|o| o.get::<Node>()).collect();
    assert_eq!(nodes.len(), 3);
    assert!(nodes.iter().all(|n| n.is_ready()));
    assert!(world.store().list(Kind::Event, None).next().is_none());
    assert_eq!(world.hash(), World::boot(&start()).hash());
}

/// A program that sends requests, one after the other.
#[derive(Clone, Debug)]
struct Requests(Vec<Request>);

impl Client for Requests {
    fn run(&self, _: Instant, told: &[ClientTurn]) -> ClientProgress {
        let next = self.0.get(told.len()).map_or(Ok(0), |r| Err(ClientAsk::Api(r.clone())));
        ClientProgress { output: vec![], next, rest: None }
    }
    fn line(&self) -> String {
        "requests".into()
    }
}

fn create(kind: Kind, object: serde_json::Value) -> Request {
    let namespace = if kind.namespaced() { "default" } else { "" };
    Verb::Create { kind, namespace: namespace.into(), body: Body::Json(Arc::new(object)) }.into()
}

/// Lets so many seconds pass after a program was started.
fn play(world: &mut World, requests: Vec<Request>, seconds: u64) {
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive: false });
    pass(world, seconds);
}

fn pass(world: &mut World, seconds: u64) {
    let end = world.now() + Duration::from_secs(seconds);
    while let Some((_, step)) = world.next().filter(|(at, _)| *at <= end) {
        world.advance(&step);
    }
    world.idle_until(end);
}

#[test]
fn a_held_watch_that_is_too_old_lists_again() {
    let mut world = World::boot(&start());
    let watch =
        |held| Act::Fault(FaultAct::Hold { process: ProcessId::Manager, kind: Kind::ConfigMap, held });
    let map = |name: &str| create(Kind::ConfigMap, json!({"metadata": {"name": name}}));
    let key = |name: &str| Key::new(Kind::ConfigMap, "default", name);
    world.act(watch(true));
    let delete = Verb::Delete { key: key("gone"), options: Default::default() }.into();
    play(&mut world, vec![map("gone"), map("kept"), delete], 5);
    let manager = |world: &World| world.process(&ProcessId::Manager).expect("it runs").clone();
    assert_eq!(manager(&world).behind(Kind::ConfigMap), 3, "made, made, deleted");
    let cut = world.act(Act::Fault(FaultAct::CutHistory));
    assert!(format!("{:?}", cut.what).contains("one watch is too old"), "{cut:?}");
    play(&mut world, vec![map("later")], 5);
    assert_eq!(manager(&world).behind(Kind::ConfigMap), 0, "nobody remembers what it has missed");
    let on = world.act(watch(false));
    assert!(format!("{:?}", on.what).contains("410 Gone"), "{on:?}");
    assert_eq!(manager(&world).behind(Kind::ConfigMap), 2, "a list tells what is there, not how it came");
    pass(&mut world, 5);
    let seen = manager(&world).view;
    assert!(seen.object(&key("kept")).is_some() && seen.object(&key("later")).is_some());
    assert!(world.faults().is_none(), "{:?}", world.faults());
    // From now on it is told of each change again.
    play(&mut world, vec![map("last")], 5);
    assert!(manager(&world).view.object(&key("last")).is_some());
}

#[test]
fn a_watch_that_is_held_for_longer_than_the_log_lists_again() {
    let mut world = World::boot(&start());
    let watch =
        |held| Act::Fault(FaultAct::Hold { process: ProcessId::Manager, kind: Kind::ConfigMap, held });
    world.act(watch(true));
    play(&mut world, vec![create(Kind::ConfigMap, json!({"metadata": {"name": "kept"}}))], 5);
    world.act(watch(false));
    pass(&mut world, 5);
    let key = Key::new(Kind::ConfigMap, "default", "kept");
    let manager = |world: &World| world.process(&ProcessId::Manager).expect("it runs").clone();
    assert!(manager(&world).view.object(&key).is_some(), "the log still held it");

    world.act(watch(true));
    let delete = Verb::Delete { key: key.clone(), options: Default::default() }.into();
    play(&mut world, vec![delete], 5);
    assert_eq!(manager(&world).behind(Kind::ConfigMap), 1);
    let who = Actor { user_agent: "kubectl".into(), user: "kubernetes-admin".into() };
    for i in 0..=kubestep_apiserver::LOG_LENGTH {
        let label = json!({"metadata": {"labels": {"n": i.to_string()}}});
        let patch = Verb::Patch {
            key: Key::new(Kind::Namespace, "", "default"),
            subresource: Default::default(),
            kind: PatchKind::Merge,
            patch: label.into(),
        };
        let (now, settings) = (world.now, world.settings.clone());
        let served = kubestep_apiserver::serve(
            world.store.clone(),
            &patch.into(),
            &who,
            now,
            &mut world.dice,
            &settings,
        );
        served.reply.expect("written");
        world.store = served.store;
    }
    let on = world.act(watch(false));
    assert!(format!("{:?}", on.what).contains("410 Gone"), "{on:?}");
    pass(&mut world, 5);
    assert!(manager(&world).view.object(&key).is_none(), "the list tells that it is gone");
}

#[test]
fn objects_of_a_defined_kind_are_collected_with_their_owners() {
    let mut world = World::boot(&start());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let widget = Kind::defined("example.com", "v1", "Widget", "widgets", true);
    let object = |name: &str, owner: Option<&str>| {
        let mut object =
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}});
        if let Some(uid) = owner {
            object["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner", "uid": uid}]);
        }
        create(widget, object)
    };
    play(&mut world, vec![create(DEFINITION, definition), object("owner", None)], 5);
    let key = |name: &str| Key::new(widget, "default", name);
    let uid = world.store().get(&key("owner")).expect("it is stored").meta().uid.to_string();
    let mut map = json!({"metadata": {"name": "map"}});
    map["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner", "uid": uid}]);
    play(&mut world, vec![object("dependent", Some(&uid)), create(Kind::ConfigMap, map)], 5);
    let map = Key::new(Kind::ConfigMap, "default", "map");
    assert!(world.store().get(&key("dependent")).is_some() && world.store().get(&map).is_some());
    play(&mut world, vec![Verb::Delete { key: key("owner"), options: Default::default() }.into()], 20);
    assert!(world.store().get(&key("dependent")).is_none(), "the garbage collector knows the kind");
    assert!(world.store().get(&map).is_none(), "and owners of the kind");
    // The definition takes its objects with it.
    play(&mut world, vec![object("last", None)], 5);
    let definition = Key::new(DEFINITION, "", "widgets.example.com");
    play(&mut world, vec![Verb::Delete { key: definition.clone(), options: Default::default() }.into()], 5);
    assert!(world.store().get(&key("last")).is_none() && world.store().get(&definition).is_none());
}
