//! Every order: races and crashes on tiny worlds, searched completely.

use kubestep_cluster::World;
use kubestep_insight::explore::{
    Found, Move, Promise, Rules, Stub, explore, promise, promise_without_crashes, promises, search,
    small_world, small_world_of, way,
};
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

/// A small world of other loops: what is in it, who is awake, who plays the kubelet.
struct Small {
    objects: Vec<Value>,
    awake: &'static [&'static str],
    stub: Stub,
}

impl Small {
    fn world(&self) -> World {
        small_world_of(&self.objects, self.awake).expect("a small world")
    }

    /// Searches all orders with so many crashes or lost answers; prints the number of states.
    fn search(&self, name: &str, troubles: u32, promise: Promise<'_>) -> Found {
        let rules = Rules { troubles, lost: true, stub: self.stub };
        let found = search(&self.world(), rules, promise, LIMIT);
        if let Some((way, text)) = &found.broken {
            let script = way::script(&self.objects, &self.world(), way);
            println!("{name}: {text}\n{}", kubestep_model::yaml::to_yaml(&script));
        }
        whole(&format!("{name}, {troubles} crashes or lost answers"), &found);
        found
    }
}

fn pod_spec(policy: &str) -> Value {
    json!({"restartPolicy": policy, "containers": [{"name": "web", "image": "web"}]})
}

fn pod_template(policy: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": pod_spec(policy)})
}

fn stateful_set() -> Small {
    let spec = json!({"replicas": 2, "serviceName": "web", "selector": {"matchLabels": {"app": "web"}},
        "template": pod_template("Always")});
    let set =
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": spec});
    Small { objects: vec![set], awake: &["statefulset"], stub: Stub::Ready }
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
}

fn daemon_set() -> Small {
    let mut template = pod_template("Always");
    template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    let spec = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template});
    let set =
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": spec});
    Small { objects: vec![node("a"), node("b"), set], awake: &["daemonset"], stub: Stub::Nothing }
}

fn job() -> Small {
    let spec = json!({"completions": 2, "parallelism": 2, "template": {"spec": pod_spec("Never")}});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}, "spec": spec});
    Small { objects: vec![job], awake: &["job"], stub: Stub::Succeeded }
}

/// A pod whose owner is not there any more.
fn left_behind() -> Small {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "0-0", "controller": true}]);
    let pod = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "ownerReferences": owner}, "spec": pod_spec("Always")});
    Small { objects: vec![pod("a"), pod("b")], awake: &["garbage-collector"], stub: Stub::Nothing }
}

fn service() -> Small {
    let pod = |name: &str| {
        let mut spec = pod_spec("Always");
        spec["nodeName"] = json!("a");
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec})
    };
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec});
    Small {
        objects: vec![node("a"), pod("a"), pod("b"), service],
        awake: &["endpointslice"],
        stub: Stub::Ready,
    }
}

fn grows(states: &[usize]) {
    assert!(states.is_sorted_by(|a, b| a < b), "{states:?}");
}

#[test]
fn every_order_of_a_stateful_set_keeps_its_order() {
    grows(&[0, 1, 2].map(|n| stateful_set().search("a StatefulSet", n, &promises::in_order).states));
}

#[test]
fn every_order_of_a_daemon_set_ends_with_one_pod_for_each_node() {
    let calm = daemon_set().search("a DaemonSet", 0, &promises::never_two_for_a_node);
    let troubled = daemon_set().search("a DaemonSet", 1, &promises::one_for_each_node);
    grows(&[calm.states, troubled.states]);
}

#[test]
fn every_order_of_a_job_counts_each_pod_once() {
    let calm = job().search("a Job", 0, &promises::never_made_twice);
    let troubled = job().search("a Job", 1, &promises::counted_once);
    grows(&[calm.states, troubled.states]);
}

#[test]
fn a_crash_can_make_a_job_do_more_than_it_has_to() {
    let job = job();
    let rules = Rules { troubles: 1, lost: false, stub: job.stub };
    let found = search(&job.world(), rules, &promises::never_made_twice, LIMIT);
    let (way, text) = found.broken.expect("a way to a third pod");
    assert_eq!(text, "3 pods run, 2 may; 3 in all, 2 are needed");
    assert!(way.contains(&Move::Crash) && way.len() < 15, "the shortest way has {} moves", way.len());
    let script = way::script(&job.objects, &job.world(), &way);
    let there = way::play(&script).expect("the way can be gone again");
    assert_eq!(promises::never_made_twice(&there, false), Err(text));
}

#[test]
fn every_order_of_the_garbage_collector_leaves_nothing_behind() {
    grows(
        &[0, 1, 2]
            .map(|n| left_behind().search("the garbage collector", n, &promises::nothing_left_behind).states),
    );
}

#[test]
fn every_order_of_a_service_ends_with_each_address_once() {
    grows(&[0, 1].map(|n| service().search("a Service", n, &promises::each_address_once).states));
}
