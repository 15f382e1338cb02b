//! Whether the volumes that a pod claims are there, or can be had where it is to run.
//! Upstream: plugins/volumebinding (v1.37). Left out: capacity of storage classes.

use super::{
    super::{
        event::{Event, NodePart},
        kinds::{CLAIM, CLASS, VOLUME},
        node_info::{NodeInfo, PodInfo},
    },
    Before, Cycle, Plugin, Rejection, State,
};
pub use crate::volume::claim_names;
use crate::volume::{
    BIND_COMPLETED, SELECTED_NODE, claims_of,
    ephemeral::is_of,
    matching::{Place, best, is_reachable},
};
use kubestep_control::View;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Key, Node, PersistentVolume, PersistentVolumeClaim, StorageClass, Whole};
use std::collections::BTreeSet;

/// See the module.
#[derive(Debug)]
pub struct VolumeBinding;

/// The claims of a pod.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Volumes of claims that are bound; `None`: one is not there.
    bound: Vec<Option<PersistentVolume>>,
    /// Claims that are bound only when a node is chosen, the smallest first.
    delayed: Vec<PersistentVolumeClaim>,
    /// All volumes, if there are such claims.
    volumes: Vec<PersistentVolume>,
}

/// What is to be done for a pod's claims once its node is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    /// Claims that get a volume that is there.
    pub found: Vec<(PersistentVolumeClaim, PersistentVolume)>,
    /// Claims for which a volume is made.
    pub provisioned: Vec<PersistentVolumeClaim>,
}

impl Bindings {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.provisioned.is_empty()
    }
}

/// Whether a claim has its volume. Upstream: isPVCFullyBound.
pub fn is_fully_bound(claim: &PersistentVolumeClaim) -> bool {
    !claim.spec.volume_name.is_empty() && claim.metadata.annotations.contains_key(BIND_COMPLETED)
}

fn class_of(view: &View, claim: &PersistentVolumeClaim) -> Option<StorageClass> {
    view.object(&Key::new(CLASS, "", claim.class())).and_then(StorageClass::read)
}

/// Upstream: podHasPVCs and GetPodVolumeClaims.
fn claims(cycle: &Cycle<'_>) -> Result<Claims, String> {
    let mut found = Claims::default();
    let mut immediate = false;
    let space = &cycle.pod.pod.metadata.namespace;
    for (name, own) in claims_of(&cycle.pod.pod) {
        let claim = cycle.view.object(&Key::new(CLAIM, space.clone(), name.as_str()));
        let Some(claim) = claim.and_then(PersistentVolumeClaim::read) else {
            return Err(if own {
                format!(
                    "waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}"
                )
            } else {
                format!("persistentvolumeclaim {name:?} not found")
            });
        };
        let volume = claim.spec.volume_name.as_str();
        if claim.status.phase == "Lost" {
            return Err(format!(
                "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
            ));
        }
        if claim.metadata.is_terminating() {
            return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
        }
        if own {
            is_of(&claim.metadata, &cycle.pod.pod)?;
        }
        let delayed = class_of(cycle.view, &claim)
            .is_some_and(|c| c.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"));
        if is_fully_bound(&claim) {
            found
                .bound
                .push(cycle.view.object(&Key::new(VOLUME, "", volume)).and_then(PersistentVolume::read));
        } else if delayed && volume.is_empty() {
            found.delayed.push(claim);
        } else {
            immediate = true;
        }
    }
    if immediate {
        return Err("pod has unbound immediate PersistentVolumeClaims".into());
    }
    if !found.delayed.is_empty() {
        let size = |c: &PersistentVolumeClaim| c.request().cloned().unwrap_or_default();
        found.delayed.arrange_by(|a, b| size(a).cmp(&size(b)));
        found.volumes = cycle.view.objects_of(VOLUME, None).filter_map(PersistentVolume::read).collect();
    }
    Ok(found)
}

/// A free volume for each claim, or a provisioner; `None` if one finds neither.
/// Upstream: FindPodVolumes, findMatchingVolumes, checkVolumeProvisions.
fn findable(cycle: &Cycle<'_>, claims: &Claims, node: &Node) -> Option<Bindings> {
    let mut taken: BTreeSet<String> = cycle.cache.promised_volumes().map(str::to_owned).gather();
    let mut bindings = Bindings::default();
    for claim in &claims.delayed {
        // A provisioner was told of a node before: it has to be this one.
        if let Some(chosen) = claim.metadata.annotations.get(SELECTED_NODE) {
            if **chosen != *node.metadata.name {
                return None;
            }
            bindings.provisioned.push(claim.clone());
            continue;
        }
        let place = Place { node: Some(node), delayed: true };
        if let Some(volume) = best(&claims.volumes, claim, place, &taken) {
            taken.insert(volume.metadata.name.to_string());
            bindings.found.push((claim.clone(), volume.clone()));
            continue;
        }
        let class = class_of(cycle.view, claim)?;
        if matches!(class.provisioner.as_str(), "" | "kubernetes.io/no-provisioner") {
            return None;
        }
        bindings.provisioned.push(claim.clone());
    }
    Some(bindings)
}

/// What is to be done for a pod's claims on this node. Upstream: Reserve.
pub fn bindings(cycle: &Cycle<'_>, node: &Node) -> Bindings {
    claims(cycle).ok().and_then(|claims| findable(cycle, &claims, node)).unwrap_or_default()
}

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        "VolumeBinding"
    }
    fn weight(&self) -> i64 {
        1
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        match claims(cycle) {
            Err(reason) => Before::Reject(Rejection::for_good(reason)),
            Ok(claims) if claims.bound.is_empty() && claims.delayed.is_empty() => Before::Skip,
            Ok(claims) => Before::Look(State::Claims(claims)),
        }
    }
    fn filter(&self, cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let (State::Claims(claims), Some(node)) = (state, &node.node) else { return Ok(()) };
        for volume in &claims.bound {
            let Some(volume) = volume else {
                let reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
                return Err(Rejection::for_good(reason));
            };
            if !is_reachable(volume, node) {
                return Err(Rejection::for_good("node(s) had volume node affinity conflict"));
            }
        }
        if findable(cycle, claims, node).is_none() {
            return Err(Rejection::for_good("node(s) didn't find available persistent volumes to bind"));
        }
        Ok(())
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(_) | Event::NodeChanged { part: NodePart::Label, .. } => true,
            Event::OtherAdded(object) | Event::Other(object) if object.kind() == CLAIM => {
                let (meta, pod) = (object.meta(), &pod.pod);
                meta.namespace == pod.metadata.namespace
                    && claim_names(pod).iter().any(|name| **name == *meta.name)
            }
            Event::OtherAdded(object) | Event::Other(object) => [VOLUME, CLASS].contains(&object.kind()),
            _ => false,
        }
    }
}
