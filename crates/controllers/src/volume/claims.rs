//! One look at a claim. Upstream: pv_controller.go, syncClaim (v1.37).

use super::{
    BETA_STORAGE_PROVISIONER, BIND_COMPLETED, BOUND_BY_CONTROLLER, CLASS, SELECTED_NODE, STORAGE_PROVISIONER,
    VOLUME, claim_names,
    matching::{best_for_claim, is_bound_to, modes_differ},
    put, reference_to, volume_named,
    volumes::phase,
};
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Key, PersistentVolume, PersistentVolumeClaim, Pod, Status, StorageClass, Subresource, Whole,
};

type Step<T> = Result<Result<T, Status>, Halt>;

pub(super) fn sync(cx: &mut Cx<'_>, claim: PersistentVolumeClaim) -> Step<()> {
    if claim.metadata.annotations.contains_key(BIND_COMPLETED) {
        return bound(cx, claim);
    }
    if claim.spec.volume_name.is_empty() { look_for_volume(cx, claim) } else { named(cx, claim) }
}

fn about(claim: &PersistentVolumeClaim) -> Vec<(&'static str, String)> {
    vec![("claim", claim.metadata.name.to_string())]
}

fn say(cx: &mut Cx<'_>, claim: &PersistentVolumeClaim, warns: bool, reason: &str, text: String) {
    cx.event(&claim.to_object(), if warns { "Warning" } else { "Normal" }, reason, text);
}

/// Upstream: syncUnboundClaim, for a claim that names no volume.
fn look_for_volume(cx: &mut Cx<'_>, claim: PersistentVolumeClaim) -> Step<()> {
    let delayed = class_of(cx, &claim)
        .is_some_and(|c| c.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"));
    let volumes: Vec<PersistentVolume> =
        cx.view().objects_of(VOLUME, None).filter_map(PersistentVolume::read).collect();
    if let Some(volume) = best_for_claim(&volumes, &claim, delayed) {
        return bind(cx, volume.clone(), claim);
    }
    if delayed && !claim.metadata.annotations.contains_key(SELECTED_NODE) {
        wait_for_consumer(cx, &claim);
    } else if !claim.class().is_empty() {
        return provision(cx, claim);
    } else {
        cx.because("pv.no-volume", about(&claim));
        let text = "no persistent volumes available for this claim and no storage class is set";
        say(cx, &claim, false, "FailedBinding", text.into());
    }
    set_status(cx, claim, "Pending", None).map(|s| s.map(drop))
}

fn class_of(cx: &Cx<'_>, claim: &PersistentVolumeClaim) -> Option<StorageClass> {
    cx.view().object(&Key::new(CLASS, "", claim.class())).and_then(StorageClass::read)
}

/// Upstream: emitEventForUnboundDelayBindingClaim.
fn wait_for_consumer(cx: &mut Cx<'_>, claim: &PersistentVolumeClaim) {
    cx.because("pv.wait-for-consumer", about(claim));
    let waits =
        |p: &&Pod| p.spec.node_name.is_empty() && claim_names(p).iter().any(|n| **n == *claim.metadata.name);
    let pods: Vec<String> = cx
        .list::<Pod>(Some(&claim.metadata.namespace))
        .filter(waits)
        .map(|p| p.metadata.name.to_string())
        .collect();
    let (reason, text) = match pods.as_slice() {
        [] => ("WaitForFirstConsumer", "waiting for first consumer to be created before binding".to_owned()),
        [pod] => ("WaitForPodScheduled", format!("waiting for pod {pod} to be scheduled")),
        pods => ("WaitForPodScheduled", format!("waiting for pods {} to be scheduled", pods.join(","))),
    };
    say(cx, claim, false, reason, text);
}

/// Leaves the making of a volume to its provisioner. Upstream: provisionClaim, provisionClaimOperationExternal.
fn provision(cx: &mut Cx<'_>, mut claim: PersistentVolumeClaim) -> Step<()> {
    let Some(class) = class_of(cx, &claim) else {
        // A lister names the kind in the singular.
        let text = format!("{}.{} {:?} not found", CLASS.singular(), CLASS.group(), claim.class());
        say(cx, &claim, true, "ProvisioningFailed", text);
        return Ok(Ok(()));
    };
    let provisioner = class.provisioner;
    if provisioner.starts_with("kubernetes.io/") {
        let text = format!("no volume plugin matched name: {provisioner}");
        say(cx, &claim, true, "ProvisioningFailed", text);
        return Ok(Ok(()));
    }
    if claim.metadata.annotations.get(STORAGE_PROVISIONER) != Some(&provisioner) {
        for name in [BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER] {
            claim.metadata.annotations.insert(name.into(), provisioner.clone());
        }
        claim = match put(cx, &claim, Subresource::None)? {
            Ok(claim) => claim,
            Err(status) => return Ok(Err(status)),
        };
    }
    let mut values = about(&claim);
    values.push(("provisioner", provisioner.clone()));
    cx.because("pv.provision", values);
    let text = format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
    );
    say(cx, &claim, false, "ExternalProvisioning", text);
    Ok(Ok(()))
}

