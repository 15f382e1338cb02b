//! ReplicaSets: keeps so many pods of one template.
//!
//! Upstream: pkg/controller/replicaset (v1.37): replica_set.go and replica_set_utils.go. Upstream's expectations and
//! consistency store are the runtime's read-your-writes here. Left out: metrics, logs.

mod face;
mod manage;
mod ranking;
mod status;
mod wakes;

pub(crate) use face::{Face, as_replica_set};
pub use ranking::{Ranked, sort_for_deletion};

use crate::{
    claim::{Owner, claim_pods_for, is_controlled_by},
    pods,
    stop::{Step, flow},
};
use kubestep_control::{Controller, Cx, Done, Flow, Watch};
use kubestep_model::{Key, Kind, Pod, ReplicaSet, text::Selector};
use std::time::Duration;

/// The replica set controller.
#[derive(Debug)]
pub struct ReplicaSetController;

static WATCHES: [Watch; 2] = [
    Watch { kind: Kind::ReplicaSet, wakes: wakes::replica_set },
    Watch { kind: Kind::Pod, wakes: wakes::pod },
];

impl Controller for ReplicaSetController {
    fn name(&self) -> &'static str {
        "replicaset"
    }
    fn actor(&self) -> &'static str {
        "replicaset-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Pod, Kind::ReplicaSet]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(set) = cx.get::<ReplicaSet>(&key.namespace, &key.name) else {
            cx.because("rs.gone", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        };
        let step = sync_replica_set(cx, set, &Face::of_replica_set(set));
        flow(cx, step)
    }
}

/// One pass. Upstream: syncReplicaSet.
pub(crate) fn sync_replica_set(cx: &mut Cx<'_>, set: &ReplicaSet, face: &Face) -> Step<Done> {
    let selector = match &set.spec.selector {
        None => Selector::nothing(),
        Some(selector) => match selector.to_selector() {
            Ok(selector) => selector,
            // Upstream logs it and drops the key: only a change of the ReplicaSet can help.
            Err(_) => return Ok(Done::Settled),
        },
    };
    let view = cx.view();
    let here = |pod: &&Pod| pod.metadata.namespace == set.metadata.namespace;
    let ours = view.owned_by::<Pod>(&set.metadata.uid).filter(here);
    let candidates: Vec<&Pod> = ours.chain(view.owned_by::<Pod>("").filter(here)).collect();
    let owner = Owner { kind: face.kind(), meta: &set.metadata };
    let present = candidates.iter().copied().filter(|pod| pod.is_active());
    let active = claim_pods_for(cx, owner, present, |meta| selector.matches(&meta.labels))?;
    let leaving = |pod: &&&Pod| {
        pods::is_terminating(pod)
            && is_controlled_by(&pod.metadata, &set.metadata)
            && selector.matches(&pod.metadata.labels)
    };
    let terminating = candidates.iter().filter(leaving).count();

    let managed = if set.metadata.is_terminating() {
        cx.because("rs.deleting", vec![("who", set.metadata.name.to_string())]);
        Ok(())
    } else if waits_in_vain(cx, set) {
        Ok(())
    } else {
        manage::manage_replicas(cx, &active, set, face)?
    };
    let mut fresh = status::calculate(set, &active, terminating, managed.as_ref().err(), cx.now());
    if !face.counts_terminating() {
        fresh.terminating_replicas = None;
    }
    let updated = status::update(cx, set, face, fresh)?;
    managed?;
    Ok(next_look(cx, &updated, &active))
}

/// How long pods are expected that were asked for. Upstream: ExpectationsTimeout.
const EXPECTED_FOR: Duration = Duration::from_secs(5 * 60);

fn expectation(set: &ReplicaSet) -> String {
    format!("expects/{}", set.metadata.uid)
}

/// A namespace that is going refused a pod: upstream counts that as no failure, and goes on expecting the pod.
pub(super) fn wait_in_vain(cx: &mut Cx<'_>, set: &ReplicaSet) {
    let now = cx.now().0;
    cx.remember(&expectation(set), Some(now.into()));
}

/// Whether pods are expected that never come. Upstream: SatisfiedExpectations.
fn waits_in_vain(cx: &Cx<'_>, set: &ReplicaSet) -> bool {
    let since = cx.recall(&expectation(set)).and_then(serde_json::Value::as_i64);
    since.is_some_and(|since| cx.now().since(kubestep_model::Instant(since)) < EXPECTED_FOR)
}

/// Looks again when the next ready pod will have been ready for long enough.
fn next_look(cx: &mut Cx<'_>, set: &ReplicaSet, active: &[&Pod]) -> Done {
    let min_ready = set.spec.min_ready_seconds;
    if min_ready <= 0 || set.status.ready_replicas == set.status.available_replicas {
        return Done::Settled;
    }
    let next = pods::next_availability_check(active.iter().copied(), min_ready, cx.now());
    let after = next.unwrap_or(Duration::from_secs(u64::try_from(min_ready).unwrap_or(0)));
    cx.because(
        "rs.wait-available",
        vec![("who", set.metadata.name.to_string()), ("after", after.as_secs().to_string())],
    );
    Done::Again(after)
}
