//! Which Deployments a change wakes. Upstream: deployment_controller.go, the event handlers (v1.37).

use crate::claim::matching;
use kubestep_control::{Change, View, Wake};
use kubestep_model::{Deployment, Key, OwnerReference, Pod, ReplicaSet, Resource};

/// Every change of a Deployment wakes it.
pub(super) fn deployment(change: &Change, _: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The Deployment that a reference names, if the cache has the very same. Upstream: resolveControllerRef.
fn resolve<'v>(view: &'v View, namespace: &str, reference: &OwnerReference) -> Option<&'v Deployment> {
    let found = view.get::<Deployment>(namespace, &reference.name).filter(|_| reference.kind == "Deployment");
    found.filter(|d| d.metadata.uid == reference.uid)
}

fn owner<'v>(view: &'v View, set: &ReplicaSet) -> Option<&'v Deployment> {
    set.metadata.controller().and_then(|reference| resolve(view, &set.metadata.namespace, reference))
}

fn candidates(view: &View, set: &ReplicaSet) -> Vec<Wake> {
    let all = view.list::<Deployment>(Some(&set.metadata.namespace));
    let found = matching(all, |d| d.spec.selector.as_ref(), &set.metadata.labels);
    found.into_iter().map(|d| Wake::now(d.key())).collect()
}

/// Upstream: addReplicaSet, updateReplicaSet, deleteReplicaSet.
pub(super) fn replica_set(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) =
        (change.old.as_ref().and_then(ReplicaSet::of), change.new.as_ref().and_then(ReplicaSet::of));
    let wake = |d: Option<&Deployment>| d.map(|d| Wake::now(d.key()));
    let Some(new) = new else { return old.and_then(|set| wake(owner(view, set))).into_iter().collect() };
    let Some(old) = old else {
        let ours = new.metadata.controller().is_some() || new.metadata.is_terminating();
        return if ours { wake(owner(view, new)).into_iter().collect() } else { candidates(view, new) };
    };
    if old.metadata.resource_version == new.metadata.resource_version {
        return Vec::new();
    }
    let moved = old.metadata.controller() != new.metadata.controller();
    let mut wakes: Vec<Wake> = wake(owner(view, old).filter(|_| moved)).into_iter().collect();
    if new.metadata.controller().is_some() {
        wakes.extend(wake(owner(view, new)));
    } else if moved || old.metadata.labels != new.metadata.labels {
        wakes.extend(candidates(view, new));
    }
    wakes
}

