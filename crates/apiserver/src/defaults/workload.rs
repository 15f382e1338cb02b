//! Deployment and ReplicaSet.
//!
//! Upstream: pkg/apis/apps/v1/defaults.go (v1.37).

use super::{pod, set};
use kubestep_model::{Deployment, IntOrString, ReplicaSet};

pub(super) fn deployment(deployment: &mut Deployment) {
    let spec = &mut deployment.spec;
    pod::template(&mut spec.template);
    spec.replicas.get_or_insert(1);
    set(&mut spec.strategy.r#type, "RollingUpdate");
    if spec.strategy.r#type == "RollingUpdate" {
        let rolling = spec.strategy.rolling_update.get_or_insert_default();
        rolling.max_unavailable.get_or_insert_with(quarter);
        rolling.max_surge.get_or_insert_with(quarter);
    }
    spec.revision_history_limit.get_or_insert(10);
    spec.progress_deadline_seconds.get_or_insert(600);
}

pub(super) fn replica_set(set: &mut ReplicaSet) {
    pod::template(&mut set.spec.template);
    set.spec.replicas.get_or_insert(1);
}

fn quarter() -> IntOrString {
    "25%".into()
}
