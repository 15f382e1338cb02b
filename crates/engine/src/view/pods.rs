//! Pods and their containers.

use super::{board::Board, rows::gap, rows::life, sorted};
use crate::session::{Session, object_ref};
use kubestep_insight::{Blocker, look, why};
use kubestep_model::{ContainerStatus, Kind, Object, Pod, Resource};
use kubestep_protocol::{Container, Id, Pod as PodRow, PodLook};
use std::sync::Arc;

/// The pods, in the order of first sight.
pub(super) fn pods(session: &mut Session, board: &Board) -> Vec<Arc<PodRow>> {
    let objects: Vec<Object> = session.world().store().list(Kind::Pod, None).cloned().collect();
    let mut order: Vec<&Object> =
        objects.iter().filter(|o| !o.meta().namespace.starts_with("kube-")).collect();
    order.sort_by_key(|o| (o.meta().creation_timestamp, o.meta().revision()));
    let mut rows = vec![];
    for object in order {
        if let Some(pod) = object.get::<Pod>() {
            rows.push(row(session, board, object, pod));
        }
    }
    sorted(rows, |r| r.id)
}

fn row(session: &mut Session, board: &Board, object: &Object, pod: &Pod) -> PodRow {
    let name = &pod.metadata.name;
    let owner = pod.metadata.controller().map(|o| (o.uid.clone(), o.name.clone()));
    let suffix = owner
        .as_ref()
        .and_then(|(_, o)| name.strip_prefix(&**o))
        .and_then(|s| s.strip_prefix('-'))
        .unwrap_or(name)
        .to_string();
    let services: Vec<(Id, bool)> = {
        let found: Vec<(Arc<str>, bool)> = look::services_of(session.world().store(), pod)
            .map(|s| (s.metadata.uid.clone(), board.ready_in(&s.key().name, pod).unwrap_or(false)))
            .collect();
        found.into_iter().map(|(uid, ready)| (session.ids.uid(&uid), ready)).collect()
    };
    let node =
        (!pod.spec.node_name.is_empty()).then(|| session.ids.of(&format!("node:{}", pod.spec.node_name)));
    let look = look_of(session, pod);
    PodRow {
        id: session.ids.uid(&pod.metadata.uid),
        object: object_ref(&object.key()),
        suffix,
        owner: owner.map(|(uid, _)| session.ids.uid(&uid)),
        node,
        look,
        words: words(pod, look),
        containers: containers(pod),
        services,
        labels: pod.metadata.labels.iter().map(|(k, v)| format!("{k}={v}")).collect(),
        created: pod
            .metadata
            .creation_timestamp
            .map_or(session.at(session.zero), |t| session.at(t.instant())),
        gap: gap(session, object),
        life: life(object),
    }
}

fn look_of(session: &Session, pod: &Pod) -> PodLook {
    if pod.metadata.is_terminating() {
        return PodLook::Terminating;
    }
    match pod.status.phase.as_str() {
        "Succeeded" => return PodLook::Finished,
        "Failed" => return PodLook::Crashed,
        _ if pod.is_ready() => return PodLook::Ready,
        _ => {}
    }
    let blocker = why(session.world(), &session.note().gaps, &pod.key()).pop().and_then(|l| l.blocker);
    match blocker {
        Some(Blocker::Ends { .. }) => PodLook::Crashed,
        Some(
            Blocker::Image { .. }
            | Blocker::Configuration { .. }
            | Blocker::NothingFits { .. }
            | Blocker::Time { .. },
        ) => PodLook::Waiting,
        _ if pod.status.container_statuses.iter().any(|c| c.state.running.is_some()) => PodLook::Running,
        _ if pod.status.container_statuses.iter().any(|c| c.state.terminated.is_some()) => PodLook::Crashed,
        _ => PodLook::Pending,
    }
}

/// kubectl's STATUS of a pod.
pub(crate) fn status_words(pod: &Pod) -> String {
    let status = &pod.status;
    if pod.metadata.is_terminating() && !pod.is_terminal() {
        return "Terminating".into();
    }
    if !status.reason.is_empty() {
        return status.reason.clone();
    }
    let said = |s: &ContainerStatus| {
        let waiting = s.state.waiting.as_ref().map(|w| w.reason.clone()).filter(|r| !r.is_empty());
        let ended = s.state.terminated.as_ref().map(|t| {
            if t.reason.is_empty() { format!("ExitCode:{}", t.exit_code) } else { t.reason.clone() }
        });
        waiting.or(ended)
    };
    let init = status
        .init_container_statuses
        .iter()
        .find_map(|s| said(s).filter(|r| r != "Completed").map(|r| format!("Init:{r}")));
    let main = status.container_statuses.iter().rev().find_map(said);
    init.or(main)
        .unwrap_or_else(|| if status.phase.is_empty() { "Pending".into() } else { status.phase.clone() })
}

fn words(pod: &Pod, look: PodLook) -> String {
    match look {
        PodLook::Ready => "Running, ready".into(),
        PodLook::Running => "Running, not ready".into(),
        PodLook::Pending if pod.spec.node_name.is_empty() => "Pending".into(),
        _ => status_words(pod),
    }
}

fn containers(pod: &Pod) -> Vec<Container> {
    let status = |name: &str| {
        pod.status
            .init_container_statuses
            .iter()
            .chain(&pod.status.container_statuses)
            .find(|s| s.name == name)
    };
    let init = pod.spec.init_containers.iter().map(|c| (c, true));
    let main = pod.spec.containers.iter().map(|c| (c, false));
    init.chain(main)
        .map(|(c, init)| {
            let (look, words, restarts) =
                status(&c.name).map_or((PodLook::Pending, "Waiting".to_string(), 0), container);
            Container { name: c.name.clone(), image: c.image.clone(), look, words, restarts, init }
        })
        .collect()
}

fn container(status: &ContainerStatus) -> (PodLook, String, u32) {
    let restarts = u32::try_from(status.restart_count).unwrap_or(0);
    let state = &status.state;
    let (look, words) = if let Some(waiting) = &state.waiting {
        let look = if waiting.reason == "CrashLoopBackOff" {
            PodLook::Crashed
        } else if waiting.reason == "ContainerCreating" {
            PodLook::Pending
        } else {
            PodLook::Waiting
        };
        (look, format!("Waiting: {}", waiting.reason))
    } else if let Some(ended) = &state.terminated {
        let look = if ended.exit_code == 0 { PodLook::Finished } else { PodLook::Crashed };
        (look, format!("Terminated: {} ({})", ended.reason, ended.exit_code))
    } else if state.running.is_some() {
        (if status.ready { PodLook::Ready } else { PodLook::Running }, "Running".into())
    } else {
        (PodLook::Pending, "Waiting".into())
    };
    (look, words, restarts)
}
