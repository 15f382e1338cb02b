//! The revisions of a set: which is current, which is aimed at, and how many old ones stay.
//! Upstream: stateful_set_control.go, getStatefulSetRevisions and truncateHistory (v1.37).

use super::{identity, owner};
use crate::{
    claim::{controller_ref, recheck},
    history,
    stop::{Step, error},
};
use kubestep_control::Cx;
use kubestep_model::{ControllerRevision, Key, PatchKind, Pod, StatefulSet, Subresource, Whole};
use serde_json::json;

/// The two revisions that count, and the number of collisions.
#[derive(Debug)]
pub(super) struct Revisions {
    pub(super) current: ControllerRevision,
    pub(super) update: ControllerRevision,
    pub(super) collisions: i32,
}

/// Takes revisions over that nobody owns. Upstream: adoptOrphanRevisions.
pub(super) fn adopt_orphans(cx: &mut Cx<'_>, set: &StatefulSet) -> Step<()> {
    let all = history::list(cx, owner(set), set.spec.selector.as_ref());
    let orphans: Vec<&ControllerRevision> =
        all.iter().filter(|r| r.metadata.controller().is_none()).collect();
    if orphans.is_empty() {
        return Ok(());
    }
    if let Err(why) = recheck(cx, owner(set))? {
        return Err(why.into());
    }
    for orphan in orphans {
        let meta = &orphan.metadata;
        cx.because(
            "sts.adopt-revision",
            vec![("who", set.metadata.name.to_string()), ("revision", meta.name.to_string())],
        );
        let reference = controller_ref(StatefulSet::KIND, &set.metadata);
        let patch = json!({ "metadata": { "ownerReferences": [reference], "uid": &*meta.uid } });
        let key = Key::new(ControllerRevision::KIND, meta.namespace.clone(), meta.name.clone());
        cx.try_patch(key, Subresource::None, PatchKind::Strategic, patch)??;
    }
    Ok(())
}

/// Finds or makes the revision of the present template, and finds the one that pods are at.
/// Upstream: getStatefulSetRevisions.
pub(super) fn find(cx: &mut Cx<'_>, set: &StatefulSet, all: &[ControllerRevision]) -> Step<Revisions> {
    let mut collisions = set.status.collision_count.unwrap_or(0);
    let number = history::next_number(all);
    let fresh = history::new_revision(owner(set), &set.spec.template, number, collisions);
    let equal = all.iter().rev().find(|r| r.data == fresh.data);
    let update = match equal {
        Some(_) if all.last().is_some_and(|last| last.data == fresh.data) => {
            all.last().cloned().unwrap_or(fresh)
        }
        Some(earlier) => {
            cx.because(
                "sts.revision-again",
                vec![
                    ("who", set.metadata.name.to_string()),
                    ("revision", earlier.metadata.name.to_string()),
                    ("number", number.to_string()),
                ],
            );
            history::renumber(cx, earlier, number)??
        }
        None => {
            cx.because(
                "sts.new-revision",
                vec![
                    ("who", set.metadata.name.to_string()),
                    ("revision", fresh.metadata.name.to_string()),
                    ("number", number.to_string()),
                ],
            );
            history::create_revision(cx, owner(set), fresh, &mut collisions)??
        }
    };
    let current = all.iter().find(|r| *r.metadata.name == *set.status.current_revision);
    Ok(Revisions { current: current.unwrap_or(&update).clone(), update, collisions })
}

/// Deletes the oldest revisions that no pod and no status names. Upstream: truncateHistory.
pub(super) fn truncate(
    cx: &mut Cx<'_>,
    set: &StatefulSet,
    pods: &[&Pod],
    all: &[ControllerRevision],
    found: Option<&Revisions>,
) -> Step<()> {
    let live = |r: &&ControllerRevision| {
        let name = &r.metadata.name;
        found.is_some_and(|f| f.current.metadata.name == *name || f.update.metadata.name == *name)
            || pods.iter().any(|pod| identity::revision(pod) == &**name)
    };
    let old: Vec<&ControllerRevision> = all.iter().filter(|r| !live(r)).collect();
    let Ok(limit) = usize::try_from(set.spec.revision_history_limit.unwrap_or(10)) else { return Ok(()) };
    for revision in old.iter().take(old.len().saturating_sub(limit)) {
        cx.because(
            "sts.trim-history",
            vec![
                ("who", set.metadata.name.to_string()),
                ("limit", limit.to_string()),
                ("revision", revision.metadata.name.to_string()),
            ],
        );
        if let Err(refusal) = history::delete_revision(cx, revision)? {
            return Err(error(refusal.message).into());
        }
    }
    Ok(())
}
