//! Passes of the daemon set controller as tables.

use super::*;
use crate::{
    claim::controller_ref,
    harness::{Outcome, pass},
};
use kubestep_model::{Instant, Object, ObjectMeta, PodCondition, Taint, Time};
use serde_json::{Value, json};

fn set(spec: Value) -> DaemonSet {
    let mut whole = json!({
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    let meta = ObjectMeta {
        name: "agent".into(),
        namespace: "default".into(),
        uid: "u".into(),
        ..Default::default()
    };
    DaemonSet { metadata: meta, spec: serde_json::from_value(whole).expect("a spec"), ..Default::default() }
}

fn hash(set: &DaemonSet) -> String {
    crate::template::compute_hash(&set.spec.template, None)
}

fn node(name: &str, taint: &str) -> Object {
    let mut node = Node::default();
    node.metadata.name = name.into();
    if let Some((key, effect)) = taint.split_once(':') {
        node.spec.taints = vec![Taint { key: key.into(), effect: effect.into(), ..Default::default() }];
    }
    node.into()
}

/// `ready`, `pending`, `leaving`, `failed`, and `old-` before it for another template.
fn pod(set: &DaemonSet, node: &str, state: &str) -> Object {
    let (of, state) =
        state.strip_prefix("old-").map_or((hash(set), state), |state| ("old".to_owned(), state));
    let mut pod = fit::new_pod(set, node, &of);
    pod.metadata.name = format!("{node}-{of}").into();
    pod.metadata.uid = pod.metadata.name.clone();
    pod.metadata.owner_references = vec![controller_ref(DaemonSet::KIND, &set.metadata)];
    pod.status.phase = if state == "failed" { "Failed" } else { "Running" }.into();
    let ready = if state == "ready" { "True" } else { "False" };
    pod.status.conditions =
        vec![PodCondition { r#type: "Ready".into(), status: ready.into(), ..Default::default() }];
    pod.metadata.deletion_timestamp = (state == "leaving").then_some(Time(1));
    pod.into()
}

fn run(set: &DaemonSet, nodes: &[(&str, &str)], pods: &[(&str, &str)]) -> Outcome {
    let mut objects = vec![set.to_object()];
    objects.extend(nodes.iter().map(|(name, taint)| node(name, taint)));
    objects.extend(pods.iter().map(|(node, state)| pod(set, node, state)));
    pass(&DaemonSetController, set.to_object().key(), objects, Instant::START, vec![])
}

fn moves(set: &DaemonSet, outcome: &Outcome) -> String {
    let target = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    let made =
        outcome.pods.iter().map(|p| format!("+{}", p.pointer(target).and_then(Value::as_str).unwrap_or("?")));
    let gone = outcome.actions.iter().filter(|a| a["verb"] == "delete" && a["resource"] == "pods");
    let now = hash(set);
    let gone = gone.map(|a| format!("-{}", a["name"].as_str().unwrap_or("?").replace(&now, "new")));
    made.chain(gone).collect::<Vec<_>>().join(" ")
}

/// The spec, nodes with their taints, pods, and what is made and deleted.
type Row<'r> = (Value, &'r [(&'r str, &'r str)], &'r [(&'r str, &'r str)], &'r str);

#[test]
fn who_is_made_and_who_goes() {
    let two = [("a", ""), ("b", "")];
    let surge = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}});
    let on_delete = json!({"updateStrategy": {"type": "OnDelete"}});
    let all = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 0}}});
    let rows: Vec<Row<'_>> = vec![
        (json!({}), &two, &[], "+a +b"),
        (json!({}), &two, &[("a", "ready")], "+b"),
        (json!({}), &two, &[("a", "ready"), ("b", "pending")], ""),
        (json!({}), &[("a", "x:NoSchedule")], &[], ""),
        (json!({}), &[("a", "x:NoSchedule")], &[("a", "ready")], ""),
        (json!({}), &[("a", "x:NoExecute")], &[("a", "ready")], "-a-new"),
        (json!({}), &[("a", "node.kubernetes.io/unschedulable:NoSchedule")], &[], "+a"),
        (json!({}), &[("a", "node.kubernetes.io/unreachable:NoExecute")], &[("a", "ready")], ""),
        (json!({}), &[("a", "")], &[("a", "failed")], "-a-new"),
        (json!({}), &two, &[("a", "old-ready"), ("b", "old-ready")], "-a-old"),
        (json!({}), &two, &[("a", "old-ready"), ("b", "leaving")], ""),
        (json!({}), &two, &[("a", "old-ready"), ("b", "pending")], ""),
        // A broken old pod is replaced without counting.
        (json!({}), &two, &[("a", "old-pending"), ("b", "old-ready")], "-a-old"),
        (all, &two, &[("a", "old-ready"), ("b", "old-ready")], "-a-old -b-old"),
        (on_delete, &two, &[("a", "old-ready"), ("b", "old-ready")], ""),
        (surge.clone(), &two, &[("a", "old-ready"), ("b", "old-ready")], "+a"),
        (surge.clone(), &two, &[("a", "old-ready"), ("a", "pending"), ("b", "old-ready")], ""),
        (surge.clone(), &two, &[("a", "old-ready"), ("a", "ready"), ("b", "old-ready")], "-a-old"),
        (surge, &two, &[("a", "leaving"), ("b", "ready")], "+a"),
    ];
    for (spec, nodes, pods, want) in rows {
        let set = set(spec.clone());
        assert_eq!(moves(&set, &run(&set, nodes, pods)), want, "{spec} {nodes:?} {pods:?}");
    }
}

#[test]
fn the_status_counts_nodes() {
    let set = set(json!({}));
    let nodes = [("a", ""), ("b", ""), ("c", "x:NoSchedule"), ("d", "")];
    let outcome = run(&set, &nodes, &[("a", "ready"), ("b", "old-ready"), ("c", "ready")]);
    let stored = outcome.stored.get(&set.to_object().key()).and_then(DaemonSet::read).expect("the set");
    let s = &stored.status;
    let counts = [
        s.desired_number_scheduled,
        s.current_number_scheduled,
        s.number_misscheduled,
        s.number_ready,
        s.updated_number_scheduled,
        s.number_unavailable,
    ];
    assert_eq!(counts, [3, 2, 1, 2, 1, 1]);
    assert!(outcome.notes.iter().all(|note| SENTENCES.iter().any(|s| s.code == note.code)));
}

#[test]
fn an_empty_selector_does_nothing_and_says_so() {
    let set = set(json!({"selector": {}}));
    let outcome = run(&set, &[("a", "")], &[]);
    assert_eq!((outcome.events[0].reason.as_str(), outcome.pods.len()), ("SelectingAll", 0));
}
