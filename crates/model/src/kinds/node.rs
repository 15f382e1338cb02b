//! Node.

use crate::{Labels, ObjectMeta, Quantity, Time, go::api};
use std::{collections::BTreeMap, sync::Arc};

api! {
    /// A node.
    pub struct Node {
        always { metadata: ObjectMeta, spec: NodeSpec, status: NodeStatus }
    }
    /// See [`Node`].
    pub struct NodeSpec {
        maybe {
            pod_cidr as "podCIDR": String,
            pod_cidrs as "podCIDRs": Vec<String>,
            provider_id as "providerID": String,
            unschedulable: bool,
            taints: Vec<Taint>,
        }
    }
    /// Keeps pods away that do not tolerate it.
    pub struct Taint {
        always { key: String, effect: String }
        maybe { value: String, time_added: Option<Time> }
    }
    /// See [`Node`].
    pub struct NodeStatus {
        always { node_info: NodeInfo, daemon_endpoints: BTreeMap<String, serde_json::Value> }
        maybe {
            capacity: BTreeMap<String, Quantity>,
            allocatable: BTreeMap<String, Quantity>,
            conditions: Vec<NodeCondition>,
            addresses: Vec<NodeAddress>,
            images: Vec<ContainerImage>,
        }
    }
    /// One condition of a node.
    pub struct NodeCondition {
        always {
            r#type: String,
            status: String,
            last_heartbeat_time: Option<Time>,
            last_transition_time: Option<Time>,
        }
        maybe { reason: String, message: String }
    }
    /// One address of a node.
    pub struct NodeAddress {
        always { r#type: String, address: Arc<str> }
    }
    /// An image that is on the node.
    pub struct ContainerImage {
        maybe { names: Vec<String>, size_bytes: i64 }
    }
    /// Versions and identities of a node.
    pub struct NodeInfo {
        always {
            machine_id as "machineID": String,
            system_uuid as "systemUUID": String,
            boot_id as "bootID": String,
            kernel_version: String,
            os_image: String,
            container_runtime_version: String,
            kubelet_version: String,
            kube_proxy_version: String,
            operating_system: String,
            architecture: String,
        }
    }
}

impl Node {
    /// A condition by its type.
    pub fn condition(&self, r#type: &str) -> Option<&NodeCondition> {
        self.status.conditions.iter().find(|c| c.r#type == r#type)
    }
    /// Whether the node says that it is ready.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == "True")
    }
    /// Its labels.
    pub fn labels(&self) -> &Labels {
        &self.metadata.labels
    }
}
