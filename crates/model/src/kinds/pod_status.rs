//! Pod: what is.

use crate::{Pod, Time, go::api};
use serde_json::Value;
use std::sync::Arc;

api! {
    /// `status` of a pod.
    pub struct PodStatus {
        maybe {
            observed_generation: i64,
            phase: String,
            conditions: Vec<PodCondition>,
            message: String,
            reason: String,
            nominated_node_name: String,
            host_ip as "hostIP": Arc<str>,
            host_ips as "hostIPs": Vec<PodIp>,
            pod_ip as "podIP": Arc<str>,
            pod_ips as "podIPs": Vec<PodIp>,
            start_time: Option<Time>,
            init_container_statuses: Vec<ContainerStatus>,
            container_statuses: Vec<ContainerStatus>,
            qos_class: String,
        }
    }
    /// One address of a pod or its host.
    pub struct PodIp {
        maybe { ip: Arc<str> }
    }
    /// One condition of a pod.
    pub struct PodCondition {
        always {
            r#type: String,
            status: String,
            last_probe_time: Option<Time>,
            last_transition_time: Option<Time>,
        }
        maybe { observed_generation: i64, reason: String, message: String }
    }
    /// `status` of one container.
    pub struct ContainerStatus {
        always {
            name: String,
            state: ContainerState,
            last_state: ContainerState,
            ready: bool,
            restart_count: i32,
            image: String,
            image_id as "imageID": String,
        }
        maybe {
            container_id as "containerID": String,
            started: Option<bool>,
            resources: Option<Value>,
            user: Option<Value>,
            volume_mounts: Vec<Value>,
        }
    }
    /// At most one of these is set; none means waiting.
    pub struct ContainerState {
        maybe {
            waiting: Option<ContainerStateWaiting>,
            running: Option<ContainerStateRunning>,
            terminated: Option<ContainerStateTerminated>,
        }
    }
    /// Not started yet, or between two runs.
    pub struct ContainerStateWaiting {
        maybe { reason: String, message: String }
    }
    /// Running.
    pub struct ContainerStateRunning {
        always { started_at: Option<Time> }
    }
    /// Ended.
    pub struct ContainerStateTerminated {
        always { exit_code: i32, started_at: Option<Time>, finished_at: Option<Time> }
        maybe {
            signal: i32,
            reason: String,
            message: String,
            container_id as "containerID": String,
        }
    }
}

impl Pod {
    /// A condition by its type.
    pub fn condition(&self, r#type: &str) -> Option<&PodCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }
    /// Whether the Ready condition is True. Upstream: podutil.IsPodReady.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == "True")
    }
    /// Whether all containers have ended for good: phase Succeeded or Failed.
    pub fn is_terminal(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }
    /// Whether it counts as a replica: not ended and not being deleted. Upstream: controller.IsPodActive.
    pub fn is_active(&self) -> bool {
        !self.is_terminal() && !self.metadata.is_terminating()
    }
}