/// Upstream: syncUnboundClaim, for a claim that names its volume.
fn named(cx: &mut Cx<'_>, claim: PersistentVolumeClaim) -> Step<()> {
    let Some(volume) = volume_named(cx, &claim.spec.volume_name) else {
        return set_status(cx, claim, "Pending", None).map(|s| s.map(drop));
    };
    if volume.spec.claim_ref.is_none() {
        if let Some(why) = unsuitable(&volume, &claim) {
            let text = format!("Cannot bind to requested volume {:?}: {why}", &*volume.metadata.name);
            say(cx, &claim, true, "VolumeMismatch", text);
            return set_status(cx, claim, "Pending", None).map(|s| s.map(drop));
        }
        return bind(cx, volume, claim);
    }
    if is_bound_to(&volume, &claim) {
        return bind(cx, volume, claim);
    }
    if !claim.metadata.annotations.contains_key(BOUND_BY_CONTROLLER) {
        let text = format!("volume {:?} already bound to a different claim.", &*volume.metadata.name);
        say(cx, &claim, true, "FailedBinding", text);
        return set_status(cx, claim, "Pending", None).map(|s| s.map(drop));
    }
    let text = format!(
        "invalid binding of claim {:?} to volume {:?}: volume already claimed by {:?}",
        format!("{}/{}", claim.metadata.namespace, claim.metadata.name),
        claim.spec.volume_name,
        volume.spec.claim_ref.map_or(String::new(), |r| format!("{}/{}", r.namespace, r.name))
    );
    Ok(Err(crate::stop::error(text)))
}

/// Upstream: checkVolumeSatisfyClaim.
fn unsuitable(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Option<&'static str> {
    let has = volume.spec.capacity.get("storage").cloned().unwrap_or_default();
    let wants = claim.request().cloned().unwrap_or_default();
    if has.cmp(&wants) == std::cmp::Ordering::Less {
        return Some("requested PV is too small");
    }
    if volume.class() != claim.class() {
        return Some("storageClassName does not match");
    }
    if modes_differ(volume, claim) {
        return Some("incompatible volumeMode");
    }
    let accesses = claim.spec.access_modes.iter().all(|m| volume.spec.access_modes.contains(m));
    (!accesses).then_some("incompatible accessMode")
}

/// Upstream: syncBoundClaim.
fn bound(cx: &mut Cx<'_>, claim: PersistentVolumeClaim) -> Step<()> {
    if claim.spec.volume_name.is_empty() {
        let text = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
        return lost(cx, claim, "ClaimLost", text);
    }
    let Some(volume) = volume_named(cx, &claim.spec.volume_name) else {
        return lost(
            cx,
            claim,
            "ClaimLost",
            "Bound claim has lost its PersistentVolume. Data on the volume is lost!",
        );
    };
    match &volume.spec.claim_ref {
        Some(r) if r.uid != claim.metadata.uid => {
            let text = "Two claims are bound to the same volume, this one is bound incorrectly";
            lost(cx, claim, "ClaimMisbound", text)
        }
        _ => bind(cx, volume, claim),
    }
}

