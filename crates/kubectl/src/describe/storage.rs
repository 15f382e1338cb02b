//! Persistent volumes, claims and storage classes.

use super::{Page, page::date, page::plain_labels};
use crate::{
    fault::Fault,
    fields::Fields,
    kc::{Flow, Kc},
    output::go_print,
    printers::{access_modes, age, storage_class_of},
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Instant, Kind, Object, Pod};
use serde_json::Value;

fn phase(o: &Value, now: Instant) -> String {
    match o.time("metadata.deletionTimestamp") {
        None => o.text("status.phase").to_owned(),
        since => format!("Terminating (lasts {})", age(since, now)),
    }
}

fn finalizers(o: &Value) -> String {
    go_print(&o.texts("metadata.finalizers").into())
}

/// Upstream: describePersistentVolume (v1.37).
pub(super) fn volume(page: &mut Page, object: &Object, now: Instant) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.field(0, "Finalizers", finalizers(&o));
    page.field(0, "StorageClass", storage_class_of(&o));
    page.field(0, "Status", phase(&o, now));
    let claim = o.at("spec.claimRef");
    let claim = if claim.is_null() {
        String::new()
    } else {
        format!("{}/{}", claim.text("namespace"), claim.text("name"))
    };
    page.field(0, "Claim", claim);
    page.field(0, "Reclaim Policy", o.text("spec.persistentVolumeReclaimPolicy"));
    page.field(0, "Access Modes", access_modes(o.at("spec.accessModes")));
    if o.has("spec.volumeMode") {
        page.field(0, "VolumeMode", o.text("spec.volumeMode"));
    }
    page.field(0, "Capacity", o.quantity("spec.capacity.storage"));
    node_affinity(page, o.at("spec.nodeAffinity.required"));
    page.field(0, "Message", o.text("status.message"));
    page.line(0, "Source:");
    source(page, o.at("spec"));
}

fn node_affinity(page: &mut Page, required: &Value) {
    if required.is_null() {
        page.field(0, "Node Affinity", "<none>");
        return;
    }
    page.field(0, "Node Affinity", "");
    let terms = required.list("nodeSelectorTerms");
    page.field(1, "Required Terms", if terms.is_empty() { "<none>" } else { "" });
    for (at, term) in terms.iter().enumerate() {
        let expressions = term.list("matchExpressions");
        let show = |e: &Value| {
            let values = e.texts("values").join(", ");
            let values = if values.is_empty() { String::new() } else { format!(" [{values}]") };
            format!("{} {}{values}", e.text("key"), e.text("operator").to_ascii_lowercase())
        };
        let first = expressions.first().map_or_else(|| "<none>".to_owned(), show);
        page.field(2, &format!("Term {at}"), first);
        for e in expressions.iter().skip(1) {
            page.line(2, format!("\t{}", show(e)));
        }
    }
}

fn source(page: &mut Page, spec: &Value) {
    if spec.has("csi") {
        let csi = spec.at("csi");
        page.field(2, "Type", "CSI (a Container Storage Interface (CSI) volume source)");
        page.field(2, "Driver", csi.text("driver"));
        page.field(2, "FSType", csi.text("fsType"));
        page.field(2, "VolumeHandle", csi.text("volumeHandle"));
        page.field(2, "ReadOnly", csi.on("readOnly"));
        let attributes = csi.labels("volumeAttributes");
        let mut lines = attributes.iter().map(|(k, v)| format!("{k}={v}"));
        page.field(2, "VolumeAttributes", lines.next().unwrap_or_else(|| "<none>".to_owned()));
        lines.for_each(|line| page.line(2, format!("\t{line}")));
    } else if spec.has("local") {
        page.field(2, "Type", "LocalVolume (a persistent volume backed by local storage on a node)");
        page.field(2, "Path", spec.text("local.path"));
    } else {
        super::volumes::source_of(page, spec);
    }
}

/// Upstream: describePersistentVolumeClaim (v1.37).
pub(super) fn claim(kc: &mut Kc<'_>, page: &mut Page, object: &Object) -> Flow<Result<(), Fault>> {
    let (meta, o) = (object.meta(), object.to_value());
    let pods = match kc.list(Kind::Pod, Some(meta.namespace.clone()), None, None)? {
        Ok((pods, _)) => pods,
        Err(status) => return Ok(Err(status.into())),
    };
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    page.field(0, "StorageClass", storage_class_of(&o));
    page.field(0, "Status", phase(&o, kc.now()));
    page.field(0, "Volume", o.text("spec.volumeName"));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.field(0, "Finalizers", finalizers(&o));
    let bound = !o.text("spec.volumeName").is_empty();
    let (capacity, modes) = if bound {
        (o.quantity("status.capacity.storage"), access_modes(o.at("status.accessModes")))
    } else {
        (String::new(), String::new())
    };
    page.field(0, "Capacity", capacity);
    page.field(0, "Access Modes", modes);
    if o.has("spec.volumeMode") {
        page.field(0, "VolumeMode", o.text("spec.volumeMode"));
    }
    let from = o.at("spec.dataSource");
    if !from.is_null() {
        page.line(0, "DataSource:");
        if from.has("apiGroup") {
            page.field(1, "APIGroup", from.text("apiGroup"));
        }
        page.field(1, "Kind", from.text("kind"));
        page.field(1, "Name", from.text("name"));
    }
    page.block("Used By", &users(&pods, &o, &meta.name));
    conditions(page, o.list("status.conditions"));
    Ok(Ok(()))
}

