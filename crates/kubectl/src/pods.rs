//! Pods behind other objects, and the container of a pod that a command is about.

use crate::{
    fault::Fault,
    fields::{Fields, label_selector},
    kc::{Flow, Kc},
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Kind, Object, Pod, text::Selector};
use std::{cmp::Reverse, sync::Arc};

/// The pods that an object selects, the one to look at first before the others; a fault if it selects none by its kind.
pub(crate) fn of(kc: &mut Kc<'_>, object: &Object) -> Flow<Result<Vec<Arc<Pod>>, Fault>> {
    let selector = match object {
        Object::Deployment(o) => o.spec.selector.clone().unwrap_or_default().to_selector(),
        Object::ReplicaSet(o) => o.spec.selector.clone().unwrap_or_default().to_selector(),
        Object::Service(o) if !o.spec.selector.is_empty() => Ok(Selector::from_labels(&o.spec.selector)),
        other if matches!(other.kind().name(), "StatefulSet" | "DaemonSet" | "Job") => {
            label_selector(other.to_value().at("spec.selector")).unwrap_or_default().to_selector()
        }
        other if other.kind().name() == "ReplicationController" => {
            Ok(Selector::from_labels(&other.to_value().labels("spec.selector")))
        }
        other => {
            return Ok(Err(Fault::Text(format!("selector for {} not implemented", other.kind().name()))));
        }
    };
    let selector = match selector {
        Ok(selector) => selector,
        Err(why) => return Ok(Err(Fault::Text(why))),
    };
    let listed = kc.list(Kind::Pod, Some(object.meta().namespace.clone()), Some(selector), None)?;
    let (items, _) = match listed {
        Ok(found) => found,
        Err(status) => return Ok(Err(status.into())),
    };
    let mut pods: Vec<Arc<Pod>> =
        items.into_iter().filter_map(|o| if let Object::Pod(p) = o { Some(p) } else { None }).collect();
    pods.arrange_by_key(|pod| rank(pod));
    Ok(Ok(pods))
}

/// A moment, and none after all of them.
type Late = (bool, Option<kubestep_model::Time>);

/// Which pod is worth looking at: on a node, running or over, ready, and for the longest time, restarted most, oldest.
/// Upstream: podutils.ByLogging.
fn rank(pod: &Pod) -> (bool, u8, bool, Late, Reverse<i32>, Late) {
    let phase = match pod.status.phase.as_str() {
        "Unknown" => 1,
        "Pending" => 2,
        _ => 0,
    };
    let late = |time: Option<kubestep_model::Time>| (time.is_none(), time);
    let ready = pod.condition("Ready").filter(|c| c.status == "True");
    let since = ready.map_or((false, None), |c| late(c.last_transition_time));
    let restarts = pod.status.container_statuses.iter().map(|s| s.restart_count).max().unwrap_or(0);
    let created = late(pod.metadata.creation_timestamp);
    (pod.spec.node_name.is_empty(), phase, ready.is_none(), since, Reverse(restarts), created)
}

/// All containers of a pod as errors list them.
fn names(pod: &Pod) -> String {
    let main = pod.spec.containers.iter().map(|c| c.name.clone());
    let init = pod.spec.init_containers.iter().map(|c| format!("{} (init)", c.name));
    main.chain(init).collect::<Vec<_>>().join(", ")
}

/// The container that is wanted, or the one that stands for a pod when none is named.
pub(crate) fn container(kc: &mut Kc<'_>, pod: &Pod, wanted: &str) -> Flow<String> {
    let spec = &pod.spec;
    let exists = |name: &str| spec.containers.iter().chain(&spec.init_containers).any(|c| c.name == name);
    let name = &pod.metadata.name;
    if !wanted.is_empty() {
        if exists(wanted) {
            return Ok(wanted.to_owned());
        }
        return Err(kc.fail(format!("container {wanted} is not valid for pod {name} out of: {}", names(pod))));
    }
    if let Some(default) =
        pod.metadata.annotations.get("kubectl.kubernetes.io/default-container").filter(|d| !d.is_empty())
    {
        if exists(default) {
            return Ok(default.clone());
        }
        kc.err(format!("Default container name \"{default}\" not found in pod {name}\n"));
    }
    let Some(first) = spec.containers.first() else {
        return Err(kc.fail(format!("pod {name} has no containers")));
    };
    if spec.containers.len() > 1 || !spec.init_containers.is_empty() {
        kc.err(format!("Defaulted container \"{}\" out of: {}\n", first.name, names(pod)));
    }
    Ok(first.name.clone())
}
