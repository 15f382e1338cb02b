//! Pod: what is wanted.

use crate::{Labels, LocalObjectReference, ObjectMeta, PodStatus, Quantity, Shared, go::api};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

api! {
    /// A pod.
    pub struct Pod {
        always { metadata: ObjectMeta, spec: Shared<PodSpec>, status: PodStatus }
    }
    /// Metadata and spec for pods to be made.
    pub struct PodTemplateSpec {
        always { metadata: ObjectMeta, spec: PodSpec }
    }
    /// See [`Pod`].
    pub struct PodSpec {
        always {
            containers or null: Vec<Container>,
        }
        maybe {
            volumes: Vec<Volume>,
            init_containers: Vec<Container>,
            restart_policy: String,
            termination_grace_period_seconds: Option<i64>,
            active_deadline_seconds: Option<i64>,
            dns_policy: String,
            node_selector: Labels,
            service_account_name: String,
            service_account: String,
            automount_service_account_token: Option<bool>,
            node_name: Arc<str>,
            host_network: bool,
            security_context: Option<Value>,
            image_pull_secrets: Vec<LocalObjectReference>,
            hostname: String,
            subdomain: String,
            affinity: Option<Affinity>,
            scheduler_name: String,
            tolerations: Vec<Toleration>,
            priority_class_name: String,
            priority: Option<i32>,
            preemption_policy: Option<String>,
            readiness_gates: Vec<ReadinessGate>,
            enable_service_links: Option<bool>,
            overhead: BTreeMap<String, Quantity>,
            topology_spread_constraints: Vec<Value>,
            scheduling_gates: Vec<Value>,
        }
    }
    /// A condition that must be True for the pod to be ready.
    pub struct ReadinessGate {
        always { condition_type: String }
    }
    /// A container.
    pub struct Container {
        always { name: String, resources: ResourceRequirements }
        maybe {
            image: String,
            command: Vec<String>,
            args: Vec<String>,
            working_dir: String,
            ports: Vec<ContainerPort>,
            env_from: Vec<Value>,
            env: Vec<EnvVar>,
            restart_policy: Option<String>,
            volume_mounts: Vec<VolumeMount>,
            liveness_probe: Option<Probe>,
            readiness_probe: Option<Probe>,
            startup_probe: Option<Probe>,
            lifecycle: Option<Value>,
            termination_message_path: String,
            termination_message_policy: String,
            image_pull_policy: String,
            security_context: Option<Value>,
        }
    }
    /// A port that a container opens.
    pub struct ContainerPort {
        always { container_port: i32 }
        maybe {
            name: String,
            host_port: i32,
            protocol: String,
            host_ip as "hostIP": String,
        }
    }
    /// An environment variable.
    pub struct EnvVar {
        always { name: String }
        maybe { value: String, value_from: Option<Value> }
    }
    /// What a container asks for and may use at most.
    pub struct ResourceRequirements {
        maybe { limits: BTreeMap<String, Quantity>, requests: BTreeMap<String, Quantity> }
    }
    /// Where a volume appears in a container.
    pub struct VolumeMount {
        always { name: String, mount_path: String }
        maybe { read_only: bool, sub_path: String }
    }
    /// A volume; its source is kept as written.
    pub struct Volume {
        always { name: String }
    }
    /// A probe.
    pub struct Probe {
        maybe {
            exec: Option<ExecAction>,
            http_get: Option<Value>,
            tcp_socket: Option<Value>,
            grpc: Option<Value>,
            initial_delay_seconds: i32,
            timeout_seconds: i32,
            period_seconds: i32,
            success_threshold: i32,
            failure_threshold: i32,
            termination_grace_period_seconds: Option<i64>,
        }
    }
    /// A command that is run in the container.
    pub struct ExecAction {
        maybe { command: Vec<String> }
    }
    /// What a pod puts up with.
    pub struct Toleration {
        maybe { key: String, operator: String, value: String, effect: String, toleration_seconds: Option<i64> }
    }
    /// Wishes about nodes and other pods.
    pub struct Affinity {
        maybe {
            node_affinity: Option<NodeAffinity>,
            pod_affinity: Option<Value>,
            pod_anti_affinity: Option<Value>,
        }
    }
    /// Wishes about nodes.
    pub struct NodeAffinity {
        maybe {
            required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
            preferred_during_scheduling_ignored_during_execution: Vec<PreferredSchedulingTerm>,
        }
    }
    /// Terms of which one must match.
    pub struct NodeSelector {
        always { node_selector_terms: Vec<NodeSelectorTerm> }
    }
    /// A weighted wish.
    pub struct PreferredSchedulingTerm {
        always { weight: i32, preference: NodeSelectorTerm }
    }
    /// Requirements that must all hold.
    pub struct NodeSelectorTerm {
        maybe { match_expressions: Vec<NodeSelectorRequirement>, match_fields: Vec<NodeSelectorRequirement> }
    }
    /// One requirement on a node's labels or fields.
    pub struct NodeSelectorRequirement {
        always { key: String, operator: String }
        maybe { values: Vec<String> }
    }
}
