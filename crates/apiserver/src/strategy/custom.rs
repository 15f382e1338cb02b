//! The same for kinds that are kept whole.

use super::signing_request;
use kubestep_model::{Custom, Labels, Subresource, Time};
use serde_json::{Value, json};

/// The status that a new object starts with; `None` for kinds without a status.
fn first_status(kind: &str) -> Option<Value> {
    Some(match kind {
        "DaemonSet" => {
            json!({"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0})
        }
        "StatefulSet" => json!({"replicas": 0, "availableReplicas": 0}),
        "ReplicationController" => json!({"replicas": 0}),
        "Ingress" => json!({"loadBalancer": {}}),
        "PersistentVolumeClaim" => json!({"phase": "Pending"}),
        "PersistentVolume" => json!({"phase": "Pending"}),
        "PodDisruptionBudget" => {
            json!({"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0})
        }
        "HorizontalPodAutoscaler" => json!({"desiredReplicas": 0, "currentMetrics": null}),
        "Job"
        | "CronJob"
        | "FlowSchema"
        | "PriorityLevelConfiguration"
        | "CertificateSigningRequest"
        | "PodCertificateRequest"
        | "ValidatingAdmissionPolicy"
        | "APIService"
        | "ServiceCIDR"
        | "DeviceTaintRule"
        | "ResourceClaim"
        | "StorageVersionMigration" => json!({}),
        "VolumeAttachment" => json!({"attached": false}),
        "CustomResourceDefinition" => {
            json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null})
        }
        _ => return None,
    })
}

/// Kinds whose generation counts changes of the spec.
fn counts(kind: &str) -> bool {
    matches!(
        kind,
        "DaemonSet"
            | "StatefulSet"
            | "ReplicationController"
            | "Ingress"
            | "IngressClass"
            | "NetworkPolicy"
            | "Job"
            | "CronJob"
            | "PodDisruptionBudget"
            | "HorizontalPodAutoscaler"
            | "PriorityClass"
            | "PodTemplate"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "MutatingWebhookConfiguration"
            | "ValidatingWebhookConfiguration"
            | "ValidatingAdmissionPolicy"
            | "ValidatingAdmissionPolicyBinding"
            | "MutatingAdmissionPolicy"
            | "MutatingAdmissionPolicyBinding"
            | "DeviceClass"
            | "DeviceTaintRule"
            | "ResourceSlice"
            | "CustomResourceDefinition"
    )
}

pub(super) fn has_status(kind: &str) -> bool {
    first_status(kind).is_some()
}

pub(super) fn prepare_for_create(object: &mut Custom, now: Time) {
    let kind = object.kind.own_name();
    if let Some(status) = first_status(kind) {
        object.rest.insert("status".into(), status);
    }
    object.metadata.generation = i64::from(counts(kind));
    match kind {
        "DaemonSet" => set_template_generation(object, 1),
        "DeviceTaintRule" | "ResourceSlice" => date_taints(object, None, now),
        "CustomResourceDefinition" => note_storage(object),
        "Job" => name_pods(object),
        "PersistentVolumeClaim" => {
            data_sources(object);
            protect(object, "kubernetes.io/pvc-protection");
        }
        "VolumeAttributesClass" => protect(object, "kubernetes.io/vac-protection"),
        "PersistentVolume" => {
            protect(object, "kubernetes.io/pv-protection");
            if let Some(status) = object.rest.get_mut("status") {
                status["lastPhaseTransitionTime"] = json!(now);
            }
        }
        _ => {}
    }
}

/// A claim names what it is filled from in an old field and in a new one; either speaks for both.
///
/// Upstream: pkg/api/persistentvolumeclaim, EnforceDataSourceBackwardsCompatibility and NormalizeDataSources (v1.37).
fn data_sources(object: &mut Custom) {
    let Some(Value::Object(spec)) = object.rest.get_mut("spec") else { return };
    let text = |source: &Value, name: &str| source[name].as_str().unwrap_or_default().to_owned();
    let part =
        |spec: &serde_json::Map<String, Value>, name: &str| spec.get(name).filter(|s| !s.is_null()).cloned();
    if let Some(source) = part(spec, "dataSource") {
        let is = (text(&source, "kind"), text(&source, "apiGroup"));
        let known = matches!(
            (is.0.as_str(), is.1.as_str()),
            ("PersistentVolumeClaim", "") | ("VolumeSnapshot", "snapshot.storage.k8s.io")
        );
        if !known && part(spec, "dataSourceRef").is_none() {
            spec.remove("dataSource");
        }
    }
    match (part(spec, "dataSource"), part(spec, "dataSourceRef")) {
        (Some(source), None) => drop(spec.insert("dataSourceRef".into(), source)),
        (None, Some(reference)) if text(&reference, "namespace").is_empty() => {
            let mut source = reference;
            if let Value::Object(source) = &mut source {
                source.remove("namespace");
            }
            spec.insert("dataSource".into(), source);
        }
        _ => {}
    }
}

/// Leases say nothing of coordinated elections, which are off by default.
pub(super) fn drop_lease_parts(spec: &mut kubestep_model::LeaseSpec) {
    spec.rest.remove("strategy");
    spec.rest.remove("preferredHolder");
}

/// A version that becomes the storage version is remembered: objects may be stored in it from now on.
fn note_storage(object: &mut Custom) {
    let versions = object.rest.get("spec").and_then(|s| s["versions"].as_array());
    let storage = versions.into_iter().flatten().find(|v| v["storage"] == true).map(|v| v["name"].clone());
    let Some(Value::Object(status)) = object.rest.get_mut("status") else { return };
    let Some(storage) = storage else { return };
    let stored = status.entry("storedVersions").or_insert(Value::Null);
    match stored.as_array_mut() {
        Some(list) if !list.contains(&storage) => list.push(storage),
        Some(_) => {}
        None => *stored = json!([storage]),
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// An old field of daemon sets that lives on as an annotation: how often the template has changed.
fn set_template_generation(object: &mut Custom, generation: i64) {
    object.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// What is in use is not removed: the protection controllers take this finalizer.
fn protect(object: &mut Custom, finalizer: &str) {
    if !object.metadata.finalizers.iter().any(|f| f == finalizer) {
        object.metadata.finalizers.push(finalizer.into());
    }
}

/// A job finds its pods by its own uid, unless the manifest chooses a selector.
///
/// Upstream: pkg/registry/batch/job, generateSelector (v1.37).
fn name_pods(object: &mut Custom) {
    let (uid, name) = (object.metadata.uid.to_string(), object.metadata.name.to_string());
    let Some(Value::Object(spec)) = object.rest.get_mut("spec") else { return };
    if spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let labels = &mut spec.entry("template").or_insert_with(|| json!({}))["metadata"]["labels"];
    if !labels.is_object() {
        *labels = json!({});
    }
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ] {
        // What a person wrote there is kept, and refused later.
        if labels[key].is_null() {
            labels[key] = value.as_str().into();
        }
    }
    let labels: Labels = serde_json::from_value(labels.clone()).unwrap_or_default();
    let selector = spec.entry("selector").or_insert_with(|| json!({}));
    if !selector.is_object() {
        *selector = json!({});
    }
    if !selector["matchLabels"].is_object() {
        selector["matchLabels"] = json!({});
    }
    let found = &mut selector["matchLabels"]["batch.kubernetes.io/controller-uid"];
    if found.is_null() {
        *found = uid.as_str().into();
    }
    // A job without labels got the template's: they are one map.
    let own = &mut object.metadata.labels;
    if !own.is_empty() && own.iter().all(|(key, value)| labels.get(key) == Some(value)) {
        *own = labels;
    }
}

/// A job that has no labels of its own is read with those of its template.
pub(super) fn as_read(object: &mut Custom) {
    if object.kind.own_name() != "Job" || !object.metadata.labels.is_empty() {
        return;
    }
    let labels = object.rest.get("spec").map(|s| s["template"]["metadata"]["labels"].clone());
    object.metadata.labels = serde_json::from_value(labels.unwrap_or_default()).unwrap_or_default();
}

/// A taint of a device says since when it is there.
///
/// Upstream: pkg/apis/resource/v1, SetDefaults_DeviceTaint, and pkg/registry/resource/devicetaintrule (v1.37).
fn date_taints(new: &mut Custom, old: Option<&Custom>, now: Time) {
    let kind = new.kind.own_name();
    let Some(spec) = new.rest.get_mut("spec") else { return };
    let before = old.and_then(|old| old.rest.get("spec")).map(|spec| spec["taint"].clone());
    let date = |taint: &mut Value| {
        if taint.is_object() && taint["timeAdded"].is_null() {
            taint["timeAdded"] = json!(now);
        }
    };
    if kind == "DeviceTaintRule" {
        let Some(taint) = spec.get_mut("taint").filter(|taint| taint.is_object()) else { return };
        let other =
            |before: &Value| before["effect"] != taint["effect"] && before["timeAdded"] == taint["timeAdded"];
        if before.as_ref().is_some_and(other) {
            taint["timeAdded"] = Value::Null;
        }
        date(taint);
    } else if let Some(devices) = spec.get_mut("devices").and_then(Value::as_array_mut) {
        let taints = devices.iter_mut().filter_map(|d| d.get_mut("taints")?.as_array_mut());
        taints.flatten().for_each(date);
    }
}

pub(super) fn prepare_for_update(new: &mut Custom, old: &Custom, now: Time) {
    let kind = new.kind.own_name();
    if matches!(kind, "DeviceTaintRule" | "ResourceSlice") {
        date_taints(new, Some(old), now);
    }
    if first_status(kind).is_some() {
        copy(new, old, "status");
    }
    if kind == "PersistentVolumeClaim" {
        data_sources(new);
    }
    // What was asked for is not asked for otherwise.
    if kind == "CertificateSigningRequest" {
        copy(new, old, "spec");
    }
    // Kinds without a spec count every change of what they hold instead.
    let rises = if new.rest.contains_key("spec") || old.rest.contains_key("spec") {
        new.rest.get("spec") != old.rest.get("spec")
    } else {
        new.rest != old.rest
    };
    // A driver counts its changes, but does not count its beginning.
    let counted = counts(kind) || kind == "CSIDriver";
    new.metadata.generation = old.metadata.generation + i64::from(rises && counted);
    if kind == "CustomResourceDefinition" {
        note_storage(new);
    }
    if kind == "DaemonSet" {
        let template = |c: &Custom| c.rest.get("spec").map(|s| s["template"].clone());
        let count = old
            .metadata
            .annotations
            .get(TEMPLATE_GENERATION)
            .and_then(|n| n.parse::<i64>().ok())
            .unwrap_or(0);
        set_template_generation(new, count.saturating_add(i64::from(template(new) != template(old))));
    }
}

pub(super) fn prepare_for_status(new: &mut Custom, old: &Custom, part: Subresource, now: Time) {
    copy(new, old, "spec");
    if new.kind == signing_request::KIND {
        signing_request::prepare(new, old, part, now);
    }
    if new.kind.name() == "PersistentVolume" {
        note_phase(new, old, now);
    }
}

/// Since when a volume is in its phase, unless the writer says so himself.
///
/// Upstream: pkg/registry/core/persistentvolume, statusStrategy (v1.37).
fn note_phase(new: &mut Custom, old: &Custom, now: Time) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let part =
        |c: &Custom, name: &str| c.rest.get("status").and_then(|s| s.get(name)).cloned().unwrap_or_default();
    let (same, known, given) = (part(new, "phase") == part(old, "phase"), part(old, SINCE), part(new, SINCE));
    let since = match (same, given.is_null()) {
        (true, true) => known,
        (false, _) if given.is_null() || given == known => json!(now),
        _ => return,
    };
    if let Some(Value::Object(status)) = new.rest.get_mut("status")
        && !since.is_null()
    {
        status.insert(SINCE.into(), since);
    }
}

fn copy(new: &mut Custom, old: &Custom, part: &str) {
    match old.rest.get(part) {
        Some(value) => new.rest.insert(part.into(), value.clone()),
        None => new.rest.remove(part),
    };
}
