//! Claims that ask for more than their volume has: somebody else is to make it larger.
//!
//! Upstream: pkg/controller/volume/expand/expand_controller.go (v1.37). Left out: volumes that Kubernetes itself can
//! make larger; there are none left but those of cloud providers.

use super::{CLAIM, VOLUME};
use crate::stop::error;
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{Key, PersistentVolume, PersistentVolumeClaim, Quantity, Whole};

/// The expand controller.
#[derive(Debug)]
pub struct Expander;

static WATCHES: [Watch; 1] = [Watch { kind: CLAIM, wakes }];

fn sizes(claim: &PersistentVolumeClaim) -> (Quantity, Quantity) {
    let capacity = claim.status.capacity.get("storage").cloned().unwrap_or_default();
    (claim.request().cloned().unwrap_or_default(), capacity)
}

fn wakes(change: &Change, _: &View) -> Vec<Wake> {
    let read = |object| Option::<&kubestep_model::Object>::and_then(object, PersistentVolumeClaim::read);
    let Some(new) = read(change.new.as_ref()).filter(|claim| claim.status.phase == "Bound") else {
        return vec![];
    };
    let grew = read(change.old.as_ref()).is_none_or(|old| {
        let ((wish, has), (wished, had)) = (sizes(&new), sizes(&old));
        wish.cmp(&wished).is_gt() || has.cmp(&had).is_gt()
    });
    if grew { vec![Wake::now(change.key.clone())] } else { vec![] }
}

impl Controller for Expander {
    fn name(&self) -> &'static str {
        "persistentvolume-expander"
    }
    fn actor(&self) -> &'static str {
        "expand-controller"
    }
    fn event_source(&self) -> &'static str {
        "volume_expand"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        10
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(object) = cx.view().object(key).cloned() else { return Ok(Done::Settled) };
        let Some(claim) = PersistentVolumeClaim::read(&object) else { return Ok(Done::Settled) };
        let name = claim.spec.volume_name.clone();
        let volume = match cx.live_object(Key::new(VOLUME, "", name.as_str()))? {
            Ok(volume) => PersistentVolume::read(&volume),
            Err(status) => {
                return Err(cx.fail(error(format!("failed to get PV {name:?}: {}", status.message))));
            }
        };
        let of = volume.as_ref().and_then(|v| v.spec.claim_ref.as_ref());
        if of.is_none_or(|of| of.namespace != claim.metadata.namespace || of.uid != claim.metadata.uid) {
            let (space, name) = (&key.namespace, &key.name);
            let text = format!("persistent Volume is not bound to PVC being updated : {space}/{name}");
            return Err(cx.fail(error(text)));
        }
        let (wish, has) = sizes(&claim);
        if wish.cmp(&has).is_le() {
            return Ok(Done::Settled);
        }
        cx.because("pvc.grow", vec![("claim", key.name.to_string())]);
        let text = "waiting for an external controller to expand this PVC";
        cx.event(&object, "Normal", "ExternalExpanding", text.into());
        Ok(Done::Settled)
    }
}
