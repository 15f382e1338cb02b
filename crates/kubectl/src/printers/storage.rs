//! Volumes, claims and storage classes.

use super::{Column, Row, boolean, column, common, number, row, wide};
use crate::fields::Fields;
use kubestep_model::{Instant, Object};
use serde_json::Value;

pub(super) const VOLUME: &[Column] = &[
    column("Name"),
    column("Capacity"),
    column("Access Modes"),
    column("Reclaim Policy"),
    column("Status"),
    column("Claim"),
    column("StorageClass"),
    column("VolumeAttributesClass"),
    column("Reason"),
    column("Age"),
    wide("VolumeMode"),
];

pub(super) fn volume(o: &Value, now: Instant, _: bool) -> Row {
    let claim = if o.has("spec.claimRef") {
        format!("{}/{}", o.text("spec.claimRef.namespace"), o.text("spec.claimRef.name"))
    } else {
        String::new()
    };
    row![
        common::name(o),
        o.quantity("spec.capacity.storage"),
        access_modes(o.at("spec.accessModes")),
        o.text_or("spec.persistentVolumeReclaimPolicy", "Retain"),
        phase(o),
        claim,
        class(o),
        unless_unset(o, "spec.volumeAttributesClassName"),
        o.text("status.reason"),
        common::created(o, now),
        o.text_or("spec.volumeMode", "Filesystem"),
    ]
}

pub(super) const CLAIM: &[Column] = &[
    column("Name"),
    column("Status"),
    column("Volume"),
    column("Capacity"),
    column("Access Modes"),
    column("StorageClass"),
    column("VolumeAttributesClass"),
    column("Age"),
    wide("VolumeMode"),
];

pub(super) fn claim(o: &Value, now: Instant, _: bool) -> Row {
    let volume = o.text("spec.volumeName");
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        (o.quantity("status.capacity.storage"), access_modes(o.at("status.accessModes")))
    };
    row![
        common::name(o),
        phase(o),
        volume,
        capacity,
        modes,
        class(o),
        unless_unset(o, "spec.volumeAttributesClassName"),
        common::created(o, now),
        o.text_or("spec.volumeMode", "Filesystem"),
    ]
}

pub(super) const CLASS: &[Column] = &[
    column("Name"),
    column("Provisioner"),
    column("ReclaimPolicy"),
    column("VolumeBindingMode"),
    column("AllowVolumeExpansion"),
    column("Age"),
];

pub(super) fn storage_class(o: &Value, now: Instant, _: bool) -> Row {
    row![
        common::name(o),
        o.text("provisioner"),
        o.text_or("reclaimPolicy", "Delete"),
        o.text_or("volumeBindingMode", "Immediate"),
        o.on("allowVolumeExpansion"),
        common::created(o, now),
    ]
}

/// The storage class that counts as the default one: the youngest of those that say so.
/// Upstream: getEffectiveDefaultStorageClass (v1.37).
pub(super) fn default_class<'a>(classes: &[&'a Object]) -> Option<&'a Object> {
    let says = |o: &&Object| {
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|a| o.meta().annotations.get(*a).is_some_and(|v| v == "true"))
    };
    let rank = |o: &&Object| (std::cmp::Reverse(o.meta().creation_timestamp), o.meta().name.clone());
    classes.iter().copied().filter(says).min_by_key(rank)
}

pub(super) const ATTRIBUTES_CLASS: &[Column] = &[column("Name"), column("DriverName"), column("Age")];

pub(super) fn attributes_class(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), o.text("driverName"), common::created(o, now)]
}

pub(super) const ATTACHMENT: &[Column] =
    &[column("Name"), column("Attacher"), column("PV"), column("Node"), boolean("Attached"), column("Age")];

pub(super) fn attachment(o: &Value, now: Instant, _: bool) -> Row {
    row![
        common::name(o),
        o.text("spec.attacher"),
        o.text("spec.source.persistentVolumeName"),
        o.text("spec.nodeName"),
        o.on("status.attached"),
        common::created(o, now),
    ]
}

pub(super) const CSI_NODE: &[Column] = &[column("Name"), number("Drivers"), column("Age")];

pub(super) fn csi_node(o: &Value, now: Instant, _: bool) -> Row {
    row![common::name(o), common::count(o.list("spec.drivers")), common::created(o, now)]
}

pub(super) const CSI_DRIVER: &[Column] = &[
    column("Name"),
    boolean("AttachRequired"),
    boolean("PodInfoOnMount"),
    boolean("StorageCapacity"),
    column("TokenRequests"),
    boolean("RequiresRepublish"),
    column("Modes"),
    column("Age"),
];

pub(super) fn csi_driver(o: &Value, now: Instant, _: bool) -> Row {
    let tokens = if o.has("spec.tokenRequests") {
        o.list("spec.tokenRequests").iter().map(|t| t.text("audience")).collect::<Vec<_>>().join(",")
    } else {
        "<unset>".to_owned()
    };
    let modes = o.texts("spec.volumeLifecycleModes").join(",");
    row![
        common::name(o),
        o.at("spec.attachRequired").as_bool().unwrap_or(true),
        o.on("spec.podInfoOnMount"),
        o.on("spec.storageCapacity"),
        tokens,
        o.on("spec.requiresRepublish"),
        common::or(&modes, "<none>"),
        common::created(o, now),
    ]
}

pub(super) const CSI_CAPACITY: &[Column] = &[column("Name"), column("StorageClassName"), column("Capacity")];

pub(super) fn csi_capacity(o: &Value, _: Instant, _: bool) -> Row {
    let capacity = if o.has("capacity") { o.quantity("capacity") } else { "<unset>".to_owned() };
    row![common::name(o), o.text("storageClassName"), capacity]
}

/// `RWO,ROX`. Upstream: GetAccessModesAsString.
pub(crate) fn access_modes(modes: &Value) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| modes.as_array().is_some_and(|all| all.iter().any(|m| m == mode));
    SHORT.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

/// The class of a volume or claim; an old annotation comes first.
pub(crate) fn class(o: &Value) -> &str {
    let old = o.at("metadata.annotations").get("volume.beta.kubernetes.io/storage-class");
    old.and_then(Value::as_str).unwrap_or_else(|| o.text("spec.storageClassName"))
}

fn phase(o: &Value) -> &str {
    if o.has("metadata.deletionTimestamp") { "Terminating" } else { o.text("status.phase") }
}

fn unless_unset<'a>(o: &'a Value, path: &str) -> &'a str {
    if o.has(path) { o.text(path) } else { "<unset>" }
}