/// The pods that mount a claim, and the pods that own it.
fn users(pods: &[Object], claim: &Value, name: &str) -> Vec<String> {
    let mounts = |pod: &Pod| {
        let volumes = &pod.spec.volumes;
        volumes
            .iter()
            .any(|v| v.rest.get("persistentVolumeClaim").is_some_and(|c| c.text("claimName") == name))
    };
    let owns = |pod: &Pod| {
        let owners = claim.list("metadata.ownerReferences");
        owners.iter().any(|o| o.text("kind") == "Pod" && o.text("uid") == &*pod.metadata.uid)
    };
    let uses = |pod: &&Pod| mounts(pod) || owns(pod);
    let mut names: Vec<String> = pods
        .iter()
        .filter_map(|o| o.get::<Pod>())
        .filter(uses)
        .map(|p| p.metadata.name.to_string())
        .collect();
    names.arrange();
    names
}

fn conditions(page: &mut Page, conditions: &[Value]) {
    if conditions.is_empty() {
        return;
    }
    page.line(0, "Conditions:");
    page.line(1, "Type\tStatus\tLastProbeTime\tLastTransitionTime\tReason\tMessage");
    page.line(1, "----\t------\t-----------------\t------------------\t------\t-------");
    for c in conditions {
        let (probed, moved) = (date(c.time("lastProbeTime")), date(c.time("lastTransitionTime")));
        page.line(
            1,
            format!(
                "{} \t{} \t{probed} \t{moved} \t{} \t{}",
                c.text("type"),
                c.text("status"),
                c.text("reason"),
                c.text("message")
            ),
        );
    }
}

/// Upstream: describeStorageClass (v1.37).
pub(super) fn class(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    let default =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|a| meta.annotations.get(*a).is_some_and(|v| v == "true"));
    page.field(0, "Name", &meta.name);
    page.field(0, "IsDefaultClass", if default { "Yes" } else { "No" });
    page.field(0, "Annotations", plain_labels(&meta.annotations));
    page.field(0, "Provisioner", o.text("provisioner"));
    page.field(0, "Parameters", plain_labels(&o.labels("parameters")));
    let expands = match o.at("allowVolumeExpansion").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    page.field(0, "AllowVolumeExpansion", expands);
    let options = o.texts("mountOptions");
    if options.is_empty() {
        page.field(0, "MountOptions", "<none>");
    } else {
        page.line(0, "MountOptions:");
        options.iter().for_each(|option| page.line(1, option));
    }
    for (title, field) in [("ReclaimPolicy", "reclaimPolicy"), ("VolumeBindingMode", "volumeBindingMode")] {
        if o.has(field) {
            page.field(0, title, o.text(field));
        }
    }
    if o.has("allowedTopologies") {
        topologies(page, o.list("allowedTopologies"));
    }
}

fn topologies(page: &mut Page, terms: &[Value]) {
    page.field(0, "AllowedTopologies", if terms.is_empty() { "<none>" } else { "" });
    for (at, term) in terms.iter().enumerate() {
        let show = |e: &Value| {
            let values = e.texts("values").join(", ");
            let values = if values.is_empty() { String::new() } else { format!(" [{values}]") };
            format!("{} in{values}", e.text("key"))
        };
        let all = term.list("matchLabelExpressions");
        page.field(1, &format!("Term {at}"), all.first().map_or_else(|| "<none>".to_owned(), show));
        all.iter().skip(1).for_each(|e| page.line(1, format!("\t{}", show(e))));
    }
}

/// Upstream: describeVolumeAttributesClass (v1.37).
pub(super) fn attributes_class(page: &mut Page, object: &Object) {
    let (meta, o) = (object.meta(), object.to_value());
    page.field(0, "Name", &meta.name);
    page.field(0, "Annotations", plain_labels(&meta.annotations));
    page.field(0, "DriverName", o.text("driverName"));
    page.field(0, "Parameters", plain_labels(&o.labels("parameters")));
}
