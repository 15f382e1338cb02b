//! What a request for a certificate keeps when its status or its approval is written.
//!
//! Upstream: pkg/registry/certificates/certificates/strategy.go, csrStatusStrategy and csrApprovalStrategy (v1.37).

use kubestep_model::{Custom, Kind, Subresource, Time};
use serde_json::{Value, json};

/// A person's request for a certificate.
pub(crate) const KIND: Kind = Kind::other("certificates.k8s.io", "CertificateSigningRequest");
/// These conditions change by way of the approval alone.
const DECIDED: [&str; 2] = ["Approved", "Denied"];

pub(super) fn prepare(new: &mut Custom, old: &Custom, part: Subresource, now: Time) {
    let empty = json!({});
    let before = old.rest.get("status").unwrap_or(&empty);
    let Value::Object(status) = new.rest.entry("status").or_insert_with(|| json!({})) else { return };
    if part == Subresource::Approval {
        let conditions = status.remove("conditions");
        *status = before.as_object().cloned().unwrap_or_default();
        match conditions {
            Some(conditions) => drop(status.insert("conditions".into(), conditions)),
            None => drop(status.remove("conditions")),
        }
    }
    let known = before["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(Value::Array(conditions)) = status.get_mut("conditions") else { return };
    if part == Subresource::Status {
        DECIDED.iter().for_each(|of| keep(conditions, known, of));
    }
    conditions.iter_mut().for_each(|condition| date(condition, known, now));
}

/// As many as there were stay as they were.
fn keep(conditions: &mut [Value], known: &[Value], of: &str) {
    let there: Vec<&Value> = known.iter().filter(|c| c["type"] == of).collect();
    if conditions.iter().filter(|c| c["type"] == of).count() == there.len() {
        let mine = conditions.iter_mut().filter(|c| c["type"] == of);
        mine.zip(there).for_each(|(new, old)| new.clone_from(old));
    }
}

/// Says when a condition was written and since when it is so, unless the writer did.
fn date(condition: &mut Value, known: &[Value], now: Time) {
    if !condition.is_object() {
        return;
    }
    if condition["lastUpdateTime"].is_null() {
        condition["lastUpdateTime"] = json!(now);
    }
    if condition["lastTransitionTime"].is_null() {
        let same = |c: &&Value| {
            c["type"] == condition["type"]
                && c["status"] == condition["status"]
                && !c["lastTransitionTime"].is_null()
        };
        let since = known.iter().find(same).map(|c| c["lastTransitionTime"].clone());
        condition["lastTransitionTime"] = since.unwrap_or_else(|| json!(now));
    }
}
