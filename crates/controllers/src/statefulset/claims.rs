//! The claims of a set's pods: made before the pod, and owned as the retention policy says.
//! Upstream: stateful_pod_control.go and stateful_set_utils.go (v1.37).

use super::{CLAIM, identity, pods::pod_event};
use crate::{
    claim::controller_ref,
    stop::{Step, Stop, aggregate, error},
    whole,
};
use kubestep_control::Cx;
use kubestep_model::{
    Answer, Body, Custom, Key, Kind, Object, ObjectMeta, OwnerReference, Pod, StatefulSet, Status,
    Subresource, Verb, Whole,
};
use std::sync::Arc;

fn cached<'a>(cx: &Cx<'a>, set: &StatefulSet, name: &str) -> Option<&'a Arc<Custom>> {
    let key = Key::new(CLAIM, set.metadata.namespace.clone(), name);
    match cx.view().object(&key)? {
        Object::Custom(custom) => Some(custom),
        _ => None,
    }
}

/// Makes the claims of a pod that are not there; answers them. Upstream: createPersistentVolumeClaims.
pub(super) fn create_missing(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod) -> Step<Vec<Object>> {
    let (mut made, mut errors) = (Vec::new(), Vec::new());
    for claim in identity::claims(set, identity::ordinal(pod)) {
        let name = claim.metadata.name.to_string();
        if let Some(there) = cached(cx, set, &name) {
            if there.metadata.is_terminating() {
                errors.push(error(format!("pvc {name} is being deleted")));
            }
            continue;
        }
        cx.because(
            "sts.claim",
            vec![
                ("who", set.metadata.name.to_string()),
                ("claim", name.clone()),
                ("pod", pod.metadata.name.to_string()),
            ],
        );
        let refusal = match whole::create_object(cx, Object::Custom(claim))? {
            Ok(answer) => {
                if let Answer::Object { object, .. } = answer {
                    made.push(object);
                }
                None
            }
            Err(refusal) => Some(refusal),
        };
        if let Some(refusal) = &refusal {
            errors.push(error(format!("failed to create PVC {name}: {}", refusal.message)));
        }
        if refusal.as_ref().is_none_or(|r| !r.is_already_exists()) {
            claim_event(cx, set, pod, &name, refusal.as_ref());
        }
    }
    aggregate(errors).map_or(Ok(made), |status| Err(status.into()))
}

/// Upstream: recordClaimEvent.
fn claim_event(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod, claim: &str, refusal: Option<&Status>) {
    let (pod, set_name) = (&pod.metadata.name, &set.metadata.name);
    let about = set.to_object();
    match refusal {
        None => {
            let text = format!("Create Claim {claim} Pod {pod} in StatefulSet {set_name} success");
            cx.event(&about, "Normal", "SuccessfulCreate", text);
        }
        Some(status) => {
            let text = format!(
                "Create Claim {claim} for Pod {pod} in StatefulSet {set_name} failed error: {}",
                status.message
            );
            cx.event(&about, "Warning", "FailedCreate", text);
        }
    }
}

/// What `createMissingPersistentVolumeClaims` does for a pod that is pending.
pub(super) fn complete(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod) -> Step<()> {
    let made = create_missing(cx, set, pod)?;
    if let Err(stop) = apply_policy(cx, set, pod, &made) {
        if let Stop::Failed(status) = &stop {
            pod_event(cx, "Update", set, pod, Some(status));
        }
        return Err(stop);
    }
    Ok(())
}

/// Whether a claim is still owned by an earlier pod of this name: it will go, so the pod waits.
/// Upstream: PodClaimIsStale.
pub(super) fn is_stale(cx: &Cx<'_>, set: &StatefulSet, pod: &Pod) -> bool {
    identity::claims(set, identity::ordinal(pod)).iter().any(|claim| {
        let owners = cached(cx, set, &claim.metadata.name).map(|c| c.metadata.owner_references.as_slice());
        let stale =
            |o: &OwnerReference| o.kind == "Pod" && o.name == pod.metadata.name && o.uid != pod.metadata.uid;
        owners.unwrap_or_default().iter().any(stale)
    })
}

