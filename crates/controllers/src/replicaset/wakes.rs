//! Which ReplicaSets a change wakes. Upstream: replica_set.go, the event handlers (v1.37).

use crate::{
    claim::matching,
    pod_wakes::{Leaving, PodWakes},
};
use kubestep_control::{Change, View, Wake};
use kubestep_model::{Key, ObjectMeta, OwnerReference, Pod, ReplicaSet, Resource};

/// Every change of a ReplicaSet wakes it.
pub(super) fn replica_set(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The ReplicaSet that a reference names, if the cache has the very same. Upstream: resolveControllerRef.
fn resolve<'v>(view: &'v View, namespace: &str, reference: &OwnerReference) -> Option<&'v ReplicaSet> {
    let found = view.get::<ReplicaSet>(namespace, &reference.name).filter(|_| reference.kind == "ReplicaSet");
    found.filter(|set| set.metadata.uid == reference.uid)
}

fn owner(view: &View, pod: &ObjectMeta) -> Option<(Key, i32)> {
    let set = pod.controller().and_then(|reference| resolve(view, &pod.namespace, reference))?;
    Some((set.key(), set.spec.min_ready_seconds))
}

/// All that might want to adopt an orphan. Upstream: getPodReplicaSets.
fn candidates(view: &View, pod: &Pod) -> Vec<Wake> {
    let all = view.list::<ReplicaSet>(Some(&pod.metadata.namespace));
    let found = matching(all, |set| set.spec.selector.as_ref(), &pod.metadata.labels);
    found.into_iter().map(|set| Wake::now(set.key())).collect()
}

/// Upstream: addPod, updatePod, deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    PodWakes { owner, candidates, margin: 0, leaving: Leaving::OwnerAndFormer }.of(change, view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::controller_ref;
    use kubestep_model::{Kind, LabelSelector, Labels, PodCondition, Time};

    fn labels(app: &str) -> Labels {
        Labels::from([("app".to_owned(), app.to_owned())])
    }

    /// ReplicaSets `a`, `a2` (the same selector) and `b` (ready for 10 s), and `empty`, which selects nothing.
    fn view() -> View {
        let mut view = View::default();
        for (name, app) in [("a", "a"), ("a2", "a"), ("b", "b"), ("empty", "")] {
            let mut set = ReplicaSet::default();
            (set.metadata.name, set.metadata.uid) = (name.into(), name.into());
            set.metadata.namespace = "default".into();
            set.spec.min_ready_seconds = if name == "b" { 10 } else { 0 };
            let selector = if app.is_empty() {
                LabelSelector::default()
            } else {
                LabelSelector::from_labels(&labels(app))
            };
            set.spec.selector = Some(selector);
            view.apply(&set.key(), Some(set.into()));
        }
        view
    }

    fn pod(version: &str, app: &str, owner: Option<(&str, &str)>) -> Pod {
        let mut pod = Pod::default();
        (pod.metadata.name, pod.metadata.namespace) = ("p".into(), "default".into());
        pod.metadata.resource_version = version.into();
        pod.metadata.labels = labels(app);
        if let Some((name, uid)) = owner {
            let owner = ObjectMeta { name: name.into(), uid: uid.into(), ..Default::default() };
            pod.metadata.owner_references = vec![controller_ref(Kind::ReplicaSet, &owner)];
        }
        pod
    }

    fn leaving(mut pod: Pod) -> Pod {
        pod.metadata.deletion_timestamp = Some(Time(1));
        pod
    }

    fn ready(mut pod: Pod) -> Pod {
        let condition = PodCondition { r#type: "Ready".into(), status: "True".into(), ..Default::default() };
        pod.status.conditions = vec![condition];
        pod
    }

    fn woken(old: Option<Pod>, new: Option<Pod>) -> Vec<String> {
        let change =
            Change { key: pod("1", "a", None).key(), old: old.map(Into::into), new: new.map(Into::into) };
        let after =
            |w: &Wake| if w.after.is_zero() { String::new() } else { format!("+{}", w.after.as_secs()) };
        super::pod(&change, &view()).iter().map(|w| format!("{}{}", w.key.name, after(w))).collect()
    }

    /// What it is about, before, after, and who is woken.
    type Row<'r> = (&'r str, Option<Pod>, Option<Pod>, &'r [&'r str]);

    #[test]
    fn which_replica_sets_a_pod_wakes() {
        let (own_a, own_b) = (Some(("a", "a")), Some(("b", "b")));
        let p = |version: &str, app: &str, owner| Some(pod(version, app, owner));
        let rows: Vec<Row<'_>> = vec![
            ("added", None, p("1", "a", own_a), &["a"]),
            ("added, of an owner that is another by now", None, p("1", "a", Some(("a", "old"))), &[]),
            ("an orphan wakes all that match", None, p("1", "a", None), &["a", "a2"]),
            ("an orphan without a match", None, p("1", "x", None), &[]),
            ("added while it goes", None, p("1", "a", None).map(leaving), &[]),
            ("deleted", p("1", "a", own_a), None, &["a"]),
            ("an orphan is deleted", p("1", "a", None), None, &[]),
            ("resync", p("1", "a", own_a), p("1", "a", own_a), &[]),
            ("changed", p("1", "a", own_a), p("2", "a", own_a), &["a"]),
            ("handed over", p("1", "a", own_a), p("2", "a", own_b), &["a", "b"]),
            ("released", p("1", "a", own_a), p("2", "x", None), &["a"]),
            ("released, and another may adopt it", p("1", "a", own_b), p("2", "a", None), &["b", "a", "a2"]),
            ("an orphan gets labels", p("1", "x", None), p("2", "b", None), &["b"]),
            ("an orphan changes otherwise", p("1", "b", None), p("2", "b", None), &[]),
            ("asked to go", p("1", "a", own_a), p("2", "a", own_a).map(leaving), &["a"]),
            ("asked to go and relabelled", p("1", "a", own_a), p("2", "x", own_b).map(leaving), &["b", "a"]),
            (
                "ready, looked at again when available",
                p("1", "b", own_b),
                p("2", "b", own_b).map(ready),
                &["b", "b+10"],
            ),
            ("ready, available at once", p("1", "a", own_a), p("2", "a", own_a).map(ready), &["a"]),
        ];
        for (about, old, new, want) in rows {
            assert_eq!(woken(old, new), want, "{about}");
        }
    }
}
