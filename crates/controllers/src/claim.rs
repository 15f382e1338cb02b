//! Whose is it? Adopting orphans that the selector matches, releasing what it no longer matches.
//! Upstream: pkg/controller, ControllerRefManager (v1.37).

use crate::stop::{Step, aggregate, error};
use kubestep_control::{Cx, Halt};
use kubestep_model::{
    Kind, Labels, ObjectMeta, OwnerReference, PatchKind, Reason, Resource, Status, Subresource,
    text::Selector,
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

/// Of `objects` those that `owner` manages now, one request after the other; fails if any of them failed.
pub(crate) fn claim<'a, O: Resource, R: Resource>(
    cx: &mut Cx<'a>,
    owner: &O,
    selector: &Selector,
    objects: impl IntoIterator<Item = &'a R>,
) -> Step<Vec<&'a R>> {
    let (mut claimed, mut errors) = (Vec::new(), Vec::new());
    let mut may_adopt: Option<Result<(), Status>> = None;
    for object in objects {
        let meta = object.meta();
        match decide(owner.meta(), meta, selector.matches(&meta.labels)) {
            Claim::Ours => claimed.push(object),
            Claim::NotOurs => {}
            Claim::Adopt => match adopt(cx, owner, object, &mut may_adopt)? {
                Ok(()) => claimed.push(object),
                Err(status) if status.is_not_found() => {}
                Err(status) => errors.push(status),
            },
            Claim::Release => match release(cx, owner, object)? {
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
fn adopt<O: Resource, R: Resource>(
    cx: &mut Cx<'_>,
    owner: &O,
    object: &R,
    may_adopt: &mut Option<Result<(), Status>>,
) -> Result<Result<(), Status>, Halt> {
    let meta = object.meta();
    let allowed = match may_adopt {
        Some(known) => known.clone(),
        None => may_adopt.insert(recheck(cx, owner)?).clone(),
    };
    if let Err(why) = allowed {
        let (kind, namespace, name, uid) = (R::KIND, &meta.namespace, &meta.name, &meta.uid);
        let text = format!("can't adopt {kind} {namespace}/{name} ({uid}): {}", why.message);
        return Ok(Err(error(text)));
    }
    note(cx, "claim.adopt", owner, object);
    let reference = controller_ref(O::KIND, owner.meta());
    patch(cx, object, json!({ "metadata": { "ownerReferences": [reference], "uid": &*meta.uid } }))
}

/// Lets go of an object whose labels no longer match.
fn release<O: Resource, R: Resource>(
    cx: &mut Cx<'_>,
    owner: &O,
    object: &R,
) -> Result<Result<(), Status>, Halt> {
    note(cx, "claim.release", owner, object);
    let gone = json!([{ "$patch": "delete", "uid": &*owner.meta().uid }]);
    patch(cx, object, json!({ "metadata": { "uid": &*object.meta().uid, "ownerReferences": gone } }))
}

fn note<O: Resource, R: Resource>(cx: &mut Cx<'_>, code: &'static str, owner: &O, object: &R) {
    let object = object.meta().name.to_string();
    cx.because(
        code,
        vec![("who", owner.meta().name.to_string()), ("kind", R::KIND.name().into()), ("object", object)],
    );
}

fn patch<R: Resource>(cx: &mut Cx<'_>, object: &R, patch: Value) -> Result<Result<(), Status>, Halt> {
    Ok(cx.try_patch(object.key(), Subresource::None, PatchKind::Strategic, patch)?.map(drop))
}

/// Reads the owner from the API server itself: it must be the same object and not be going away.
/// Upstream: controller.RecheckDeletionTimestamp.
fn recheck<O: Resource>(cx: &mut Cx<'_>, owner: &O) -> Result<Result<(), Status>, Halt> {
    let meta = owner.meta();
    let (kind, namespace, name) = (O::KIND, &meta.namespace, &meta.name);
    let fresh = match cx.live::<O>(namespace, name)? {
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
    selector: fn(&O) -> Option<&kubestep_model::LabelSelector>,
    labels: &Labels,
) -> Vec<&'v O> {
    if labels.is_empty() {
        return Vec::new();
    }
    owners.filter(|owner| selector(owner).is_some_and(|s| !s.is_empty() && s.matches(labels))).collect()
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
