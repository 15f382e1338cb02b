//! Vectors of jobs, cron jobs and autoscalers, and of the revisions of sets.

use super::{NOW, list, number};
use crate::{
    cronjob::CronJobController,
    daemonset::DaemonSetController,
    harness::{Outcome, pass},
    job::{JobController, Record},
    podautoscaler::replicas::{Aim, Measured, Tolerances, propose},
    statefulset::StatefulSetController,
};
use kubestep_control::Controller;
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    ControllerRevision, CronJob, DaemonSet, Job, Key, Kind, Object, StatefulSet, Time, Whole,
};
use serde_json::{Map, Value, json};

fn object(kind: Kind, given: &Value) -> Option<Object> {
    Object::from_value(kind, given.clone()).ok()
}

fn run(controller: &dyn Controller, input: &Value, main: Object, others: (&str, Kind)) -> Outcome {
    let now = input["now"].as_str().and_then(Time::parse).map_or(NOW, Time::instant);
    let mut objects = vec![main.clone()];
    objects.extend(list(input, others.0).iter().filter_map(|given| object(others.1, given)));
    pass(controller, main.key(), objects, now, vec![])
}

fn names<'a>(outcome: &'a Outcome, verb: &'a str) -> impl Iterator<Item = &'a Value> {
    let of_pods = move |a: &&Value| a["verb"] == verb && a["resource"] == "pods";
    outcome.actions.iter().filter(of_pods).map(|a| &a["name"])
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.arrange_by_key(|value| value.as_str().unwrap_or_default().to_owned());
    values
}

/// The difference between what was stored and what is.
fn change(before: &Object, outcome: &Outcome, key: &Key) -> Value {
    let plain = |object: &Object| {
        let mut value = object.to_value();
        if let Some(meta) = value["metadata"].as_object_mut() {
            meta.remove("resourceVersion");
        }
        value
    };
    let after = outcome.stored.get(key).map_or(Value::Null, plain);
    crate::harness::merge_patch(&plain(before), &after)
}

