//! Whose is it? Adopting orphans that the selector matches, releasing what it no longer matches.
//! Upstream: pkg/controller, ControllerRefManager (v1.37).

use crate::stop::{Step, aggregate, error};
use kubestep_control::{Cx, Halt, View, Wake};
use kubestep_model::{
    Key, Kind, LabelSelector, Labels, Object, ObjectMeta, OwnerReference, PatchKind, Pod, Reason, Resource,
    Status, Subresource, Whole, text::Selector,
};
use serde_json::{Value, json};

/// The reference that makes `owner` the manager of an object. Upstream: metav1.NewControllerRef.
pub fn controller_ref(kind: Kind, owner: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: kind.api_version(),
        kind: kind.name().into(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..Default::default()
    }
}

/// Whether `owner` manages the object. Upstream: metav1.IsControlledBy.
pub fn is_controlled_by(object: &ObjectMeta, owner: &ObjectMeta) -> bool {
    object.controller().is_some_and(|reference| reference.uid == owner.uid)
}

/// What is done about one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Ours,
    NotOurs,
    Adopt,
    Release,
}

/// Upstream: BaseControllerRefManager.ClaimObject.
fn decide(owner: &ObjectMeta, object: &ObjectMeta, matches: bool) -> Claim {
    if let Some(reference) = object.controller() {
        return match (reference.uid == owner.uid, matches) {
            (false, _) => Claim::NotOurs,
            (true, true) => Claim::Ours,
            (true, false) if owner.is_terminating() => Claim::NotOurs,
            (true, false) => Claim::Release,
        };
    }
    let foreign = !owner.namespace.is_empty() && owner.namespace != object.namespace;
    if owner.is_terminating() || !matches || object.is_terminating() || foreign {
        Claim::NotOurs
    } else {
        Claim::Adopt
    }
}

/// Who claims: the kind and the metadata of an owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'o> {
    pub(crate) kind: Kind,
    pub(crate) meta: &'o ObjectMeta,
}

/// What is claimed: an object's kind and metadata, and whether the owner wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'c> {
    pub(crate) kind: Kind,
    pub(crate) meta: &'c ObjectMeta,
    pub(crate) matches: bool,
}

/// Of `objects` those that `owner` manages now, one request after the other; fails if any of them failed.
pub(crate) fn claim<'a, O: Resource, R: Resource>(
    cx: &mut Cx<'a>,
    owner: &O,
    selector: &Selector,
    objects: impl IntoIterator<Item = &'a R>,
) -> Step<Vec<&'a R>> {
    claim_pods_for(cx, Owner { kind: O::KIND, meta: owner.meta() }, objects, |meta| {
        selector.matches(&meta.labels)
    })
}

/// The same for an owner of any kind, and by more than labels.
pub(crate) fn claim_pods_for<'a, R: Resource>(
    cx: &mut Cx<'a>,
    owner: Owner<'_>,
    objects: impl IntoIterator<Item = &'a R>,
    matches: impl Fn(&ObjectMeta) -> bool,
) -> Step<Vec<&'a R>> {
    let candidate = |object: &'a R| {
        let meta = object.meta();
        (Candidate { kind: R::KIND, meta, matches: matches(meta) }, object)
    };
    claim_objects(cx, owner, objects.into_iter().map(candidate).collect())
}

