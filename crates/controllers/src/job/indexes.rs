//! Which indexes of an indexed job are done, as the status writes them: `1,3-5,7`.
//! Upstream: pkg/controller/job/indexed_job_utils.go (v1.37).

use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{Container, EnvVar, Labels, Pod, PodTemplateSpec};
use serde_json::json;
use std::collections::BTreeSet;

/// Upstream: batch.JobCompletionIndexAnnotation; also a label of the pod.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const VARIABLE: &str = "JOB_COMPLETION_INDEX";
/// The longest start of a generated name. Upstream: maxGeneratedNameLength.
const LONGEST: usize = 58;

/// Ranges of indexes, sorted, that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(Vec<(i32, i32)>);

impl Intervals {
    /// Reads `1,3-5,7`, as far as the indexes are below `completions`; what is no number is passed over.
    /// Upstream: parseIndexesFromString.
    pub fn parse(text: &str, completions: i32) -> Self {
        let mut found = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) else { continue };
            if first >= completions {
                break;
            }
            found.push((first, last.min(completions - 1)));
        }
        Intervals(found).with([])
    }

    /// With these indexes too. Upstream: withOrderedIndexes.
    pub fn with(&self, indexes: impl IntoIterator<Item = i32>) -> Self {
        let mut all: Vec<(i32, i32)> = self.0.clone();
        all.extend(indexes.into_iter().map(|i| (i, i)));
        all.arrange();
        let mut merged: Vec<(i32, i32)> = Vec::with_capacity(all.len());
        for (first, last) in all {
            match merged.last_mut() {
                Some(open) if i64::from(first) <= i64::from(open.1) + 1 => open.1 = open.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        Intervals(merged)
    }

    /// With the other's ranges too.
    pub fn union(&self, other: &Intervals) -> Self {
        let mut all = self.clone();
        all.0.extend(&other.0);
        all.with([])
    }

    /// How many indexes there are.
    pub fn total(&self) -> i32 {
        self.0
            .iter()
            .map(|(first, last)| last.saturating_sub(*first).saturating_add(1))
            .fold(0, i32::saturating_add)
    }

    /// Whether an index is among them.
    pub fn has(&self, index: i32) -> bool {
        self.0.iter().any(|(first, last)| *first <= index && index <= *last)
    }

    /// How many indexes both have.
    pub fn common(&self, other: &Intervals) -> i32 {
        let mut sum = 0i32;
        for (first, last) in &self.0 {
            for (from, to) in &other.0 {
                let both = last.min(to).saturating_sub(*first.max(from)).saturating_add(1);
                sum = sum.saturating_add(both.max(0));
            }
        }
        sum
    }

    /// The first so many indexes below `completions` that are not among them.
    pub fn gaps(&self, count: usize, completions: i32) -> Vec<i32> {
        let mut found = Vec::new();
        let mut next = 0;
        for (first, last) in self.0.iter().copied().chain([(completions, completions)]) {
            while next < first.min(completions) && found.len() < count {
                found.push(next);
                next += 1;
            }
            next = next.max(last.saturating_add(1));
        }
        found
    }
}

impl std::fmt::Display for Intervals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (first, last)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match last.saturating_sub(*first) {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// A pod's index, if it has one that counts. Upstream: getCompletionIndex.
pub(super) fn index_of(pod: &Pod) -> Option<i32> {
    let number = pod.metadata.annotations.get(INDEX)?.parse::<i32>().ok()?;
    (number >= 0).then_some(number)
}

/// A pod's index, if it is one of the job's.
pub(super) fn valid_index(pod: &Pod, completions: i32) -> Option<i32> {
    index_of(pod).filter(|index| *index < completions)
}

/// The indexes of pods. Upstream: getIndexes.
pub(super) fn indexes<'p>(pods: impl IntoIterator<Item = &'p Pod>) -> BTreeSet<i32> {
    pods.into_iter().filter_map(index_of).gather()
}

/// Of active pods those that stand twice for an index or for none of the job's, and the rest.
/// Upstream: appendDuplicatedIndexPodsForRemoval.
pub(super) fn duplicates<'p>(
    pods: &[&'p Pod],
    completions: i32,
    sort: impl Fn(&mut Vec<&'p Pod>),
) -> (Vec<&'p Pod>, Vec<&'p Pod>) {
    let (mut remove, mut left) = (Vec::new(), Vec::new());
    remove.extend(pods.iter().copied().filter(|pod| valid_index(pod, completions).is_none()));
    for index in indexes(pods.iter().copied()).into_iter().filter(|i| *i < completions) {
        let mut same: Vec<&Pod> = pods.iter().copied().filter(|pod| index_of(pod) == Some(index)).collect();
        sort(&mut same);
        left.extend(same.pop());
        remove.extend(same);
    }
    (remove, left)
}

/// The template for one index: annotation, label, host name. Upstream: addCompletionIndexAnnotation and the like.
pub(super) fn mark(template: &mut PodTemplateSpec, job: &str, index: i32) {
    for map in [&mut template.metadata.annotations, &mut template.metadata.labels] {
        let map: &mut Labels = map;
        map.insert(INDEX.into(), index.to_string());
    }
    template.spec.hostname = format!("{job}-{index}");
}

/// Tells every container its index. Upstream: addCompletionIndexEnvVariables.
pub(super) fn add_variables(template: &mut PodTemplateSpec) {
    let add = |container: &mut Container| {
        if container.env.iter().all(|variable| variable.name != VARIABLE) {
            let from = json!({ "fieldRef": { "fieldPath": format!("metadata.labels['{INDEX}']") } });
            container.env.push(EnvVar {
                name: VARIABLE.into(),
                value_from: Some(from),
                ..Default::default()
            });
        }
    };
    template.spec.init_containers.iter_mut().for_each(add);
    template.spec.containers.iter_mut().for_each(add);
}

/// The start of the pod's name. Upstream: podGenerateNameWithIndex.
pub(super) fn generate_name(job: &str, index: i32) -> String {
    let end = format!("-{index}-");
    let mut keep = job.len().min(LONGEST.saturating_sub(end.len()));
    while !job.is_char_boundary(keep) {
        keep -= 1;
    }
    format!("{}{end}", &job[..keep])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written() {
        for text in ["", "0", "1,3-5,7", "0,1", "0-2,8,9"] {
            assert_eq!(Intervals::parse(text, 100).to_string(), text);
        }
        assert_eq!(Intervals::parse("0-9", 5).to_string(), "0-4");
        assert_eq!(Intervals::parse("x,1", 5).to_string(), "1");
        assert_eq!(Intervals::parse("0,1,2,9", 5).to_string(), "0-2");
    }

    #[test]
    fn sets_of_indexes() {
        let some = Intervals::parse("1,3-5,7", 100);
        assert_eq!((some.total(), some.has(4), some.has(6)), (5, true, false));
        assert_eq!(some.with([2, 6, 20]).to_string(), "1-7,20");
        assert_eq!(some.common(&Intervals::parse("4-7", 100)), 3);
        assert_eq!(some.gaps(4, 100), [0, 2, 6, 8]);
        assert_eq!(some.gaps(9, 7), [0, 2, 6]);
        assert_eq!(Intervals::default().gaps(2, 1), [0]);
        assert_eq!(some.union(&Intervals::parse("2,8", 100)).to_string(), "1-5,7,8");
    }

    #[test]
    fn names_of_pods_with_an_index() {
        assert_eq!(generate_name("work", 12), "work-12-");
        assert_eq!(generate_name(&"a".repeat(80), 1).len(), LONGEST);
    }
}
