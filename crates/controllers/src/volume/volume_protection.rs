//! A volume that is bound to a claim does not go away.
//!
//! Upstream: pkg/controller/volume/pvprotection/pv_protection_controller.go (v1.37).

use super::{VOLUME, put};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{Key, PersistentVolume, Subresource, Whole};

const FINALIZER: &str = "kubernetes.io/pv-protection";

/// The volume protection controller.
#[derive(Debug)]
pub struct VolumeProtection;

static WATCHES: [Watch; 1] = [Watch { kind: VOLUME, wakes }];

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    let Some(meta) = change.new.as_ref().map(|o| o.meta()) else { return vec![] };
    let protected = meta.finalizers.iter().any(|f| f == FINALIZER);
    if protected == meta.is_terminating() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

impl Controller for VolumeProtection {
    fn name(&self) -> &'static str {
        "persistentvolume-protection"
    }
    fn actor(&self) -> &'static str {
        "pv-protection-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(mut volume) = cx.view().object(key).and_then(PersistentVolume::read) else {
            return Ok(Done::Settled);
        };
        let protected = volume.metadata.finalizers.iter().any(|f| f == FINALIZER);
        match (volume.metadata.is_terminating(), protected) {
            (true, true) if volume.status.phase != "Bound" => {
                cx.because("pv.let-go", vec![("volume", key.name.to_string())]);
                volume.metadata.finalizers.retain(|f| f != FINALIZER);
            }
            (false, false) => volume.metadata.finalizers.push(FINALIZER.into()),
            _ => return Ok(Done::Settled),
        }
        match put(cx, &volume, Subresource::None)? {
            Ok(_) => Ok(Done::Settled),
            Err(status) if status.is_not_found() => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}
