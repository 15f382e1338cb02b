//! Deletes pods that do not tolerate a NoExecute taint of their node, when their tolerance ends.
//!
//! Upstream: pkg/controller/tainteviction/taint_eviction.go (v1.37).

use super::ACTOR;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{
    DeleteOptions, Instant, Key, Kind, Node, Object, ObjectReference, PatchKind, Pod, Resource, Subresource,
    Taint, Time, Toleration,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The taint eviction controller.
#[derive(Debug)]
pub struct TaintEviction;

static WATCHES: [Watch; 2] = [Watch { kind: Kind::Pod, wakes: pod }, Watch { kind: Kind::Node, wakes: node }];

fn pod<'a>(change: &'a Change, _: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    let of = |pod: &'a Pod| (&pod.spec.node_name, &pod.spec.tolerations);
    if change.new.is_some() && old.map(of) != new.map(of) {
        vec![Wake::now(change.key.clone())]
    } else {
        vec![]
    }
}

fn node<'a>(change: &'a Change, view: &View) -> Vec<Wake> {
    let hard = |o: &'a Option<Object>| {
        let node = o.as_ref().and_then(Node::of);
        node.into_iter().flat_map(|n| &n.spec.taints).filter(|t| t.effect == "NoExecute")
    };
    if hard(&change.old).eq(hard(&change.new)) {
        return vec![];
    }
    view.list::<Pod>(None)
        .filter(|p| p.spec.node_name == change.key.name)
        .map(|p| Wake::now(p.key()))
        .collect()
}

fn no_execute(node: &Node) -> Vec<Taint> {
    node.spec.taints.iter().filter(|t| t.effect == "NoExecute").cloned().collect()
}

/// Whether a toleration covers a taint. Upstream: v1.Toleration.ToleratesTaint.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let effect = toleration.effect.is_empty() || toleration.effect == taint.effect;
    let key = toleration.key.is_empty() || toleration.key == taint.key;
    let value = match toleration.operator.as_str() {
        "Exists" => true,
        "" | "Equal" => toleration.value == taint.value,
        _ => false,
    };
    effect && key && value
}

/// How long a pod may stay: `None` for ever, zero not at all. Upstream: GetMatchingTolerations, getMinTolerationTime.
fn stays(pod: &Pod, taints: &[Taint]) -> Option<Duration> {
    let mut shortest: Option<i64> = None;
    for taint in taints {
        let Some(toleration) = pod.spec.tolerations.iter().find(|t| tolerates(t, taint)) else {
            return Some(Duration::ZERO);
        };
        if let Some(seconds) = toleration.toleration_seconds {
            shortest = Some(shortest.map_or(seconds, |s| s.min(seconds)));
        }
    }
    shortest.map(|s| Duration::from_secs(u64::try_from(s).unwrap_or(0)))
}

impl Controller for TaintEviction {
    fn name(&self) -> &'static str {
        "taint-eviction"
    }
    fn actor(&self) -> &'static str {
        ACTOR
    }
    fn event_source(&self) -> &'static str {
        "taint-eviction-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        8
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(pod) = cx.get::<Pod>(&key.namespace, &key.name) else { return Ok(Done::Settled) };
        if pod.metadata.is_terminating() || pod.spec.node_name.is_empty() {
            return Ok(Done::Settled);
        }
        let taints = cx.get::<Node>("", &pod.spec.node_name).map(no_execute).unwrap_or_default();
        let note = format!("since/{}", pod.metadata.uid);
        let begun = cx.recall(&note).and_then(Value::as_i64).map(Instant);
        let stays = if taints.is_empty() { None } else { stays(pod, &taints) };
        let Some(stays) = stays else {
            if begun.is_some() {
                cx.remember(&note, None);
                tell(cx, key, "Cancelling deletion of");
            }
            return Ok(Done::Settled);
        };
        let since = begun.unwrap_or(cx.now());
        if begun.is_none() && !stays.is_zero() {
            cx.remember(&note, Some(json!(since.0)));
        }
        let left = (since + stays).since(cx.now());
        if !left.is_zero() {
            let about = vec![
                ("pod", key.name.to_string()),
                ("node", pod.spec.node_name.to_string()),
                ("seconds", left.as_secs().to_string()),
            ];
            cx.because("taint.tolerates", about);
            return Ok(Done::Again(left));
        }
        cx.remember(&note, None);
        evict(cx, pod, key)
    }
}

/// It knows the pod by its name only: without a uid, `kubectl describe pod` does not find the event.
/// Upstream: emitPodDeletionEvent, emitCancelPodDeletionEvent.
fn tell(cx: &mut Cx<'_>, pod: &Key, what: &str) {
    let regarding = ObjectReference {
        kind: "Pod".into(),
        api_version: "v1".into(),
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
        ..ObjectReference::default()
    };
    let text = format!("{what} Pod {}/{}", pod.namespace, pod.name);
    cx.event_on(regarding, "Normal", "TaintManagerEviction", text);
}

fn evict(cx: &mut Cx<'_>, pod: &Pod, key: &Key) -> Flow {
    cx.because("taint.evict", vec![("pod", key.name.to_string()), ("node", pod.spec.node_name.to_string())]);
    tell(cx, key, "Marking for deletion");
    let now: Time = cx.now().to_time();
    let condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastProbeTime": null, "lastTransitionTime": now,
        "observedGeneration": pod.metadata.generation});
    let patch = json!({"status": crate::pods::condition_patch(pod, condition)});
    match cx.try_patch(key.clone(), Subresource::Status, PatchKind::Strategic, patch)? {
        Ok(_) => {}
        Err(status) if status.is_not_found() => return Ok(Done::Settled),
        Err(status) => return Err(cx.fail(status)),
    }
    match cx.try_delete(key.clone(), DeleteOptions::default())? {
        Ok(()) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::pass;

    fn object(kind: Kind, value: Value) -> Object {
        Object::from_value(kind, value).expect("an object")
    }

    #[test]
    fn the_event_names_the_pod_without_its_uid() {
        let taint = json!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"});
        let node = object(Kind::Node, json!({"metadata": {"name": "node-1"}, "spec": {"taints": [taint]}}));
        let meta = json!({"name": "lone", "namespace": "default", "uid": "u"});
        let pod = object(Kind::Pod, json!({"metadata": meta, "spec": {"nodeName": "node-1"}}));
        let outcome = pass(&TaintEviction, pod.key(), vec![node, pod], Instant::START, vec![]);
        let told: Vec<_> =
            outcome.events.iter().map(|e| (&*e.regarding.name, &*e.regarding.uid, &*e.message)).collect();
        assert_eq!(told, [("lone", "", "Marking for deletion Pod default/lone")]);
        let verbs: Vec<&Value> = outcome.actions.iter().map(|action| &action["verb"]).collect();
        assert_eq!(verbs, ["patch", "delete"]);
    }
}
