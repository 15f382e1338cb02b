//! Metadata that every object carries.

use crate::{Labels, Time, go::api};
use std::sync::Arc;

api! {
    /// `metadata` of an object. Upstream: apimachinery/pkg/apis/meta/v1, ObjectMeta.
    pub struct ObjectMeta {
        maybe {
            name: Arc<str>,
            generate_name: String,
            namespace: Arc<str>,
            uid: Arc<str>,
            resource_version: String,
            generation: i64,
            creation_timestamp: Option<Time>,
            deletion_timestamp: Option<Time>,
            deletion_grace_period_seconds: Option<i64>,
            labels: Labels,
            annotations: Labels,
            owner_references: Vec<OwnerReference>,
            finalizers: Vec<String>,
        }
    }

    /// A reference from a dependent to its owner.
    pub struct OwnerReference {
        always {
            api_version: String,
            kind: String,
            name: Arc<str>,
            uid: Arc<str>,
        }
        maybe {
            controller: Option<bool>,
            block_owner_deletion: Option<bool>,
        }
    }
}

impl ObjectMeta {
    /// The owner that manages this object, if any. Upstream: metav1.GetControllerOf.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|o| o.controller == Some(true))
    }

    /// Whether deletion was asked for and something still holds the object.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The revision that last wrote this object; 0 if it was never stored.
    pub fn revision(&self) -> u64 {
        self.resource_version.parse().unwrap_or(0)
    }
}
