//! StatefulSet, DaemonSet and ReplicationController.

use super::{Page, page::date, pods_status, template};
use crate::{
    fault::Fault,
    fields::{Fields, label_selector, shown},
    kc::{Flow, Kc},
    output::go_print,
    printers::storage_class_of,
};
use kubestep_model::{Labels, Object, text::Selector};
use serde_json::Value;

/// The selector of a set, for reading its pods.
fn selector(o: &Value) -> Result<Selector, Fault> {
    label_selector(o.at("spec.selector")).unwrap_or_default().to_selector().map_err(Fault::Text)
}

pub(super) fn stateful_set(kc: &mut Kc<'_>, page: &mut Page, object: &Object) -> Flow<Result<(), Fault>> {
    let (meta, o) = (object.meta(), object.to_value());
    let selector = match selector(&o) {
        Ok(selector) => selector,
        Err(fault) => return Ok(Err(fault)),
    };
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "CreationTimestamp", date(meta.creation_timestamp));
    page.field(0, "Selector", &selector);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    for (title, field) in
        [("Service Name", "spec.serviceName"), ("Pod Management Policy", "spec.podManagementPolicy")]
    {
        if !o.text(field).is_empty() {
            page.field(0, title, o.text(field));
        }
    }
    let desired = if o.has("spec.replicas") { o.int("spec.replicas") } else { 1 };
    page.field(0, "Replicas", format!("{desired} desired | {} total", o.int("status.replicas")));
    page.field(0, "Update Strategy", o.text("spec.updateStrategy.type"));
    let rolling = o.at("spec.updateStrategy.rollingUpdate");
    if rolling.has("partition") {
        page.field(1, "Partition", rolling.int("partition"));
        if rolling.has("maxUnavailable") {
            page.field(1, "MaxUnavailable", rolling.shown("maxUnavailable"));
        }
    }
    let kept = o.at("spec.persistentVolumeClaimRetentionPolicy");
    if !kept.is_null() {
        page.line(0, "Persistent Volume Claim Retention Policy:");
        page.field(1, "WhenDeleted", kept.text("whenDeleted"));
        page.field(1, "WhenScaled", kept.text("whenScaled"));
    }
    if let Err(fault) = pods_status(kc, page, meta, selector)? {
        return Ok(Err(fault));
    }
    template::describe_value(page, o.at("spec.template"));
    claim_templates(page, o.list("spec.volumeClaimTemplates"));
    Ok(Ok(()))
}

/// Upstream: describeVolumeClaimTemplates (v1.37).
fn claim_templates(page: &mut Page, templates: &[Value]) {
    if templates.is_empty() {
        page.field(0, "Volume Claims", "<none>");
        return;
    }
    page.line(0, "Volume Claims:");
    for claim in templates {
        page.field(1, "Name", claim.text("metadata.name"));
        page.field(1, "StorageClass", storage_class_of(claim));
        page.labels("  Labels", &claim.labels("metadata.labels"));
        page.labels("  Annotations", &claim.labels("metadata.annotations"));
        let storage = "spec.resources.requests.storage";
        let capacity = if claim.has(storage) { claim.quantity(storage) } else { "<default>".to_owned() };
        page.field(1, "Capacity", capacity);
        page.field(1, "Access Modes", go_print(&claim.texts("spec.accessModes").into()));
    }
}

pub(super) fn daemon_set(kc: &mut Kc<'_>, page: &mut Page, object: &Object) -> Flow<Result<(), Fault>> {
    let (meta, o) = (object.meta(), object.to_value());
    let selector = match selector(&o) {
        Ok(selector) => selector,
        Err(fault) => return Ok(Err(fault)),
    };
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "Selector", &selector);
    page.field(0, "Node-Selector", super::page::plain_labels(&o.labels("spec.template.spec.nodeSelector")));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    for (title, field) in [
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        page.line(0, format!("{title}: {}", o.at("status").int(field)));
    }
    if let Err(fault) = pods_status(kc, page, meta, selector)? {
        return Ok(Err(fault));
    }
    template::describe_value(page, o.at("spec.template"));
    Ok(Ok(()))
}

pub(super) fn replication_controller(
    kc: &mut Kc<'_>,
    page: &mut Page,
    object: &Object,
) -> Flow<Result<(), Fault>> {
    let (meta, o) = (object.meta(), object.to_value());
    let labels: Labels = o.labels("spec.selector");
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "Selector", super::page::plain_labels(&labels));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    let desired = if o.has("spec.replicas") { o.int("spec.replicas") } else { 1 };
    page.field(0, "Replicas", format!("{} current / {desired} desired", o.int("status.replicas")));
    if let Err(fault) = pods_status(kc, page, meta, Selector::from_labels(&labels))? {
        return Ok(Err(fault));
    }
    template::describe_value(page, o.at("spec.template"));
    let conditions = o.list("status.conditions");
    if !conditions.is_empty() {
        page.line(0, "Conditions:\n  Type\tStatus\tReason");
        page.line(1, "----\t------\t------");
        for c in conditions {
            page.line(1, format!("{} \t{}\t{}", c.text("type"), c.text("status"), shown(c.at("reason"))));
        }
    }
    Ok(Ok(()))
}
