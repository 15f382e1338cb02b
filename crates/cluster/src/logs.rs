//! Whose output a node can show. Upstream: pkg/kubelet/kubelet_pods.go, validateContainerLogStatus (v1.37).

use kubestep_model::{ContainerState, Pod};

fn has_id(state: &ContainerState) -> bool {
    state.terminated.as_ref().is_some_and(|t| !t.container_id.is_empty())
}

/// Why a container's output cannot be shown; `None`: it can.
pub(crate) fn refusal(pod: &Pod, container: &str, previous: bool) -> Option<String> {
    let named = format!("container {container:?} in pod {:?}", &*pod.metadata.name);
    let all = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let Some(status) = all.into_iter().find(|c| c.name == container) else {
        return Some(format!("{named} is not available"));
    };
    if previous {
        return (!has_id(&status.last_state)).then(|| format!("previous terminated {named} not found"));
    }
    let (state, last) = (&status.state, &status.last_state);
    if state.running.is_some() || has_id(state) || has_id(last) {
        return None;
    }
    if state.terminated.is_some() || last.terminated.is_some() {
        return Some(format!("{named} is terminated"));
    }
    let reason = state.waiting.as_ref().map_or("", |w| w.reason.as_str());
    let why = match reason {
        "ErrImagePull" => "image can't be pulled",
        "ImagePullBackOff" => "trying and failing to pull image",
        other => other,
    };
    Some(format!("{named} is waiting to start: {why}"))
}

/// The container of whose output is asked, as the pod's status names it.
pub(crate) fn id<'a>(pod: &'a Pod, container: &str, previous: bool) -> &'a str {
    let all = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let Some(status) = all.into_iter().find(|c| c.name == container) else { return "" };
    let of = |state: &'a ContainerState| state.terminated.as_ref().map_or("", |t| t.container_id.as_str());
    match (previous, &status.state) {
        (true, _) => of(&status.last_state),
        (false, state) if state.running.is_some() => &status.container_id,
        (false, state) if has_id(state) => of(state),
        _ => of(&status.last_state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::{Kind, Object};
    use serde_json::{Value, json};

    fn said(state: Value, last: Value, previous: bool) -> Option<String> {
        let status = json!({"name": "web", "state": state, "lastState": last});
        let value = json!({"metadata": {"name": "p"}, "status": {"containerStatuses": [status]}});
        let object = Object::from_value(Kind::Pod, value).expect("a pod");
        refusal(object.get::<Pod>().expect("a pod"), "web", previous)
    }

    #[test]
    fn what_a_container_shows_depends_on_its_state() {
        let (waiting, run) =
            (|r: &str| json!({"waiting": {"reason": r}}), json!({"terminated": {"containerID": "x"}}));
        let text = said(waiting("CreateContainerConfigError"), json!({}), false).expect("nothing to show");
        assert_eq!(text, "container \"web\" in pod \"p\" is waiting to start: CreateContainerConfigError");
        assert!(
            said(waiting("ImagePullBackOff"), json!({}), false).is_some_and(|t| t.ends_with("pull image"))
        );
        assert_eq!(said(waiting("CrashLoopBackOff"), run.clone(), false), None, "the run before is shown");
        assert_eq!(said(json!({"running": {}}), json!({}), false), None);
        assert!(said(json!({"running": {}}), json!({}), true).is_some_and(|t| t.starts_with("previous")));
        assert_eq!(said(json!({"running": {}}), run, true), None);
    }
}
