//! Deployment and ReplicaSet.

use crate::Settings;
use kubestep_model::{Cause, Deployment, LabelSelector, Labels, ReplicaSet};

pub(super) fn deployment(d: &Deployment, settings: &Settings) -> Vec<Cause> {
    selector(d.spec.selector.as_ref(), &d.spec.template.metadata.labels, settings)
}

pub(super) fn replica_set(r: &ReplicaSet, settings: &Settings) -> Vec<Cause> {
    selector(r.spec.selector.as_ref(), &r.spec.template.metadata.labels, settings)
}

fn selector(selector: Option<&LabelSelector>, labels: &Labels, settings: &Settings) -> Vec<Cause> {
    if !settings.selector_check || selector.is_some_and(|s| s.matches(labels)) {
        return vec![];
    }
    let shown = serde_json::to_string(labels).unwrap_or_default();
    vec![Cause {
        reason: "FieldValueInvalid".into(),
        message: format!("Invalid value: {shown}: `selector` does not match template `labels`"),
        field: "spec.template.metadata.labels".into(),
    }]
}

pub(super) fn same_selector(
    new: &Option<LabelSelector>,
    old: &Option<LabelSelector>,
    settings: &Settings,
) -> Vec<Cause> {
    if !settings.selector_check || new == old {
        return vec![];
    }
    let shown = serde_json::to_string(new).unwrap_or_default();
    vec![Cause {
        reason: "FieldValueInvalid".into(),
        message: format!("Invalid value: {shown}: field is immutable"),
        field: "spec.selector".into(),
    }]
}