/// Upstream: updateClaimStatusWithEvent.
fn lost(cx: &mut Cx<'_>, claim: PersistentVolumeClaim, reason: &str, text: &str) -> Step<()> {
    if claim.status.phase == "Lost" {
        return Ok(Ok(()));
    }
    cx.because("pv.lost", about(&claim));
    let written = set_status(cx, claim, "Lost", None)?;
    if let Ok(claim) = &written {
        say(cx, claim, true, reason, text.into());
    }
    Ok(written.map(drop))
}

/// Binds the two to each other, in four writes of which those are made that change something. Upstream: bind.
fn bind(cx: &mut Cx<'_>, volume: PersistentVolume, claim: PersistentVolumeClaim) -> Step<()> {
    if !is_bound_to(&volume, &claim) || claim.spec.volume_name.is_empty() {
        let mut values = about(&claim);
        values.push(("volume", volume.metadata.name.to_string()));
        cx.because("pv.bind", values);
    }
    let volume = match volume_to_claim(cx, volume, &claim)? {
        Ok(volume) => volume,
        Err(status) => return Ok(Err(status)),
    };
    let volume = match phase(cx, volume, "Bound", "")? {
        Ok(volume) => volume,
        Err(status) => return Ok(Err(status)),
    };
    let claim = match claim_to_volume(cx, claim, &volume)? {
        Ok(claim) => claim,
        Err(status) => return Ok(Err(status)),
    };
    set_status(cx, claim, "Bound", Some(&volume)).map(|s| s.map(drop))
}

/// Upstream: GetBindVolumeToClaim.
pub(crate) fn with_claim(
    mut volume: PersistentVolume,
    claim: &PersistentVolumeClaim,
) -> Option<PersistentVolume> {
    let by_us = !is_bound_to(&volume, claim);
    let complete = volume.spec.claim_ref.as_ref().is_some_and(|r| {
        r.name == claim.metadata.name
            && r.namespace == claim.metadata.namespace
            && r.uid == claim.metadata.uid
    });
    if !complete {
        volume.spec.claim_ref = Some(reference_to(claim));
    }
    let annotate = by_us && !volume.metadata.annotations.contains_key(BOUND_BY_CONTROLLER);
    if annotate {
        volume.metadata.annotations.insert(BOUND_BY_CONTROLLER.into(), "yes".into());
    }
    (annotate || !complete).then_some(volume)
}

fn volume_to_claim(
    cx: &mut Cx<'_>,
    volume: PersistentVolume,
    claim: &PersistentVolumeClaim,
) -> Step<PersistentVolume> {
    match with_claim(volume.clone(), claim) {
        Some(changed) => put(cx, &changed, Subresource::None),
        None => Ok(Ok(volume)),
    }
}

/// Upstream: bindClaimToVolume.
fn claim_to_volume(
    cx: &mut Cx<'_>,
    mut claim: PersistentVolumeClaim,
    volume: &PersistentVolume,
) -> Step<PersistentVolumeClaim> {
    let before = claim.clone();
    if *claim.spec.volume_name != *volume.metadata.name {
        claim.spec.volume_name = volume.metadata.name.to_string();
        claim.metadata.annotations.entry(BOUND_BY_CONTROLLER.into()).or_insert_with(|| "yes".into());
    }
    claim.metadata.annotations.entry(BIND_COMPLETED.into()).or_insert_with(|| "yes".into());
    if claim == before { Ok(Ok(claim)) } else { put(cx, &claim, Subresource::None) }
}

/// Upstream: updateClaimStatus.
fn set_status(
    cx: &mut Cx<'_>,
    mut claim: PersistentVolumeClaim,
    phase: &str,
    volume: Option<&PersistentVolume>,
) -> Step<PersistentVolumeClaim> {
    let before = claim.clone();
    let status = &mut claim.status;
    match volume {
        None => {
            status.access_modes = vec![];
            status.capacity.clear();
        }
        Some(volume) => {
            status.access_modes.clone_from(&volume.spec.access_modes);
            // A claim that grows keeps what it was told.
            if status.phase != phase || status.capacity.is_empty() {
                if let Some(size) = volume.spec.capacity.get("storage") {
                    status.capacity = [("storage".to_owned(), size.clone())].into();
                }
            }
        }
    }
    status.phase = phase.into();
    if claim == before { Ok(Ok(claim)) } else { put(cx, &claim, Subresource::Status) }
}
