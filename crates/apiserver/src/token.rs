//! Tokens of service accounts: the answer has the real shape, the token stands for nothing.
//!
//! Upstream: pkg/registry/core/serviceaccount/storage, TokenREST (v1.37).

use crate::turn::Turn;
use kubestep_model::{Answer, Key, Reply};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// An hour and seven seconds, as kubelets ask for.
const LIFETIME: Duration = Duration::from_secs(3607);

/// POST of a service account's token.
pub(crate) fn create(turn: &mut Turn<'_>, account: &Key) -> Reply {
    let found = turn.find(account)?;
    let meta = found.meta();
    let value = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {"name": meta.name, "namespace": meta.namespace, "creationTimestamp": turn.now.to_time()},
        "spec": {
            "audiences": ["https://kubernetes.default.svc.cluster.local"],
            "expirationSeconds": LIFETIME.as_secs(),
            "boundObjectRef": null,
        },
        "status": {
            "token": format!("token-of-{}-{}", meta.namespace, meta.name),
            "expirationTimestamp": (turn.now + LIFETIME).to_time(),
        },
    });
    Ok(Answer::Json { value: Arc::new(value), warnings: vec![] })
}
