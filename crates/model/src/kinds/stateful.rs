//! StatefulSet, DaemonSet and ReplicationController: the other kinds that keep pods running.

use crate::{IntOrString, LabelSelector, Labels, ObjectMeta, PodTemplateSpec, Time, go::api, whole::whole};
use serde_json::Value;

api! {
    /// A stateful set: numbered pods, each with claims of its own.
    pub struct StatefulSet {
        always { metadata: ObjectMeta, spec: StatefulSetSpec, status: StatefulSetStatus }
    }
    /// See [`StatefulSet`].
    pub struct StatefulSetSpec {
        always {
            selector: Option<LabelSelector>,
            template: PodTemplateSpec,
            update_strategy: StatefulSetUpdateStrategy,
        }
        maybe {
            replicas: Option<i32>,
            /// Claims that each pod gets, as manifests.
            volume_claim_templates: Vec<Value>,
            service_name: String,
            pod_management_policy: String,
            revision_history_limit: Option<i32>,
            min_ready_seconds: i32,
            persistent_volume_claim_retention_policy: Option<ClaimRetentionPolicy>,
            ordinals: Option<StatefulSetOrdinals>,
        }
    }
    /// How pods of an old revision are replaced.
    pub struct StatefulSetUpdateStrategy {
        maybe { r#type: String, rolling_update: Option<RollingUpdateStatefulSet> }
    }
    /// From which number on pods are replaced, and how many at once.
    pub struct RollingUpdateStatefulSet {
        maybe { partition: Option<i32>, max_unavailable: Option<IntOrString> }
    }
    /// What happens to a pod's claims: `Retain` or `Delete`.
    pub struct ClaimRetentionPolicy {
        maybe { when_deleted: String, when_scaled: String }
    }
    /// With which number pods begin.
    pub struct StatefulSetOrdinals {
        always { start: i32 }
    }
    /// See [`StatefulSet`].
    pub struct StatefulSetStatus {
        always { replicas: i32, available_replicas: i32 }
        maybe {
            observed_generation: i64,
            ready_replicas: i32,
            current_replicas: i32,
            updated_replicas: i32,
            current_revision: String,
            update_revision: String,
            collision_count: Option<i32>,
            conditions: Vec<WorkloadCondition>,
        }
    }
    /// One condition of a stateful set, daemon set, replication controller or autoscaler.
    pub struct WorkloadCondition {
        always { r#type: String, status: String }
        maybe { last_transition_time: Option<Time>, reason: String, message: String }
    }
    /// A daemon set: a pod on every node that fits.
    pub struct DaemonSet {
        always { metadata: ObjectMeta, spec: DaemonSetSpec, status: DaemonSetStatus }
    }
    /// See [`DaemonSet`].
    pub struct DaemonSetSpec {
        always {
            selector: Option<LabelSelector>,
            template: PodTemplateSpec,
            update_strategy: DaemonSetUpdateStrategy,
        }
        maybe { min_ready_seconds: i32, revision_history_limit: Option<i32> }
    }
    /// How pods of an old template are replaced.
    pub struct DaemonSetUpdateStrategy {
        maybe { r#type: String, rolling_update: Option<RollingUpdateDaemonSet> }
    }
    /// How many nodes may be without a pod, or with two, during an update.
    pub struct RollingUpdateDaemonSet {
        maybe { max_unavailable: Option<IntOrString>, max_surge: Option<IntOrString> }
    }
    /// See [`DaemonSet`].
    pub struct DaemonSetStatus {
        always {
            current_number_scheduled: i32,
            number_misscheduled: i32,
            desired_number_scheduled: i32,
            number_ready: i32,
        }
        maybe {
            observed_generation: i64,
            updated_number_scheduled: i32,
            number_available: i32,
            number_unavailable: i32,
            collision_count: Option<i32>,
            conditions: Vec<WorkloadCondition>,
        }
    }
    /// A replication controller: the elder brother of the replica set.
    pub struct ReplicationController {
        always {
            metadata: ObjectMeta,
            spec: ReplicationControllerSpec,
            status: ReplicationControllerStatus,
        }
    }
    /// See [`ReplicationController`].
    pub struct ReplicationControllerSpec {
        maybe {
            replicas: Option<i32>,
            min_ready_seconds: i32,
            selector: Labels,
            template: Option<PodTemplateSpec>,
        }
    }
    /// See [`ReplicationController`].
    pub struct ReplicationControllerStatus {
        always { replicas: i32 }
        maybe {
            fully_labeled_replicas: i32,
            ready_replicas: i32,
            available_replicas: i32,
            observed_generation: i64,
            conditions: Vec<WorkloadCondition>,
        }
    }
}
whole! {
    StatefulSet: "apps";
    DaemonSet: "apps";
    ReplicationController: "";
}
