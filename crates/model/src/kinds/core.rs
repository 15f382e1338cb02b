//! Namespace, ConfigMap, Secret, ServiceAccount, Lease.

use crate::{Labels, MicroTime, ObjectMeta, Time, go::api};
use std::sync::Arc;

api! {
    /// A namespace.
    pub struct Namespace {
        always { metadata: ObjectMeta, spec: NamespaceSpec, status: NamespaceStatus }
    }
    /// What holds a namespace back from going away.
    pub struct NamespaceSpec {
        maybe { finalizers: Vec<String> }
    }
    /// `phase` is Active or Terminating.
    pub struct NamespaceStatus {
        maybe { phase: String, conditions: Vec<NamespaceCondition> }
    }
    /// Why a namespace's deletion has not ended.
    pub struct NamespaceCondition {
        always { r#type: String, status: String }
        maybe { last_transition_time: Option<Time>, reason: String, message: String }
    }
    /// A config map.
    pub struct ConfigMap {
        always { metadata: ObjectMeta }
        maybe { immutable: Option<bool>, data: Labels, binary_data: Labels }
    }
    /// A secret; values of `data` are base64.
    pub struct Secret {
        always { metadata: ObjectMeta }
        maybe { immutable: Option<bool>, data: Labels, string_data: Labels, r#type: String }
    }
    /// A service account.
    pub struct ServiceAccount {
        always { metadata: ObjectMeta }
        maybe { image_pull_secrets: Vec<LocalObjectReference>, automount_service_account_token: Option<bool> }
    }
    /// A name in the same namespace.
    pub struct LocalObjectReference {
        maybe { name: String }
    }
    /// A lease: who holds it and when it was renewed.
    pub struct Lease {
        always { metadata: ObjectMeta, spec: LeaseSpec }
    }
    /// See [`Lease`].
    pub struct LeaseSpec {
        maybe {
            holder_identity: Option<Arc<str>>,
            lease_duration_seconds: Option<i32>,
            acquire_time: Option<MicroTime>,
            renew_time: Option<MicroTime>,
            lease_transitions: Option<i32>,
        }
    }
}