/// The same for objects of any kind.
pub(crate) fn claim_objects<T>(
    cx: &mut Cx<'_>,
    owner: Owner<'_>,
    objects: Vec<(Candidate<'_>, T)>,
) -> Step<Vec<T>> {
    let (mut claimed, mut errors) = (Vec::new(), Vec::new());
    let mut may_adopt: Option<Result<(), Status>> = None;
    for (candidate, object) in objects {
        match decide(owner.meta, candidate.meta, candidate.matches) {
            Claim::Ours => claimed.push(object),
            Claim::NotOurs => {}
            Claim::Adopt => match adopt(cx, owner, candidate, &mut may_adopt)? {
                Ok(()) => claimed.push(object),
                Err(status) if status.is_not_found() => {}
                Err(status) => errors.push(status),
            },
            Claim::Release => match release(cx, owner, candidate)? {
                Ok(()) => {}
                Err(status) if status.is_not_found() || status.reason == Reason::Invalid => {}
                Err(status) => errors.push(status),
            },
        }
    }
    match aggregate(errors) {
        Some(status) => Err(status.into()),
        None => Ok(claimed),
    }
}

/// Takes an orphan over, after one look past the cache whether the owner is still wanted.
fn adopt(
    cx: &mut Cx<'_>,
    owner: Owner<'_>,
    object: Candidate<'_>,
    may_adopt: &mut Option<Result<(), Status>>,
) -> Result<Result<(), Status>, Halt> {
    let meta = object.meta;
    let allowed = match may_adopt {
        Some(known) => known.clone(),
        None => may_adopt.insert(recheck(cx, owner)?).clone(),
    };
    if let Err(why) = allowed {
        let (kind, namespace, name, uid) = (object.kind, &meta.namespace, &meta.name, &meta.uid);
        let text = format!("can't adopt {kind} {namespace}/{name} ({uid}): {}", why.message);
        return Ok(Err(error(text)));
    }
    note(cx, "claim.adopt", owner, object);
    let reference = controller_ref(owner.kind, owner.meta);
    let mut metadata = json!({ "ownerReferences": [reference], "uid": &*meta.uid });
    if owner.kind.name() == "Job" {
        metadata["finalizers"] = json!([JOB_TRACKING]);
    }
    patch(cx, object, json!({ "metadata": metadata }))
}

/// Lets go of an object whose labels no longer match.
fn release(cx: &mut Cx<'_>, owner: Owner<'_>, object: Candidate<'_>) -> Result<Result<(), Status>, Halt> {
    note(cx, "claim.release", owner, object);
    let gone = json!([{ "$patch": "delete", "uid": &*owner.meta.uid }]);
    let mut metadata = json!({ "uid": &*object.meta.uid, "ownerReferences": gone });
    if owner.kind.name() == "Job" {
        // A pod that is let go of needs no more counting.
        metadata["$deleteFromPrimitiveList/finalizers"] = json!([JOB_TRACKING]);
    }
    patch(cx, object, json!({ "metadata": metadata }))
}

/// The finalizer that keeps a job's pod until it is counted.
pub(crate) const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";

fn note(cx: &mut Cx<'_>, code: &'static str, owner: Owner<'_>, object: Candidate<'_>) {
    let name = object.meta.name.to_string();
    cx.because(
        code,
        vec![("who", owner.meta.name.to_string()), ("kind", object.kind.name().into()), ("object", name)],
    );
}

fn patch(cx: &mut Cx<'_>, object: Candidate<'_>, patch: Value) -> Result<Result<(), Status>, Halt> {
    let key = Key::new(object.kind, object.meta.namespace.clone(), object.meta.name.clone());
    Ok(cx.try_patch(key, Subresource::None, PatchKind::Strategic, patch)?.map(drop))
}

/// Reads the owner from the API server itself: it must be the same object and not be going away.
/// Upstream: controller.RecheckDeletionTimestamp.
pub(crate) fn recheck(cx: &mut Cx<'_>, owner: Owner<'_>) -> Result<Result<(), Status>, Halt> {
    let meta = owner.meta;
    let (kind, namespace, name) = (owner.kind, &meta.namespace, &meta.name);
    let fresh = match cx.live_object(Key::new(kind, namespace.clone(), name.clone()))? {
        Ok(fresh) => fresh,
        Err(status) => return Ok(Err(error(format!("can't recheck DeletionTimestamp: {}", status.message)))),
    };
    let fresh = fresh.meta();
    if fresh.uid != meta.uid {
        let uids = format!("got uid {}, wanted {}", fresh.uid, meta.uid);
        let gone = format!("original {kind} {namespace}/{name} is gone: {uids}");
        return Ok(Err(error(format!("can't recheck DeletionTimestamp: {gone}"))));
    }
    if let Some(at) = fresh.deletion_timestamp {
        return Ok(Err(error(format!("{namespace}/{name} has just been deleted at {at}"))));
    }
    Ok(Ok(()))
}

/// The owners of one kind in this namespace whose (not empty) selector matches these labels.
pub(crate) fn matching<'v, O: Resource + 'v>(
    owners: impl Iterator<Item = &'v O>,
    selector: fn(&O) -> Option<&LabelSelector>,
    labels: &Labels,
) -> Vec<&'v O> {
    if labels.is_empty() {
        return Vec::new();
    }
    owners.filter(|owner| selector(owner).is_some_and(|s| !s.is_empty() && s.matches(labels))).collect()
}

/// Owners of a kind kept whole whose (not empty) selector matches this pod: all are looked at.
pub(crate) fn matching_whole<W: Whole>(
    view: &View,
    pod: &Pod,
    selector: fn(&W) -> Option<&LabelSelector>,
) -> Vec<Wake> {
    let labels = &pod.metadata.labels;
    if labels.is_empty() {
        return Vec::new();
    }
    let wants = |owner: &W| selector(owner).is_some_and(|s| !s.is_empty() && s.matches(labels));
    let wake = |object: &Object| W::read(object).filter(wants).map(|_| Wake::now(object.key()));
    view.objects_of(W::KIND, Some(&pod.metadata.namespace)).filter_map(wake).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(uid: &str) -> ObjectMeta {
        ObjectMeta { uid: uid.into(), namespace: "default".into(), ..Default::default() }
    }

    #[test]
    fn what_is_done_about_an_object() {
        let owner = meta("owner");
        let mut going = owner.clone();
        going.deletion_timestamp = Some(kubestep_model::Time(1));
        let orphan = meta("orphan");
        let mut ours = orphan.clone();
        ours.owner_references = vec![controller_ref(Kind::ReplicaSet, &owner)];
        let mut theirs = orphan.clone();
        theirs.owner_references = vec![controller_ref(Kind::ReplicaSet, &meta("other"))];
        let mut dying = orphan.clone();
        dying.deletion_timestamp = Some(kubestep_model::Time(1));
        let mut elsewhere = orphan.clone();
        elsewhere.namespace = "other".into();
        let rows: &[(&ObjectMeta, &ObjectMeta, bool, Claim)] = &[
            (&owner, &ours, true, Claim::Ours),
            (&owner, &ours, false, Claim::Release),
            (&going, &ours, true, Claim::Ours),
            (&going, &ours, false, Claim::NotOurs),
            (&owner, &theirs, true, Claim::NotOurs),
            (&owner, &orphan, true, Claim::Adopt),
            (&owner, &orphan, false, Claim::NotOurs),
            (&going, &orphan, true, Claim::NotOurs),
            (&owner, &dying, true, Claim::NotOurs),
            (&owner, &elsewhere, true, Claim::NotOurs),
        ];
        for (i, (owner, object, matches, want)) in rows.iter().enumerate() {
            assert_eq!(decide(owner, object, *matches), *want, "row {i}");
        }
    }
}
