//! StatefulSets: numbered pods, each with a name and claims that it keeps.
//!
//! Upstream: pkg/controller/statefulset (v1.37): stateful_set.go, stateful_set_control.go, stateful_pod_control.go,
//! stateful_set_utils.go. Left out: metrics; in a burst (`podManagementPolicy: Parallel`) requests of one batch are
//! asked one after the other, the last one's first.

mod claims;
mod identity;
mod pods;
mod revisions;
mod rolling;
mod sentences;
mod status;
mod sync;
mod wakes;

pub use sentences::SENTENCES;

use crate::{
    claim::{Owner, claim_pods_for},
    pods::next_availability_check,
    stop::{Step, flow},
    whole,
};
use kubestep_control::{Controller, Cx, Done, Flow, Watch};
use kubestep_model::{ControllerRevision, Key, Kind, Pod, StatefulSet, Whole, text::Selector};
use std::time::Duration;

/// The stateful set controller.
#[derive(Debug)]
pub struct StatefulSetController;

/// Claims, which the store keeps whole.
pub(crate) const CLAIM: Kind = Kind::other("", "PersistentVolumeClaim");

static WATCHES: [Watch; 4] = [
    Watch { kind: StatefulSet::KIND, wakes: wakes::stateful_set },
    Watch { kind: Kind::Pod, wakes: wakes::pod },
    Watch { kind: CLAIM, wakes: wakes::nothing },
    Watch { kind: ControllerRevision::KIND, wakes: wakes::nothing },
];

impl Controller for StatefulSetController {
    fn name(&self) -> &'static str {
        "statefulset"
    }
    fn actor(&self) -> &'static str {
        "statefulset-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[Kind::Pod, StatefulSet::KIND]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(set) = whole::get::<StatefulSet>(cx.view(), &key.namespace, &key.name) else {
            cx.because("sts.gone", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        };
        let step = sync_stateful_set(cx, &set);
        flow(cx, step)
    }
}

/// Who owns what this set makes.
fn owner(set: &StatefulSet) -> Owner<'_> {
    Owner { kind: StatefulSet::KIND, meta: &set.metadata }
}

/// One pass. Upstream: StatefulSetController.sync and syncStatefulSet.
fn sync_stateful_set(cx: &mut Cx<'_>, set: &StatefulSet) -> Step<Done> {
    let selector = match &set.spec.selector {
        None => Selector::nothing(),
        Some(selector) => match selector.to_selector() {
            Ok(selector) => selector,
            // Upstream logs it and drops the key: only a change of the set can help.
            Err(_) => return Ok(Done::Settled),
        },
    };
    revisions::adopt_orphans(cx, set)?;
    let view = cx.view();
    let here = |pod: &&Pod| pod.metadata.namespace == set.metadata.namespace;
    let ours = view.owned_by::<Pod>(&set.metadata.uid).filter(here);
    let candidates: Vec<&Pod> = ours.chain(view.owned_by::<Pod>("").filter(here)).collect();
    let pods = claim_pods_for(cx, owner(set), candidates, |meta| {
        identity::is_member(set, &meta.name) && selector.matches(&meta.labels)
    })?;
    let available = sync::update(cx, set, &pods)?;
    let min_ready = set.spec.min_ready_seconds;
    if min_ready > 0 && available != set.spec.replicas.unwrap_or(1) {
        let next = next_availability_check(pods.iter().copied(), min_ready, cx.now());
        let after = next.unwrap_or(Duration::from_secs(u64::try_from(min_ready).unwrap_or(0)));
        cx.because(
            "sts.wait-available",
            vec![("who", set.metadata.name.to_string()), ("after", after.as_secs().to_string())],
        );
        return Ok(Done::Again(after));
    }
    Ok(Done::Settled)
}

#[cfg(test)]
mod tests;