/// A pod that is gone wakes the Deployment only if it waits for that: with Recreate. Upstream: deletePod.
pub(super) fn pod(change: &Change, view: &View) -> Vec<Wake> {
    if change.new.is_some() {
        return Vec::new();
    }
    let found = change.old.as_ref().and_then(Pod::of).and_then(|pod| {
        let reference = pod.metadata.controller().filter(|reference| reference.kind == "ReplicaSet")?;
        let set = view.get::<ReplicaSet>(&pod.metadata.namespace, &reference.name)?;
        owner(view, set).filter(|_| set.metadata.uid == reference.uid)
    });
    let recreated = found.filter(|d| d.spec.strategy.r#type == "Recreate");
    recreated.map(|d: &Deployment| -> Key { d.key() }).map(Wake::now).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::controller_ref;
    use kubestep_model::{Kind, LabelSelector, Labels, ObjectMeta, Time};

    fn labels(app: &str) -> Labels {
        Labels::from([("app".to_owned(), app.to_owned())])
    }

    fn meta(name: &str, uid: &str) -> ObjectMeta {
        ObjectMeta { name: name.into(), uid: uid.into(), namespace: "default".into(), ..Default::default() }
    }

    /// Deployments `a` (RollingUpdate) and `b` (Recreate), each with a ReplicaSet `a-1`, `b-1`.
    fn view() -> View {
        let mut view = View::default();
        for (name, strategy) in [("a", "RollingUpdate"), ("b", "Recreate")] {
            let mut d = Deployment { metadata: meta(name, name), ..Default::default() };
            d.spec.selector = Some(LabelSelector::from_labels(&labels(name)));
            d.spec.strategy.r#type = strategy.into();
            let set = set("1", name, Some(name));
            view.apply(&d.key(), Some(d.into()));
            view.apply(&set.key(), Some(set.into()));
        }
        view
    }

    fn set(version: &str, app: &str, owner: Option<&str>) -> ReplicaSet {
        let name = format!("{app}-1");
        let mut set = ReplicaSet { metadata: meta(&name, &name), ..Default::default() };
        set.metadata.resource_version = version.into();
        set.metadata.labels = labels(app);
        let reference = owner.map(|owner| controller_ref(Kind::Deployment, &meta(owner, owner)));
        set.metadata.owner_references = reference.into_iter().collect();
        set
    }

    fn woken(
        wakes: fn(&Change, &View) -> Vec<Wake>,
        old: Option<kubestep_model::Object>,
        new: Option<kubestep_model::Object>,
    ) -> Vec<String> {
        let key = old.as_ref().or(new.as_ref()).expect("an object").key();
        wakes(&Change { key, old, new }, &view()).iter().map(|w| w.key.name.to_string()).collect()
    }

    /// What it is about, before, after, and who is woken.
    type Row<'r> = (&'r str, Option<ReplicaSet>, Option<ReplicaSet>, &'r [&'r str]);

    #[test]
    fn which_deployments_a_replica_set_wakes() {
        let s = |version, app, owner| Some(set(version, app, owner));
        let leaving = |mut set: ReplicaSet| {
            set.metadata.deletion_timestamp = Some(Time(1));
            set
        };
        let rows: Vec<Row<'_>> = vec![
            ("added", None, s("1", "a", Some("a")), &["a"]),
            ("an orphan is added", None, s("1", "a", None), &["a"]),
            ("an orphan without a match", None, s("1", "x", None), &[]),
            ("an orphan that goes", None, s("1", "a", None).map(leaving), &[]),
            ("deleted", s("1", "a", Some("a")), None, &["a"]),
            ("an orphan is deleted", s("1", "a", None), None, &[]),
            ("resync", s("1", "a", Some("a")), s("1", "a", Some("a")), &[]),
            ("changed", s("1", "a", Some("a")), s("2", "a", Some("a")), &["a"]),
            ("handed over", s("1", "a", Some("a")), s("2", "a", Some("b")), &["a", "b"]),
            ("released", s("1", "a", Some("a")), s("2", "b", None), &["a", "b"]),
            ("an orphan gets labels", s("1", "x", None), s("2", "b", None), &["b"]),
            ("an orphan changes otherwise", s("1", "a", None), s("2", "a", None), &[]),
            ("of an owner that is gone", None, s("1", "a", Some("gone")), &[]),
        ];
        for (about, old, new, want) in rows {
            assert_eq!(woken(replica_set, old.map(Into::into), new.map(Into::into)), want, "{about}");
        }
    }

    #[test]
    fn only_recreate_waits_for_pods_to_be_gone() {
        let pod = |set: &str, uid: &str| {
            let mut pod = Pod { metadata: meta("p", "p"), ..Default::default() };
            pod.metadata.owner_references = vec![controller_ref(Kind::ReplicaSet, &meta(set, uid))];
            kubestep_model::Object::from(pod)
        };
        assert_eq!(woken(super::pod, Some(pod("b-1", "b-1")), None), ["b"]);
        assert!(woken(super::pod, Some(pod("a-1", "a-1")), None).is_empty(), "RollingUpdate");
        assert!(
            woken(super::pod, Some(pod("b-1", "old")), None).is_empty(),
            "another ReplicaSet of that name"
        );
        assert!(
            woken(super::pod, Some(pod("b-1", "b-1")), Some(pod("b-1", "b-1"))).is_empty(),
            "only changed"
        );
    }
}
