//! The ReplicaSet of the present template: found and brought up to date, or created.
//! Upstream: sync.go, getNewReplicaSet (v1.37).

use super::{
    arithmetic::new_set_replicas,
    conditions::{self, FAILED_CREATE, FOUND_NEW, NEW_REPLICA_SET, PROGRESSING, condition},
    history::{REVISION, max_revision, set_deployment_revision, set_new_set_annotations},
    progress::has_progress_deadline,
    sets::{Set, new_and_old, wanted},
};
use crate::{
    claim::{controller_ref, is_controlled_by},
    stop::{Step, namespace_terminating},
    template::{POD_TEMPLATE_HASH, compute_hash, equal_ignore_hash},
};
use kubestep_control::Cx;
use kubestep_model::{Deployment, Kind, LabelSelector, ObjectMeta, ReplicaSet, ReplicaSetSpec, Status};
use std::borrow::Cow;

/// The longest name of an object. Upstream: validation.DNS1123SubdomainMaxLength.
const LONGEST_NAME: usize = 253;

/// The new ReplicaSet (if there is one or `create` is set) and the old ones, oldest first.
/// Upstream: getAllReplicaSetsAndSyncRevision.
pub(super) fn new_and_old_synced<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    list: &[&'a ReplicaSet],
    create: bool,
) -> Step<(Option<Set<'a>>, Vec<Set<'a>>)> {
    let (existing, old) = new_and_old(d, list);
    let revision = max_revision(old.iter().map(|set| &**set)).wrapping_add(1);
    let new = match existing {
        Some(existing) => Some(up_to_date(cx, d, existing, revision)?),
        None if create => Some(created(cx, d, &old, revision)?),
        None => None,
    };
    Ok((new, old))
}

/// Brings annotations and minReadySeconds of the new ReplicaSet up to date, or else the Deployment's revision.
fn up_to_date<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    existing: &'a ReplicaSet,
    revision: i64,
) -> Step<Set<'a>> {
    let mut set = existing.clone();
    let annotated = set_new_set_annotations(d, &mut set, revision, true);
    if annotated || set.spec.min_ready_seconds != d.spec.min_ready_seconds {
        set.spec.min_ready_seconds = d.spec.min_ready_seconds;
        cx.because(
            "deploy.annotate",
            vec![("who", d.metadata.name.to_string()), ("set", set.metadata.name.to_string())],
        );
        return Ok(Cow::Owned(cx.try_replace(set)??));
    }
    let written = set.metadata.annotations.get(REVISION).cloned().unwrap_or_default();
    let mut update = set_deployment_revision(d, &written);
    if has_progress_deadline(d) && conditions::find(&d.status, PROGRESSING).is_none() {
        let message = format!("Found new replica set \"{}\"", set.metadata.name);
        conditions::set(&mut d.status, condition(PROGRESSING, "True", FOUND_NEW, message, cx.now()));
        update = true;
    }
    if update {
        cx.because(
            "deploy.found-set",
            vec![("who", d.metadata.name.to_string()), ("set", set.metadata.name.to_string())],
        );
        cx.try_set_status(d.clone())??;
    }
    Ok(Cow::Borrowed(existing))
}

/// The ReplicaSet to be created for the present template, at size 0.
fn blueprint(d: &Deployment) -> ReplicaSet {
    let hash = compute_hash(&d.spec.template, d.status.collision_count);
    let mut template = d.spec.template.clone();
    template.metadata.labels.insert(POD_TEMPLATE_HASH.into(), hash.clone());
    let mut selector: LabelSelector = d.spec.selector.clone().unwrap_or_default();
    selector.match_labels.insert(POD_TEMPLATE_HASH.into(), hash.clone());
    ReplicaSet {
        metadata: ObjectMeta {
            name: set_name(&d.metadata.name, &hash).into(),
            namespace: d.metadata.namespace.clone(),
            owner_references: vec![controller_ref(Kind::Deployment, &d.metadata)],
            labels: template.metadata.labels.clone(),
            ..Default::default()
        },
        spec: ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: d.spec.min_ready_seconds,
            selector: Some(selector),
            template,
            ..Default::default()
        },
        ..Default::default()
    }
}

