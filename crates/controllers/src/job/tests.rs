//! Passes of the job controller beyond the recorded vectors.

use super::*;
use crate::harness::pass;
use kubestep_model::{ObjectMeta, Resource};
use serde_json::{Value, json};

fn job(spec: Value) -> Job {
    let mut whole = json!({
        "parallelism": 1, "completions": 1, "backoffLimit": 6,
        "selector": {"matchLabels": {"job-name": "work"}},
        "template": {"metadata": {"labels": {"job-name": "work"}}, "spec": {"containers": [{"name": "c"}], "restartPolicy": "Never"}},
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    let meta = ObjectMeta {
        name: "work".into(),
        namespace: "default".into(),
        uid: "u".into(),
        ..Default::default()
    };
    Job { metadata: meta, spec: serde_json::from_value(whole).expect("a spec"), ..Default::default() }
}

fn pod(job: &Job, name: &str, phase: &str) -> Pod {
    let mut pod = crate::pods::from_template(&job.spec.template, Job::KIND, &job.metadata);
    pod.metadata.name = name.into();
    pod.metadata.uid = name.into();
    pod.metadata.finalizers = vec![crate::claim::JOB_TRACKING.into()];
    pod.status.phase = phase.into();
    pod
}

#[test]
fn a_pod_of_a_job_that_is_gone_is_let_go_of_and_others_are_not() {
    let job = job(json!({}));
    let orphan = pod(&job, "a", "Running");
    let patches = |objects: Vec<kubestep_model::Object>| {
        let done = pass(&JobController, orphan.key(), objects, Instant::START, vec![]);
        done.actions.len()
    };
    assert_eq!(patches(vec![orphan.clone().into()]), 1);
    assert_eq!(patches(vec![orphan.clone().into(), job.to_object()]), 0);
    let mut over = job.clone();
    over.status.conditions = vec![condition("Complete", "", "", Instant::START)];
    assert_eq!(patches(vec![orphan.clone().into(), over.to_object()]), 1);
}

#[test]
fn with_a_limit_for_each_index_a_replacement_takes_the_count_over() {
    let spec = json!({"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 2,
        "backoffLimit": i32::MAX});
    let job = job(spec);
    let mut failed = pod(&job, "a", "Failed");
    failed.metadata.annotations =
        [(indexes::INDEX, "0"), (context::FAILURES, "1")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let now = Instant::from_secs(100_000);
    let done =
        pass(&JobController, manage::key_of(&job), vec![job.to_object(), failed.clone().into()], now, vec![]);
    let made: Vec<(&Value, &Value)> = done
        .pods
        .iter()
        .map(|p| (&p["metadata"]["generateName"], &p["metadata"]["annotations"][context::FAILURES]))
        .collect();
    assert_eq!(made, [(&json!("work-0-"), &json!("2")), (&json!("work-1-"), &json!("0"))]);
    // Its index has failed for good the next time.
    failed.metadata.annotations.insert(context::FAILURES.into(), "2".into());
    let done = pass(&JobController, manage::key_of(&job), vec![job.to_object(), failed.into()], now, vec![]);
    let stored = done.stored.get(&manage::key_of(&job)).and_then(Job::read).expect("the job");
    assert_eq!(stored.status.failed_indexes.as_deref(), Some("0"));
    assert_eq!(done.pods.len(), 1);
    assert!(done.notes.iter().all(|note| SENTENCES.iter().any(|s| s.code == note.code)));
}
