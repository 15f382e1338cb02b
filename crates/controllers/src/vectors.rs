//! The functions and passes of this crate in the shape of the recorded vectors: JSON in, JSON out.

mod batch;
mod build;
mod passes;

use crate::{
    deployment::{self, find_active_or_latest},
    pods,
    replicaset::{Ranked, sort_for_deletion},
};
use build::{NOW, deployment, pod, replica_set, seconds_ago, value};
use kubestep_model::{DeploymentCondition, DeploymentStatus, IntOrString, Pod, ReplicaSet};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Runs the function that a vector is named after; None where no such function is here.
///
/// An input of another shape counts as one with empty or absent fields.
pub fn run(name: &str, input: &Value) -> Option<Value> {
    Some(match name {
        "deployment-maxima" => maxima(input),
        "deployment-fenceposts" => fenceposts(input),
        "deployment-new-rs-replicas" => new_rs_replicas(input),
        "deployment-proportion" => proportion(input),
        "deployment-progress" => progress(input),
        "deployment-timed-out" => timed_out(input),
        "deployment-active-or-latest" => active_or_latest(input),
        "deployment-rolling-step" => passes::rolling_step(input),
        "deployment-proportional-scale" => passes::proportional_scale(input),
        "deployment-sync" => passes::deployment_sync(input),
        "replicaset-sync" => passes::replica_set_sync(input),
        "replicaset-scale-down" => passes::scale_down(input),
        "pod-deletion-order" => deletion_order(input),
        "job-sync" => batch::job_sync(input),
        "job-backoff" => batch::job_backoff(input),
        "cronjob-sync" => batch::cron_job_sync(input),
        "hpa-cpu-replicas" => batch::hpa_replicas(input),
        "controller-revision" => batch::controller_revision(input),
        "pod-available" => available(input),
        "disruption-budget" => crate::disruption::vectors::budget(input),
        _ => return None,
    })
}

fn number(input: &Value, field: &str) -> i32 {
    input[field].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or_default()
}

fn list<'v>(input: &'v Value, field: &str) -> &'v [Value] {
    input[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn error_or(result: Result<Value, String>) -> Value {
    result.unwrap_or_else(|error| json!({ "error": error }))
}

fn maxima(input: &Value) -> Value {
    let d = deployment(input);
    json!({
        "maxSurge": deployment::max_surge(&d),
        "maxUnavailable": deployment::max_unavailable(&d),
        "minAvailable": deployment::min_available(&d),
    })
}

fn fenceposts(input: &Value) -> Value {
    let limit = |field| value::<Option<IntOrString>>(&input[field]);
    let (surge, unavailable) = (limit("maxSurge"), limit("maxUnavailable"));
    let resolved =
        deployment::resolve_fenceposts(surge.as_ref(), unavailable.as_ref(), number(input, "replicas"));
    error_or(resolved.map(|(surge, unavailable)| json!({ "maxSurge": surge, "maxUnavailable": unavailable })))
}

fn new_rs_replicas(input: &Value) -> Value {
    let new = number(input, "newSize");
    let old = list(input, "oldSizes").iter().filter_map(Value::as_i64).filter_map(|n| i32::try_from(n).ok());
    let total = old.fold(new, i32::wrapping_add);
    let next = deployment::new_set_replicas(&deployment(input), total, new);
    error_or(next.map(|next| json!({ "newSize": next })).map_err(|status| status.message))
}

fn proportion(input: &Value) -> Value {
    let mut d = deployment(input);
    d.status.replicas = number(input, "statusReplicas");
    let set = replica_set(&json!({ "size": input["size"], "max": input["maxReplicasAnnotation"] }));
    let change = deployment::proportion(&set, &d, number(input, "toAdd"), number(input, "added"));
    json!({ "change": change })
}

fn progress(input: &Value) -> Value {
    let status = |counts: &Value| DeploymentStatus {
        replicas: number(counts, "replicas"),
        updated_replicas: number(counts, "updated"),
        ready_replicas: number(counts, "ready"),
        available_replicas: number(counts, "available"),
        observed_generation: counts["observedGeneration"].as_i64().unwrap_or_default(),
        ..Default::default()
    };
    let mut d = deployment(input);
    d.metadata.generation = input["generation"].as_i64().unwrap_or_default();
    d.status = status(&input["before"]);
    let now = status(&input["now"]);
    json!({ "complete": deployment::is_complete(&d, &now), "progressing": deployment::is_progressing(&d, &now) })
}

fn timed_out(input: &Value) -> Value {
    let mut d = deployment(input);
    d.spec.progress_deadline_seconds = value(&input["deadline"]);
    let condition = &input["condition"];
    if condition.is_object() {
        d.status.conditions.push(DeploymentCondition {
            r#type: "Progressing".into(),
            status: value(&condition["status"]),
            reason: value(&condition["reason"]),
            last_update_time: seconds_ago(&condition["age"]),
            ..Default::default()
        });
    }
    json!({ "timedOut": deployment::timed_out(&d, &d.status, NOW) })
}

fn active_or_latest(input: &Value) -> Value {
    let set = |given: &Value| -> Cow<'_, ReplicaSet> { Cow::Owned(replica_set(given)) };
    let new = Some(&input["new"]).filter(|new| new.is_object()).map(set);
    let mut old: Vec<Cow<'_, ReplicaSet>> = list(input, "old").iter().map(set).collect();
    let found = find_active_or_latest(new.as_ref(), &mut old);
    json!({ "found": found.map(|set| set.metadata.name.to_string()) })
}

fn deletion_order(input: &Value) -> Value {
    let given = list(input, "pods");
    let pods: Vec<Pod> = given.iter().map(pod).collect();
    let rank = |given: &Value| given["rank"].as_i64().unwrap_or_default();
    let mut ranked: Vec<Ranked<'_>> =
        pods.iter().zip(given).map(|(pod, given)| Ranked { pod, rank: rank(given) }).collect();
    sort_for_deletion(&mut ranked, NOW);
    let order: Vec<String> = ranked.iter().map(|ranked| ranked.pod.metadata.uid.to_string()).collect();
    json!({ "order": order })
}

fn available(input: &Value) -> Value {
    let pod = pod(&json!({ "ready": input["ready"], "readyFor": input["readyFor"] }));
    json!({ "available": pods::is_available(&pod, number(input, "minReadySeconds"), NOW) })
}

#[cfg(test)]
mod tests;