/// The Deployment's name, cut where it would be too long, and the hash. Upstream: generateReplicaSetName.
fn set_name(deployment: &str, hash: &str) -> String {
    let longest = LONGEST_NAME.saturating_sub(1 + hash.len());
    let cut = deployment.get(..longest).filter(|_| longest > 0).unwrap_or(deployment);
    format!("{cut}-{hash}")
}

fn created<'a>(cx: &mut Cx<'a>, d: &mut Deployment, old: &[Set<'a>], revision: i64) -> Step<Set<'a>> {
    let mut set = blueprint(d);
    let size = new_set_replicas(d, wanted(old), 0)?;
    set.spec.replicas = Some(size);
    set_new_set_annotations(d, &mut set, revision, false);
    let (who, name) = (d.metadata.name.to_string(), set.metadata.name.clone());
    cx.because("deploy.new-set", vec![("who", who), ("set", name.to_string()), ("want", size.to_string())]);
    match cx.try_create(set)? {
        Ok(set) => {
            if size > 0 {
                let message = format!("Scaled up replica set {} from 0 to {size}", set.metadata.name);
                cx.event(&d.clone().into(), "Normal", "ScalingReplicaSet", message);
            }
            let mut update = set_deployment_revision(d, &revision.to_string());
            if has_progress_deadline(d) {
                let message = format!("Created new replica set \"{}\"", set.metadata.name);
                conditions::set(
                    &mut d.status,
                    condition(PROGRESSING, "True", NEW_REPLICA_SET, message, cx.now()),
                );
                update = true;
            }
            if update {
                cx.try_set_status(d.clone())??;
            }
            Ok(Cow::Owned(set))
        }
        Err(status) if status.is_already_exists() => taken(cx, d, &name, revision, status),
        Err(status) if namespace_terminating(&status) => Err(status.into()),
        Err(status) => refused(cx, d, &name, status),
    }
}

/// The name was there already: it is ours (the cache was slow), or another one has the same hash.
fn taken<'a>(
    cx: &mut Cx<'a>,
    d: &mut Deployment,
    name: &str,
    revision: i64,
    status: Status,
) -> Step<Set<'a>> {
    let there = cx.get::<ReplicaSet>(&d.metadata.namespace, name);
    let there = there.ok_or_else(|| Status::not_found(Kind::ReplicaSet, name))?;
    let ours = is_controlled_by(&there.metadata, &d.metadata);
    if ours && equal_ignore_hash(&d.spec.template, &there.spec.template) {
        if set_deployment_revision(d, &revision.to_string()) {
            cx.try_set_status(d.clone())??;
        }
        return Ok(Cow::Borrowed(there));
    }
    let count = d.status.collision_count.unwrap_or(0).wrapping_add(1);
    d.status.collision_count = Some(count);
    let who = d.metadata.name.to_string();
    cx.because(
        "deploy.collision",
        vec![("who", who), ("set", name.to_owned()), ("count", count.to_string())],
    );
    // Upstream does not look at the answer: the pass fails with the first refusal and is tried again.
    cx.try_set_status(d.clone())?.ok();
    Err(status.into())
}

/// The create was refused: the Deployment says so in its status and in an event.
fn refused<'a>(cx: &mut Cx<'a>, d: &mut Deployment, name: &str, status: Status) -> Step<Set<'a>> {
    let message = format!("Failed to create new replica set \"{name}\": {}", status.message);
    let who = d.metadata.name.to_string();
    cx.because(
        "deploy.create-refused",
        vec![("who", who), ("set", name.to_owned()), ("why", status.message.clone())],
    );
    if has_progress_deadline(d) {
        conditions::set(
            &mut d.status,
            condition(PROGRESSING, "False", FAILED_CREATE, message.clone(), cx.now()),
        );
        // Upstream does not look at the answer: there is a bigger problem to report.
        cx.try_set_status(d.clone())?.ok();
    }
    cx.event(&d.clone().into(), "Warning", FAILED_CREATE, message);
    Err(status.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_for_the_hash() {
        assert_eq!(set_name("web", "677cd8668c"), "web-677cd8668c");
        let name = set_name(&"a".repeat(253), "677cd8668c");
        assert_eq!(name.len(), LONGEST_NAME);
        assert!(name.ends_with("a-677cd8668c"));
    }
}
