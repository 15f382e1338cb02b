//! Names, numbers and volumes of a set's pods. Upstream: stateful_set_utils.go (v1.37).

use super::CLAIM;
use crate::pods::from_template;
use kubestep_model::{Custom, Object, ObjectMeta, Pod, PodTemplateSpec, StatefulSet, Volume, Whole};
use serde_json::{Value, json};
use std::sync::Arc;

/// Upstream: apps.StatefulSetPodNameLabel, PodIndexLabel, StatefulSetRevisionLabel.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";
pub(super) const REVISION: &str = "controller-revision-hash";

/// The set's name and the number in a pod's name. Upstream: getParentNameAndOrdinal.
fn parts(name: &str) -> Option<(&str, i32)> {
    let (parent, number) = name.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    // A number that is too large counts as none, but the parent stays.
    digits.then(|| (parent, number.parse().unwrap_or(-1)))
}

/// The number in a pod's name; -1 if it has none. Upstream: getOrdinal.
pub(super) fn ordinal(pod: &Pod) -> i32 {
    parts(&pod.metadata.name).map_or(-1, |(_, number)| number)
}

/// Whether a pod's name says that it belongs to the set. Upstream: isMemberOf.
pub(super) fn is_member(set: &StatefulSet, name: &str) -> bool {
    parts(name).is_some_and(|(parent, _)| parent == &*set.metadata.name)
}

/// The first number. Upstream: getStartOrdinal.
pub(super) fn start(set: &StatefulSet) -> i32 {
    set.spec.ordinals.as_ref().map_or(0, |o| o.start)
}

/// How many pods are wanted.
pub(super) fn replicas(set: &StatefulSet) -> i32 {
    set.spec.replicas.unwrap_or(1).max(0)
}

/// Upstream: podInOrdinalRange.
pub(super) fn in_range(pod: &Pod, set: &StatefulSet) -> bool {
    let (first, number) = (i64::from(start(set)), i64::from(ordinal(pod)));
    number >= first && number < first + i64::from(replicas(set))
}

fn pod_name(set: &StatefulSet, number: i32) -> String {
    format!("{}-{number}", set.metadata.name)
}

/// The revision that a pod was made from. Upstream: getPodRevision.
pub(super) fn revision(pod: &Pod) -> &str {
    pod.metadata.labels.get(REVISION).map_or("", String::as_str)
}

/// A new pod with this number, of this template and revision. Upstream: newStatefulSetPod.
pub(super) fn new_pod(set: &StatefulSet, template: &PodTemplateSpec, revision: &str, number: i32) -> Pod {
    let mut pod = from_template(template, StatefulSet::KIND, &set.metadata);
    update_identity(set, &mut pod, number);
    let mut spec = template.spec.clone();
    spec.hostname = pod.metadata.name.to_string();
    spec.subdomain = set.spec.service_name.clone();
    pod.spec = spec.into();
    update_storage(set, &mut pod, number);
    pod.metadata.labels.insert(REVISION.into(), revision.into());
    pod
}

/// Upstream: updateIdentity.
pub(super) fn update_identity(set: &StatefulSet, pod: &mut Pod, number: i32) {
    let name = pod_name(set, number);
    pod.metadata.namespace = set.metadata.namespace.clone();
    pod.metadata.labels.insert(POD_NAME.into(), name.clone());
    pod.metadata.labels.insert(POD_INDEX.into(), number.to_string());
    pod.metadata.name = name.into();
}

/// Upstream: identityMatches.
pub(super) fn identity_matches(set: &StatefulSet, pod: &Pod) -> bool {
    let number = ordinal(pod);
    number >= 0
        && is_member(set, &pod.metadata.name)
        && *pod.metadata.name == pod_name(set, number)
        && pod.metadata.namespace == set.metadata.namespace
        && pod.metadata.labels.get(POD_NAME).is_some_and(|label| **label == *pod.metadata.name)
}

fn template_name(template: &Value) -> &str {
    template["metadata"]["name"].as_str().unwrap_or_default()
}

/// The name of one of a pod's claims. Upstream: getPersistentVolumeClaimName.
pub(super) fn claim_name(set: &StatefulSet, template: &Value, number: i32) -> String {
    format!("{}-{}-{number}", template_name(template), set.metadata.name)
}

/// Puts the claims among the pod's volumes, in place of volumes of the same names. Upstream: updateStorage.
pub(super) fn update_storage(set: &StatefulSet, pod: &mut Pod, number: i32) {
    let templates = &set.spec.volume_claim_templates;
    if templates.is_empty() {
        return;
    }
    let volume = |template: &Value| -> Option<Volume> {
        let claim = json!({ "claimName": claim_name(set, template, number) });
        let volume = json!({ "name": template_name(template), "persistentVolumeClaim": claim });
        serde_json::from_value(volume).ok()
    };
    let mut volumes: Vec<Volume> = templates.iter().filter_map(volume).collect();
    let mut spec = (*pod.spec).clone();
    let taken = |volume: &Volume| templates.iter().any(|t| template_name(t) == volume.name);
    volumes.extend(spec.volumes.drain(..).filter(|volume| !taken(volume)));
    spec.volumes = volumes;
    pod.spec = spec.into();
}

/// Upstream: storageMatches.
pub(super) fn storage_matches(set: &StatefulSet, pod: &Pod) -> bool {
    let number = ordinal(pod);
    number >= 0
        && set.spec.volume_claim_templates.iter().all(|template| {
            let volume = pod.spec.volumes.iter().find(|v| v.name == template_name(template));
            let claim = volume.and_then(|v| v.rest.get("persistentVolumeClaim"));
            claim.is_some_and(|c| c["claimName"] == claim_name(set, template, number).as_str())
        })
}

/// The claims that a pod needs. Upstream: getPersistentVolumeClaims.
pub(super) fn claims(set: &StatefulSet, number: i32) -> Vec<Arc<Custom>> {
    let claim = |template: &Value| {
        let mut value = template.clone();
        let fields = value.as_object_mut()?;
        // Unlike an object of its own, a template may say nothing of its kind.
        fields.insert("apiVersion".into(), "v1".into());
        fields.insert("kind".into(), CLAIM.name().into());
        let mut object = Object::from_value(CLAIM, value).ok()?;
        let meta: &mut ObjectMeta = object.meta_mut();
        meta.name = claim_name(set, template, number).into();
        meta.namespace = set.metadata.namespace.clone();
        let selected = set.spec.selector.iter().flat_map(|s| s.match_labels.clone());
        meta.labels.extend(selected);
        if let Object::Custom(custom) = object { Some(custom) } else { None }
    };
    set.spec.volume_claim_templates.iter().filter_map(claim).collect()
}
