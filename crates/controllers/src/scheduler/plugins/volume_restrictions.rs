//! Claims that are not there, and claims that one pod alone may use. Upstream: plugins/volumerestrictions (v1.37).
//! Left out: disks of cloud providers.

use super::{
    super::{
        event::Event,
        kinds::CLAIM,
        node_info::{NodeInfo, PodInfo},
    },
    Before, Cycle, Plugin, Rejection, State,
};
use crate::volume::claims_of;
use kubestep_model::{Key, Object, Pod};

/// See the module.
#[derive(Debug)]
pub struct VolumeRestrictions;

/// The claims that a pod names; what is made for it alone is not shared.
fn claim_names(pod: &Pod) -> Vec<String> {
    claims_of(pod).into_iter().filter(|(_, own)| !own).map(|(name, _)| name).collect()
}

/// The pod's claims of access mode ReadWriteOncePod, or the first claim that is not there.
fn exclusive(cycle: &Cycle<'_>) -> Result<Vec<String>, String> {
    let mut found = vec![];
    for name in claim_names(&cycle.pod.pod) {
        let key = Key::new(CLAIM, cycle.pod.pod.metadata.namespace.clone(), name.as_str());
        let Some(Object::Custom(claim)) = cycle.view.object(&key) else {
            return Err(format!("persistentvolumeclaim {name:?} not found"));
        };
        let modes = claim.rest.get("spec").and_then(|s| s.get("accessModes")?.as_array());
        if modes.is_some_and(|modes| modes.iter().any(|mode| mode == "ReadWriteOncePod")) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Whether a pod of a node uses one of these claims.
fn taken_on(node: &NodeInfo, cycle: &Cycle<'_>, names: &[String]) -> bool {
    let mut others = node.pods.values().filter(|p| p.group.namespace == cycle.pod.group.namespace);
    others.any(|other| claim_names(&other.pod).iter().any(|name| names.contains(name)))
}

impl Plugin for VolumeRestrictions {
    fn name(&self) -> &'static str {
        "VolumeRestrictions"
    }
    fn before(&self, cycle: &Cycle<'_>) -> Before {
        match exclusive(cycle) {
            Err(reason) => Before::Reject(Rejection::for_good(reason)),
            Ok(names) if names.is_empty() => Before::Skip,
            Ok(names) => {
                let taken = cycle.cache.nodes().filter(|node| taken_on(node, cycle, &names));
                let nodes = taken.map(|node| node.name.clone()).collect();
                Before::Look(State::Exclusive(names, nodes))
            }
        }
    }
    fn filter(&self, cycle: &Cycle<'_>, state: &State, node: &NodeInfo) -> Result<(), Rejection> {
        let State::Exclusive(names, nodes) = state else { return Ok(()) };
        // Wherever the claim is used: it is for one pod of the cluster, not for one of a node.
        if nodes.iter().any(|other| *other != node.name) || taken_on(node, cycle, names) {
            let reason = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
            return Err(Rejection::for_now(reason));
        }
        Ok(())
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        let claims = claim_names(&pod.pod);
        match event {
            Event::NodeAdded(_) => true,
            Event::OtherAdded(object) if object.kind() == CLAIM => {
                let meta = object.meta();
                meta.namespace == pod.group.namespace && claims.iter().any(|name| **name == *meta.name)
            }
            Event::PodGone(gone) => {
                gone.metadata.namespace == pod.group.namespace
                    && claim_names(gone).iter().any(|name| claims.contains(name))
            }
            _ => false,
        }
    }
}
