//! Eviction: a delete that disruption budgets may refuse.
//!
//! Upstream: pkg/registry/core/pod/storage, EvictionREST (v1.37).

use crate::{delete, turn::Turn};
use kubestep_model::{
    Answer, Cause, Custom, DeleteOptions, Key, Kind, LabelSelector, Object, Pod, PodCondition, Reason, Reply,
    Status,
};
use serde_json::json;
use std::sync::Arc;

/// POST of a pod's eviction.
pub(crate) fn evict(turn: &mut Turn<'_>, key: &Key, options: &DeleteOptions) -> Reply {
    let object = turn.find(key)?;
    let Object::Pod(pod) = &object else { return Err(Status::no_such_resource()) };
    let unguarded = pod.is_terminal() || pod.status.phase == "Pending" || pod.metadata.is_terminating();
    if !unguarded {
        let budgets = budgets_of(turn, pod);
        match budgets.as_slice() {
            [] => {}
            [budget] => take_from(turn, pod, budget)?,
            _ => {
                let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(Status::new(500, Reason::InternalError, text));
            }
        }
    }
    let object = mark(turn, object)?;
    delete::delete_object(turn, object, options)?;
    let done =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    Ok(Answer::Json { value: Arc::new(done), warnings: vec![] })
}

fn budgets_of(turn: &Turn<'_>, pod: &Pod) -> Vec<Arc<Custom>> {
    let Some(kind) = Kind::find("policy", "PodDisruptionBudget") else { return vec![] };
    let covers = |budget: &Custom| {
        let selector = budget.rest.get("spec").map(|s| s["selector"].clone()).unwrap_or_default();
        !selector.is_null()
            && serde_json::from_value::<LabelSelector>(selector)
                .is_ok_and(|s| s.matches(&pod.metadata.labels))
    };
    let budgets = turn.store.list(kind, Some(&pod.metadata.namespace));
    budgets
        .filter_map(|o| if let Object::Custom(c) = o { Some(c) } else { None })
        .filter(|c| covers(c))
        .cloned()
        .collect()
}

/// Takes one allowed disruption from a budget, or refuses.
fn take_from(turn: &mut Turn<'_>, pod: &Pod, budget: &Custom) -> Result<(), Status> {
    let name = &budget.metadata.name;
    let status = budget.rest.get("status").cloned().unwrap_or_default();
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let refusal = |why: String| {
        let mut refusal = Status::new(
            429,
            Reason::TooManyRequests,
            "Cannot evict pod as it would violate the pod's disruption budget.",
        );
        refusal.causes =
            vec![Cause { reason: "DisruptionBudget".into(), message: why, field: String::new() }];
        refusal
    };
    if number("observedGeneration") < budget.metadata.generation {
        let mut refusal =
            refusal(format!("The disruption budget {name} is still being processed by the server."));
        refusal.retry_after = Some(10);
        return Err(refusal);
    }
    if !pod.is_ready() {
        // A pod that is not ready does not count as healthy: it may go if the others suffice.
        let always =
            budget.rest.get("spec").is_some_and(|s| s["unhealthyPodEvictionPolicy"] == "AlwaysAllow");
        let wanted = number("desiredHealthy");
        if always || (wanted > 0 && number("currentHealthy") >= wanted) {
            return Ok(());
        }
    }
    let allowed = number("disruptionsAllowed");
    if allowed <= 0 {
        return Err(refusal(format!(
            "The disruption budget {name} needs {} healthy pods and has {} currently",
            number("desiredHealthy"),
            number("currentHealthy")
        )));
    }
    let mut budget = budget.clone();
    let mut status = status;
    status["disruptionsAllowed"] = (allowed - 1).into();
    if !status["disruptedPods"].is_object() {
        status["disruptedPods"] = json!({});
    }
    status["disruptedPods"][&*pod.metadata.name] = json!(turn.now.to_time());
    budget.rest.insert("status".to_owned(), status);
    turn.put_own(Object::Custom(Arc::new(budget)), "update", "status", 200);
    Ok(())
}

/// The condition that says why the pod goes.
fn mark(turn: &mut Turn<'_>, object: Object) -> Result<Object, Status> {
    let Object::Pod(pod) = &object else { return Ok(object) };
    let mut pod = (**pod).clone();
    let condition = PodCondition {
        r#type: "DisruptionTarget".into(),
        status: "True".into(),
        reason: "EvictionByEvictionAPI".into(),
        message: "Eviction API: evicting".into(),
        last_transition_time: Some(turn.now.to_time()),
        ..PodCondition::default()
    };
    let conditions = &mut pod.status.conditions;
    match conditions.iter_mut().find(|c| c.r#type == condition.r#type) {
        Some(there) => {
            let since = if there.status == condition.status {
                there.last_transition_time
            } else {
                condition.last_transition_time
            };
            *there = PodCondition { last_transition_time: since, ..condition };
        }
        None => conditions.push(condition),
    }
    let marked: Object = pod.into();
    Ok(if marked == object { object } else { turn.put(marked) })
}
