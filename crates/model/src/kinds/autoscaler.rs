//! HorizontalPodAutoscaler.

use crate::{ObjectMeta, Time, WorkloadCondition, go::api, whole::whole};
use serde_json::Value;

api! {
    /// Changes how many pods something has, by what is measured.
    pub struct HorizontalPodAutoscaler {
        always {
            metadata: ObjectMeta,
            spec: HorizontalPodAutoscalerSpec,
            status: HorizontalPodAutoscalerStatus,
        }
    }
    /// See [`HorizontalPodAutoscaler`].
    pub struct HorizontalPodAutoscalerSpec {
        always { scale_target_ref: CrossVersionObjectReference, max_replicas: i32 }
        maybe { min_replicas: Option<i32>, metrics: Vec<MetricSpec>, behavior: Option<Value> }
    }
    /// Names an object that can be scaled.
    pub struct CrossVersionObjectReference {
        always { kind: String, name: String }
        maybe { api_version: String }
    }
    /// What is measured, and the aim.
    pub struct MetricSpec {
        always { r#type: String }
        maybe {
            resource: Option<ResourceMetricSource>,
            container_resource: Option<ResourceMetricSource>,
            object: Option<Value>,
            pods: Option<Value>,
            external: Option<Value>,
        }
    }
    /// A resource that pods use.
    pub struct ResourceMetricSource {
        always { name: String, target: Value }
        maybe { container: String }
    }
    /// See [`HorizontalPodAutoscaler`].
    pub struct HorizontalPodAutoscalerStatus {
        always { desired_replicas: i32, current_metrics: Option<Vec<Value>> }
        maybe {
            observed_generation: Option<i64>,
            last_scale_time: Option<Time>,
            current_replicas: i32,
            conditions: Vec<WorkloadCondition>,
        }
    }
}
whole! {
    HorizontalPodAutoscaler: "autoscaling";
}
