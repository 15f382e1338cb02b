//! Revisions of a template, kept as ControllerRevisions.
//!
//! Upstream: pkg/controller/history (v1.37), controller_history.go; newRevision and getPatch of the stateful set and
//! daemon set controllers.

use crate::{
    claim::{Owner, controller_ref},
    whole,
};
use kubestep_control::{Cx, Halt};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    ControllerRevision, DeleteOptions, Key, LabelSelector, ObjectMeta, PodTemplateSpec, Status, Whole,
    text::hash::controller_revision_hash,
};
use serde_json::{Value, json};

/// The label of a revision that repeats the hash in its name. Upstream: history.ControllerRevisionHashLabel.
const HASH: &str = "controller.kubernetes.io/hash";
/// A revision's name keeps so much of its owner's. Upstream: ControllerRevisionName.
const LONGEST_PREFIX: usize = 223;

/// What a revision holds: a patch that puts this template in place of any other. Upstream: getPatch.
pub(crate) fn template_patch(template: &PodTemplateSpec) -> Value {
    let mut template = serde_json::to_value(template).unwrap_or_default();
    if let Value::Object(fields) = &mut template {
        fields.insert("$patch".into(), "replace".into());
    }
    json!({ "spec": { "template": template } })
}

/// The template that a revision holds; None if it holds none.
pub(crate) fn template_of(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let mut template = revision.data.pointer("/spec/template")?.clone();
    template.as_object_mut()?.remove("$patch");
    serde_json::from_value(template).ok()
}

/// The name of a revision. Upstream: ControllerRevisionName.
pub(crate) fn revision_name(owner: &str, hash: &str) -> String {
    let mut end = owner.len().min(LONGEST_PREFIX);
    while !owner.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{hash}", &owner[..end])
}

/// A revision of this template that is not stored yet. Upstream: NewControllerRevision.
pub(crate) fn new_revision(
    owner: Owner<'_>,
    template: &PodTemplateSpec,
    revision: i64,
    collisions: i32,
) -> ControllerRevision {
    let data = template_patch(template);
    let hash = hash_of(&data, collisions);
    let mut labels = template.metadata.labels.clone();
    labels.insert(HASH.into(), hash.clone());
    let metadata = ObjectMeta {
        name: revision_name(&owner.meta.name, &hash).into(),
        namespace: owner.meta.namespace.clone(),
        labels,
        annotations: owner.meta.annotations.clone(),
        owner_references: vec![controller_ref(owner.kind, owner.meta)],
        ..Default::default()
    };
    ControllerRevision { metadata, data, revision, ..Default::default() }
}

fn hash_of(data: &Value, collisions: i32) -> String {
    controller_revision_hash(compact(data).as_bytes(), Some(collisions))
}

