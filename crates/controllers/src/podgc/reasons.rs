//! What is written on a pod before it is removed.

use crate::pods::condition_patch;
use kubestep_model::{Pod, Time};
use serde_json::{Map, Value, json};

/// Why it is removed, as its condition says it.
#[derive(Debug)]
pub(super) struct Reason {
    reason: &'static str,
    message: &'static str,
}

impl Reason {
    pub(super) const ORPHANED: Reason =
        Reason { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };
    pub(super) const OUT_OF_SERVICE: Reason =
        Reason { reason: "DeletionByPodGC", message: "PodGC: node out-of-service" };
}

/// The patch of the status: the phase, and the reason as a condition.
pub(super) fn marked(pod: &Pod, reason: Option<&Reason>, now: Time) -> Value {
    let mut status = Map::new();
    if let Some(reason) = reason {
        let known = pod.condition("DisruptionTarget").filter(|c| c.status == "True");
        let since = known.and_then(|c| c.last_transition_time).unwrap_or(now);
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "reason": reason.reason, "message": reason.message,
            "lastProbeTime": null, "lastTransitionTime": since, "observedGeneration": pod.metadata.generation,
        });
        status = condition_patch(pod, condition);
    }
    status.insert("phase".into(), "Failed".into());
    json!({"status": status})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_without_a_reason_only_fails() {
        let pod = Pod::default();
        assert_eq!(marked(&pod, None, Time(5)), json!({"status": {"phase": "Failed"}}));
        let with = marked(&pod, Some(&Reason::ORPHANED), Time(5));
        assert_eq!(with["status"]["conditions"][0]["message"], "PodGC: node no longer exists");
    }
}
