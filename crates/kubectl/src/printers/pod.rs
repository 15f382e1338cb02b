//! Pod: its STATUS is no field, it is worked out of phase, conditions and containers.

use super::{Column, Row, age, column, common, row, wide};
use kubestep_model::arrange::Gather;
use kubestep_model::{ContainerStateTerminated, ContainerStatus, Instant, Pod, Time};
use std::collections::BTreeSet;

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    column("Ready"),
    column("Status"),
    column("Restarts"),
    column("Age"),
    wide("IP"),
    wide("Node"),
    wide("Nominated Node"),
    wide("Readiness Gates"),
];

pub(super) fn row(o: &Pod, now: Instant, _: bool) -> Row {
    let summary = summary(o);
    let restarts = match summary.last_restart {
        Some(time) if summary.restarts != 0 => format!("{} ({} ago)", summary.restarts, age(Some(time), now)),
        _ => summary.restarts.to_string(),
    };
    let ip = o.status.pod_ips.first().map_or(&*o.status.pod_ip, |p| &*p.ip);
    row![
        &*o.metadata.name,
        format!("{}/{}", summary.ready, summary.total),
        summary.reason,
        restarts,
        age(o.metadata.creation_timestamp, now),
        common::or(ip, "<none>"),
        common::or(&o.spec.node_name, "<none>"),
        common::or(&o.status.nominated_node_name, "<none>"),
        readiness_gates(o),
    ]
}

fn readiness_gates(o: &Pod) -> String {
    let gates = &o.spec.readiness_gates;
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|g| o.condition(&g.condition_type).is_some_and(|c| c.status == "True"));
    format!("{}/{}", open.count(), gates.len())
}

/// What the columns READY, STATUS and RESTARTS say.
struct Summary {
    ready: usize,
    total: usize,
    reason: String,
    restarts: i64,
    last_restart: Option<Time>,
}

impl Summary {
    fn count_restarts(&mut self, status: &ContainerStatus) {
        self.restarts += i64::from(status.restart_count);
        let ended = status.last_state.terminated.as_ref().and_then(|t| t.finished_at);
        self.last_restart = self.last_restart.max(ended);
    }
}

fn ended(state: &ContainerStateTerminated) -> String {
    match (state.reason.as_str(), state.signal) {
        ("", 0) => format!("ExitCode:{}", state.exit_code),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Upstream: printPod (v1.37).
fn summary(pod: &Pod) -> Summary {
    let sidecars: BTreeSet<&str> = pod
        .spec
        .init_containers
        .iter()
        .filter(|c| c.restart_policy.as_deref() == Some("Always"))
        .map(|c| c.name.as_str())
        .gather();
    let mut sum = Summary {
        ready: 0,
        total: pod.spec.containers.len() + sidecars.len(),
        reason: common::or(&pod.status.reason, &pod.status.phase).to_owned(),
        restarts: 0,
        last_restart: None,
    };
    if pod.status.conditions.iter().any(|c| c.r#type == "PodScheduled" && c.reason == "SchedulingGated") {
        sum.reason = "SchedulingGated".to_owned();
    }
    let initializing = init(pod, &sidecars, &mut sum);
    if !initializing || pod.condition("Initialized").is_some_and(|c| c.status == "True") {
        let of_sidecars =
            pod.status.init_container_statuses.iter().filter(|s| sidecars.contains(s.name.as_str()));
        (sum.restarts, sum.last_restart) = (0, None);
        let seen = init_seen(pod, &sidecars);
        of_sidecars.take(seen).for_each(|s| sum.count_restarts(s));
        main(pod, &mut sum);
    }
    if pod.metadata.is_terminating() && pod.status.reason == "NodeLost" {
        sum.reason = "Unknown".to_owned();
    } else if pod.metadata.is_terminating() && !pod.is_terminal() {
        sum.reason = "Terminating".to_owned();
    }
    sum
}

/// Whether an init container lets the next ones run.
fn passed(status: &ContainerStatus, sidecar: bool) -> bool {
    let succeeded = status.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0);
    succeeded || (sidecar && status.started == Some(true))
}

/// How many of the sidecars are looked at: those up to the first init container that holds the others back.
fn init_seen(pod: &Pod, sidecars: &BTreeSet<&str>) -> usize {
    let is_sidecar = |s: &ContainerStatus| sidecars.contains(s.name.as_str());
    let statuses = &pod.status.init_container_statuses;
    let end = statuses.iter().position(|s| !passed(s, is_sidecar(s))).map_or(statuses.len(), |at| at + 1);
    statuses[..end].iter().filter(|s| is_sidecar(s)).count()
}

/// Looks at the init containers in their order; true if one of them still holds the others back.
fn init(pod: &Pod, sidecars: &BTreeSet<&str>, sum: &mut Summary) -> bool {
    for (at, status) in pod.status.init_container_statuses.iter().enumerate() {
        sum.count_restarts(status);
        let sidecar = sidecars.contains(status.name.as_str());
        let succeeded = status.state.terminated.as_ref().is_some_and(|t| t.exit_code == 0);
        if passed(status, sidecar) {
            sum.ready += usize::from(!succeeded && status.ready);
            continue;
        }
        let waiting = status.state.waiting.as_ref().map(|w| w.reason.as_str()).unwrap_or_default();
        sum.reason = match &status.state.terminated {
            Some(state) => format!("Init:{}", ended(state)),
            None if !matches!(waiting, "" | "PodInitializing") => format!("Init:{waiting}"),
            None => format!("Init:{at}/{}", pod.spec.init_containers.len()),
        };
        return true;
    }
    false
}

fn main(pod: &Pod, sum: &mut Summary) {
    let (mut has_running, mut error) = (false, String::new());
    for status in pod.status.container_statuses.iter().rev() {
        sum.count_restarts(status);
        let waiting = status.state.waiting.as_ref().map(|w| w.reason.as_str()).unwrap_or_default();
        if !waiting.is_empty() {
            sum.reason = waiting.to_owned();
        } else if let Some(state) = &status.state.terminated {
            sum.reason = ended(state);
            if state.exit_code != 0 {
                error.clone_from(&sum.reason);
            }
        } else if status.ready && status.state.running.is_some() {
            has_running = true;
            sum.ready += 1;
        }
    }
    if sum.reason == "Completed" {
        if has_running && pod.is_ready() {
            sum.reason = "Running".to_owned();
        } else if !error.is_empty() {
            sum.reason = error;
        } else if has_running {
            sum.reason = "NotReady".to_owned();
        }
    }
}
