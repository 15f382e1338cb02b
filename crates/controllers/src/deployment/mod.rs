//! Deployments: keeps a ReplicaSet for each version of the template and moves pods from the old ones to the new.
//!
//! Upstream: pkg/controller/deployment (v1.37): deployment_controller.go (events and the order of phases), sync.go
//! (new ReplicaSet, scaling, clean-up, status), rolling.go, recreate.go, progress.go, rollback.go and
//! util/deployment_util.go. Left out: metrics and logs.

mod arithmetic;
mod conditions;
mod history;
mod new_set;
mod progress;
mod recreate;
mod rollback;
mod rolling;
mod scaling;
mod sets;
mod status;
mod sync;
mod wakes;

pub use arithmetic::{
    fraction_of, max_surge, max_unavailable, min_available, new_set_replicas, proportion, resolve_fenceposts,
};
pub use progress::{is_complete, is_progressing, timed_out};
pub use sets::find_active_or_latest;

use crate::{
    claim::claim,
    stop::{Step, Stop, error, flow, namespace_terminating},
};
use kubestep_control::{Controller, Cx, Done, Flow, Watch};
use kubestep_model::{Deployment, Key, Kind, LabelSelector, ReplicaSet, text::Selector};

/// The deployment controller.
#[derive(Debug)]
pub struct DeploymentController;

static WATCHES: [Watch; 3] = [
    Watch { kind: Kind::Deployment, wakes: wakes::deployment },
    Watch { kind: Kind::ReplicaSet, wakes: wakes::replica_set },
    Watch { kind: Kind::Pod, wakes: wakes::pod },
];

impl Controller for DeploymentController {
    fn name(&self) -> &'static str {
        "deployment"
    }
    fn actor(&self) -> &'static str {
        "deployment-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn max_retries(&self) -> Option<u32> {
        Some(15)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(deployment) = cx.get::<Deployment>(&key.namespace, &key.name) else {
            cx.because("deploy.gone", vec![("who", key.name.to_string())]);
            return Ok(Done::Settled);
        };
        match sync_deployment(cx, deployment.clone()) {
            // A namespace that goes away refuses every create: there is nothing to try again.
            Err(Stop::Failed(status)) if namespace_terminating(&status) => Ok(Done::Settled),
            step => flow(cx, step),
        }
    }
}

/// One pass. `d` is the pass's own copy: what it writes down there keeps the resource version of the cache, so
/// that a second write in one pass meets a conflict, as upstream's does.
/// Upstream: DeploymentController.syncDeployment.
fn sync_deployment(cx: &mut Cx<'_>, mut d: Deployment) -> Step<Done> {
    let d = &mut d;
    if d.spec.selector.as_ref().is_some_and(LabelSelector::is_empty) {
        return selects_all(cx, d);
    }
    let sets = claim_sets(cx, d)?;
    if d.metadata.is_terminating() {
        cx.because("deploy.deleting", vec![("who", d.metadata.name.to_string())]);
        return sync::status_only(cx, d, &sets);
    }
    progress::check_paused(cx, d)?;
    if d.spec.paused {
        return sync::scale_and_status(cx, d, &sets);
    }
    if let Some(revision) = rollback::wanted(d) {
        return rollback::rollback(cx, d, &sets, revision);
    }
    if sync::is_scaling_event(cx, d, &sets)? {
        return sync::scale_and_status(cx, d, &sets);
    }
    match d.spec.strategy.r#type.as_str() {
        "Recreate" => recreate::rollout(cx, d, &sets),
        "RollingUpdate" => rolling::rollout(cx, d, &sets),
        other => Err(error(format!("unexpected deployment strategy type: {other}")).into()),
    }
}

fn selects_all(cx: &mut Cx<'_>, d: &mut Deployment) -> Step<Done> {
    cx.because("deploy.selects-all", vec![("who", d.metadata.name.to_string())]);
    let message = "This deployment is selecting all pods. A non-empty selector is required.".to_owned();
    cx.event(&d.clone().into(), "Warning", "SelectingAll", message);
    if d.status.observed_generation < d.metadata.generation {
        d.status.observed_generation = d.metadata.generation;
        // Upstream does not look at the answer.
        cx.try_set_status(d.clone())?.ok();
    }
    Ok(Done::Settled)
}

/// The ReplicaSets of this Deployment, after adopting and releasing. Upstream: getReplicaSetsForDeployment.
fn claim_sets<'a>(cx: &mut Cx<'a>, d: &Deployment) -> Step<Vec<&'a ReplicaSet>> {
    let (namespace, name) = (&d.metadata.namespace, &d.metadata.name);
    let selector = match &d.spec.selector {
        None => Selector::nothing(),
        Some(selector) => selector.to_selector().map_err(|why| {
            error(format!("deployment {namespace}/{name} has invalid label selector: {why}"))
        })?,
    };
    let all: Vec<&ReplicaSet> = cx.list::<ReplicaSet>(Some(namespace)).collect();
    claim(cx, d, &selector, all)
}
