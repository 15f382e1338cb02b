//! Whether the volumes that a pod claims are there, or can be had where it is to run.
//! Upstream: plugins/volumebinding (v1.37). Left out: capacity of storage classes.

use super::{
    super::{
        affinity::selector_matches,
        event::{Event, NodePart},
        kinds::{CLAIM, CLASS, VOLUME},
        node_info::{NodeInfo, PodInfo},
    },
    Before, Cycle, Plugin, Rejection, State,
};
use kubestep_control::View;
use kubestep_model::{Custom, Key, Kind, LabelSelector, Node, NodeSelector, Object, Pod, Quantity};
use serde::Deserialize;
use serde_json::Value;
use std::{cmp::Ordering, collections::BTreeSet, sync::Arc};

/// See the module.
#[derive(Debug)]
pub struct VolumeBinding;

/// The claims of a pod.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Volumes of claims that are bound.
    bound: Vec<Arc<str>>,
    /// Claims that are bound only when a node is chosen.
    delayed: Vec<Arc<Custom>>,
}

fn custom(view: &View, kind: Kind, namespace: &str, name: &str) -> Option<Arc<Custom>> {
    match view.object(&Key::new(kind, namespace, name)) {
        Some(Object::Custom(found)) => Some(found.clone()),
        _ => None,
    }
}

fn text<'a>(object: &'a Custom, path: &[&str]) -> &'a str {
    field(object, path).and_then(Value::as_str).unwrap_or("")
}

fn field<'a>(object: &'a Custom, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.rest.get(*first)?, |value, name| value.get(*name))
}

/// The names of the claims that a pod makes. Upstream: ClaimName.
pub fn claim_names(pod: &Pod) -> Vec<String> {
    let of = |volume: &kubestep_model::Volume| {
        let named = volume.rest.get("persistentVolumeClaim").and_then(|c| c.get("claimName")?.as_str());
        let own =
            volume.rest.contains_key("ephemeral").then(|| format!("{}-{}", pod.metadata.name, volume.name));
        named.map(str::to_owned).or(own)
    };
    pod.spec.volumes.iter().filter_map(of).collect()
}

fn class_of(claim: &Custom) -> &str {
    let annotated = claim.metadata.annotations.get("volume.beta.kubernetes.io/storage-class");
    annotated.map_or_else(|| text(claim, &["spec", "storageClassName"]), String::as_str)
}

/// Upstream: podHasPVCs and GetPodVolumeClaims.
fn claims(cycle: &Cycle<'_>) -> Result<Claims, String> {
    let mut found = Claims::default();
    let mut immediate = false;
    for name in claim_names(&cycle.pod.pod) {
        let Some(claim) = custom(cycle.view, CLAIM, &cycle.pod.pod.metadata.namespace, &name) else {
            return Err(format!("persistentvolumeclaim {name:?} not found"));
        };
        let volume = text(&claim, &["spec", "volumeName"]);
        if text(&claim, &["status", "phase"]) == "Lost" {
            return Err(format!(
                "persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"
            ));
        }
        if claim.metadata.is_terminating() {
            return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
        }
        let complete = claim.metadata.annotations.contains_key("pv.kubernetes.io/bind-completed");
        let class = custom(cycle.view, CLASS, "", class_of(&claim));
        let delayed = class.is_some_and(|c| text(&c, &["volumeBindingMode"]) == "WaitForFirstConsumer");
        if !volume.is_empty() && complete {
            found.bound.push(volume.into());
        } else if delayed && volume.is_empty() {
            found.delayed.push(claim);
        } else {
            immediate = true;
        }
    }
    if immediate { Err("pod has unbound immediate PersistentVolumeClaims".into()) } else { Ok(found) }
}

/// Whether a volume can be used on a node. Upstream: CheckNodeAffinity.
fn reachable(volume: &Custom, node: &Node) -> bool {
    let required = field(volume, &["spec", "nodeAffinity", "required"]);
    required.is_none_or(|r| NodeSelector::deserialize(r).is_ok_and(|s| selector_matches(&s, node)))
}

fn amount(value: Option<&Value>) -> Quantity {
    value.and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok()).unwrap_or_default()
}

fn modes(object: &Custom) -> BTreeSet<&str> {
    field(object, &["spec", "accessModes"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Whether a free volume suits a claim. Upstream: volume.FindMatchingVolume.
fn suits(volume: &Custom, claim: &Custom, node: &Node) -> bool {
    let wanted = amount(field(claim, &["spec", "resources", "requests", "storage"]));
    let mode = |object| match text(object, &["spec", "volumeMode"]) {
        "" => "Filesystem".to_owned(),
        other => other.to_owned(),
    };
    let selector =
        field(claim, &["spec", "selector"]).map(|s| LabelSelector::deserialize(s).unwrap_or_default());
    class_of(claim) == text(volume, &["spec", "storageClassName"])
        && mode(volume) == mode(claim)
        && amount(field(volume, &["spec", "capacity", "storage"])).cmp(&wanted) != Ordering::Less
        && modes(claim).is_subset(&modes(volume))
        && text(volume, &["status", "phase"]) == "Available"
        && field(volume, &["spec", "claimRef"]).is_none()
        && selector.is_none_or(|s| s.matches(&volume.metadata.labels))
        && reachable(volume, node)
}

/// Whether each claim finds a free volume of its own, or a provisioner. Upstream: FindPodVolumes.
fn findable(cycle: &Cycle<'_>, delayed: &[Arc<Custom>], node: &Node) -> bool {
    let mut taken: BTreeSet<Arc<str>> = BTreeSet::new();
    delayed.iter().all(|claim| {
        let free = cycle.view.objects_of(VOLUME, None).filter_map(|o| match o {
            Object::Custom(volume) => Some(volume),
            _ => None,
        });
        let smallest =
            free.filter(|v| !taken.contains(&v.metadata.name) && suits(v, claim, node)).min_by(|a, b| {
                amount(field(a, &["spec", "capacity", "storage"]))
                    .cmp(&amount(field(b, &["spec", "capacity", "storage"])))
            });
        if let Some(volume) = smallest {
            return taken.insert(volume.metadata.name.clone());
        }
        let class = custom(cycle.view, CLASS, "", class_of(claim));
        class.is_some_and(|c| !matches!(text(&c, &["provisioner"]), "" | "kubernetes.io/no-provisioner"))
    })
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
        for name in &claims.bound {
            let Some(volume) = custom(cycle.view, VOLUME, "", name) else {
                let reason = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
                return Err(Rejection::for_good(reason));
            };
            if !reachable(&volume, node) {
                return Err(Rejection::for_good("node(s) had volume node affinity conflict"));
            }
        }
        if !findable(cycle, &claims.delayed, node) {
            return Err(Rejection::for_good("node(s) didn't find available persistent volumes to bind"));
        }
        Ok(())
    }
    fn hint(&self, pod: &PodInfo, event: &Event<'_>) -> bool {
        match event {
            Event::NodeAdded(_) | Event::NodeChanged { part: NodePart::Label, .. } => true,
            Event::Other(object) if object.kind() == CLAIM => {
                let (meta, pod) = (object.meta(), &pod.pod);
                meta.namespace == pod.metadata.namespace
                    && claim_names(pod).iter().any(|name| **name == *meta.name)
            }
            Event::Other(object) => [VOLUME, CLASS].contains(&object.kind()),
            _ => false,
        }
    }
}
