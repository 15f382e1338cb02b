//! Which volume suits a claim. Upstream: component-helpers/storage/volume, FindMatchingVolume (v1.37).

use crate::scheduler::affinity::selector_matches;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Node, NodeSelector, PersistentVolume, PersistentVolumeClaim, Quantity};
use serde::Deserialize;
use std::{cmp::Ordering, collections::BTreeSet};

/// Whether a volume names this claim, with its uid or before that is known. Upstream: IsVolumeBoundToClaim.
pub fn is_bound_to(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    volume.spec.claim_ref.as_ref().is_some_and(|r| {
        r.name == claim.metadata.name
            && r.namespace == claim.metadata.namespace
            && (r.uid.is_empty() || r.uid == claim.metadata.uid)
    })
}

/// Whether a volume can be used on a node. Upstream: CheckNodeAffinity.
pub fn is_reachable(volume: &PersistentVolume, node: &Node) -> bool {
    volume
        .spec
        .node_affinity
        .get("required")
        .is_none_or(|r| NodeSelector::deserialize(r).is_ok_and(|s| selector_matches(&s, node)))
}

/// Upstream: CheckVolumeModeMismatches.
pub fn modes_differ(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let mode =
        |m: &Option<String>| m.clone().filter(|m| !m.is_empty()).unwrap_or_else(|| "Filesystem".into());
    mode(&volume.spec.volume_mode) != mode(&claim.spec.volume_mode)
}

fn is_large_enough(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let (has, wants) = (capacity(volume), claim.request().cloned().unwrap_or_default());
    has.cmp(&wants) != Ordering::Less
}

fn capacity(volume: &PersistentVolume) -> Quantity {
    volume.spec.capacity.get("storage").cloned().unwrap_or_default()
}

fn accesses(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    claim.spec.access_modes.iter().all(|m| volume.spec.access_modes.contains(m))
}

/// Where a claim looks for a volume.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The node on which it is to be used, when the scheduler looks.
    pub node: Option<&'a Node>,
    /// Whether only volumes that already name the claim come into question.
    pub delayed: bool,
}

/// The smallest volume that suits; one that names the claim comes first.
pub fn best<'v>(
    volumes: impl IntoIterator<Item = &'v PersistentVolume>,
    claim: &PersistentVolumeClaim,
    place: Place<'_>,
    taken: &BTreeSet<String>,
) -> Option<&'v PersistentVolume> {
    let mut smallest: Option<&PersistentVolume> = None;
    for volume in volumes {
        if taken.contains(&*volume.metadata.name) {
            continue;
        }
        let bound = is_bound_to(volume, claim);
        let foreign = volume.spec.claim_ref.is_some() && !bound;
        if foreign
            || !is_large_enough(volume, claim)
            || modes_differ(volume, claim)
            || volume.metadata.is_terminating()
        {
            continue;
        }
        let reachable = place.node.is_none_or(|n| is_reachable(volume, n));
        if bound {
            return reachable.then_some(volume);
        }
        let selected = claim.spec.selector.as_ref().is_none_or(|s| s.matches(&volume.metadata.labels));
        if (place.node.is_none() && place.delayed)
            || volume.status.phase != "Available"
            || !selected
            || volume.class() != claim.class()
            || !reachable
            || (place.node.is_some() && !accesses(volume, claim))
        {
            continue;
        }
        if smallest.is_none_or(|s| capacity(s).cmp(&capacity(volume)) == Ordering::Greater) {
            smallest = Some(volume);
        }
    }
    smallest
}

/// As [`best`] among all volumes, those with the fewest access modes first. Upstream: findByClaim.
pub fn best_for_claim<'v>(
    volumes: &'v [PersistentVolume],
    claim: &PersistentVolumeClaim,
    delayed: bool,
) -> Option<&'v PersistentVolume> {
    let modes = |v: &PersistentVolume| -> BTreeSet<String> { v.spec.access_modes.iter().cloned().gather() };
    let mut groups: Vec<BTreeSet<String>> = vec![];
    for volume in volumes.iter().filter(|v| accesses(v, claim)) {
        let group = modes(volume);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups.arrange_by_key(BTreeSet::len);
    let place = Place { node: None, delayed };
    let none = BTreeSet::new();
    groups.iter().find_map(|g| best(volumes.iter().filter(|v| modes(v) == *g), claim, place, &none))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::{Kind, Object, Whole};
    use serde_json::{Value, json};

    fn volume(name: &str, size: &str, more: Value) -> PersistentVolume {
        let mut value = json!({"metadata": {"name": name}, "status": {"phase": "Available"},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]}});
        for (key, field) in more.as_object().expect("fields") {
            value["spec"][key] = field.clone();
        }
        read(value)
    }

    fn read<W: Whole>(value: Value) -> W {
        let kind: Kind = W::KIND;
        W::read(&Object::from_value(kind, value).expect("an object")).expect("of this kind")
    }

    fn claim(size: &str) -> PersistentVolumeClaim {
        read(json!({"metadata": {"name": "c", "namespace": "default", "uid": "u"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}}))
    }

    fn found(volumes: &[PersistentVolume], claim: &PersistentVolumeClaim) -> Option<String> {
        best_for_claim(volumes, claim, false).map(|v| v.metadata.name.to_string())
    }

    #[test]
    fn the_smallest_that_is_large_enough() {
        let all =
            [volume("a", "5Gi", json!({})), volume("b", "2Gi", json!({})), volume("c", "500Mi", json!({}))];
        assert_eq!(found(&all, &claim("1Gi")).as_deref(), Some("b"));
        assert_eq!(found(&all, &claim("9Gi")), None);
    }

    #[test]
    fn classes_and_modes_must_agree() {
        let other = [volume("a", "5Gi", json!({"storageClassName": "fast"}))];
        assert_eq!(found(&other, &claim("1Gi")), None);
        let block = [volume("a", "5Gi", json!({"volumeMode": "Block"}))];
        assert_eq!(found(&block, &claim("1Gi")), None);
    }

    #[test]
    fn one_that_names_the_claim_comes_first_and_one_that_names_another_never() {
        let reference = |name: &str| json!({"claimRef": {"name": name, "namespace": "default"}});
        let all = [
            volume("small", "1Gi", json!({})),
            volume("mine", "5Gi", reference("c")),
            volume("theirs", "1Gi", reference("d")),
        ];
        assert_eq!(found(&all, &claim("1Gi")).as_deref(), Some("mine"), "though another one is smaller");
        assert_eq!(found(&all[..1], &claim("1Gi")).as_deref(), Some("small"));
        assert_eq!(found(&all[2..], &claim("1Gi")), None);
        assert_eq!(
            best_for_claim(&all, &claim("1Gi"), true).map(|v| &*v.metadata.name),
            Some("mine"),
            "delayed"
        );
    }
}
