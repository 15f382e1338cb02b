//! What a namespace that is going says about what is left in it. Upstream: deletion/status_condition_utils.go (v1.37).

use super::content::Left;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Kind, Namespace, NamespaceCondition, Time};
use std::collections::BTreeMap;

/// What became of an attempt to empty a namespace.
#[derive(Debug, Default)]
pub(super) struct Report {
    errors: Vec<String>,
    left: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
}

struct Said {
    r#type: &'static str,
    status: &'static str,
    reason: &'static str,
    message: String,
}

fn said(r#type: &'static str, bad: bool, reason: &'static str, message: String) -> Said {
    Said { r#type, status: if bad { "True" } else { "False" }, reason, message }
}

impl Report {
    pub(super) fn failed(&mut self, text: String) {
        self.errors.push(text);
    }

    pub(super) fn left(&mut self, kind: Kind, left: Left) {
        if left.count > 0 {
            self.left.insert(format!("{}.{}", kind.resource(), kind.group()), left.count);
        }
        for (finalizer, count) in left.finalizers {
            *self.finalizers.entry(finalizer).or_insert(0) += count;
        }
    }

    /// What is left is not told.
    pub(super) fn count_nothing(&mut self) {
        self.left.clear();
        self.finalizers.clear();
    }

    /// All errors as one text.
    pub(super) fn failure(&self) -> Option<String> {
        match self.errors.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            all => Some(format!("[{}]", all.join(", "))),
        }
    }

    fn sayings(&self) -> [Said; 5] {
        let listed = |counts: &BTreeMap<String, usize>, verb: &str| {
            counts
                .iter()
                .map(|(n, c)| format!("{n} {verb} {c} resource instances"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut errors = self.errors.clone();
        errors.arrange();
        let failure = if errors.is_empty() {
            let text = "All content successfully deleted, may be waiting on finalization";
            said("NamespaceDeletionContentFailure", false, "ContentDeleted", text.into())
        } else {
            let text = format!(
                "Failed to delete all resource types, {} remaining: {}",
                errors.len(),
                errors.join(", ")
            );
            said("NamespaceDeletionContentFailure", true, "ContentDeletionFailed", text)
        };
        let remaining = if self.left.is_empty() {
            let text = "All content successfully removed";
            said("NamespaceContentRemaining", false, "ContentRemoved", text.into())
        } else {
            let text = format!("Some resources are remaining: {}", listed(&self.left, "has"));
            said("NamespaceContentRemaining", true, "SomeResourcesRemain", text)
        };
        let finalizers = if self.finalizers.is_empty() {
            let text = "All content-preserving finalizers finished";
            said("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers", text.into())
        } else {
            let held = listed(&self.finalizers, "in");
            let text = format!("Some content in the namespace has finalizers remaining: {held}");
            said("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", text)
        };
        [
            said(
                "NamespaceDeletionDiscoveryFailure",
                false,
                "ResourcesDiscovered",
                "All resources successfully discovered".into(),
            ),
            said(
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed".into(),
            ),
            failure,
            remaining,
            finalizers,
        ]
    }

    /// The namespace with these conditions; `None` if it has them already.
    pub(super) fn written_on(&self, namespace: &Namespace, now: Time) -> Option<Namespace> {
        let mut fresh = namespace.clone();
        for said in self.sayings() {
            let condition = NamespaceCondition {
                r#type: said.r#type.into(),
                status: said.status.into(),
                last_transition_time: Some(now),
                reason: said.reason.into(),
                message: said.message,
                ..Default::default()
            };
            let conditions = &mut fresh.status.conditions;
            match conditions.iter_mut().find(|c| c.r#type == condition.r#type) {
                None => conditions.push(condition),
                Some(known) => {
                    let same = (&known.status, &known.reason, &known.message)
                        == (&condition.status, &condition.reason, &condition.message);
                    if !same {
                        *known = condition;
                    }
                }
            }
        }
        (fresh != *namespace).then_some(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_say_what_is_left_and_date_only_what_changed() {
        let mut report = Report::default();
        let left = Left { count: 1, seconds: 15, finalizers: [("example.com/hold".to_owned(), 1)].into() };
        report.left(Kind::ConfigMap, left);
        let first = report.written_on(&Namespace::default(), Time(22)).expect("news");
        let texts: Vec<&str> = first.status.conditions.iter().map(|c| c.message.as_str()).collect();
        assert_eq!(texts[3], "Some resources are remaining: configmaps. has 1 resource instances");
        assert!(texts[4].ends_with("example.com/hold in 1 resource instances"));
        assert!(report.written_on(&first, Time(30)).is_none());
        let second = Report::default().written_on(&first, Time(51)).expect("news");
        let times: Vec<_> = second.status.conditions.iter().map(|c| c.last_transition_time).collect();
        let (old, new) = (Some(Time(22)), Some(Time(51)));
        assert_eq!(times, [old, old, old, new, new]);
    }
}
