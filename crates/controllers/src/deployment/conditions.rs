//! Conditions of a Deployment and when their times move. Upstream: util/deployment_util.go (v1.37).

use kubestep_model::{DeploymentCondition, DeploymentStatus, Instant, ReplicaSetCondition};

pub(super) const PROGRESSING: &str = "Progressing";
pub(super) const AVAILABLE: &str = "Available";
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

pub(super) const REPLICA_SET_UPDATED: &str = "ReplicaSetUpdated";
pub(super) const FAILED_CREATE: &str = "ReplicaSetCreateError";
pub(super) const NEW_REPLICA_SET: &str = "NewReplicaSetCreated";
pub(super) const FOUND_NEW: &str = "FoundNewReplicaSet";
pub(super) const NEW_AVAILABLE: &str = "NewReplicaSetAvailable";
pub(super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
pub(super) const PAUSED: &str = "DeploymentPaused";
pub(super) const RESUMED: &str = "DeploymentResumed";
pub(super) const MINIMUM_AVAILABLE: &str = "MinimumReplicasAvailable";
pub(super) const MINIMUM_UNAVAILABLE: &str = "MinimumReplicasUnavailable";

/// A condition that begins now.
pub(super) fn condition(
    r#type: &str,
    status: &str,
    reason: &str,
    message: impl Into<String>,
    now: Instant,
) -> DeploymentCondition {
    DeploymentCondition {
        r#type: r#type.into(),
        status: status.into(),
        reason: reason.into(),
        message: message.into(),
        last_update_time: Some(now.to_time()),
        last_transition_time: Some(now.to_time()),
        ..Default::default()
    }
}

/// The condition of a type.
pub(super) fn find<'s>(status: &'s DeploymentStatus, r#type: &str) -> Option<&'s DeploymentCondition> {
    status.conditions.iter().find(|c| c.r#type == r#type)
}

/// Puts a condition at the end, in place of the one of its type; with the same status and reason nothing changes,
/// with the same status the transition time stays.
pub(super) fn set(status: &mut DeploymentStatus, mut condition: DeploymentCondition) {
    let same_status = find(status, &condition.r#type).filter(|current| current.status == condition.status);
    if let Some(current) = same_status {
        if current.reason == condition.reason {
            return;
        }
        condition.last_transition_time = current.last_transition_time;
    }
    remove(status, &condition.r#type);
    status.conditions.push(condition);
}

/// Removes the condition of a type.
pub(super) fn remove(status: &mut DeploymentStatus, r#type: &str) {
    status.conditions.retain(|c| c.r#type != r#type);
}

/// A ReplicaSet's condition as the Deployment says it.
pub(super) fn from_replica_set(condition: &ReplicaSetCondition) -> DeploymentCondition {
    DeploymentCondition {
        r#type: condition.r#type.clone(),
        status: condition.status.clone(),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        last_update_time: condition.last_transition_time,
        last_transition_time: condition.last_transition_time,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_times_move() {
        let (first, later) = (Instant::from_secs(100), Instant::from_secs(200));
        let mut status = DeploymentStatus::default();
        set(&mut status, condition("A", "True", "One", "m", first));
        set(&mut status, condition("B", "True", "One", "m", first));
        set(&mut status, condition("A", "True", "One", "other text", later));
        assert_eq!(status.conditions[0].message, "m", "the same status and reason change nothing");
        set(&mut status, condition("A", "True", "Two", "m", later));
        let moved = &status.conditions[1];
        assert_eq!((moved.r#type.as_str(), moved.reason.as_str()), ("A", "Two"), "it goes to the end");
        assert_eq!(
            (moved.last_update_time, moved.last_transition_time),
            (Some(later.to_time()), Some(first.to_time()))
        );
        set(&mut status, condition("A", "False", "Two", "m", later));
        assert_eq!(find(&status, "A").and_then(|c| c.last_transition_time), Some(later.to_time()));
        remove(&mut status, "A");
        assert!(find(&status, "A").is_none() && find(&status, "B").is_some());
    }
}
