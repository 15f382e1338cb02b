//! Pods put up with a node that is not ready or not reachable for five minutes, unless they say otherwise.
//!
//! Upstream: plugin/pkg/admission/defaulttolerationseconds (v1.37).

use kubestep_model::Toleration;

const SECONDS: i64 = 300;
const KEYS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

pub(super) fn add(tolerations: &mut Vec<Toleration>) {
    let said = |key: &str| {
        tolerations
            .iter()
            .any(|t| (t.key == key || t.key.is_empty()) && (t.effect == "NoExecute" || t.effect.is_empty()))
    };
    let missing: Vec<&str> = KEYS.into_iter().filter(|key| !said(key)).collect();
    tolerations.extend(missing.into_iter().map(|key| Toleration {
        key: key.into(),
        operator: "Exists".into(),
        effect: "NoExecute".into(),
        toleration_seconds: Some(SECONDS),
        ..Toleration::default()
    }));
}
