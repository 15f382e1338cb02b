//! A pod's priority follows from its class.
//!
//! Upstream: plugin/pkg/admission/priority (v1.37).

use crate::turn::Turn;
use kubestep_model::{Custom, Kind, Object, Pod, Status};
use serde_json::Value;
use std::sync::Arc;

const BUILT_IN: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

pub(super) fn admit(turn: &Turn<'_>, pod: &mut Pod) -> Result<(), Status> {
    let refuse =
        |pod: &Pod, why: String| Status::forbidden(Kind::Pod, super::name_or_start(&pod.metadata), &why);
    let (name, priority, policy) = if pod.spec.priority_class_name.is_empty() {
        default_class(turn).unwrap_or((String::new(), 0, "PreemptLowerPriority".into()))
    } else {
        let name = pod.spec.priority_class_name.clone();
        match class(turn, &name) {
            Some((priority, policy)) => (name, priority, policy),
            None => return Err(refuse(pod, format!("no PriorityClass with name {name} was found"))),
        }
    };
    if pod.spec.priority.is_some_and(|p| p != priority) {
        return Err(refuse(
            pod,
            format!(
                "the integer value of priority ({}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name",
                pod.spec.priority.unwrap_or(0)
            ),
        ));
    }
    if pod.spec.preemption_policy.as_ref().is_some_and(|p| *p != policy) {
        return Err(refuse(
            pod,
            format!(
                "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name",
                pod.spec.preemption_policy.as_deref().unwrap_or_default()
            ),
        ));
    }
    pod.spec.priority_class_name = name;
    pod.spec.priority = Some(priority);
    pod.spec.preemption_policy = Some(policy);
    Ok(())
}

/// A changed pod that says nothing of them keeps its priority and whether it preempts.
pub(super) fn keep(new: &mut Arc<Pod>, old: &Pod) {
    let (had, has) = (&old.spec, &new.spec);
    if (has.priority.is_none() && had.priority.is_some())
        || (has.preemption_policy.is_none() && had.preemption_policy.is_some())
    {
        let spec = &mut Arc::make_mut(new).spec;
        spec.priority = spec.priority.or(had.priority);
        spec.preemption_policy = spec.preemption_policy.take().or_else(|| had.preemption_policy.clone());
    }
}

/// Only one class may be the default. Upstream: validatePriorityClass.
pub(super) fn one_default(turn: &Turn<'_>, class: &Custom, old: Option<&Custom>) -> Result<(), Status> {
    let is_default = |c: &Custom| c.rest.get("globalDefault") == Some(&Value::Bool(true));
    if class.kind.own_name() != "PriorityClass" || !is_default(class) || old.is_some_and(is_default) {
        return Ok(());
    }
    match default_class(turn).filter(|(name, _, _)| *name != *class.metadata.name) {
        None => Ok(()),
        Some((there, _, _)) => {
            let why =
                format!("PriorityClass {there} is already marked as default. Only one default can exist");
            Err(Status::forbidden(class.kind, &class.metadata.name, &why))
        }
    }
}

fn row() -> Option<Kind> {
    Kind::find("scheduling.k8s.io", "PriorityClass")
}

fn class(turn: &Turn<'_>, name: &str) -> Option<(i32, String)> {
    let stored = row().and_then(|kind| turn.store.get(&kubestep_model::Key::new(kind, "", name)));
    if let Some(Object::Custom(class)) = stored {
        return Some(read(&class.rest));
    }
    BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, p)| (*p, "PreemptLowerPriority".into()))
}

fn read(class: &serde_json::Map<String, Value>) -> (i32, String) {
    let value = class.get("value").and_then(Value::as_i64).and_then(|v| i32::try_from(v).ok()).unwrap_or(0);
    let policy = class.get("preemptionPolicy").and_then(Value::as_str).unwrap_or("PreemptLowerPriority");
    (value, policy.into())
}

/// The class marked as default; of several the one of the lowest priority.
fn default_class(turn: &Turn<'_>) -> Option<(String, i32, String)> {
    let kind = row()?;
    let classes = turn.store.list(kind, None).filter_map(|object| match object {
        Object::Custom(c) if c.rest.get("globalDefault") == Some(&Value::Bool(true)) => {
            let (priority, policy) = read(&c.rest);
            Some((c.metadata.name.to_string(), priority, policy))
        }
        _ => None,
    });
    classes.min_by_key(|(_, priority, _)| *priority)
}
