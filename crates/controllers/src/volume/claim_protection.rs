//! A claim that a pod uses does not go away, and says whether a pod refers to it.
//!
//! Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go (v1.37).

use super::{CLAIM, claim_names, put};
use kubestep_control::{Change, Controller, Cx, Done, Flow, View, Wake, Watch};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Key, Kind, PersistentVolumeClaim, PersistentVolumeClaimCondition, Pod, Resource, Subresource, Time, Whole,
};

const FINALIZER: &str = "kubernetes.io/pvc-protection";

/// The claim protection controller.
#[derive(Debug)]
pub struct ClaimProtection;

static WATCHES: [Watch; 2] = [Watch { kind: CLAIM, wakes: claim }, Watch { kind: Kind::Pod, wakes: pod }];

fn claim(change: &Change, _: &View) -> Vec<Wake> {
    if change.new.is_some() { vec![Wake::now(change.key.clone())] } else { vec![] }
}

/// A pod that comes, ends or goes says something new about its claims.
fn pod(change: &Change, _: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    let told = match (old, new) {
        (Some(old), Some(new)) => {
            old.is_terminal() != new.is_terminal()
                || old.metadata.uid != new.metadata.uid
                || is_ending(old) != is_ending(new)
        }
        _ => true,
    };
    if !told {
        return vec![];
    }
    let names = |p: &Pod| -> Vec<Key> {
        claim_names(p).into_iter().map(|n| Key::new(CLAIM, p.metadata.namespace.clone(), n)).collect()
    };
    let mut keys: Vec<Key> = old.into_iter().chain(new).flat_map(names).collect();
    keys.arrange();
    keys.dedup();
    keys.into_iter().map(Wake::now).collect()
}

fn is_ending(pod: &Pod) -> bool {
    pod.metadata.is_terminating() && pod.status.container_statuses.iter().all(|c| c.state.running.is_none())
}

/// Whether kubelet is done with it. Upstream: podIsShutDown.
fn is_shut_down(pod: &Pod) -> bool {
    pod.metadata.is_terminating() && pod.metadata.deletion_grace_period_seconds == Some(0)
}

/// Whether a claim that is deleted must wait for this pod. Upstream: podUsesPVC.
fn holds(pod: &Pod, claim: &PersistentVolumeClaim) -> bool {
    if pod.spec.node_name.is_empty() {
        return false;
    }
    let name = &*claim.metadata.name;
    pod.spec.volumes.iter().any(|v| {
        let named = v.rest.get("persistentVolumeClaim").and_then(|c| c.get("claimName")?.as_str());
        let own = v.rest.contains_key("ephemeral") && format!("{}-{}", pod.metadata.name, v.name) == name;
        named == Some(name) || (own && !is_shut_down(pod))
    })
}

impl Controller for ClaimProtection {
    fn name(&self) -> &'static str {
        "persistentvolumeclaim-protection"
    }
    fn actor(&self) -> &'static str {
        "pvc-protection-controller"
    }
    fn watches(&self) -> &'static [Watch] {
        &WATCHES
    }
    fn workers(&self) -> usize {
        1
    }
    fn reads_own_writes(&self) -> &'static [Kind] {
        &[CLAIM]
    }
    fn reconcile(&self, cx: &mut Cx<'_>, key: &Key) -> Flow {
        let Some(claim) = cx.view().object(key).and_then(PersistentVolumeClaim::read) else {
            return Ok(Done::Settled);
        };
        let protected = claim.metadata.finalizers.iter().any(|f| f == FINALIZER);
        if claim.metadata.is_terminating() {
            return if protected { let_go(cx, claim) } else { Ok(Done::Settled) };
        }
        if !protected {
            let mut claim = claim;
            claim.metadata.finalizers.push(FINALIZER.into());
            return match put(cx, &claim, Subresource::None)? {
                Ok(_) => Ok(Done::Settled),
                Err(status) => Err(cx.fail(status)),
            };
        }
        say_whether_used(cx, claim)
    }
}

/// What the cache does not know the API server may: it is asked before the claim goes.
fn let_go(cx: &mut Cx<'_>, mut claim: PersistentVolumeClaim) -> Flow {
    let space = claim.metadata.namespace.clone();
    let mut user =
        cx.list::<Pod>(Some(&space)).find(|p| holds(p, &claim)).map(|p| p.metadata.name.to_string());
    if user.is_none() {
        let live = match cx.live_list(Kind::Pod, Some(space))? {
            Ok(live) => live,
            Err(status) => return Err(cx.fail(status)),
        };
        let found = live.iter().filter_map(|o| o.get::<Pod>()).find(|p| holds(p, &claim));
        user = found.map(|p| p.metadata.name.to_string());
    }
    let name = claim.metadata.name.to_string();
    if let Some(pod) = user {
        cx.because("pvc.in-use", vec![("claim", name), ("pod", pod)]);
        return Ok(Done::Settled);
    }
    cx.because("pvc.let-go", vec![("claim", name)]);
    claim.metadata.finalizers.retain(|f| f != FINALIZER);
    match put(cx, &claim, Subresource::None)? {
        Ok(_) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

/// The condition Unused of claims that are bound. A pod counts from its making to its end, placed or not.
fn say_whether_used(cx: &mut Cx<'_>, mut claim: PersistentVolumeClaim) -> Flow {
    if claim.status.phase != "Bound" {
        return Ok(Done::Settled);
    }
    let refers = |p: &&Pod| !p.is_terminal() && claim_names(p).iter().any(|n| **n == *claim.metadata.name);
    let used = cx.list::<Pod>(Some(&claim.metadata.namespace)).find(refers).is_some();
    if !set_unused(&mut claim, !used, cx.now().to_time()) {
        return Ok(Done::Settled);
    }
    match put(cx, &claim, Subresource::Status)? {
        Ok(_) => Ok(Done::Settled),
        Err(status) if status.is_not_found() => Ok(Done::Settled),
        Err(status) => Err(cx.fail(status)),
    }
}

/// Answers whether it was news.
fn set_unused(claim: &mut PersistentVolumeClaim, unused: bool, now: Time) -> bool {
    let (status, reason, message) = if unused {
        ("True", "NoPodsUsingPVC", "No pods are currently referencing this PVC")
    } else {
        ("False", "PodUsingPVC", "A pod is currently referencing this PVC")
    };
    let conditions = &mut claim.status.conditions;
    if conditions.iter().any(|c| c.r#type == "Unused" && c.status == status) {
        return false;
    }
    conditions.retain(|c| c.r#type != "Unused");
    conditions.push(PersistentVolumeClaimCondition {
        r#type: "Unused".into(),
        status: status.into(),
        last_probe_time: None,
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
        ..Default::default()
    });
    true
}
