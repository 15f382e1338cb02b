//! The recorded answers of the real scheduler's functions, asked of the code that the scheduler runs.

use super::{
    Scheduler,
    attempt::Attempt,
    cache::Cache,
    cycle::{self, Failure},
    fit_error::Refusal,
    node_info::PodInfo,
    plugins::Cycle,
    preemption::preempt,
};
use kubestep_control::View;
use kubestep_model::{Dice, Instant, Kind, Object, Resource};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers a case of the named function; `None` if it is not one of the scheduler's.
pub fn run(name: &str, case: &Value) -> Option<Value> {
    matches!(name, "scheduler-filters" | "scheduler-scores").then(|| schedule(case))
}

fn read(value: &Value) -> Option<Object> {
    let (version, kind) = (value.get("apiVersion")?.as_str()?, value.get("kind")?.as_str()?);
    Object::from_value(Kind::of_manifest(version, kind)?, value.clone()).ok()
}

fn list<'a>(case: &'a Value, name: &str) -> impl Iterator<Item = Object> + use<'a> {
    case.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(read)
}

fn pod_info(object: &Object) -> Option<PodInfo> {
    if let Object::Pod(pod) = object { Some(PodInfo::new(pod.clone())) } else { None }
}

fn schedule(case: &Value) -> Value {
    let mut view = View::default();
    let mut cache = Cache::default();
    for object in list(case, "nodes").chain(list(case, "pods")).chain(list(case, "objects")) {
        match &object {
            Object::Node(node) => cache.set_node(node.clone()),
            Object::Pod(pod) => {
                cache.place(&pod.spec.node_name, Arc::new(PodInfo::new(pod.clone())), false);
            }
            _ => {}
        }
        view.apply(&object.key(), Some(object.clone()));
    }
    let Some(pod) = case.get("pod").and_then(read).as_ref().and_then(pod_info) else {
        return json!({ "error": "no pod to be placed" });
    };
    let look = Cycle { cache: &cache, view: &view, pod: &pod };
    let mut attempt = Attempt::new(pod.pod.key(), pod.uid().clone(), Instant::START, 1);
    let mut start = 0;
    let nominated = Scheduler::new().nominated;
    match cycle::find(&look, &nominated, &mut start, &mut attempt) {
        Ok(nodes) => {
            let scores = cycle::score(&look, &nodes).into_iter().map(|scores| {
                let total: i64 = scores.iter().map(|(_, score)| score).sum();
                let all = scores.into_iter().chain([("total", total)]);
                Value::Object(all.map(|(name, score)| (name.to_owned(), score.into())).collect())
            });
            let scores: Map<String, Value> = nodes.iter().map(|n| n.name.to_string()).zip(scores).collect();
            json!({ "rejected": rejected(&look), "scores": scores })
        }
        Err(Failure::NoNodes) => json!({ "error": "no nodes available to schedule pods" }),
        Err(Failure::Fit(mut diagnosis)) => {
            let (text, candidate) = preempt(&look, &nominated, &diagnosis, &mut Dice::new(0));
            diagnosis.after = text;
            let mut out = Map::from_iter([("message".to_owned(), Value::from(diagnosis.message()))]);
            if diagnosis.before.is_empty() {
                out.insert("rejected".into(), rejected(&look));
            } else {
                out.insert("preFilter".into(), diagnosis.before.into());
            }
            if let Some(candidate) = candidate {
                let mut victims: Vec<&str> =
                    candidate.victims.iter().map(|v| &*v.pod.metadata.name).collect();
                victims.sort_unstable();
                out.insert("nominated".into(), (*candidate.node).into());
                out.insert("victims".into(), victims.into());
            }
            Value::Object(out)
        }
    }
}

/// Each node's first refusal, also of nodes that an attempt need not look at.
fn rejected(look: &Cycle<'_>) -> Value {
    let Ok(prepared) = cycle::prepare(look) else { return json!({}) };
    let of = |refusal: Refusal| {
        let Refusal { plugin, rejection } = refusal;
        json!({ "plugin": plugin, "reasons": rejection.reasons, "resolvable": rejection.resolvable })
    };
    let refused = look.cache.nodes().filter_map(|node| {
        let refusal = cycle::filter(look, &prepared, node).err()?;
        Some((node.name.to_string(), of(refusal)))
    });
    Value::Object(refused.collect())
}
