//! Revisions and the other annotations that a Deployment keeps on its ReplicaSets.
//! Upstream: util/deployment_util.go, SetNewReplicaSetAnnotations and its neighbours (v1.37).

use super::arithmetic::max_replicas;
use kubestep_model::{Deployment, Labels, ReplicaSet};

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
pub(super) const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A revision history holds at most so many characters.
const LONGEST_HISTORY: usize = 2000;

/// Annotations that stay where they are when the others are copied.
pub(super) fn stays(key: &str) -> bool {
    [LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, ROLLBACK_TO].contains(&key)
}

/// The revision of a ReplicaSet: 0 without one, None if it is no number.
pub(super) fn revision(set: &ReplicaSet) -> Option<i64> {
    set.metadata.annotations.get(REVISION).map_or(Some(0), |text| text.parse().ok())
}

/// The highest revision; what is no number does not count.
pub(super) fn max_revision<'s>(sets: impl IntoIterator<Item = &'s ReplicaSet>) -> i64 {
    sets.into_iter().filter_map(revision).max().unwrap_or(0).max(0)
}

/// A non-negative number in an annotation. Upstream: getNonNegativeInt32FromAnnotation.
pub(super) fn number_annotation(set: &ReplicaSet, key: &str) -> Option<i32> {
    let text = set.metadata.annotations.get(key)?;
    let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Writes the Deployment's revision down on it; whether that changed anything.
pub(super) fn set_deployment_revision(d: &mut Deployment, revision: &str) -> bool {
    let old = d.metadata.annotations.insert(REVISION.into(), revision.into());
    old.unwrap_or_default() != revision
}

fn set(annotations: &mut Labels, key: &str, value: String) -> bool {
    let changed = annotations.get(key) != Some(&value);
    annotations.insert(key.into(), value);
    changed
}

/// Writes down how many pods the Deployment wants and may have; whether that changed anything.
pub(super) fn set_replicas_annotations(set_: &mut ReplicaSet, d: &Deployment) -> bool {
    let annotations = &mut set_.metadata.annotations;
    let desired = set(annotations, DESIRED_REPLICAS, d.replicas().to_string());
    set(annotations, MAX_REPLICAS, max_replicas(d).to_string()) || desired
}

/// Whether `set_replicas_annotations` would change anything.
pub(super) fn replicas_annotations_differ(set: &ReplicaSet, d: &Deployment) -> bool {
    let annotations = &set.metadata.annotations;
    annotations.get(DESIRED_REPLICAS).is_none_or(|text| *text != d.replicas().to_string())
        || annotations.get(MAX_REPLICAS).is_none_or(|text| *text != max_replicas(d).to_string())
}

fn copy_annotations(d: &Deployment, set: &mut ReplicaSet) -> bool {
    let mut changed = false;
    for (key, value) in d.metadata.annotations.iter().filter(|(key, _)| !stays(key)) {
        if set.metadata.annotations.get(key) != Some(value) {
            set.metadata.annotations.insert(key.clone(), value.clone());
            changed = true;
        }
    }
    changed
}

/// Copies the Deployment's annotations to its new ReplicaSet and raises its revision; whether that changed
/// anything. Upstream: SetNewReplicaSetAnnotations, which gives up on a revision that is no number after the copy.
pub(super) fn set_new_set_annotations(d: &Deployment, set: &mut ReplicaSet, new: i64, exists: bool) -> bool {
    let mut changed = copy_annotations(d, set);
    let written = set.metadata.annotations.get(REVISION).cloned();
    let old = match written.as_deref() {
        None | Some("") => 0,
        Some(text) => match text.parse::<i64>() {
            Ok(old) => old,
            Err(_) => return false,
        },
    };
    if old < new {
        set.metadata.annotations.insert(REVISION.into(), new.to_string());
        changed = true;
        if let Some(old) = written {
            remember(&mut set.metadata.annotations, &old);
        }
    }
    if !exists && set_replicas_annotations(set, d) {
        changed = true;
    }
    changed
}

/// Appends a revision to the history; the oldest go where it would grow too long.
fn remember(annotations: &mut Labels, old: &str) {
    let history = annotations.get(REVISION_HISTORY).cloned().unwrap_or_default();
    let revisions: Vec<&str> = history.split(',').collect();
    if revisions[0].is_empty() {
        annotations.insert(REVISION_HISTORY.into(), old.into());
        return;
    }
    let mut length = history.len() + old.len() + 1;
    let mut start = 0;
    while length > LONGEST_HISTORY && start < revisions.len() {
        length = length.saturating_sub(revisions[start].len() + 1);
        start += 1;
    }
    if length <= LONGEST_HISTORY {
        let mut kept: Vec<&str> = revisions[start..].to_vec();
        kept.push(old);
        annotations.insert(REVISION_HISTORY.into(), kept.join(","));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_with(annotations: &[(&str, &str)]) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.metadata.annotations = annotations.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        set
    }

    #[test]
    fn numbers_as_upstream_reads_them() {
        let of = |text: &str| number_annotation(&set_with(&[(MAX_REPLICAS, text)]), MAX_REPLICAS);
        assert_eq!([of("4"), of("0"), of("007")], [Some(4), Some(0), Some(7)]);
        for wrong in ["", "+4", "-1", "x", "2147483648", "4294967296"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(revision(&set_with(&[(REVISION, "abc")])), None);
        assert_eq!(revision(&set_with(&[])), Some(0));
    }

    #[test]
    fn going_back_to_a_revision_keeps_the_old_number() {
        let d = Deployment::default();
        let mut set = set_with(&[(REVISION, "1")]);
        assert!(set_new_set_annotations(&d, &mut set, 3, true));
        assert_eq!(set.metadata.annotations[REVISION_HISTORY], "1");
        assert!(set_new_set_annotations(&d, &mut set, 5, true));
        assert_eq!(set.metadata.annotations[REVISION_HISTORY], "1,3");
        assert!(!set_new_set_annotations(&d, &mut set, 5, true));
        assert_eq!(set.metadata.annotations[REVISION], "5");
    }

    #[test]
    fn what_belongs_to_the_deployment_is_not_copied() {
        let mut d = Deployment::default();
        d.metadata.annotations =
            Labels::from([(LAST_APPLIED.into(), "{}".into()), ("team".into(), "a".into())]);
        let mut set = ReplicaSet::default();
        assert!(set_new_set_annotations(&d, &mut set, 1, false));
        let keys: Vec<&str> = set.metadata.annotations.keys().map(String::as_str).collect();
        assert_eq!(keys, [DESIRED_REPLICAS, MAX_REPLICAS, REVISION, "team"]);
    }
}
