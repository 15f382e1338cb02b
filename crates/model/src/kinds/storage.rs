//! PersistentVolume, PersistentVolumeClaim, StorageClass.

use crate::{LabelSelector, ObjectMeta, ObjectReference, Quantity, Time, go::api, whole::whole};
use serde_json::Value;
use std::collections::BTreeMap;

api! {
    /// A piece of storage.
    pub struct PersistentVolume {
        always { metadata: ObjectMeta, spec: PersistentVolumeSpec, status: PersistentVolumeStatus }
    }
    /// See [`PersistentVolume`]; where the storage is, is kept as written.
    pub struct PersistentVolumeSpec {
        maybe {
            capacity: BTreeMap<String, Quantity>,
            access_modes: Vec<String>,
            claim_ref: Option<ObjectReference>,
            persistent_volume_reclaim_policy: String,
            storage_class_name: String,
            mount_options: Vec<String>,
            volume_mode: Option<String>,
            node_affinity: Value,
        }
    }
    /// See [`PersistentVolume`].
    pub struct PersistentVolumeStatus {
        maybe { phase: String, message: String, reason: String, last_phase_transition_time: Option<Time> }
    }
    /// A wish for storage.
    pub struct PersistentVolumeClaim {
        always { metadata: ObjectMeta, spec: PersistentVolumeClaimSpec, status: PersistentVolumeClaimStatus }
    }
    /// See [`PersistentVolumeClaim`].
    pub struct PersistentVolumeClaimSpec {
        always { resources: VolumeResources }
        maybe {
            access_modes: Vec<String>,
            selector: Option<LabelSelector>,
            volume_name: String,
            storage_class_name: Option<String>,
            volume_mode: Option<String>,
        }
    }
    /// How much is wished for.
    pub struct VolumeResources {
        maybe { limits: BTreeMap<String, Quantity>, requests: BTreeMap<String, Quantity> }
    }
    /// See [`PersistentVolumeClaim`].
    pub struct PersistentVolumeClaimStatus {
        maybe {
            phase: String,
            access_modes: Vec<String>,
            capacity: BTreeMap<String, Quantity>,
            conditions: Vec<PersistentVolumeClaimCondition>,
        }
    }
    /// One condition of a claim.
    pub struct PersistentVolumeClaimCondition {
        always { r#type: String, status: String, last_probe_time: Option<Time>, last_transition_time: Option<Time> }
        maybe { reason: String, message: String }
    }
    /// A kind of storage, and who makes it.
    pub struct StorageClass {
        always { metadata: ObjectMeta, provisioner: String }
        maybe {
            parameters: BTreeMap<String, String>,
            reclaim_policy: Option<String>,
            mount_options: Vec<String>,
            allow_volume_expansion: Option<bool>,
            volume_binding_mode: Option<String>,
        }
    }
}
whole! {
    PersistentVolume: "";
    PersistentVolumeClaim: "";
    StorageClass: "storage.k8s.io";
}

impl PersistentVolumeClaim {
    /// The class it asks for; empty: none. Upstream: GetPersistentVolumeClaimClass.
    pub fn class(&self) -> &str {
        let old = self.metadata.annotations.get("volume.beta.kubernetes.io/storage-class");
        old.or(self.spec.storage_class_name.as_ref()).map_or("", String::as_str)
    }
    /// How much storage it asks for.
    pub fn request(&self) -> Option<&Quantity> {
        self.spec.resources.requests.get("storage")
    }
}

impl PersistentVolume {
    /// Its class; empty: none. Upstream: GetPersistentVolumeClass.
    pub fn class(&self) -> &str {
        let old = self.metadata.annotations.get("volume.beta.kubernetes.io/storage-class");
        old.unwrap_or(&self.spec.storage_class_name)
    }
}
