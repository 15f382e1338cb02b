//! A volume provisioner of our own, for classes with `provisioner: example.com/fast`: it makes a volume at once for each
//! claim that is handed to it, and takes the volume of a claim that is gone away. Real clusters run such programs as pods;
//! this one speaks as those that stand on the common library do.

use super::{CLAIM, CLASS, PROVISIONED_BY, SELECTED_NODE, STORAGE_PROVISIONER, VOLUME, reference_to};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{
    DeleteOptions, Key, ObjectMeta, PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec,
    StorageClass, Whole,
};
use serde_json::json;

/// The provisioner that classes name.
pub const PROVISIONER: &str = "example.com/fast";

/// See the module.
#[derive(Debug)]
pub struct Provisioner;

static WATCHES: [Watch; 2] = [Watch { kind: CLAIM, wakes }, Watch { kind: VOLUME, wakes }];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

impl Controller for Provisioner {
    fn name(&self) -> &'static str {
        "provisioner"
    }
    fn actor(&self) -> &'static str {
        "example.com/fast provisioner"
    }
    fn event_source(&self) -> &'static str {
        "example.com/fast_provisioner"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(object) = cx.view().object(key).cloned() else { return Ok(Done::Settled) };
        if let Some(claim) = PersistentVolumeClaim::read(&object) {
            return provide(cx, &claim);
        }
        match PersistentVolume::read(&object) {
            Some(volume) => take_away(cx, &volume),
            None => Ok(Done::Settled),
        }
    }
}

fn is_ours(claim: &PersistentVolumeClaim) -> bool {
    claim.metadata.annotations.get(STORAGE_PROVISIONER).is_some_and(|p| p == PROVISIONER)
        && claim.spec.volume_name.is_empty()
        && !claim.metadata.is_terminating()
        && claim.status.phase == "Pending"
}

fn provide(cx: &mut Cx<'_>, claim: &PersistentVolumeClaim) -> Flow {
    if !is_ours(claim) {
        return Ok(Done::Settled);
    }
    let class = match cx.live_object(Key::new(CLASS, "", claim.class()))? {
        Ok(class) => StorageClass::read(&class),
        Err(_) => None,
    };
    let Some(class) = class else { return Ok(Done::Settled) };
    let delayed = class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer");
    if delayed && !claim.metadata.annotations.contains_key(SELECTED_NODE) {
        return Ok(Done::Settled);
    }
    let name = format!("pvc-{}", claim.metadata.uid);
    if cx.live_object(Key::new(VOLUME, "", name.as_str()))?.is_ok() {
        return Ok(Done::Settled);
    }
    let about = claim.to_object();
    let claimed = format!("{}/{}", claim.metadata.namespace, claim.metadata.name);
    let text = format!("External provisioner is provisioning volume for claim {claimed:?}");
    cx.event(&about, "Normal", "Provisioning", text);
    cx.because("pv.made", vec![("volume", name.clone()), ("claim", claim.metadata.name.to_string())]);
    if cx.try_create_object(volume(&name, claim, &class).to_object())?.is_ok() {
        let text = format!("Successfully provisioned volume {name}");
        cx.event(&about, "Normal", "ProvisioningSucceeded", text);
    }
    Ok(Done::Settled)
}

fn volume(name: &str, claim: &PersistentVolumeClaim, class: &StorageClass) -> PersistentVolume {
    let path = json!({"path": format!("/var/fast/{name}"), "type": "DirectoryOrCreate"});
    PersistentVolume {
        metadata: ObjectMeta {
            name: name.into(),
            annotations: [(PROVISIONED_BY.to_owned(), PROVISIONER.to_owned())].into(),
            ..Default::default()
        },
        spec: PersistentVolumeSpec {
            capacity: [("storage".to_owned(), claim.request().cloned().unwrap_or_default())].into(),
            access_modes: claim.spec.access_modes.clone(),
            storage_class_name: class.metadata.name.to_string(),
            volume_mode: claim.spec.volume_mode.clone(),
            mount_options: class.mount_options.clone(),
            claim_ref: Some(reference_to(claim)),
            persistent_volume_reclaim_policy: class.reclaim_policy.clone().unwrap_or_default(),
            rest: [("hostPath".to_owned(), path)].into(),
            ..Default::default()
        },
        ..Default::default()
    }
}

fn take_away(cx: &mut Cx<'_>, volume: &PersistentVolume) -> Flow {
    let ours = volume.metadata.annotations.get(PROVISIONED_BY).is_some_and(|p| p == PROVISIONER)
        && !volume.metadata.is_terminating()
        && volume.status.phase == "Released"
        && volume.spec.persistent_volume_reclaim_policy == "Delete";
    if !ours {
        return Ok(Done::Settled);
    }
    cx.because("pv.unmade", vec![("volume", volume.metadata.name.to_string())]);
    match cx.try_delete(volume.to_object().key(), DeleteOptions::default())? {
        Ok(()) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}
