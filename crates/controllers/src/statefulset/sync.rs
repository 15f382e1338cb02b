//! One pass over a set's pods: make those that lack, wait for each other's turn, take away those too many.
//! Upstream: stateful_set_control.go, UpdateStatefulSet to runForAll (v1.37).

use super::{
    claims, identity, owner, pods, revisions,
    revisions::Revisions,
    rolling,
    status::{self, running_and_ready, unavailable},
};
use crate::{
    history,
    pods::is_available,
    stop::{Step, Stop, aggregate},
};
use kubestep_control::{Cx, Halt};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Pod, StatefulSet, StatefulSetStatus, Status};
use std::borrow::Cow;

/// The largest batch in a burst. Upstream: MaxBatchSize.
const MOST_AT_ONCE: usize = 500;

/// What is done about one pod: go on to the next, or let this pass end here.
pub(super) type Turn = Step<bool>;

/// How a phase ended: with an error that the status is written before, or none.
pub(super) type Ended = Result<Option<Status>, Halt>;

/// Brings pods towards the wanted state; answers how many are available. Upstream: UpdateStatefulSet.
pub(super) fn update(cx: &mut Cx<'_>, set: &StatefulSet, pods: &[&Pod]) -> Step<i32> {
    let all = history::list(cx, owner(set), set.spec.selector.as_ref());
    let (found, mut errors) = match revisions::find(cx, set, &all) {
        Ok(found) => (Some(found), vec![]),
        Err(Stop::Failed(status)) => (None, vec![status]),
        Err(halt) => return Err(halt),
    };
    let mut available = 0;
    if let Some(found) = &found {
        let mut status = status::begin(set, found);
        let failure = perform(cx, set, found, pods, &mut status)?;
        let written = status::write(cx, set, &mut status);
        available = status.available_replicas;
        match (failure, written) {
            (Some(failure), Ok(()) | Err(Stop::Failed(_))) => errors.push(failure),
            (None, Err(Stop::Failed(refusal))) => errors.push(refusal),
            (None, Ok(())) => {}
            (_, Err(halt)) => return Err(halt),
        }
    }
    match revisions::truncate(cx, set, pods, &all, found.as_ref()) {
        Ok(()) => {}
        Err(Stop::Failed(status)) => errors.push(status),
        Err(halt) => return Err(halt),
    }
    aggregate(errors).map_or(Ok(available), |status| Err(status.into()))
}

/// Pods by place: one for each number that is wanted, there or to be made; and those beyond, the last first.
struct Places<'p> {
    replicas: Vec<Cow<'p, Pod>>,
    condemned: Vec<&'p Pod>,
}

fn places<'p>(set: &StatefulSet, found: &Revisions, pods: &[&'p Pod]) -> Places<'p> {
    let (first, want) = (identity::start(set), identity::replicas(set));
    let there = |number: i32| pods.iter().rev().find(|pod| identity::ordinal(pod) == number);
    let place = |number: i32| match there(number) {
        Some(pod) => Cow::Borrowed(*pod),
        None => Cow::Owned(rolling::new_pod(set, found, number)),
    };
    let replicas = (first..first.saturating_add(want)).map(place).collect();
    let beyond = |pod: &&&Pod| !identity::in_range(pod, set) && identity::ordinal(pod) >= 0;
    let mut condemned: Vec<&Pod> = pods.iter().filter(beyond).copied().collect();
    condemned.arrange_by_key(|pod| std::cmp::Reverse(identity::ordinal(pod)));
    Places { replicas, condemned }
}

/// Upstream: updateStatefulSet.
fn perform(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    found: &Revisions,
    pods: &[&Pod],
    status: &mut StatefulSetStatus,
) -> Ended {
    let now = cx.now();
    status::count(status, set, pods.iter().copied(), now);
    let Places { replicas, condemned } = places(set, found, pods);
    if set.metadata.is_terminating() {
        cx.because("sts.deleting", vec![("who", set.metadata.name.to_string())]);
        return Ok(None);
    }
    let first_unavailable = replicas
        .iter()
        .map(|pod| &**pod)
        .chain(condemned.iter().rev().copied())
        .find(|pod| unavailable(pod, set, now));
    let first = first_unavailable.map(|pod| pod.metadata.name.to_string());
    let (ended, failure) = run_phases(cx, set, &replicas, &condemned, first.as_deref())?;
    status::count(status, set, replicas.iter().map(|pod| &**pod).chain(condemned.iter().copied()), now);
    if ended || set.spec.update_strategy.r#type == "OnDelete" {
        return Ok(failure);
    }
    rolling::replace_old(cx, set, found, &replicas, status)
}

