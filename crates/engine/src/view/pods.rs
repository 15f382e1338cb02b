//! Pods and their containers.

use super::{
    board::{Asked, Board},
    rows::gap,
    rows::life,
};
use crate::session::{Session, object_ref};
use kubestep_insight::{Blocker, Gap, end};
use kubestep_model::arrange::Arrange;
use kubestep_model::{ContainerStatus, Key, Kind, Object, ObjectMeta, Pod, Resource, text::order};
use kubestep_protocol::{Container, Id, Pod as PodRow, PodLook};
use std::{borrow::Borrow, cmp::Ordering, iter::Peekable, sync::Arc};

/// What a row was made from, and the row: made again only where something differs.
#[derive(Debug)]
pub(crate) struct Made {
    object: Object,
    gap: Option<Gap>,
    services: Vec<(Arc<str>, bool)>,
    look: PodLook,
    pub(super) asked: Asked,
    row: Arc<PodRow>,
}

impl Made {
    /// The next one of a list if it is this pod's; those before it are passed over. Both are in the order of names.
    pub(super) fn next_of<M: Borrow<Made>>(
        all: &mut Peekable<impl Iterator<Item = M>>,
        object: &Object,
    ) -> Option<M> {
        let place = |made: &M| order_of(made.borrow().object.meta(), object.meta());
        // Most pods are as they were: then their names need not be compared.
        if let Object::Pod(pod) = object
            && let Some(made) = all.next_if(|made| made.borrow().is_of(pod))
        {
            return Some(made);
        }
        while all.next_if(|made| place(made).is_lt()).is_some() {}
        all.next_if(|made| place(made).is_eq())
    }

    /// Whether it was made from this very pod.
    fn is_of(&self, pod: &Arc<Pod>) -> bool {
        matches!(&self.object, Object::Pod(own) if Arc::ptr_eq(own, pod))
    }

    /// Whether the pod had the same spec.
    pub(super) fn has_spec_of(&self, pod: &Pod) -> bool {
        matches!(&self.object, Object::Pod(own) if own.spec.is(&pod.spec) && own.rest == pod.rest)
    }
}

/// The order of namespaces and names; most are the same place in memory where they are equal.
fn order_of(a: &ObjectMeta, b: &ObjectMeta) -> Ordering {
    in_order(&a.namespace, &b.namespace).then_with(|| in_order(&a.name, &b.name))
}

fn in_order(a: &Arc<str>, b: &Arc<str>) -> Ordering {
    if Arc::ptr_eq(a, b) { Ordering::Equal } else { order(a, b) }
}

/// The pods, in the order of first sight.
pub(super) fn pods(session: &mut Session, board: &Board<'_>) -> Vec<Arc<PodRow>> {
    // What was made before, the gaps and the pods are all in the order of their names, so none has to be searched for.
    let gaps = session.note().gaps.clone();
    let mut gaps = gaps.iter().filter(|(key, _)| key.kind == Kind::Pod).peekable();
    let mut before = std::mem::take(&mut session.made).into_iter().peekable();
    let mut same = true;
    let mut kept: Vec<Made> = Vec::with_capacity(board.all_pods.len());
    for (object, asked) in board.all_pods.iter().zip(&board.asked) {
        let Object::Pod(pod) = object else { continue };
        let meta = &pod.metadata;
        if meta.namespace.starts_with("kube-") {
            continue;
        }
        let of_gap = |key: &Key| {
            in_order(&key.namespace, &meta.namespace).then_with(|| in_order(&key.name, &meta.name))
        };
        while gaps.next_if(|(key, _)| of_gap(key).is_lt()).is_some() {}
        let gap = gaps.next_if(|(key, _)| of_gap(key).is_eq()).map(|(_, gap)| gap);
        let old = Made::next_of(&mut before, object);
        let row = old.as_ref().map(|old| old.row.clone());
        let new = made(session, board, (object, pod, *asked), gap, old);
        same &= row.is_some_and(|row| Arc::ptr_eq(&row, &new.row));
        kept.push(new);
    }
    same &= kept.len() == session.pods.len();
    session.made = kept;
    if !same {
        let mut rows: Vec<Arc<PodRow>> = session.made.iter().map(|made| made.row.clone()).collect();
        rows.arrange_by_key(|r| r.id);
        session.pods = rows;
    }
    session.pods.clone()
}

/// A pod's row, as it was made before if nothing that it is made from has changed.
fn made(
    session: &mut Session,
    board: &Board<'_>,
    (object, pod, asked): (&Object, &Arc<Pod>, Asked),
    gap: Option<&Gap>,
    old: Option<Made>,
) -> Made {
    let services = board.services_of(pod);
    let old = old.filter(|old| old.is_of(pod));
    // Some looks follow from the pod alone.
    let look = old.as_ref().map(|old| old.look);
    let look = look.filter(|look| matches!(look, PodLook::Terminating | PodLook::Finished | PodLook::Ready));
    let look = look.unwrap_or_else(|| look_of(session, pod));
    let same = |old: &Made| old.look == look && old.services == services && old.gap.as_ref() == gap;
    old.filter(same).unwrap_or_else(|| {
        let row = Arc::new(row(session, object, pod, look, &services));
        Made { object: object.clone(), gap: gap.cloned(), services, look, asked, row }
    })
}

fn row(
    session: &mut Session,
    object: &Object,
    pod: &Pod,
    look: PodLook,
    services: &[(Arc<str>, bool)],
) -> PodRow {
    let name = &pod.metadata.name;
    let owner = pod.metadata.controller();
    let suffix = owner.and_then(|o| name.strip_prefix(&*o.name)).and_then(|s| s.strip_prefix('-'));
    let suffix = suffix.unwrap_or(name).to_string();
    let services: Vec<(Id, bool)> =
        services.iter().map(|(uid, ready)| (session.ids.uid(uid), *ready)).collect();
    let node =
        (!pod.spec.node_name.is_empty()).then(|| session.ids.of(&format!("node:{}", pod.spec.node_name)));
    PodRow {
        id: session.ids.uid(&pod.metadata.uid),
        object: object_ref(&object.key()),
        suffix,
        owner: owner.map(|o| session.ids.uid(&o.uid)),
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
    let blocker = end(session.world(), &session.note().gaps, &pod.key()).map(|(_, blocker)| blocker);
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
