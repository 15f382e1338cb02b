//! The revisions of a set. Upstream: pkg/controller/daemon/update.go, constructHistory to cleanupHistory (v1.37).

use super::{ByNode, owner, who};
use crate::{
    claim::{Candidate, claim_objects, controller_ref},
    history::{delete_revision, template_patch},
    stop::{Step, error},
    template::compute_hash,
    whole,
};
use kubestep_control::Cx;
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{ControllerRevision, DaemonSet, ObjectMeta, Pod, Status, Whole};
use std::collections::BTreeSet;

/// Upstream: apps.DefaultDaemonSetUniqueLabelKey.
pub(super) const HASH: &str = "controller-revision-hash";

/// The revision of the present template, and the others.
#[derive(Debug)]
pub(super) struct History {
    pub(super) current: ControllerRevision,
    pub(super) old: Vec<ControllerRevision>,
}

/// The hash that pods of a revision carry.
pub(super) fn hash_of(revision: &ControllerRevision) -> &str {
    revision.metadata.labels.get(HASH).map_or("", String::as_str)
}

/// Upstream: controlledHistories.
fn controlled(cx: &mut Cx<'_>, set: &DaemonSet) -> Step<Vec<ControllerRevision>> {
    let selector = set.spec.selector.as_ref();
    let all: Vec<ControllerRevision> = whole::list(cx.view(), &set.metadata.namespace).collect();
    let candidate = |(at, r): (usize, &'_ ControllerRevision)| {
        let matches = selector.is_some_and(|s| s.matches(&r.metadata.labels));
        (at, matches)
    };
    let found: Vec<(usize, bool)> = all.iter().enumerate().map(candidate).collect();
    let objects = found
        .into_iter()
        .map(|(at, matches)| {
            (Candidate { kind: ControllerRevision::KIND, meta: &all[at].metadata, matches }, at)
        })
        .collect();
    let ours: Vec<usize> = claim_objects(cx, owner(set), objects)?;
    Ok(ours.into_iter().map(|at| all[at].clone()).collect())
}

/// Upstream: constructHistory.
pub(super) fn construct(cx: &mut Cx<'_>, set: &DaemonSet) -> Step<History> {
    let data = template_patch(&set.spec.template);
    let (mut current, mut old) = (Vec::new(), Vec::new());
    for mut revision in controlled(cx, set)? {
        if hash_of(&revision).is_empty() {
            let name = revision.metadata.name.to_string();
            revision.metadata.labels.insert(HASH.into(), name);
            revision = whole::replace(cx, &revision)??;
        }
        if revision.data == data { current.push(revision) } else { old.push(revision) }
    }
    let number = old.iter().map(|r| r.revision).max().unwrap_or(0).saturating_add(1);
    if current.is_empty() {
        return Ok(History { current: snapshot(cx, set, number)?, old });
    }
    let mut current = keep_one(cx, set, current)?;
    if current.revision < number {
        let about =
            vec![who(set), ("revision", current.metadata.name.to_string()), ("number", number.to_string())];
        cx.because("ds.revision-again", about);
        current.revision = number;
        current = whole::replace(cx, &current)??;
    }
    Ok(History { current, old })
}

/// Of several revisions with the present template the newest stays. Upstream: dedupCurHistories.
fn keep_one(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    mut current: Vec<ControllerRevision>,
) -> Step<ControllerRevision> {
    current.arrange_by_key(|r| r.revision);
    let Some(keep) = current.pop() else { return Err(error("no revision".into()).into()) };
    for other in current {
        let here = cx.view().owned_by::<Pod>(&set.metadata.uid);
        let marked = here.filter(|pod| pod.metadata.labels.get(HASH).is_some_and(|h| h == hash_of(&other)));
        for pod in marked.cloned().collect::<Vec<Pod>>() {
            let mut pod = pod;
            pod.metadata.labels.insert(HASH.into(), hash_of(&keep).to_owned());
            cx.try_replace(pod)??;
        }
        delete_revision(cx, &other)??;
    }
    Ok(keep)
}

/// Stores the present template. Upstream: snapshot.
fn snapshot(cx: &mut Cx<'_>, set: &DaemonSet, number: i64) -> Step<ControllerRevision> {
    let template = &set.spec.template;
    let hash = compute_hash(template, set.status.collision_count);
    let mut labels = template.metadata.labels.clone();
    labels.insert(HASH.into(), hash.clone());
    let metadata = ObjectMeta {
        name: format!("{}-{hash}", set.metadata.name).into(),
        namespace: set.metadata.namespace.clone(),
        labels,
        annotations: set.metadata.annotations.clone(),
        owner_references: vec![controller_ref(DaemonSet::KIND, &set.metadata)],
        ..Default::default()
    };
    let revision = ControllerRevision {
        metadata,
        data: template_patch(template),
        revision: number,
        ..Default::default()
    };
    let name = revision.metadata.name.to_string();
    cx.because("ds.new-revision", vec![who(set), ("revision", name.clone()), ("number", number.to_string())]);
    match whole::create(cx, &revision)? {
        Ok(stored) => Ok(stored),
        Err(refusal) if refusal.is_already_exists() => {
            let there: ControllerRevision = whole::live(cx, &set.metadata.namespace, &name)??;
            if there.data == revision.data {
                return Ok(there);
            }
            Err(collision(cx, set, refusal)?.into())
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The name is taken by other data: counts a collision, so that the next pass computes another hash.
fn collision(cx: &mut Cx<'_>, set: &DaemonSet, refusal: Status) -> Step<Status> {
    let mut fresh: DaemonSet = whole::live(cx, &set.metadata.namespace, &set.metadata.name)??;
    let (now, before) = (fresh.status.collision_count, set.status.collision_count);
    if now != before {
        let text = format!(
            "found a stale collision count ({}, expected {}) of DaemonSet \"{}\" while processing; will retry until it is updated",
            before.unwrap_or(0),
            now.unwrap_or(0),
            set.metadata.name
        );
        return Ok(error(text));
    }
    fresh.status.collision_count = Some(now.unwrap_or(0).saturating_add(1));
    whole::set_status(cx, &fresh)??;
    Ok(refusal)
}

/// Deletes the oldest revisions that no pod is of. Upstream: cleanupHistory.
pub(super) fn clean_up(
    cx: &mut Cx<'_>,
    set: &DaemonSet,
    pods: &ByNode<'_>,
    old: &[ControllerRevision],
) -> Step<()> {
    let keep = usize::try_from(set.spec.revision_history_limit.unwrap_or(10)).unwrap_or(0);
    let surplus = old.len().saturating_sub(keep);
    if surplus == 0 {
        return Ok(());
    }
    let live: BTreeSet<&str> =
        pods.values().flatten().filter_map(|pod| pod.metadata.labels.get(HASH)).map(String::as_str).gather();
    let mut sorted: Vec<&ControllerRevision> = old.iter().collect();
    sorted.arrange_by_key(|r| r.revision);
    for revision in sorted.into_iter().filter(|r| !live.contains(hash_of(r))).take(surplus) {
        cx.because("ds.trim-history", vec![who(set), ("revision", revision.metadata.name.to_string())]);
        delete_revision(cx, revision)??;
    }
    Ok(())
}
