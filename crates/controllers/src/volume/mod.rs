//! Storage: claims find volumes, volumes are made, and nothing that is in use goes away.
//!
//! Upstream: pkg/controller/volume (v1.37): persistentvolume, pvcprotection, pvprotection, ephemeral, expand. Left out:
//! recycling of volumes, attaching, snapshots.

mod binder;
mod claim_protection;
mod claims;
pub(crate) mod ephemeral;
mod expand;
pub mod matching;
mod provisioner;
mod volume_protection;
mod volumes;

pub use binder::VolumeBinder;
pub use claim_protection::ClaimProtection;
pub(crate) use claims::with_claim;
pub use ephemeral::EphemeralVolumes;
pub use expand::Expander;
pub use provisioner::{PROVISIONER, Provisioner};
pub use volume_protection::VolumeProtection;

use crate::sentences::Sentence;
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Key, Kind, ObjectReference, PersistentVolume, PersistentVolumeClaim, Pod, Status, Subresource, Volume,
    Whole,
};

/// A wish for storage.
pub const CLAIM: Kind = Kind::other("", "PersistentVolumeClaim");
/// A piece of storage.
pub const VOLUME: Kind = Kind::other("", "PersistentVolume");
/// A kind of storage.
pub const CLASS: Kind = Kind::other("storage.k8s.io", "StorageClass");

pub(crate) const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
pub(crate) const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
pub(crate) const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
pub(crate) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
pub(crate) const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
const BETA_STORAGE_PROVISIONER: &str = "volume.beta.kubernetes.io/storage-provisioner";

/// The name of the claim that is made for a volume of a pod. Upstream: component-helpers, ephemeral.VolumeClaimName.
pub(crate) fn own_claim_name(pod: &Pod, volume: &Volume) -> String {
    format!("{}-{}", pod.metadata.name, volume.name)
}

/// The claims that a pod names, and those that are made for it, which are marked.
pub(crate) fn claims_of(pod: &Pod) -> Vec<(String, bool)> {
    let of = |volume: &Volume| {
        let named = volume.rest.get("persistentVolumeClaim").and_then(|c| c.get("claimName")?.as_str());
        let own = volume.rest.contains_key("ephemeral").then(|| (own_claim_name(pod, volume), true));
        named.map(|name| (name.to_owned(), false)).or(own)
    };
    pod.spec.volumes.iter().filter_map(of).collect()
}

/// The names of the claims of a pod.
pub fn claim_names(pod: &Pod) -> Vec<String> {
    claims_of(pod).into_iter().map(|(name, _)| name).collect()
}

/// The reference by which a volume names its claim.
pub(crate) fn reference_to(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference {
        kind: CLAIM.name().into(),
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        api_version: CLAIM.api_version(),
        resource_version: claim.metadata.resource_version.clone(),
        ..Default::default()
    }
}

fn key_of(claim: &PersistentVolumeClaim) -> Key {
    Key::new(CLAIM, claim.metadata.namespace.clone(), claim.metadata.name.clone())
}

fn volume_named(cx: &Cx<'_>, name: &str) -> Option<PersistentVolume> {
    cx.view().object(&Key::new(VOLUME, "", name)).and_then(PersistentVolume::read)
}

/// Writes an object back and reads what became of it; a refusal is handed on.
fn put<W: Whole>(cx: &mut Cx<'_>, object: &W, part: Subresource) -> Result<Result<W, Status>, Halt> {
    let written = cx.try_replace_object(object.to_object(), part)?;
    Ok(written.and_then(|o| W::read(&o).ok_or_else(|| Status::bad_request("the answer is of another kind"))))
}

/// What the codes of this module mean.
pub static SENTENCES: &[Sentence] = &[
    Sentence {
        code: "pv.bind",
        text: "The volume {volume} suits the claim {claim}: the two are bound to each other.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, bind",
    },
    Sentence {
        code: "pv.no-volume",
        text: "No volume suits the claim {claim}, and no class is named that could make one: it waits.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, syncUnboundClaim",
    },
    Sentence {
        code: "pv.wait-for-consumer",
        text: "The claim {claim} is bound only when a pod that wants it has a node.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, emitEventForUnboundDelayBindingClaim",
    },
    Sentence {
        code: "pv.provision",
        text: "The claim {claim} is left to the provisioner {provisioner}.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, provisionClaimOperationExternal",
    },
    Sentence {
        code: "pv.lost",
        text: "The claim {claim} has lost its volume.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, syncBoundClaim",
    },
    Sentence {
        code: "pv.release",
        text: "The claim of the volume {volume} is gone: it is released, and what happens next is its reclaim policy {policy}.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, syncVolume",
    },
    Sentence {
        code: "pv.unbind",
        text: "The claim of the volume {volume} found another one: the volume is free again.",
        upstream: "pkg/controller/volume/persistentvolume/pv_controller.go, unbindVolume",
    },
    Sentence {
        code: "pvc.in-use",
        text: "The claim {claim} is deleted and still used by pod {pod}: it stays until the pod is gone.",
        upstream: "pkg/controller/volume/pvcprotection/pvc_protection_controller.go, isBeingUsed",
    },
    Sentence {
        code: "pvc.let-go",
        text: "No pod uses the claim {claim}: it may go.",
        upstream: "pkg/controller/volume/pvcprotection/pvc_protection_controller.go, removeFinalizer",
    },
    Sentence {
        code: "pvc.ephemeral",
        text: "The pod {pod} describes a volume of its own: the claim {claim} is made for it, and goes with it.",
        upstream: "pkg/controller/volume/ephemeral/controller.go, handleVolume",
    },
    Sentence {
        code: "pvc.grow",
        text: "The claim {claim} asks for more than its volume has: it waits for a program that makes volumes larger.",
        upstream: "pkg/controller/volume/expand/expand_controller.go, syncHandler",
    },
    Sentence {
        code: "pv.let-go",
        text: "The volume {volume} is bound to nothing: it may go.",
        upstream: "pkg/controller/volume/pvprotection/pv_protection_controller.go, removeFinalizer",
    },
    Sentence {
        code: "pv.made",
        text: "The provisioner makes the volume {volume} for the claim {claim}.",
        upstream: "sigs.k8s.io/sig-storage-lib-external-provisioner",
    },
    Sentence {
        code: "pv.unmade",
        text: "The claim of the volume {volume} is gone: the provisioner takes the volume away.",
        upstream: "sigs.k8s.io/sig-storage-lib-external-provisioner",
    },
];

#[cfg(test)]
mod tests;
