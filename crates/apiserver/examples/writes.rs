//! How long the API server takes for the writes that 1,000 replicas cause: `cargo run --release --example writes`.

use kubestep_apiserver::{Actor, Settings, Store, first_objects, serve};
use kubestep_model::{
    Answer, Body, Container, DeleteOptions, Dice, Instant, Object, PatchKind, Pod, PodCondition, Request,
    Subresource, Verb,
};
use serde_json::json;
use std::sync::Arc;

const PODS: usize = 1_000;

struct Bench {
    store: Store,
    dice: Dice,
    who: Actor,
}

impl Bench {
    fn ask(&mut self, verb: Verb) -> Option<Object> {
        let request: Request = verb.into();
        let settings = Settings::default();
        let outcome =
            serve(self.store.clone(), &request, &self.who, Instant::START, &mut self.dice, &settings);
        self.store = outcome.store;
        match outcome.reply {
            Ok(Answer::Object { object, .. }) => Some(object),
            Ok(_) => None,
            Err(status) => panic!("{}", status.message),
        }
    }
}

fn template() -> Pod {
    let mut pod = Pod::default();
    pod.metadata.generate_name = "web-5ffd8644d5-".into();
    pod.metadata.labels =
        [("app", "web"), ("pod-template-hash", "5ffd8644d5")].map(|(k, v)| (k.into(), v.into())).into();
    pod.spec.containers =
        vec![Container { name: "web".into(), image: "example/web:1".into(), ..Container::default() }];
    pod
}

fn status(pod: &Object, phase: &str) -> serde_json::Value {
    let condition = |name: &str| {
        json!({"type": name, "status": "True", "lastProbeTime": null,
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1})
    };
    json!({
        "metadata": {"uid": pod.meta().uid},
        "status": {
            "$setElementOrder/conditions": [{"type": "PodReadyToStartContainers"}, {"type": "Initialized"},
                {"type": "Ready"}, {"type": "ContainersReady"}, {"type": "PodScheduled"}],
            "conditions": [condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"),
                condition("ContainersReady"), condition("PodScheduled")],
            "containerStatuses": [{"name": "web", "image": "example/web:1", "imageID": "", "ready": false,
                "restartCount": 0, "started": false, "lastState": {}, "state": {"waiting": {"reason": "ContainerCreating"}}}],
            "hostIP": "172.18.0.3", "hostIPs": [{"ip": "172.18.0.3"}], "phase": phase,
            "startTime": "2026-01-01T00:00:00Z",
        },
    })
}

/// Nanoseconds that this process was running, whatever else the machine does (Linux); 0 elsewhere.
fn cpu() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn report(what: &str, began: u64, count: usize) {
    println!("{what}: {:.1} us of CPU each", (cpu() - began) as f64 / 1000.0 / count as f64);
}

fn main() {
    let mut dice = Dice::new(1);
    let mut store = Store::new();
    store.seed(first_objects(Instant::START, &mut dice));
    let mut bench = Bench { store, dice, who: Actor::new("bench", "bench") };
    let whole = cpu();
    let began = cpu();
    let pods: Vec<Object> = (0..PODS)
        .filter_map(|_| {
            let body = Body::Typed(template().into());
            bench.ask(Verb::Create { kind: kubestep_model::Kind::Pod, namespace: "default".into(), body })
        })
        .collect();
    report("create a pod", began, PODS);
    let began = cpu();
    for pod in &pods {
        bench.ask(Verb::Bind { pod: pod.key(), uid: pod.meta().uid.clone(), node: "node-1".into() });
    }
    report("bind a pod", began, PODS);
    let began = cpu();
    for phase in ["Pending", "Pending ", "Running"] {
        for pod in &pods {
            let patch = Arc::new(status(pod, phase));
            let (key, kind) = (pod.key(), PatchKind::Strategic);
            bench.ask(Verb::Patch { key, subresource: Subresource::Status, kind, patch });
        }
    }
    report("patch a pod's status", began, 3 * PODS);
    let began = cpu();
    for pod in &pods {
        let Some(Object::Pod(now)) = bench.store.get(&pod.key()).cloned() else { continue };
        let mut typed = (*now).clone();
        typed.status.conditions.push(PodCondition { r#type: "X".into(), ..PodCondition::default() });
        let body = Body::Typed(typed.into());
        bench.ask(Verb::Replace { key: pod.key(), subresource: Subresource::Status, body });
    }
    report("replace a pod's status", began, PODS);
    let began = cpu();
    for pod in &pods {
        let options = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
        bench.ask(Verb::Delete { key: pod.key(), options });
    }
    report("delete a pod", began, PODS);
    println!("{} writes in {:.1} ms of CPU", bench.store.revision(), (cpu() - whole) as f64 / 1e6);
}
