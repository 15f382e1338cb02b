//! One look at a volume. Upstream: pv_controller.go, syncVolume (v1.37).

use super::{BOUND_BY_CONTROLLER, CLAIM, PROVISIONED_BY, binder, matching::modes_differ, put};
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    DeleteOptions, Key, PersistentVolume, PersistentVolumeClaim, Status, Subresource, Whole,
};

type Step<T> = Result<Result<T, Status>, Halt>;

pub(super) fn sync(cx: &mut Cx<'_>, volume: PersistentVolume) -> Step<()> {
    let Some(reference) = volume.spec.claim_ref.clone() else {
        return phase(cx, volume, "Available", "").map(drop_value);
    };
    // Kept for a claim that has not been bound yet.
    if reference.uid.is_empty() {
        return phase(cx, volume, "Available", "").map(drop_value);
    }
    let key = Key::new(CLAIM, reference.namespace.clone(), reference.name.clone());
    let mut claim = cx.view().object(&key).and_then(PersistentVolumeClaim::read);
    let ended = matches!(volume.status.phase.as_str(), "Released" | "Failed");
    // Before a volume is given up, the API server itself is asked.
    if claim.as_ref().is_none_or(|c| c.metadata.uid != reference.uid) && !ended {
        claim = match cx.live_object(key)? {
            Ok(found) => PersistentVolumeClaim::read(&found),
            Err(status) if status.is_not_found() => None,
            Err(status) => return Ok(Err(status)),
        };
    }
    match claim.filter(|c| c.metadata.uid == reference.uid) {
        None => released(cx, volume),
        Some(claim) if claim.spec.volume_name.is_empty() => {
            if modes_differ(&volume, &claim) {
                differ(cx, &volume, &claim);
            } else {
                binder::again(cx, &claim);
            }
            Ok(Ok(()))
        }
        Some(claim) if *claim.spec.volume_name == *volume.metadata.name => {
            phase(cx, volume, "Bound", "").map(drop_value)
        }
        Some(_) => bound_elsewhere(cx, volume),
    }
}

fn drop_value<T>(step: Result<T, Status>) -> Result<(), Status> {
    step.map(drop)
}

fn differ(cx: &mut Cx<'_>, volume: &PersistentVolume, claim: &PersistentVolumeClaim) {
    let of = |kind: &str, name: &str, other: &str| {
        format!(
            "Cannot bind PersistentVolume to requested {kind} {name:?} due to incompatible volumeMode.{other}"
        )
    };
    let text = of("PersistentVolumeClaim", &claim.metadata.name, "");
    cx.event(&volume.to_object(), "Warning", "VolumeMismatch", text);
    let text = format!(
        "Cannot bind PersistentVolume {:?} to requested PersistentVolumeClaim due to incompatible volumeMode.",
        &*volume.metadata.name
    );
    cx.event(&claim.to_object(), "Warning", "VolumeMismatch", text);
}

/// Its claim is gone.
fn released(cx: &mut Cx<'_>, volume: PersistentVolume) -> Step<()> {
    let policy = volume.spec.persistent_volume_reclaim_policy.clone();
    let mut volume = volume;
    if !matches!(volume.status.phase.as_str(), "Released" | "Failed") {
        cx.because("pv.release", vec![("volume", volume.metadata.name.to_string()), ("policy", policy)]);
        volume = match phase(cx, volume, "Released", "")? {
            Ok(volume) => volume,
            Err(status) => return Ok(Err(status)),
        };
    }
    reclaim(cx, volume)
}

/// What its policy wants. Volumes that a provisioner made are the provisioner's. Upstream: reclaimVolume.
fn reclaim(cx: &mut Cx<'_>, volume: PersistentVolume) -> Step<()> {
    if volume.metadata.is_terminating() || volume.metadata.annotations.contains_key(PROVISIONED_BY) {
        return Ok(Ok(()));
    }
    match volume.spec.persistent_volume_reclaim_policy.as_str() {
        "Delete" => remove(cx, volume),
        "Recycle" => {
            failed(cx, volume, "VolumeFailedRecycle", "Volume is not recycled here: there is no recycler pod")
        }
        _ => Ok(Ok(())),
    }
}

/// Upstream: deleteVolumeOperation; the only plugin that removes volumes by itself is the host path's, below /tmp.
fn remove(cx: &mut Cx<'_>, volume: PersistentVolume) -> Step<()> {
    let path = volume.spec.rest.get("hostPath").and_then(|h| h.get("path")?.as_str()).map(str::to_owned);
    let Some(path) = path else {
        let name = &volume.metadata.name;
        let text = format!(
            "error getting deleter volume plugin for volume {name:?}: no deletable volume plugin matched"
        );
        return failed(cx, volume, "VolumeFailedDelete", &text);
    };
    if !path.strip_prefix("/tmp/").is_some_and(|rest| !rest.is_empty()) {
        let text = format!("host_path deleter only supports /tmp/.+ but received provided {path}");
        return failed(cx, volume, "VolumeFailedDelete", &text);
    }
    let key = volume.to_object().key();
    Ok(match cx.try_delete(key, DeleteOptions::default())? {
        Err(status) if !status.is_not_found() => Err(status),
        _ => Ok(()),
    })
}

fn failed(cx: &mut Cx<'_>, volume: PersistentVolume, reason: &str, text: &str) -> Step<()> {
    if volume.status.phase == "Failed" {
        return Ok(Ok(()));
    }
    let written = phase(cx, volume, "Failed", text)?;
    if let Ok(volume) = &written {
        cx.event(&volume.to_object(), "Warning", reason, text.into());
    }
    Ok(written.map(drop))
}

/// Its claim found another volume.
fn bound_elsewhere(cx: &mut Cx<'_>, volume: PersistentVolume) -> Step<()> {
    let made_for_it = volume.metadata.annotations.contains_key(PROVISIONED_BY)
        && volume.spec.persistent_volume_reclaim_policy == "Delete";
    if made_for_it { released(cx, volume) } else { unbind(cx, volume) }
}

/// Frees a volume; one that a person had reserved stays reserved. Upstream: unbindVolume.
fn unbind(cx: &mut Cx<'_>, mut volume: PersistentVolume) -> Step<()> {
    cx.because("pv.unbind", vec![("volume", volume.metadata.name.to_string())]);
    if volume.metadata.annotations.remove(BOUND_BY_CONTROLLER).is_some() {
        volume.spec.claim_ref = None;
    } else if let Some(reference) = &mut volume.spec.claim_ref {
        reference.uid = "".into();
    }
    match put(cx, &volume, Subresource::None)? {
        Ok(volume) => phase(cx, volume, "Available", "").map(drop_value),
        Err(status) => Ok(Err(status)),
    }
}

/// Writes the phase, if it is another one. Upstream: updateVolumePhase.
pub(super) fn phase(
    cx: &mut Cx<'_>,
    mut volume: PersistentVolume,
    phase: &str,
    message: &str,
) -> Step<PersistentVolume> {
    if volume.status.phase == phase {
        return Ok(Ok(volume));
    }
    volume.status.phase = phase.into();
    volume.status.message = message.into();
    put(cx, &volume, Subresource::Status)
}
