//! The kubelet's pure functions in the shape of the recorded vectors: JSON in, JSON out.

use super::{conditions, phase};
use kubestep_model::{Container, ContainerState, ContainerStatus, PodCondition, PodSpec};
use serde_json::{Value, json};

/// Runs the function that a vector is named after; `None` where no such function is here.
pub fn vectors(name: &str, input: &Value) -> Option<Value> {
    match name {
        "pod-phase" => Some(pod_phase(input)),
        "container-restart" => Some(container_restart(input)),
        "pod-conditions" => Some(pod_conditions(input)),
        _ => None,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn read<T: serde::de::DeserializeOwned + Default>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

fn state(word: &Value, exit_code: &Value) -> ContainerState {
    read(&match word.as_str() {
        Some("running") => json!({"running": {}}),
        Some("waiting") => json!({"waiting": {}}),
        Some("terminated") => json!({"terminated": {"exitCode": exit_code}}),
        _ => json!({}),
    })
}

fn pod_phase(input: &Value) -> Value {
    let mut statuses = vec![];
    let mut containers = |key: &str| -> Vec<Container> {
        let mut made = vec![];
        for (i, c) in list(&input[key]).iter().enumerate() {
            let name = format!("{key}-{i}");
            if !c["state"].is_null() {
                let last_state = if c["last"].is_null() {
                    json!({})
                } else {
                    json!({"terminated": {"exitCode": c["last"]}})
                };
                let started = Some(c["state"] == "running");
                let state = state(&c["state"], &c["exitCode"]);
                statuses.push(ContainerStatus {
                    name: name.clone(),
                    state,
                    last_state: read(&last_state),
                    started,
                    ..Default::default()
                });
            }
            made.push(Container {
                name,
                restart_policy: c["restartPolicy"].as_str().map(Into::into),
                ..Default::default()
            });
        }
        made
    };
    let (init_containers, containers) = (containers("initContainers"), containers("containers"));
    let spec = PodSpec {
        containers,
        init_containers,
        restart_policy: text(&input["restartPolicy"]),
        ..Default::default()
    };
    let flag = |key: &str| input[key].as_bool().unwrap_or(false);
    json!({"phase": phase::phase(&spec, &statuses, flag("terminal"), flag("initialized"))})
}

fn container_restart(input: &Value) -> Value {
    let spec = PodSpec { restart_policy: text(&input["restartPolicy"]), ..Default::default() };
    let container = Container { restart_policy: input["own"].as_str().map(Into::into), ..Default::default() };
    let code = input["exitCode"].as_i64().and_then(|c| i32::try_from(c).ok()).unwrap_or(0);
    let last = match input["state"].as_str() {
        None => phase::LastRun::Never,
        Some("running") => phase::LastRun::Running,
        Some("exited") => phase::LastRun::Exited(code),
        Some(_) => phase::LastRun::Unclear,
    };
    json!({"restart": phase::should_restart(&spec, &container, last, input["deleting"] == true)})
}

fn pod_conditions(input: &Value) -> Value {
    let spec: PodSpec = read(&input["spec"]);
    let mut statuses: Vec<ContainerStatus> = read(&input["containerStatuses"]);
    let init: Vec<ContainerStatus> = read(&input["initContainerStatuses"]);
    statuses.extend(init);
    let gates: Vec<PodCondition> = read(&input["gateConditions"]);
    let phase = text(&input["phase"]);
    let containers = conditions::containers_ready(&spec, &statuses, &phase);
    let ready = conditions::ready(&spec, &gates, &containers);
    let initialized = conditions::initialized(&spec, &statuses, &phase);
    let shown = |said: &conditions::Said| json!({"status": if said.status { "True" } else { "False" }, "reason": said.reason, "message": said.message});
    json!({"Initialized": shown(&initialized), "ContainersReady": shown(&containers), "Ready": shown(&ready)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_cases_hold() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/vectors");
        for (name, least) in [("pod-phase", 200), ("container-restart", 200), ("pod-conditions", 100)] {
            let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
            let file: Value = serde_json::from_str(&text).unwrap();
            let cases = list(&file["cases"]);
            assert!(cases.len() >= least, "{name}: {} cases", cases.len());
            let wrong: Vec<String> = cases
                .iter()
                .filter(|c| vectors(name, &c["in"]).as_ref() != Some(&c["out"]))
                .map(|c| {
                    format!("{}\n  expected {}\n  ours {:?}", c["in"], c["out"], vectors(name, &c["in"]))
                })
                .collect();
            assert!(
                wrong.is_empty(),
                "{name}: {} wrong\n{}",
                wrong.len(),
                wrong[..wrong.len().min(5)].join("\n")
            );
        }
    }
}