/// Compact JSON as Go writes it: three characters that matter in HTML are escaped.
pub(crate) fn compact(data: &Value) -> String {
    data.to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Stores a revision; a name that is taken by other data counts as a collision and is tried under another hash.
/// Upstream: realHistory.CreateControllerRevision.
pub(crate) fn create_revision(
    cx: &mut Cx<'_>,
    owner: Owner<'_>,
    revision: ControllerRevision,
    collisions: &mut i32,
) -> Result<Result<ControllerRevision, Status>, Halt> {
    loop {
        let mut copy = revision.clone();
        copy.metadata.name = revision_name(&owner.meta.name, &hash_of(&copy.data, *collisions)).into();
        let refusal = match whole::create(cx, &copy)? {
            Ok(stored) => return Ok(Ok(stored)),
            Err(refusal) => refusal,
        };
        if !refusal.is_already_exists() {
            return Ok(Err(refusal));
        }
        match whole::live::<ControllerRevision>(cx, &copy.metadata.namespace, &copy.metadata.name)? {
            Ok(there) if there.data == copy.data => return Ok(Ok(there)),
            Ok(_) => *collisions = collisions.saturating_add(1),
            Err(status) => return Ok(Err(status)),
        }
    }
}

/// Gives an older revision a new number; a conflict is answered with a fresh copy.
/// Upstream: realHistory.UpdateControllerRevision.
pub(crate) fn renumber(
    cx: &mut Cx<'_>,
    revision: &ControllerRevision,
    number: i64,
) -> Result<Result<ControllerRevision, Status>, Halt> {
    let mut copy = revision.clone();
    for _ in 0..MOST_TRIES {
        if copy.revision == number {
            return Ok(Ok(copy));
        }
        copy.revision = number;
        let refusal = match whole::replace(cx, &copy)? {
            Ok(stored) => return Ok(Ok(stored)),
            Err(refusal) => refusal,
        };
        if !refusal.is_conflict() {
            return Ok(Err(refusal));
        }
        match whole::live(cx, &copy.metadata.namespace, &copy.metadata.name)? {
            Ok(fresh) => copy = fresh,
            Err(status) => return Ok(Err(status)),
        }
    }
    Ok(Ok(copy))
}

/// How often a conflict is answered. Upstream: retry.DefaultBackoff.
pub(crate) const MOST_TRIES: usize = 4;

/// Deletes a revision; one that is gone already is as good.
pub(crate) fn delete_revision(
    cx: &mut Cx<'_>,
    revision: &ControllerRevision,
) -> Result<Result<(), Status>, Halt> {
    let meta = &revision.metadata;
    let key = Key::new(ControllerRevision::KIND, meta.namespace.clone(), meta.name.clone());
    cx.try_delete(key, DeleteOptions::default())
}

/// Revisions that an owner has or may adopt, the oldest first. Upstream: ListControllerRevisions,
/// SortControllerRevisions.
pub(crate) fn list(
    cx: &Cx<'_>,
    owner: Owner<'_>,
    selector: Option<&LabelSelector>,
) -> Vec<ControllerRevision> {
    let matches = |r: &ControllerRevision| selector.is_some_and(|s| s.matches(&r.metadata.labels));
    let ours = |r: &ControllerRevision| {
        r.metadata.controller().is_none_or(|reference| reference.uid == owner.meta.uid)
    };
    let all = whole::list::<ControllerRevision>(cx.view(), &owner.meta.namespace);
    let mut found: Vec<ControllerRevision> = all.filter(|r| matches(r) && ours(r)).collect();
    sort(&mut found);
    found
}

/// By number, then by age, then by name.
pub(crate) fn sort(revisions: &mut [ControllerRevision]) {
    revisions.arrange_by(|a, b| {
        let by = |r: &ControllerRevision| (r.revision, r.metadata.creation_timestamp);
        by(a).cmp(&by(b)).then_with(|| a.metadata.name.cmp(&b.metadata.name))
    });
}

/// The number of the next revision, of a sorted list. Upstream: nextRevision.
pub(crate) fn next_number(revisions: &[ControllerRevision]) -> i64 {
    revisions.last().map_or(1, |last| last.revision.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_gives_its_template_back() {
        let template: PodTemplateSpec = serde_json::from_value(json!({
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "c", "image": "a<b>&c", "resources": {}}]},
        }))
        .expect("a template");
        let meta = ObjectMeta { name: "db".into(), ..Default::default() };
        let owner = Owner { kind: kubestep_model::StatefulSet::KIND, meta: &meta };
        let revision = new_revision(owner, &template, 3, 0);
        assert_eq!(template_of(&revision), Some(template.clone()));
        assert!(compact(&revision.data).contains(r"a\u003cb\u003e\u0026c"));
        assert_ne!(revision.metadata.name, new_revision(owner, &template, 3, 1).metadata.name);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(revision_name("db", "x"), "db-x");
        assert_eq!(revision_name(&"a".repeat(240), "x").len(), LONGEST_PREFIX + 2);
        assert_eq!(revision_name(&"é".repeat(120), "x").len(), LONGEST_PREFIX - 1 + 2);
    }

    #[test]
    fn revisions_are_sorted_and_numbered_on() {
        let of = |name: &str, revision| ControllerRevision {
            metadata: ObjectMeta { name: name.into(), ..Default::default() },
            revision,
            ..Default::default()
        };
        let mut all = vec![of("b", 2), of("a", 2), of("z", 1)];
        sort(&mut all);
        let names: Vec<&str> = all.iter().map(|r| &*r.metadata.name).collect();
        assert_eq!(names, ["z", "a", "b"]);
        assert_eq!((next_number(&all), next_number(&[])), (3, 1));
    }
}
