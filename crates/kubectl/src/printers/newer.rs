//! Devices, certificates of pods, policies that change objects, and migrations of stored versions.

use super::{Column, Row, column, common, number, row, wide};
use crate::fields::Fields;
use kubestep_model::{Instant, Time};
use serde_json::Value;

pub(super) const NAMED: &[Column] = &[column("Name"), column("Age")];

pub(super) fn named(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), common::created(o, now)]
}

pub(super) const CLAIM: &[Column] = &[column("Name"), column("State"), column("Age")];

/// Upstream: resourceClaimState.
pub(super) fn claim(o: &Value, now: Instant, _: bool) -> Row {
    let deleted = o.has("metadata.deletionTimestamp");
    let allocated = o.has("status.allocation");
    let states = [
        ("deleted", deleted),
        ("pending", !allocated && !deleted),
        ("allocated", allocated),
        ("reserved", allocated && !o.list("status.reservedFor").is_empty()),
    ];
    let states: Vec<&str> = states.iter().filter(|(_, on)| *on).map(|(state, _)| *state).collect();
    row![common::name(o), states.join(","), common::created(o, now)]
}

pub(super) const SLICE: &[Column] =
    &[column("Name"), column("Node"), column("Driver"), column("Pool"), column("Age")];

pub(super) fn slice(o: &Value, now: Instant, _: bool) -> Row {
    row![
        common::name(o),
        o.text("spec.nodeName"),
        o.text("spec.driver"),
        o.text("spec.pool.name"),
        common::created(o, now),
    ]
}

pub(super) const TAINT_RULE: &[Column] =
    &[column("Name"), column("Key"), column("Value"), column("Effect"), column("TimeAdded"), column("Age")];

pub(super) fn taint_rule(o: &Value, now: Instant, _: bool) -> Row {
    let added = Time::parse(o.text("spec.taint.timeAdded"));
    row![
        common::name(o),
        o.text("spec.taint.key"),
        o.text("spec.taint.value"),
        o.text("spec.taint.effect"),
        added.map(|time| super::age(Some(time), now)).unwrap_or_default(),
        common::created(o, now),
    ]
}

pub(super) const MUTATING_POLICY: &[Column] =
    &[column("Name"), number("Mutations"), column("ParamKind"), column("Age")];

pub(super) fn mutating_policy(o: &Value, now: Instant, _: bool) -> Row {
    let kind = if o.has("spec.paramKind") {
        format!("{}/{}", o.text("spec.paramKind.apiVersion"), o.text("spec.paramKind.kind"))
    } else {
        "<unset>".to_owned()
    };
    row![common::name(o), common::count(o.list("spec.mutations")), kind, common::created(o, now)]
}

pub(super) const TRUST_BUNDLE: &[Column] = &[column("Name"), column("SignerName")];

pub(super) fn trust_bundle(o: &Value, _: Instant, _: bool) -> Row {
    row![common::name(o), common::or(o.text("spec.signerName"), "<none>")]
}

pub(super) const POD_CERTIFICATE: &[Column] = &[
    column("Name"),
    column("PodName"),
    column("ServiceAccountName"),
    column("NodeName"),
    column("SignerName"),
    column("State"),
    wide("UnverifiedUserAnnotations"),
];

pub(super) fn pod_certificate(o: &Value, _: Instant, _: bool) -> Row {
    let known = |c: &&Value| matches!(c.text("type"), "Issued" | "Denied" | "Failed");
    let state = o.list("status.conditions").iter().rev().find(known).map_or("Pending", |c| c.text("type"));
    let notes = o.at("spec.unverifiedUserAnnotations").as_object();
    let notes: Vec<String> = notes
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    row![
        common::name(o),
        o.text("spec.podName"),
        o.text("spec.serviceAccountName"),
        o.text("spec.nodeName"),
        o.text("spec.signerName"),
        state,
        common::or(&notes.join(","), "<none>"),
    ]
}

pub(super) const MIGRATION: &[Column] = &[column("Name"), column("Resource"), column("Status")];

pub(super) fn migration(o: &Value, _: Instant, _: bool) -> Row {
    let (group, resource) = (o.text("spec.resource.group"), o.text("spec.resource.resource"));
    let dot = if group.is_empty() { "" } else { "." };
    let known = |c: &&Value| {
        c.text("status") == "True" && matches!(c.text("type"), "Running" | "Failed" | "Succeeded")
    };
    let state = o.list("status.conditions").iter().rev().find(known).map_or("Unknown", |c| c.text("type"));
    row![common::name(o), format!("{resource}{dot}{group}"), state]
}
