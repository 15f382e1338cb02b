//! Deployments and their replica sets, as kubectl sees them. Upstream: kubectl/pkg/util/deployment (v1.37).

use crate::kc::{Flow, Kc};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Deployment, Kind, Object, PodTemplateSpec, ReplicaSet};
use std::sync::Arc;

/// The annotation in which the revision of a deployment or replica set stands.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation that says why a revision was made.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";
const HASH: &str = "pod-template-hash";

/// The replica sets that a deployment controls.
pub fn replica_sets_of(kc: &mut Kc<'_>, o: &Deployment) -> Flow<Vec<Arc<ReplicaSet>>> {
    let selector = o.spec.selector.clone().unwrap_or_default().to_selector().ok();
    let listed = kc.list(Kind::ReplicaSet, Some(o.metadata.namespace.clone()), selector, None)?;
    let items = listed.map(|(items, _)| items).unwrap_or_default();
    Ok(controlled(
        o,
        items.into_iter().filter_map(|i| if let Object::ReplicaSet(rs) = i { Some(rs) } else { None }),
    ))
}

/// Those of several replica sets that a deployment controls.
pub fn controlled(o: &Deployment, sets: impl Iterator<Item = Arc<ReplicaSet>>) -> Vec<Arc<ReplicaSet>> {
    sets.filter(|rs| rs.metadata.controller().is_some_and(|c| c.uid == o.metadata.uid)).collect()
}

/// The replica set with the deployment's present template, if there is one, and the others.
pub fn split<'a>(
    o: &Deployment,
    sets: &'a [Arc<ReplicaSet>],
) -> (Option<&'a Arc<ReplicaSet>>, Vec<&'a Arc<ReplicaSet>>) {
    let mut sorted: Vec<&Arc<ReplicaSet>> = sets.iter().collect();
    sorted.arrange_by(|a, b| {
        let key = |rs: &ReplicaSet| (rs.metadata.creation_timestamp, rs.metadata.name.clone());
        key(a).cmp(&key(b))
    });
    let new = sorted.iter().copied().find(|rs| same_template(&rs.spec.template, &o.spec.template));
    let old = sorted
        .iter()
        .copied()
        .filter(|rs| new.is_none_or(|new| new.metadata.uid != rs.metadata.uid))
        .collect();
    (new, old)
}

/// Whether two templates are equal but for the label with their hash.
pub fn same_template(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    let bare = |t: &PodTemplateSpec| {
        let mut t = t.clone();
        t.metadata.labels.remove(HASH);
        t
    };
    bare(a) == bare(b)
}

/// A template without the label with its hash.
pub fn without_hash(mut template: PodTemplateSpec) -> PodTemplateSpec {
    template.metadata.labels.remove(HASH);
    template
}

/// The revision in an object's annotations. Errors: in Go's words, if it is no number.
pub fn revision(annotations: &kubestep_model::Labels) -> Result<i64, String> {
    let Some(text) = annotations.get(REVISION) else { return Ok(0) };
    kubestep_model::text::go::parse_int(text)
        .map_err(|fault| kubestep_model::text::go::number_error("ParseInt", text, fault))
}
