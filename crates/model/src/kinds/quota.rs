//! ResourceQuota.

use crate::{ObjectMeta, Quantity, go::api};
use serde_json::Value;
use std::collections::BTreeMap;

api! {
    /// A resource quota.
    pub struct ResourceQuota {
        always { metadata: ObjectMeta, spec: ResourceQuotaSpec, status: ResourceQuotaStatus }
    }
    /// See [`ResourceQuota`].
    pub struct ResourceQuotaSpec {
        maybe { hard: BTreeMap<String, Quantity>, scopes: Vec<String>, scope_selector: Option<Value> }
    }
    /// See [`ResourceQuota`].
    pub struct ResourceQuotaStatus {
        maybe { hard: BTreeMap<String, Quantity>, used: BTreeMap<String, Quantity> }
    }
}
