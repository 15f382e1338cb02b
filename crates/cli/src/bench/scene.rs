//! The clusters that are measured, and how they come to rest.

use kubestep_cluster::{Act, History, Image, Latencies, NodeSpec, Registry, Settings, Start, World};
use kubestep_insight::{Gaps, settled};
use kubestep_kubectl::Kubectl;
use std::{collections::BTreeMap, sync::Arc};

/// A start with so many nodes of 110 pods and one image.
pub(super) fn start(nodes: usize) -> Start {
    let nodes = (1..=nodes).map(|i| NodeSpec { name: format!("node-{i}"), ..NodeSpec::default() });
    let mut registry = Registry::default();
    registry.push("web:1", Image::pulled_in(1));
    Start {
        nodes: nodes.collect(),
        registry,
        seed: 1,
        latencies: Latencies::default(),
        settings: Settings { selector_check: true },
    }
}

/// A Deployment of this many replicas; with a Service before it, if asked.
pub(super) fn manifest(replicas: usize, service: bool) -> String {
    let deployment = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        image: web:1
"
    );
    let before = "apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - port: 80
---
";
    if service { format!("{before}{deployment}") } else { deployment }
}

/// A person's `kubectl apply` of a manifest.
pub(super) fn apply(text: String) -> Act {
    let files = Arc::new(BTreeMap::from([("web.yaml".to_string(), text)]));
    let program = Arc::new(Kubectl::new("kubectl apply -f web.yaml", files, "default"));
    Act::Run { terminal: 0, program, exclusive: true }
}

/// A person's kubectl line without files.
pub(super) fn kubectl(line: &str) -> Act {
    Act::Run {
        terminal: 0,
        program: Arc::new(Kubectl::new(line, Arc::default(), "default")),
        exclusive: true,
    }
}

/// How a run went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ran {
    /// Records made.
    pub(super) records: usize,
    /// Those that people count as steps.
    pub(super) steps: usize,
    /// Whether it ended calm, not at the bound.
    pub(super) calm: bool,
}

/// Runs until no gap is open and nothing but the clock moves.
pub(super) fn until_calm(world: &mut World, most: usize) -> Ran {
    let mut gaps = Gaps::begin(world);
    let mut ran = Ran::default();
    while ran.records < most
        && let Some((_, step)) = world.next()
    {
        let record = world.advance(&step);
        ran.records += 1;
        ran.steps += usize::from(record.visible());
        gaps.follow(world, &record.changes);
        if gaps.is_empty() && !world.is_exclusive() && settled(world) {
            return Ran { calm: true, ..ran };
        }
    }
    ran
}

/// A history of so many steps: a Deployment of 20 that is scaled and rolled again and again. `each` sees it after every
/// step.
pub(super) fn long_history(steps: usize, mut each: impl FnMut(&mut History)) -> History {
    let mut history = History::new(start(3));
    history.act(apply(manifest(20, true)));
    let (mut acts, mut idle) = (0u32, 0u32);
    while history.last() < steps {
        let before = history.last();
        if history.advance().is_none() {
            break;
        }
        let more = history.last() > before;
        idle = if more { 0 } else { idle + 1 };
        if more {
            each(&mut history);
        }
        if idle > 60 && !history.live().is_exclusive() {
            acts += 1;
            let line = match acts % 3 {
                0 => format!("kubectl scale deployment web --replicas {}", 15 + acts % 10),
                1 => format!("kubectl set env deployment web TRY={acts}"),
                _ => "kubectl delete pod -l app=web --wait=false".to_string(),
            };
            history.act(kubectl(&line));
            each(&mut history);
            idle = 0;
        }
    }
    history
}