/// One pass of a job over whole objects.
pub(super) fn job_sync(input: &Value) -> Value {
    let Some(job) = object(Job::KIND, &input["job"]) else { return json!({ "error": "no job" }) };
    let outcome = run(&JobController, input, job.clone(), ("pods", Kind::Pod));
    let index = |pod: &Value| {
        pod.pointer("/metadata/annotations/batch.kubernetes.io~1job-completion-index")
            .cloned()
            .unwrap_or_default()
    };
    let event = |e: &kubestep_control::EventNote| {
        let text = match e.message.strip_prefix("Created pod: ") {
            Some(_) => "Created pod: …".to_owned(),
            None => e.message.clone(),
        };
        json!(format!("{} {} {text}", e.r#type, e.reason))
    };
    let wrote = outcome.actions.iter().any(|a| a["resource"] == "jobs");
    json!({
        "creates": sorted_numbers(outcome.pods.iter().map(index).collect()),
        "deletes": sorted(names(&outcome, "delete").cloned().collect()),
        "events": sorted(outcome.events.iter().map(event).collect()),
        "finalizersRemoved": sorted(names(&outcome, "patch").cloned().collect()),
        "status": if wrote { change(&job, &outcome, &job.key()) } else { Value::Null },
    })
}

fn sorted_numbers(mut values: Vec<Value>) -> Vec<Value> {
    values.arrange_by_key(|value| value.as_str().and_then(|text| text.parse::<i64>().ok()));
    values
}

/// Whether a pod is made now, so many seconds after others ended.
pub(super) fn job_backoff(input: &Value) -> Value {
    let now = NOW.to_time().0;
    let ends = |field: &str| -> Vec<i64> {
        list(input, field).iter().filter_map(Value::as_i64).map(|ago| now - ago).collect()
    };
    let record = Record::default().after(&ends("succeeded"), &ends("failed"));
    json!({ "createsNow": record.remaining(NOW).is_zero() })
}

/// One pass of a cron job over whole objects.
pub(super) fn cron_job_sync(input: &Value) -> Value {
    let Some(cron) = object(CronJob::KIND, &input["cronJob"]) else {
        return json!({ "error": "no cron job" });
    };
    let outcome = run(&CronJobController, input, cron, ("jobs", Job::KIND));
    let actions: Vec<Value> = outcome.actions.iter().cloned().map(as_recorded).collect();
    let event = |e: &kubestep_control::EventNote| json!({ "message": e.message, "reason": e.reason, "type": e.r#type });
    json!({ "actions": actions, "events": outcome.events.iter().map(event).collect::<Vec<_>>() })
}

/// The recorded server gave new objects neither a namespace nor a uid, and always the same version.
fn as_recorded(mut action: Value) -> Value {
    if let Some(meta) = action.pointer_mut("/object/metadata").and_then(Value::as_object_mut) {
        meta.remove("namespace");
    }
    for reference in
        action.pointer_mut("/change/status/active").and_then(Value::as_array_mut).into_iter().flatten()
    {
        let is_new = reference["uid"].is_null();
        if let Some(fields) = reference.as_object_mut().filter(|_| is_new) {
            fields.remove("namespace");
            fields.insert("resourceVersion".into(), "1".into());
        }
    }
    action
}

/// How many pods a use of cpu asks for.
pub(super) fn hpa_replicas(input: &Value) -> Value {
    let pod = |(at, given): (usize, &Value)| {
        let state = given["state"].as_str().unwrap_or_default();
        Measured {
            name: format!("p{at}"),
            ignored: matches!(state, "failed" | "deleting"),
            pending: state == "pending",
            ready: state == "ready",
            request: given["request"]
                .as_i64()
                .filter(|request| *request > 0)
                .ok_or_else(|| format!("missing request for cpu in container c of Pod p{at}")),
            usage: given["usage"].as_i64(),
        }
    };
    let pods: Vec<Measured> = list(input, "pods").iter().enumerate().map(pod).collect();
    let aim = Aim::Utilization(number(input, "target"));
    match propose(number(input, "current"), aim, Tolerances::default(), &pods) {
        Ok(found) => json!({ "desired": found.replicas, "utilization": found.utilization }),
        Err(text) => {
            // Which pod is named depends on the order of a map; the recording leaves its number out.
            let text = if text.starts_with("missing request") {
                format!("{}p?", text.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('p'))
            } else {
                text
            };
            json!({ "error": text })
        }
    }
}

/// The revision that one pass stores.
pub(super) fn controller_revision(input: &Value) -> Value {
    let stateful = input["kind"] == "StatefulSet";
    let kind = if stateful { StatefulSet::KIND } else { DaemonSet::KIND };
    let mut status = Map::new();
    if !input["collisionCount"].is_null() {
        status.insert("collisionCount".into(), input["collisionCount"].clone());
    }
    let labels = &input["template"]["metadata"]["labels"];
    let set = json!({
        "metadata": {"name": input["name"], "namespace": "default", "uid": "u", "annotations": input["annotations"]},
        "spec": {"selector": {"matchLabels": labels}, "template": input["template"], "replicas": 0},
        "status": status,
    });
    let Some(set) = object(kind, &set) else { return json!({ "error": "no set" }) };
    let controller: &dyn Controller = if stateful { &StatefulSetController } else { &DaemonSetController };
    let key = set.key();
    let outcome = pass(controller, key, vec![set], NOW, vec![]);
    let Some(found) = outcome.stored.values().find_map(ControllerRevision::read) else {
        return json!({ "error": "no revision" });
    };
    json!({
        "annotations": found.metadata.annotations,
        "data": crate::history::compact(&found.data),
        "labels": found.metadata.labels,
        "name": &*found.metadata.name,
        "revision": found.revision,
    })
}
