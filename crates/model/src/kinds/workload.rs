//! Deployment and ReplicaSet.

use crate::{IntOrString, LabelSelector, ObjectMeta, PodTemplateSpec, Time, go::api};

api! {
    /// A deployment.
    pub struct Deployment {
        always { metadata: ObjectMeta, spec: DeploymentSpec, status: DeploymentStatus }
    }
    /// See [`Deployment`]. Pointers of the API stay optional; the API server has filled in the defaults.
    pub struct DeploymentSpec {
        always { selector: Option<LabelSelector>, template: PodTemplateSpec, strategy: DeploymentStrategy }
        maybe {
            replicas: Option<i32>,
            min_ready_seconds: i32,
            revision_history_limit: Option<i32>,
            paused: bool,
            progress_deadline_seconds: Option<i32>,
        }
    }
    /// How old pods are replaced by new ones.
    pub struct DeploymentStrategy {
        maybe { r#type: String, rolling_update: Option<RollingUpdateDeployment> }
    }
    /// How many more and how many fewer pods an update may have.
    pub struct RollingUpdateDeployment {
        maybe { max_unavailable: Option<IntOrString>, max_surge: Option<IntOrString> }
    }
    /// See [`Deployment`].
    pub struct DeploymentStatus {
        maybe {
            observed_generation: i64,
            replicas: i32,
            updated_replicas: i32,
            ready_replicas: i32,
            available_replicas: i32,
            unavailable_replicas: i32,
            terminating_replicas: Option<i32>,
            conditions: Vec<DeploymentCondition>,
            collision_count: Option<i32>,
        }
    }
    /// One condition of a deployment.
    pub struct DeploymentCondition {
        always {
            r#type: String,
            status: String,
            last_update_time: Option<Time>,
            last_transition_time: Option<Time>,
        }
        maybe { reason: String, message: String }
    }
    /// A replica set.
    pub struct ReplicaSet {
        always { metadata: ObjectMeta, spec: ReplicaSetSpec, status: ReplicaSetStatus }
    }
    /// See [`ReplicaSet`].
    pub struct ReplicaSetSpec {
        always { selector: Option<LabelSelector>, template: PodTemplateSpec }
        maybe { replicas: Option<i32>, min_ready_seconds: i32 }
    }
    /// See [`ReplicaSet`].
    pub struct ReplicaSetStatus {
        always { replicas: i32 }
        maybe {
            fully_labeled_replicas: i32,
            ready_replicas: i32,
            available_replicas: i32,
            terminating_replicas: Option<i32>,
            observed_generation: i64,
            conditions: Vec<ReplicaSetCondition>,
        }
    }
    /// One condition of a replica set.
    pub struct ReplicaSetCondition {
        always { r#type: String, status: String, last_transition_time: Option<Time> }
        maybe { reason: String, message: String }
    }
}

impl Deployment {
    /// How many pods are wanted.
    pub fn replicas(&self) -> i32 {
        self.spec.replicas.unwrap_or(1)
    }
    /// A condition by its type.
    pub fn condition(&self, r#type: &str) -> Option<&DeploymentCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }
}

impl ReplicaSet {
    /// How many pods are wanted.
    pub fn replicas(&self) -> i32 {
        self.spec.replicas.unwrap_or(1)
    }
    /// A condition by its type.
    pub fn condition(&self, r#type: &str) -> Option<&ReplicaSetCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }
}
