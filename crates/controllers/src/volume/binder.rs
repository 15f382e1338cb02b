//! Binds claims and volumes to each other.
//!
//! Upstream: pkg/controller/volume/persistentvolume/pv_controller_base.go (v1.37). Upstream has two queues with a worker
//! each; here one worker takes the keys of both kinds.

use super::{CLAIM, CLASS, VOLUME, claims, key_of, volumes};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::{Key, Kind, Object, PersistentVolume, PersistentVolumeClaim, Whole};
use std::time::Duration;

/// How often all volumes and claims are looked at again. Upstream: PVClaimBinderSyncPeriod.
const PERIOD: Duration = Duration::from_secs(15);

/// The persistent volume controller.
#[derive(Debug)]
pub struct VolumeBinder;

static WATCHES: [Watch; 4] = [
    Watch { kind: VOLUME, wakes: volume },
    Watch { kind: CLAIM, wakes: claim },
    Watch { kind: CLASS, wakes: nobody },
    Watch { kind: Kind::Pod, wakes: nobody },
];

fn nobody(_: &Change, _: &View) -> Vec<Wake> {
    vec![]
}

/// The claim of a volume that is gone has to learn of it.
fn volume(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() {
        return vec![Wake::now(change.key.clone())];
    }
    let old = change.old.as_ref().and_then(PersistentVolume::read);
    let claim = old.and_then(|v| v.spec.claim_ref);
    claim.into_iter().map(|r| Wake::now(Key::new(CLAIM, r.namespace, r.name))).collect()
}

/// The volume of a claim that is gone has to learn of it.
fn claim(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() {
        return vec![Wake::now(change.key.clone())];
    }
    let old = change.old.as_ref().and_then(PersistentVolumeClaim::read);
    let volume = old.map(|c| c.spec.volume_name).filter(|n| !n.is_empty());
    volume.into_iter().map(|n| Wake::now(Key::new(VOLUME, "", n))).collect()
}

impl Controller for VolumeBinder {
    fn name(&self) -> &'static str {
        "persistentvolume-binder"
    }
    fn actor(&self) -> &'static str {
        "persistent-volume-binder"
    }
    fn event_source(&self) -> &'static str {
        "persistentvolume-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[VOLUME, CLAIM]
    }
    fn period(&self) -> Option<Duration> {
        Some(PERIOD)
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        if *key == crate::period_key() {
            return look_at_all(cx);
        }
        let Some(object) = cx.view().object(key).cloned() else { return Ok(Done::Settled) };
        let done = if let Some(volume) = PersistentVolume::read(&object) {
            volumes::sync(cx, volume)?
        } else if let Some(claim) = PersistentVolumeClaim::read(&object) {
            claims::sync(cx, claim)?
        } else {
            Ok(())
        };
        match done {
            Ok(()) => Ok(Done::Settled),
            Err(status) => Err(cx.fail(status)),
        }
    }
}

/// Upstream: resync.
fn look_at_all(cx: &mut Cx<'_>) -> Flow {
    let of = |kind| cx.view().objects_of(kind, None).map(Object::key);
    let mut keys: Vec<Key> = of(CLAIM).collect();
    keys.extend(of(VOLUME));
    for key in keys {
        cx.again(key, Duration::ZERO);
    }
    Ok(Done::Settled)
}

/// Looks at a claim again soon.
pub(super) fn again(cx: &mut Cx<'_>, claim: &PersistentVolumeClaim) {
    cx.again(key_of(claim), Duration::ZERO);
}
