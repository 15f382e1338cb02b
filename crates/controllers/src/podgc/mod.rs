//! Pod garbage collection: pods that nobody will ever bring to an end.
//!
//! Upstream: pkg/controller/podgc/gc_controller.go (v1.37): every twenty seconds it looks at all pods; those of a node
//! that has been gone for forty seconds, those that were deleted before they had a node, those of a node that is out of
//! service, and the oldest of very many that have ended are removed.

mod reasons;

use crate::sentences::Sentence;
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{DeleteOptions, Instant, Key, Kind, Node, PatchKind, Pod, Resource, Subresource};
use reasons::{Reason, marked};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

/// How often it looks.
const PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be gone. Upstream: quarantineTime.
const QUARANTINE: Duration = Duration::from_secs(40);
/// A look may begin a little after its time.
const SLACK: Duration = Duration::from_millis(100);
/// So many pods that have ended are kept. Upstream: TerminatedPodGCThreshold.
const KEPT_ENDED: usize = 12_500;
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
const MEMORY: &str = "missing";

/// The pod garbage collector.
#[derive(Debug)]
pub struct PodGc;

static WATCHES: [Watch; 2] =
    [Watch { kind: Kind::Pod, wakes: nobody }, Watch { kind: Kind::Node, wakes: nobody }];

fn nobody(_: &Change, _: &View) -> Vec<Wake> {
    vec![]
}

impl Controller for PodGc {
    fn name(&self) -> &'static str {
        "podgc"
    }
    fn actor(&self) -> &'static str {
        "pod-garbage-collector"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn period(&self) -> Option<Duration> {
        Some(PERIOD)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        if *key != crate::period_key() {
            return Ok(Done::Settled);
        }
        let pods: Vec<&Pod> = cx.list::<Pod>(None).collect();
        collect_ended(cx, &pods)?;
        collect_out_of_service(cx, &pods)?;
        collect_orphaned(cx, &pods)?;
        for pod in pods.iter().filter(|p| p.metadata.is_terminating() && p.spec.node_name.is_empty()) {
            remove(cx, pod, None, "podgc.unscheduled")?;
        }
        Ok(Done::Settled)
    }
}

/// Of very many pods that have ended the oldest go. Upstream: gcTerminated.
fn collect_ended(cx: &mut Cx<'_>, pods: &[&Pod]) -> Result<(), Halt> {
    let mut ended: Vec<&&Pod> = pods.iter().filter(|p| p.is_terminal()).collect();
    let Some(over) = ended.len().checked_sub(KEPT_ENDED).filter(|n| *n > 0) else { return Ok(()) };
    // Pods that their node put out come first.
    ended.arrange_by_key(|p| {
        (p.status.reason != "Evicted", p.metadata.creation_timestamp, p.metadata.name.clone())
    });
    for pod in ended.into_iter().take(over) {
        remove(cx, pod, None, "podgc.many")?;
    }
    Ok(())
}

/// Pods on their way out on nodes that somebody has marked as out of service. Upstream: gcTerminating.
fn collect_out_of_service(cx: &mut Cx<'_>, pods: &[&Pod]) -> Result<(), Halt> {
    let out = |node: &Node| {
        node.condition("Ready").is_none_or(|c| c.status != "True")
            && node.spec.taints.iter().any(|t| t.key == OUT_OF_SERVICE)
    };
    for pod in pods.iter().filter(|p| p.metadata.is_terminating()) {
        if cx.get::<Node>("", &pod.spec.node_name).is_some_and(out) {
            remove(cx, pod, Some(&Reason::OUT_OF_SERVICE), "podgc.out-of-service")?;
        }
    }
    Ok(())
}

/// Pods of nodes that are not there any more. Upstream: gcOrphaned, discoverDeletedNodes.
fn collect_orphaned(cx: &mut Cx<'_>, pods: &[&Pod]) -> Result<(), Halt> {
    let known: BTreeSet<Arc<str>> = cx.list::<Node>(None).map(|n| n.metadata.name.clone()).gather();
    let mut missing = recall(cx);
    let homes = pods.iter().map(|p| &p.spec.node_name).filter(|n| !n.is_empty() && !known.contains(*n));
    for node in homes {
        missing.entry(node.to_string()).or_insert(cx.now());
    }
    let due: Vec<String> = missing
        .iter()
        .filter(|(_, since)| **since + QUARANTINE <= cx.now() + SLACK)
        .map(|(n, _)| n.clone())
        .collect();
    let mut gone = BTreeSet::new();
    for node in due {
        missing.remove(&node);
        match cx.live_object(Key::new(Kind::Node, "", node.as_str()))? {
            Err(status) if status.is_not_found() => drop(gone.insert(node)),
            _ => {}
        }
    }
    remember(cx, &missing);
    for pod in pods.iter().filter(|p| gone.contains(&*p.spec.node_name)) {
        remove(cx, pod, Some(&Reason::ORPHANED), "podgc.orphan")?;
    }
    Ok(())
}

fn recall(cx: &Cx<'_>) -> BTreeMap<String, Instant> {
    let held = cx.recall(MEMORY).and_then(Value::as_object);
    held.into_iter().flatten().filter_map(|(n, v)| Some((n.clone(), Instant(v.as_i64()?)))).gather()
}

fn remember(cx: &mut Cx<'_>, missing: &BTreeMap<String, Instant>) {
    let all: serde_json::Map<String, Value> = missing.iter().map(|(n, at)| (n.clone(), json!(at.0))).gather();
    let all = (!all.is_empty()).then_some(Value::Object(all));
    if cx.recall(MEMORY) != all.as_ref() {
        cx.remember(MEMORY, all);
    }
}

/// Marks a pod as failed, unless it has ended, and removes it at once. What is refused is tried in the next round.
/// Upstream: markFailedAndDeletePodWithCondition.
fn remove(cx: &mut Cx<'_>, pod: &Pod, reason: Option<&Reason>, code: &'static str) -> Result<(), Halt> {
    cx.because(code, vec![("pod", pod.metadata.name.to_string()), ("node", pod.spec.node_name.to_string())]);
    if !pod.is_terminal() {
        let patch = marked(pod, reason, cx.now().to_time());
        match cx.try_patch(pod.key(), Subresource::Status, PatchKind::Strategic, patch)? {
            Ok(_) => {}
            Err(status) if status.is_not_found() => return Ok(()),
            Err(_) => return Ok(()),
        }
    }
    let options = DeleteOptions { grace_period_seconds: Some(0), ..Default::default() };
    cx.try_delete(pod.key(), options).map(drop)
}

/// What the codes above mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "podgc.orphan",
        text: "The node {node} of pod {pod} has been gone for forty seconds: the pod garbage collector removes the pod.",
        upstream: "pkg/controller/podgc/gc_controller.go, gcOrphaned",
    },
    Sentence {
        code: "podgc.unscheduled",
        text: "Pod {pod} was deleted before it had a node: the pod garbage collector removes it.",
        upstream: "pkg/controller/podgc/gc_controller.go, gcUnscheduledTerminating",
    },
    Sentence {
        code: "podgc.out-of-service",
        text: "The node {node} of pod {pod} is out of service: the pod garbage collector removes the pod.",
        upstream: "pkg/controller/podgc/gc_controller.go, gcTerminating",
    },
    Sentence {
        code: "podgc.many",
        text: "Very many pods have ended: the pod garbage collector removes {pod}, one of the oldest.",
        upstream: "pkg/controller/podgc/gc_controller.go, gcTerminated",
    },
];
