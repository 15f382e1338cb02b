//! Vectors of whole passes: objects in, what the pass asked for out.

use super::{
    build::{self, NOW, meta, pod, replica_set, template, value},
    list,
};
use crate::{
    claim::controller_ref,
    deployment::DeploymentController,
    harness::{Outcome, Refusal, pass},
    replicaset::ReplicaSetController,
};
use kubestep_control::{EventNote, Recorder, Style};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    DeploymentCondition, Kind, LabelSelector, Labels, Object, Reason, ReplicaSet, Resource, Time,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One pass over whole objects: the deployment controller.
pub(super) fn deployment_sync(input: &Value) -> Value {
    let Some(outcome) = over_objects(input, "deployment", &["replicaSets", "pods"]) else {
        return json!({ "error": "no deployment" });
    };
    let event =
        |event: &EventNote| json!({ "type": event.r#type, "reason": event.reason, "message": event.message });
    json!({ "actions": outcome.actions, "events": outcome.events.iter().map(event).collect::<Vec<_>>() })
}

/// One pass over whole objects: the replica set controller.
pub(super) fn replica_set_sync(input: &Value) -> Value {
    let Some(mut outcome) = over_objects(input, "replicaSet", &["pods"]) else {
        return json!({ "error": "no replica set" });
    };
    sort_deletions(&mut outcome.actions);
    let mut out = json!({
        "actions": outcome.actions,
        "eventCounts": event_counts(&outcome.events),
        "podsTried": outcome.pods.len(),
    });
    if let Some(pod) = outcome.pods.into_iter().next() {
        out["pod"] = pod;
    }
    if let Some(warning) = outcome.events.iter().find(|event| event.r#type == "Warning") {
        out["eventMessage"] = json!(warning.message);
    }
    out
}

pub(super) fn over_objects(input: &Value, main: &str, others: &[&str]) -> Option<Outcome> {
    let main = object(if main == "deployment" { Kind::Deployment } else { Kind::ReplicaSet }, &input[main])?;
    let mut objects = vec![main.clone()];
    for field in others {
        let kind = if *field == "pods" { Kind::Pod } else { Kind::ReplicaSet };
        objects.extend(list(input, field).iter().filter_map(|given| object(kind, given)));
    }
    let now = input["now"].as_str().and_then(Time::parse).map_or(NOW, Time::instant);
    let refusals = input["apiAnswers"].as_object().into_iter().flatten().filter_map(refusal).collect();
    let controller: &dyn kubestep_control::Controller =
        if main.kind() == Kind::Deployment { &DeploymentController } else { &ReplicaSetController };
    Some(pass(controller, main.key(), objects, now, refusals))
}

fn object(kind: Kind, given: &Value) -> Option<Object> {
    Object::from_value(kind, given.clone()).ok()
}

/// Reads `"create pods": "the first 2 succeed, then Forbidden: exceeded quota …"`.
fn refusal((which, answer): (&String, &Value)) -> Option<Refusal> {
    let (verb, resource) = which.split_once(' ')?;
    let mut text = answer.as_str()?;
    let mut granted_first = 0;
    if let Some((number, rest)) =
        text.strip_prefix("the first ").and_then(|t| t.split_once(" succeed, then "))
    {
        (granted_first, text) = (number.parse().ok()?, rest);
    }
    let (reason, message) = text.split_once(": ").unwrap_or((text, ""));
    let reason: Reason = serde_json::from_value(json!(reason)).ok()?;
    Some(Refusal {
        verb: verb.into(),
        resource: resource.into(),
        granted_first,
        reason,
        message: message.into(),
    })
}

/// Deletions are in flight together: their order says nothing.
fn sort_deletions(actions: &mut [Value]) {
    let places: Vec<usize> = (0..actions.len()).filter(|i| actions[*i]["verb"] == "delete").collect();
    let mut deletions: Vec<Value> = places.iter().map(|i| actions[*i].clone()).collect();
    deletions.arrange_by_key(|action| action["name"].as_str().unwrap_or_default().to_owned());
    for (place, action) in places.into_iter().zip(deletions) {
        actions[place] = action;
    }
}

/// How many Event objects come of these notes.
fn event_counts(events: &[EventNote]) -> Map<String, Value> {
    let mut recorder = Recorder::new(Style::Counted, "replicaset-controller", "");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for event in events {
        let created = recorder.note(event, NOW).is_some_and(|request| request.verb.name() == "create");
        if created {
            *counts.entry(format!("{} {}", event.r#type, event.reason)).or_insert(0) += 1;
        }
    }
    counts.into_iter().map(|(key, count)| (key, json!(count))).collect()
}

/// Gives the ReplicaSets of the short form to the Deployment `web`: templates and revisions.
fn sets_of(input: &Value) -> Vec<ReplicaSet> {
    let old = list(input, "old");
    let owner = meta("web", "uid-web");
    let given = old.iter().chain(Some(&input["new"]).filter(|new| new.is_object()));
    let own = |(i, given): (usize, &Value)| {
        let mut set = replica_set(given);
        let image = if i < old.len() { format!("old-{i}") } else { "new".to_owned() };
        set.metadata.owner_references = vec![controller_ref(Kind::Deployment, &owner)];
        set.metadata.annotations.insert("deployment.kubernetes.io/revision".into(), (i + 1).to_string());
        set.spec.template = template(&image);
        set
    };
    given.enumerate().map(own).collect()
}

/// Runs the deployment controller over the short form; answers the updates of ReplicaSets by name.
fn over_sets(input: &Value, sets: Vec<ReplicaSet>) -> (Map<String, Value>, Vec<(String, Value)>) {
    let mut d = build::deployment(input);
    d.status.replicas = value(&input["statusReplicas"]);
    // What an earlier pass has written down: otherwise this one would write it and then meet a conflict.
    d.metadata.annotations.insert("deployment.kubernetes.io/revision".into(), sets.len().to_string());
    let reason = if d.spec.paused { "DeploymentPaused" } else { "ReplicaSetUpdated" };
    d.status.conditions = vec![DeploymentCondition {
        r#type: "Progressing".into(),
        reason: reason.into(),
        last_update_time: Some(NOW.to_time()),
        ..Default::default()
    }];
    let key = d.key();
    let mut sizes: Map<String, Value> = Map::new();
    let mut objects: Vec<Object> = vec![d.into()];
    objects.extend(sets.into_iter().map(Object::from));
    let outcome = pass(&DeploymentController, key, objects, NOW, vec![]);
    let mut updates = Vec::new();
    for action in outcome.actions.iter().filter(|action| action["resource"] == "replicasets") {
        match action["verb"].as_str() {
            Some("create") => {
                drop(sizes.insert("created".into(), action["object"]["spec"]["replicas"].clone()))
            }
            Some("update") if action["answer"].is_null() => {
                updates
                    .push((action["name"].as_str().unwrap_or_default().to_owned(), action["change"].clone()));
            }
            _ => {}
        }
    }
    (sizes, updates)
}

/// One pass of a rolling update: the sizes that change.
pub(super) fn rolling_step(input: &Value) -> Value {
    let d = build::deployment(input);
    let mut sets = sets_of(input);
    for set in &mut sets {
        let most = d.replicas().wrapping_add(crate::deployment::max_surge(&d));
        let annotations = &mut set.metadata.annotations;
        annotations.insert("deployment.kubernetes.io/desired-replicas".into(), d.replicas().to_string());
        annotations.insert("deployment.kubernetes.io/max-replicas".into(), most.to_string());
    }
    let (mut sizes, updates) = over_sets(input, sets);
    for (name, change) in updates {
        if let Some(size) = change["spec"].get("replicas") {
            sizes.insert(name, size.clone());
        }
    }
    json!({ "sizes": sizes })
}

/// One pass after a Deployment was scaled: sizes and annotations of the ReplicaSets that are updated.
pub(super) fn proportional_scale(input: &Value) -> Value {
    let sets = sets_of(input);
    let mut before: BTreeMap<String, ReplicaSet> =
        sets.iter().map(|set| (set.metadata.name.to_string(), set.clone())).collect();
    let (mut sizes, updates) = over_sets(input, sets);
    let mut annotations = Map::new();
    for (name, change) in updates {
        let Some(set) = before.get_mut(&name) else { continue };
        if let Some(size) = change["spec"]["replicas"].as_i64() {
            set.spec.replicas = i32::try_from(size).ok();
        }
        let changed: Labels = value(&change["metadata"]["annotations"]);
        set.metadata.annotations.extend(changed);
        let text = |key: &str| set.metadata.annotations.get(&format!("deployment.kubernetes.io/{key}"));
        annotations.insert(name.clone(), json!([text("desired-replicas"), text("max-replicas")]));
        sizes.insert(name, json!(set.replicas()));
    }
    json!({ "annotations": annotations, "sizes": sizes })
}

/// One pass of a ReplicaSet with pods and pods of a sibling: those that are deleted.
pub(super) fn scale_down(input: &Value) -> Value {
    let owner = meta("web", "uid-web");
    let set = |name: &str, size: &Value| {
        let mut set = replica_set(&json!({ "name": name, "size": size }));
        set.metadata.owner_references = vec![controller_ref(Kind::Deployment, &owner)];
        set.spec.selector = Some(LabelSelector::from_labels(&build::labels(name)));
        set.spec.template.metadata.labels = build::labels(name);
        set
    };
    let (main, sibling) = (set("main", &input["size"]), set("sibling", &json!(0)));
    let member = |set: &ReplicaSet, given: &Value, uid: String| {
        let mut pod = pod(given);
        if pod.metadata.uid.is_empty() {
            pod.metadata = meta(&uid, &uid);
        }
        pod.metadata.labels = set.spec.template.metadata.labels.clone();
        pod.metadata.owner_references = vec![controller_ref(Kind::ReplicaSet, &set.metadata)];
        Object::from(pod)
    };
    let ours = list(input, "pods").iter().map(|given| member(&main, given, String::new()));
    let theirs = list(input, "siblings").iter().enumerate();
    let theirs = theirs.map(|(i, given)| member(&sibling, given, format!("sibling-{i}")));
    let objects = ours.chain(theirs).chain([main.clone().into(), sibling.clone().into()]).collect();
    let mut outcome = pass(&ReplicaSetController, main.key(), objects, NOW, vec![]);
    sort_deletions(&mut outcome.actions);
    let deleted = outcome.actions.iter().filter(|action| action["verb"] == "delete");
    json!({ "deleted": deleted.map(|action| action["name"].clone()).collect::<Vec<Value>>() })
}
