//! Every order of the loops around the workloads: replication controllers, quotas, accounts, endpoints, mirrored slices,
//! jobs whose time is over; and of ReplicaSets and Deployments whose answers get lost.

use kubestep_cluster::{Act, World};
use kubestep_insight::explore::{Promise, Rules, Stub, around, promise, search, small_world_of};
use kubestep_insight::requests::{Requests, create};
use kubestep_model::{DeleteOptions, Key, Kind, PatchKind, Request, Subresource, Verb};
use serde_json::{Value, json};
use std::sync::Arc;

const LIMIT: usize = 300_000;

fn whole(name: &str, world: &World, troubles: u32, stub: Stub, promise: Promise<'_>) -> usize {
    let found = search(world, Rules { troubles, lost: true, stub }, promise, LIMIT);
    println!("{name}, {troubles} crashes or lost answers: {} states, {} quiet", found.states, found.ends);
    assert!(!found.cut, "{name}: cut at {LIMIT} states");
    assert!(found.broken.is_none(), "{name}: {:?}", found.broken);
    assert!(found.ends > 0, "{name}: never quiet");
    found.states
}

fn asks(world: &mut World, requests: Vec<Request>, exclusive: bool) {
    world.act(Act::Run { terminal: 0, program: Arc::new(Requests(requests)), exclusive });
    while world.is_exclusive() {
        let Some((_, step)) = world.next() else { break };
        world.advance(&step);
    }
}

fn grows(states: &[usize]) {
    assert!(states.is_sorted_by(|a, b| a < b), "{states:?}");
}

fn object(version: &str, kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec})
}

fn pod_spec() -> Value {
    json!({"nodeName": "a", "containers": [{"name": "web", "image": "web"}]})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}})
}

fn delete(kind: Kind, namespace: &str, name: &str) -> Request {
    Verb::Delete { key: Key::new(kind, namespace, name), options: DeleteOptions::default() }.into()
}

fn patch(kind: Kind, name: &str, subresource: Subresource, patch: Value) -> Request {
    let key = Key::new(kind, "default", name);
    Verb::Patch { key, subresource, kind: PatchKind::Merge, patch: Arc::new(patch) }.into()
}

#[test]
fn every_order_of_a_replication_controller_ends_with_two_pods() {
    let spec = json!({"replicas": 2, "selector": {"app": "web"}, "template": template()});
    let set = object("v1", "ReplicationController", "web", spec);
    let world = small_world_of(&[set], &["replicationcontroller"]).expect("a world");
    let times = |n: usize| move |world: &World, quiet: bool| around::replicated(world, quiet, n);
    let calm = whole("a ReplicationController", &world, 0, Stub::Nothing, &times(1));
    grows(&[calm, whole("a ReplicationController", &world, 1, Stub::Nothing, &times(2))]);
}

#[test]
fn every_order_with_a_lost_answer_ends_with_two_pods() {
    for (kind, awake) in [("ReplicaSet", &["replicaset"][..]), ("Deployment", &["deployment", "replicaset"])]
    {
        let spec =
            json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template()});
        let world = small_world_of(&[object("apps/v1", kind, "web", spec)], awake).expect("a world");
        whole(&format!("a {kind}"), &world, 1, Stub::Nothing, &promise);
    }
}

/// One pod goes while another comes.
fn quota() -> World {
    let room = object("v1", "ResourceQuota", "room", json!({"hard": {"pods": "2"}}));
    let mut world = small_world_of(&[room], &["resourcequota"]).expect("a world");
    let pod = |name: &str| create(&object("v1", "Pod", name, pod_spec())).expect("a pod");
    while let Some((_, step)) =
        world.next().filter(|(at, _)| *at <= world.now() + std::time::Duration::from_secs(2))
    {
        world.advance(&step);
    }
    asks(&mut world, vec![pod("a")], true);
    asks(&mut world, vec![delete(Kind::Pod, "default", "a")], false);
    asks(&mut world, vec![pod("b")], false);
    world
}

#[test]
fn every_order_of_a_quota_never_lets_in_too_many() {
    let never = |world: &World, _: bool| around::counted_as_used(world, false);
    grows(&[0, 1].map(|n| whole("a quota", &quota(), n, Stub::Gone, &never)));
}

#[test]
fn every_order_of_a_namespace_gets_its_account_and_its_certificate() {
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "north"}});
    let mut world =
        small_world_of(&[space], &["serviceaccount", "root-ca-certificate-publisher"]).expect("a world");
    // Somebody takes the account away, as soon as it is there or before.
    asks(&mut world, vec![delete(Kind::ServiceAccount, "north", "default")], false);
    grows(&[0, 1].map(|n| whole("accounts", &world, n, Stub::Nothing, &around::furnished)));
}

#[test]
fn every_order_of_endpoints_ends_with_each_address_once() {
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    let pods = ["a", "b"].map(|name| object("v1", "Pod", name, pod_spec()));
    let objects: Vec<Value> = pods.into_iter().chain([object("v1", "Service", "web", spec)]).collect();
    let world = small_world_of(&objects, &["endpoint"]).expect("a world");
    grows(&[0, 1].map(|n| whole("Endpoints", &world, n, Stub::Ready, &around::endpoints_of_ready)));
}

#[test]
fn every_order_of_endpoints_written_by_hand_ends_with_mirrored_slices() {
    let subsets = |ip: &str| json!([{"addresses": [{"ip": ip}], "ports": [{"port": 80}]}]);
    let service = object("v1", "Service", "web", json!({"ports": [{"port": 80}]}));
    let mut by_hand = object("v1", "Endpoints", "web", Value::Null);
    by_hand["subsets"] = subsets("10.1.0.1");
    let mut world = small_world_of(&[service, by_hand], &["endpointslicemirroring"]).expect("a world");
    let other = json!({"subsets": subsets("10.1.0.2")});
    asks(&mut world, vec![patch(Kind::Endpoints, "web", Subresource::None, other)], false);
    grows(&[0, 1, 2].map(|n| whole("mirrored slices", &world, n, Stub::Nothing, &around::mirrored)));
}

#[test]
fn every_order_of_a_time_to_live_takes_away_only_what_has_ended() {
    let spec = json!({"ttlSecondsAfterFinished": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "web", "image": "web"}]}}});
    let jobs = ["ends", "runs"].map(|name| object("batch/v1", "Job", name, spec.clone()));
    let mut world = small_world_of(&jobs, &["ttl-after-finished"]).expect("a world");
    let at = "2026-01-01T00:00:00Z";
    let ended = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": at});
    let status = json!({"status": {"startTime": at, "completionTime": at, "succeeded": 1, "conditions": [ended("SuccessCriteriaMet"), ended("Complete")]}});
    let kind = Kind::find("batch", "Job").expect("jobs");
    asks(&mut world, vec![patch(kind, "ends", Subresource::Status, status)], false);
    grows(&[0, 1, 2].map(|n| whole("jobs that end", &world, n, Stub::Nothing, &around::only_the_ended_go)));
}