fn run_phases(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    replicas: &[Cow<'_, Pod>],
    condemned: &[&Pod],
    first_unavailable: Option<&str>,
) -> Result<(bool, Option<Status>), Halt> {
    let monotonic = set.spec.pod_management_policy != "Parallel";
    let made = run_for_all(cx, replicas, monotonic, |cx, pod| process_replica(cx, set, monotonic, pod))?;
    if made.0 {
        return Ok(made);
    }
    let claims = run_for_all(cx, condemned, monotonic, |cx, pod| {
        if !claims::match_policy(cx, set, pod) {
            claims::apply_policy(cx, set, pod, &[])?;
        }
        Ok(false)
    })?;
    if claims.0 {
        return Ok(claims);
    }
    run_for_all(cx, condemned, monotonic, |cx, pod| {
        process_condemned(cx, set, first_unavailable, monotonic, pod)
    })
}

/// Each in turn until one says stop; or, in a burst, all, in batches of 1, 2, 4 … until one fails. Each of a batch is a
/// goroutine: the one that is started last is the first to run, as a rule. Upstream: runForAll, slowStartBatch.
fn run_for_all<'a, T>(
    cx: &mut Cx<'a>,
    items: &[T],
    monotonic: bool,
    mut turn: impl FnMut(&mut Cx<'a>, &T) -> Turn,
) -> Result<(bool, Option<Status>), Halt> {
    let (mut rest, mut batch) = (items, 1);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let mut errors = Vec::new();
        let (others, last) = now.split_at(now.len().saturating_sub(1));
        for item in last.iter().chain(others) {
            match turn(cx, item) {
                Ok(true) if monotonic => return Ok((true, None)),
                Ok(_) => {}
                Err(Stop::Failed(status)) => errors.push(status),
                Err(Stop::Halt(halt)) => return Err(halt),
            }
        }
        if let Some(status) = aggregate(errors) {
            return Ok((true, Some(status)));
        }
        rest = later;
        batch = if monotonic { 1 } else { (batch * 2).min(MOST_AT_ONCE) };
    }
    Ok((false, None))
}

fn wait(cx: &mut Cx<'_>, code: &'static str, set: &StatefulSet, pod: &str) -> Turn {
    cx.because(code, vec![("who", set.metadata.name.to_string()), ("pod", pod.to_owned())]);
    Ok(true)
}

/// Upstream: processReplica.
fn process_replica(cx: &mut Cx<'_>, set: &StatefulSet, monotonic: bool, pod: &Pod) -> Turn {
    let name = pod.metadata.name.to_string();
    if pod.is_terminal() {
        // A new one is made once this one is gone.
        if !pod.metadata.is_terminating() {
            cx.because("sts.ended", vec![("who", set.metadata.name.to_string()), ("pod", name)]);
            pods::delete(cx, set, pod)?;
        }
        return Ok(true);
    }
    if pod.status.phase.is_empty() {
        if claims::is_stale(cx, set, pod) {
            return wait(cx, "sts.stale-claim", set, &name);
        }
        pods::create(cx, set, pod)?;
        if monotonic {
            return Ok(true);
        }
    }
    if pod.status.phase == "Pending" {
        claims::complete(cx, set, pod)?;
    }
    if monotonic {
        if pod.metadata.is_terminating() {
            return wait(cx, "sts.wait-gone", set, &name);
        }
        if !running_and_ready(pod) {
            return wait(cx, "sts.wait-ready", set, &name);
        }
        if !is_available(pod, set.spec.min_ready_seconds, cx.now()) {
            return wait(cx, "sts.wait-turn", set, &name);
        }
    }
    let kept = identity::identity_matches(set, pod)
        && identity::storage_matches(set, pod)
        && claims::match_policy(cx, set, pod);
    if !kept && !pod.status.phase.is_empty() {
        pods::repair(cx, set, pod)?;
    }
    Ok(false)
}

/// Upstream: processCondemned.
fn process_condemned(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    first_unavailable: Option<&str>,
    monotonic: bool,
    pod: &Pod,
) -> Turn {
    let name = &*pod.metadata.name;
    if pod.metadata.is_terminating() {
        return if monotonic { wait(cx, "sts.wait-gone", set, name) } else { Ok(false) };
    }
    let calm = running_and_ready(pod) && is_available(pod, set.spec.min_ready_seconds, cx.now());
    if !calm && monotonic && first_unavailable != Some(name) {
        return wait(cx, "sts.wait-lower", set, first_unavailable.unwrap_or_default());
    }
    cx.because(
        "sts.too-many",
        vec![
            ("who", set.metadata.name.to_string()),
            ("pod", name.to_owned()),
            ("want", identity::replicas(set).to_string()),
        ],
    );
    pods::delete(cx, set, pod)?;
    Ok(true)
}
