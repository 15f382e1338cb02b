//! What a pod waits for that is not ready: the scheduler, its node, its containers.

use crate::{Blocker, blocker::Wait, next::held};
use kubestep_cluster::{Brain, Mood, ProcessId, World, loops::scheduler::queue::Place};
use kubestep_model::{ContainerStatus, Instant, Kind, Pod, Time};
use std::{sync::Arc, time::Duration};

pub(crate) fn node_is_silent(world: &World, pod: &Pod) -> bool {
    !pod.spec.node_name.is_empty() && is_silent(world, &pod.spec.node_name)
}

/// Whether a node's kubelet does not run or is not heard.
pub(crate) fn is_silent(world: &World, node: &Arc<str>) -> bool {
    let kubelet = ProcessId::Kubelet(node.clone());
    let down = world.process(&kubelet).is_none_or(|p| p.health != kubestep_cluster::Health::Up);
    down || world.faults().is_cut(&kubelet)
}

/// What a pod that is not ready waits for.
pub(crate) fn of_pod(world: &World, pod: &Pod) -> Blocker {
    if pod.spec.node_name.is_empty() {
        return unscheduled(world, pod);
    }
    // An owner makes another; nothing brings this one back.
    if pod.status.phase == "Failed" {
        return Blocker::NoLoop;
    }
    if node_is_silent(world, pod) {
        return Blocker::NodeSilent { node: pod.spec.node_name.to_string() };
    }
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    let found =
        statuses.filter(|s| !s.ready || s.state.running.is_none()).find_map(|s| of_container(world, pod, s));
    found.or_else(|| crate::needs::missing(world, pod)).unwrap_or(Blocker::UnderWay)
}

fn unscheduled(world: &World, pod: &Pod) -> Blocker {
    let scheduler = world.process(&ProcessId::Scheduler);
    if scheduler.is_some_and(|p| p.health != kubestep_cluster::Health::Up) {
        return Blocker::LoopStopped { who: "kube-scheduler".into() };
    }
    if let Some(held) = held(world, &ProcessId::Scheduler, "kube-scheduler", &[Kind::Pod, Kind::Node]) {
        return held;
    }
    match pod.condition("PodScheduled") {
        Some(c) if c.status == "False" && c.reason == "SchedulingGated" => {
            Blocker::Gated { message: c.message.clone() }
        }
        Some(c) if c.status == "False" && !is_tried_again(world, pod) => {
            Blocker::NothingFits { message: c.message.clone() }
        }
        _ => Blocker::UnderWay,
    }
}

/// Whether the scheduler has taken a pod up again and will look at it by itself.
fn is_tried_again(world: &World, pod: &Pod) -> bool {
    let Some(Brain::Scheduler(scheduler)) = world.process(&ProcessId::Scheduler).map(|p| &p.brain) else {
        return false;
    };
    scheduler.place_of(&pod.metadata.uid).is_some_and(|place| place != Place::Unschedulable)
}

fn of_container(world: &World, pod: &Pod, status: &ContainerStatus) -> Option<Blocker> {
    if let Some(waiting) = &status.state.waiting {
        return of_waiting(world, pod, status, &waiting.reason, &waiting.message);
    }
    if let Some(ended) = &status.state.terminated {
        if pod.spec.restart_policy == "Never"
            || (pod.spec.restart_policy == "OnFailure" && ended.exit_code == 0)
        {
            return None;
        }
        return Some(ends(status));
    }
    let started = status.state.running.as_ref().and_then(|r| r.started_at);
    let container = pod.spec.containers.iter().find(|c| c.name == status.name)?;
    let probe = container.readiness_probe.as_ref().or(container.startup_probe.as_ref())?;
    let patience = i64::from(probe.initial_delay_seconds)
        + i64::from(probe.period_seconds.max(1)) * i64::from(probe.failure_threshold.max(1));
    let over = started.is_some_and(|s| past(world.now(), s, patience));
    Some(if over { Blocker::Probe { container: status.name.clone() } } else { Blocker::UnderWay })
}

fn past(now: Instant, since: Time, seconds: i64) -> bool {
    now.since(since.instant()) > Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

fn of_waiting(
    world: &World,
    pod: &Pod,
    status: &ContainerStatus,
    reason: &str,
    message: &str,
) -> Option<Blocker> {
    let image = || {
        pod.spec
            .containers
            .iter()
            .chain(&pod.spec.init_containers)
            .find(|c| c.name == status.name)
            .map(|c| c.image.clone())
            .unwrap_or_default()
    };
    Some(match reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "RegistryUnavailable" => {
            let image = image();
            let row = world.registry().get(&image);
            match world.registry().1 {
                Mood::Away => return Some(Blocker::Image { image, reason: reason.into(), absent: false }),
                Mood::Throttling(_) if row.is_some_and(|r| !r.denied) => {
                    return Some(Blocker::Time { what: Wait::Throttled });
                }
                _ => {}
            }
            if row.is_some_and(|r| !r.denied) && matches!(reason, "ErrImagePull" | "ImagePullBackOff") {
                return Some(Blocker::Time { what: Wait::PullBackOff });
            }
            Blocker::Image { absent: row.is_none(), image, reason: reason.into() }
        }
        "CrashLoopBackOff" => ends(status),
        "CreateContainerConfigError" if crate::needs::mended(world, &pod.metadata.namespace, message) => {
            Blocker::Time { what: Wait::Retry }
        }
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
            Blocker::Configuration { message: message.into() }
        }
        _ => return None,
    })
}

fn ends(status: &ContainerStatus) -> Blocker {
    let last = status.state.terminated.as_ref().or(status.last_state.terminated.as_ref());
    let (code, reason) = last.map_or((0, String::new()), |t| (t.exit_code, t.reason.clone()));
    let restarts = status.restart_count;
    if restarts == 0 {
        return Blocker::UnderWay;
    }
    Blocker::Ends { container: status.name.clone(), code, reason, restarts }
}
