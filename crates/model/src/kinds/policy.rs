//! PodDisruptionBudget.

use crate::{IntOrString, LabelSelector, ObjectMeta, Time, go::api, whole::whole};
use std::collections::BTreeMap;

api! {
    /// How many of some pods may be taken away on purpose.
    pub struct PodDisruptionBudget {
        always { metadata: ObjectMeta, spec: PodDisruptionBudgetSpec, status: PodDisruptionBudgetStatus }
    }
    /// See [`PodDisruptionBudget`].
    pub struct PodDisruptionBudgetSpec {
        maybe {
            min_available: Option<IntOrString>,
            selector: Option<LabelSelector>,
            max_unavailable: Option<IntOrString>,
            unhealthy_pod_eviction_policy: Option<String>,
        }
    }
    /// See [`PodDisruptionBudget`].
    pub struct PodDisruptionBudgetStatus {
        always { disruptions_allowed: i32, current_healthy: i32, desired_healthy: i32, expected_pods: i32 }
        maybe {
            observed_generation: i64,
            disrupted_pods: BTreeMap<String, Time>,
            conditions: Vec<BudgetCondition>,
        }
    }
    /// Whether a budget allows anything, and since when.
    pub struct BudgetCondition {
        always { r#type: String, status: String, last_transition_time: Option<Time>, reason: String, message: String }
        maybe { observed_generation: i64 }
    }
}
whole! {
    PodDisruptionBudget: "policy";
}
