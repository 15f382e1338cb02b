//! A claim for each volume that a pod describes itself: it is the pod's, and goes with it.
//!
//! Upstream: pkg/controller/volume/ephemeral/controller.go; component-helpers/storage/ephemeral (v1.37).

use super::{CLAIM, claim_names, own_claim_name};
use crate::stop::error;
use kubestep_control::{Change, Controller, Cx, Done, Flow, Halt, View, Wake, Watch};
use kubestep_model::{Key, Kind, Object, ObjectMeta, Pod, Resource, Status, Volume};
use serde_json::{Value, json};

/// The ephemeral volume controller.
#[derive(Debug)]
pub struct EphemeralVolumes;

static WATCHES: [Watch; 2] =
    [Watch { kind: Kind::Pod, wakes: pod_wakes }, Watch { kind: CLAIM, wakes: claim_wakes }];

/// Whether a pod that stays has such a volume.
fn concerns(pod: &Pod) -> bool {
    !pod.metadata.is_terminating() && pod.spec.volumes.iter().any(|v| v.rest.contains_key("ephemeral"))
}

/// What a pod's volumes are never changes: only new ones count.
fn pod_wakes(change: &Change, _: &View) -> Vec<Wake> {
    let new = change.new.as_ref().filter(|_| change.old.is_none()).and_then(Pod::of);
    if new.is_some_and(concerns) { vec![Wake::now(change.key.clone())] } else { vec![] }
}

/// A claim that somebody deleted is made again for a pod that is still there. Upstream: onPVCDelete.
fn claim_wakes(change: &Change, view: &View) -> Vec<Wake> {
    if change.new.is_some() {
        return vec![];
    }
    let pods = view.list::<Pod>(Some(&change.key.namespace));
    let users = pods.filter(|pod| concerns(pod) && claim_names(pod).iter().any(|n| **n == *change.key.name));
    users.map(|pod| Wake::now(pod.key())).collect()
}

impl Controller for EphemeralVolumes {
    fn name(&self) -> &'static str {
        "ephemeral-volume"
    }
    fn actor(&self) -> &'static str {
        "ephemeral-volume-controller"
    }
    fn event_source(&self) -> &'static str {
        "ephemeral_volume"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(pod) = cx.get::<Pod>(&key.namespace, &key.name).filter(|p| concerns(p)) else {
            return Ok(Done::Settled);
        };
        for volume in &pod.spec.volumes {
            let Some(template) = volume.rest.get("ephemeral").map(|e| &e["volumeClaimTemplate"]) else {
                continue;
            };
            if let Err(status) = provide(cx, pod, volume, template)? {
                let text = format!("ephemeral volume {}: {}", volume.name, status.message);
                cx.event(&Object::from(pod.clone()), "Warning", "FailedBinding", text);
                return Err(cx.fail(status));
            }
        }
        Ok(Done::Settled)
    }
}

/// Whose a claim of this name is. Upstream: ephemeral.VolumeIsForPod.
pub(crate) fn is_of(claim: &ObjectMeta, pod: &Pod) -> Result<(), String> {
    let owned =
        claim.owner_references.iter().any(|o| o.controller == Some(true) && o.uid == pod.metadata.uid);
    if owned {
        return Ok(());
    }
    let (space, name) = (&claim.namespace, &claim.name);
    let (pod_space, pod) = (&pod.metadata.namespace, &pod.metadata.name);
    Err(format!("PVC {space}/{name} was not created for pod {pod_space}/{pod} (pod is not owner)"))
}

/// Upstream: handleVolume.
fn provide(
    cx: &mut Cx<'_>,
    pod: &Pod,
    volume: &Volume,
    template: &Value,
) -> Result<Result<(), Status>, Halt> {
    let name = own_claim_name(pod, volume);
    let key = Key::new(CLAIM, pod.metadata.namespace.clone(), name.as_str());
    if let Some(claim) = cx.view().object(&key) {
        return Ok(is_of(claim.meta(), pod).map_err(error));
    }
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": &*pod.metadata.name, "uid": &*pod.metadata.uid,
        "controller": true, "blockOwnerDeletion": true});
    let mut meta = json!({"name": name, "namespace": &*pod.metadata.namespace, "ownerReferences": [owner]});
    for part in ["annotations", "labels"] {
        if let Some(given) = template["metadata"].get(part) {
            meta[part] = given.clone();
        }
    }
    let claim = match Object::from_value(CLAIM, json!({"metadata": meta, "spec": template["spec"]})) {
        Ok(claim) => claim,
        Err(text) => return Ok(Err(error(text))),
    };
    cx.because("pvc.ephemeral", vec![("claim", name.clone()), ("pod", pod.metadata.name.to_string())]);
    let made = cx.try_create_object(claim)?;
    Ok(made
        .map(drop)
        .map_err(|status| Status { message: format!("create PVC {name}: {}", status.message), ..status }))
}