/// Whether the set deletes claims when it is deleted, and when it is scaled down.
fn policy(set: &StatefulSet) -> (bool, bool) {
    let policy = set.spec.persistent_volume_claim_retention_policy.as_ref();
    policy.map_or((false, false), |p| (p.when_deleted == "Delete", p.when_scaled == "Delete"))
}

/// Who should own a pod's claims: the set, the pod. Upstream: isClaimOwnerUpToDate.
fn wanted(set: &StatefulSet, pod: &Pod) -> (bool, bool) {
    let condemned = !identity::in_range(pod, set);
    match policy(set) {
        (false, false) => (false, false),
        (true, false) => (true, false),
        (false, true) => (false, condemned),
        (true, true) => (!condemned, condemned),
    }
}

fn owned(claim: &Custom, owner: &ObjectMeta) -> bool {
    claim.metadata.owner_references.iter().any(|o| o.uid == owner.uid)
}

/// Somebody else manages the claim: it is left alone. Upstream: hasUnexpectedController.
fn is_foreign(claim: &Custom, set: &StatefulSet, pod: &Pod) -> bool {
    let manager = claim.metadata.controller();
    manager.is_some_and(|m| m.uid != set.metadata.uid && m.uid != pod.metadata.uid)
}

fn up_to_date(claim: &Custom, set: &StatefulSet, pod: &Pod) -> bool {
    is_foreign(claim, set, pod)
        || wanted(set, pod) == (owned(claim, &set.metadata), owned(claim, &pod.metadata))
}

/// Upstream: ClaimsMatchRetentionPolicy. A claim that is not there yet matches.
pub(super) fn match_policy(cx: &Cx<'_>, set: &StatefulSet, pod: &Pod) -> bool {
    let templates = set.spec.volume_claim_templates.iter();
    let names = templates.map(|t| identity::claim_name(set, t, identity::ordinal(pod)));
    names.into_iter().all(|name| cached(cx, set, &name).is_none_or(|claim| up_to_date(claim, set, pod)))
}

/// Writes the owners that the retention policy wants. Claims that this pass has made are in the cache by now.
/// Upstream: UpdatePodClaimForRetentionPolicy.
pub(super) fn apply_policy(cx: &mut Cx<'_>, set: &StatefulSet, pod: &Pod, made: &[Object]) -> Step<()> {
    let just_made = |name: &str| {
        made.iter().find_map(|object| match object {
            Object::Custom(claim) if *claim.metadata.name == *name => Some(claim),
            _ => None,
        })
    };
    for template in &set.spec.volume_claim_templates {
        let name = identity::claim_name(set, template, identity::ordinal(pod));
        let Some(claim) = cached(cx, set, &name).or_else(|| just_made(&name)) else { continue };
        if is_foreign(claim, set, pod) {
            let text = format!(
                "PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim"
            );
            cx.event(&set.to_object(), "Warning", "ConflictingController", text);
        }
        if up_to_date(claim, set, pod) {
            continue;
        }
        let (by_set, by_pod) = wanted(set, pod);
        let mut copy = (**claim).clone();
        let references = &mut copy.metadata.owner_references;
        references.retain(|o| o.uid != set.metadata.uid && o.uid != pod.metadata.uid);
        if by_set {
            references.push(controller_ref(StatefulSet::KIND, &set.metadata));
        }
        if by_pod {
            references.push(controller_ref(Kind::Pod, &pod.metadata));
        }
        cx.because("sts.claim-owner", vec![("who", set.metadata.name.to_string()), ("claim", name.clone())]);
        let object = Object::Custom(Arc::new(copy));
        let (key, body) = (object.key(), Body::Typed(object));
        if let Err(refusal) = cx.ask(Verb::Replace { key, subresource: Subresource::None, body })? {
            let text =
                format!("could not update claim {name} for delete policy ownerRefs: {}", refusal.message);
            return Err(error(text).into());
        }
    }
    Ok(())
}
