//! What a Deployment says about itself, counted from its ReplicaSets.
//! Upstream: sync.go, calculateStatus and syncDeploymentStatus (v1.37).

use super::{
    arithmetic::max_unavailable,
    conditions::{self, AVAILABLE, MINIMUM_AVAILABLE, MINIMUM_UNAVAILABLE, condition},
    sets::{self, Set},
};
use crate::stop::Step;
use kubestep_control::{Cx, Done};
use kubestep_model::{Deployment, DeploymentStatus, Instant};

/// The status as it should be, with the Available condition. Upstream: calculateStatus.
pub(super) fn calculate(
    all: &[Set<'_>],
    new: Option<&Set<'_>>,
    d: &Deployment,
    now: Instant,
) -> DeploymentStatus {
    let available = sets::available(all);
    let mut status = DeploymentStatus {
        observed_generation: d.metadata.generation,
        replicas: sets::actual(all),
        updated_replicas: new.map_or(0, |set| set.status.replicas),
        ready_replicas: sets::ready(all),
        available_replicas: available,
        unavailable_replicas: sets::wanted(all).wrapping_sub(available).max(0),
        terminating_replicas: sets::terminating(all),
        collision_count: d.status.collision_count,
        conditions: d.status.conditions.clone(),
        rest: d.status.rest.clone(),
    };
    let enough = available >= d.replicas().wrapping_sub(max_unavailable(d));
    let (value, reason, message) = if enough {
        ("True", MINIMUM_AVAILABLE, "Deployment has minimum availability.")
    } else {
        ("False", MINIMUM_UNAVAILABLE, "Deployment does not have minimum availability.")
    };
    conditions::set(&mut status, condition(AVAILABLE, value, reason, message, now));
    status
}

/// Writes the status where it changed, without looking at progress. Upstream: syncDeploymentStatus.
pub(super) fn sync(
    cx: &mut Cx<'_>,
    all: &[Set<'_>],
    new: Option<&Set<'_>>,
    d: &mut Deployment,
) -> Step<Done> {
    let status = calculate(all, new, d, cx.now());
    if d.status != status {
        write(cx, d, status)?;
    }
    Ok(Done::Settled)
}

/// Writes a new status with the resource version of the cache.
pub(super) fn write(cx: &mut Cx<'_>, d: &mut Deployment, status: DeploymentStatus) -> Step<()> {
    d.status = status;
    let s = &d.status;
    let values =
        [("replicas", s.replicas), ("updated", s.updated_replicas), ("available", s.available_replicas)];
    let mut about = vec![("who", d.metadata.name.to_string())];
    about.extend(values.map(|(name, value)| (name, value.to_string())));
    cx.because("deploy.status", about);
    cx.try_set_status(d.clone())??;
    Ok(())
}
