//! Passes of the stateful set controller as tables.

use super::*;
use crate::{
    claim::controller_ref,
    harness::{Outcome, pass, pass_behind},
};
use kubestep_model::{Instant, Object, ObjectMeta, PodCondition, Resource, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn set(spec: Value) -> StatefulSet {
    let mut whole = json!({
        "replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "serviceName": "db",
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    let meta =
        ObjectMeta { name: "db".into(), namespace: "default".into(), uid: "u".into(), ..Default::default() };
    StatefulSet { metadata: meta, spec: serde_json::from_value(whole).expect("a spec"), ..Default::default() }
}

fn revision(set: &StatefulSet) -> ControllerRevision {
    let mut revision = crate::history::new_revision(owner(set), &set.spec.template, 1, 0);
    revision.metadata.namespace = "default".into();
    revision
}

/// `ready`, `pending`, `leaving`, `failed`, and after a colon another revision than the present one.
fn pod(set: &StatefulSet, number: usize, state: &str) -> Object {
    let (state, of) = state.split_once(':').unwrap_or((state, ""));
    let name = revision(set).metadata.name;
    let of = if of.is_empty() { &*name } else { of };
    let mut pod = identity::new_pod(set, &set.spec.template, of, i32::try_from(number).expect("small"));
    pod.metadata.owner_references = vec![controller_ref(StatefulSet::KIND, &set.metadata)];
    pod.metadata.uid = format!("pod-{number}").into();
    pod.status.phase = match state {
        "pending" => "Pending",
        "failed" => "Failed",
        _ => "Running",
    }
    .into();
    let ready = if matches!(state, "ready" | "leaving") { "True" } else { "False" };
    pod.status.conditions =
        vec![PodCondition { r#type: "Ready".into(), status: ready.into(), ..Default::default() }];
    pod.metadata.deletion_timestamp = (state == "leaving").then_some(Time(1));
    pod.into()
}

fn run(set: &StatefulSet, pods: &[(usize, &str)], more: Vec<Object>) -> Outcome {
    let mut objects = vec![set.to_object(), revision(set).to_object()];
    objects.extend(pods.iter().map(|(number, state)| pod(set, *number, state)));
    objects.extend(more);
    pass(&StatefulSetController, set.to_object().key(), objects, Instant::START, vec![])
}

/// Pods that were created and deleted: `+db-0 -db-2`.
fn moves(outcome: &Outcome) -> String {
    let made = outcome.pods.iter().map(|p| format!("+{}", p["metadata"]["name"].as_str().unwrap_or("?")));
    let gone = outcome.actions.iter().filter(|a| a["verb"] == "delete" && a["resource"] == "pods");
    let gone = gone.map(|a| format!("-{}", a["name"].as_str().unwrap_or("?")));
    made.chain(gone).collect::<Vec<_>>().join(" ")
}

/// What the spec says, the pods, and what is made and deleted.
type Row<'r> = (Value, &'r [(usize, &'r str)], &'r str);

#[test]
fn who_is_made_and_who_goes() {
    let parallel = json!({"podManagementPolicy": "Parallel"});
    let two = json!({"replicas": 1});
    let partition = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}});
    let many = json!({"podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": "67%"}}});
    let by_hand = json!({"updateStrategy": {"type": "OnDelete"}});
    let from_five = json!({"ordinals": {"start": 5}});
    let rows: Vec<Row<'_>> = vec![
        (json!({}), &[], "+db-0"),
        (json!({}), &[(0, "pending")], ""),
        (json!({}), &[(0, "ready")], "+db-1"),
        (json!({}), &[(0, "ready"), (2, "ready")], "+db-1"),
        (json!({}), &[(0, "leaving"), (1, "ready")], ""),
        (json!({}), &[(0, "failed"), (1, "ready"), (2, "ready")], "-db-0"),
        (parallel.clone(), &[], "+db-0 +db-2 +db-1"),
        (parallel.clone(), &[(1, "pending")], "+db-0 +db-2"),
        (two.clone(), &[(0, "ready"), (1, "ready"), (2, "ready")], "-db-2"),
        (two.clone(), &[(0, "ready"), (1, "ready"), (2, "pending")], "-db-2"),
        (two.clone(), &[(0, "ready"), (1, "pending"), (2, "pending")], ""),
        (two.clone(), &[(0, "pending"), (1, "ready")], ""),
        (two.clone(), &[(0, "ready"), (1, "ready"), (2, "leaving")], ""),
        (json!({}), &[(0, "ready:old"), (1, "ready:old"), (2, "ready:old")], "-db-2"),
        (json!({}), &[(0, "ready:old"), (1, "ready:old"), (2, "leaving:old")], ""),
        (json!({}), &[(0, "ready:old"), (1, "ready:old"), (2, "ready")], "-db-1"),
        // What people stumble over: a broken pod of an old revision stays for ever.
        (json!({}), &[(0, "ready:old"), (1, "ready:old"), (2, "pending:old")], ""),
        // In parallel it is replaced, and whatever else is old and broken with it.
        (parallel.clone(), &[(0, "ready:old"), (1, "ready:old"), (2, "pending:old")], "-db-2"),
        (parallel, &[(0, "ready"), (1, "pending:old"), (2, "pending:old")], "-db-2 -db-1"),
        (many, &[(0, "ready:old"), (1, "ready:old"), (2, "ready:old")], "-db-2 -db-1"),
        (partition.clone(), &[(0, "ready:old"), (1, "ready:old"), (2, "ready:old")], "-db-2"),
        (partition, &[(0, "ready:old"), (1, "ready:old"), (2, "ready")], ""),
        (by_hand, &[(0, "ready:old"), (1, "ready:old"), (2, "ready:old")], ""),
        (from_five, &[(5, "ready"), (0, "ready")], "+db-6"),
    ];
    for (spec, pods, want) in rows {
        assert_eq!(moves(&run(&set(spec.clone()), pods, vec![])), want, "{spec} {pods:?}");
    }
}

#[test]
fn a_claim_is_made_before_its_pod_and_owned_as_the_policy_says() {
    let spec = json!({
        "replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"storageClassName": "s"}}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
    });
    let set = set(spec);
    let outcome = run(&set, &[], vec![]);
    let writes: Vec<&Value> = outcome.actions.iter().map(|a| &a["name"]).collect();
    assert_eq!(writes.first(), Some(&&json!("data-db-0")));
    assert_eq!(outcome.pods[0]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "data-db-0");
    let texts: Vec<&str> = outcome.events.iter().map(|e| &*e.message).collect();
    assert_eq!(
        texts,
        [
            "Create Claim data-db-0 Pod db-0 in StatefulSet db success",
            "Create Pod db-0 in StatefulSet db successful"
        ]
    );
    let claim = |number| Object::Custom(identity::claims(&set, number)[0].clone());
    let owners = |outcome: &Outcome, name: &str| {
        let key = Key::new(CLAIM, "default", name);
        let references = outcome.stored[&key].meta().owner_references.clone();
        references.iter().map(|o| o.kind.clone()).collect::<Vec<_>>()
    };
    let kept = run(&set, &[(0, "ready")], vec![claim(0)]);
    assert_eq!(owners(&kept, "data-db-0"), ["StatefulSet"]);
    let condemned = run(&set, &[(0, "ready"), (1, "ready")], vec![claim(0), claim(1)]);
    assert_eq!(owners(&condemned, "data-db-1"), ["Pod"]);
    assert_eq!(moves(&condemned), "-db-1");
}

#[test]
fn a_pod_that_is_gone_already_counts_as_deleted() {
    let set = set(json!({"replicas": 1}));
    let objects = [set.to_object(), revision(&set).to_object(), pod(&set, 0, "ready"), pod(&set, 1, "ready")];
    let cached: BTreeMap<Key, Object> = objects.into_iter().map(|object| (object.key(), object)).collect();
    let mut stored = cached.clone();
    stored.retain(|key, _| &*key.name != "db-1");
    let outcome =
        pass_behind(&StatefulSetController, set.to_object().key(), &cached, stored, Instant::START, vec![]);
    let texts: Vec<(&str, &str)> = outcome.events.iter().map(|e| (&*e.reason, &*e.message)).collect();
    assert_eq!(texts, [("SuccessfulDelete", "Delete Pod db-1 in StatefulSet db successful")]);
}

#[test]
fn an_old_revision_is_numbered_anew_and_the_history_is_cut() {
    let set = set(json!({"revisionHistoryLimit": 1}));
    let mut others = Vec::new();
    for (name, number) in [("db-a", 2), ("db-b", 3), ("db-c", 4)] {
        let mut other = revision(&set);
        other.metadata.name = name.into();
        other.revision = number;
        other.data =
            json!({"spec": {"template": {"metadata": {"labels": {"app": "db"}}, "spec": {"n": number}}}});
        others.push(other.to_object());
    }
    let outcome = run(&set, &[(0, "ready"), (1, "ready"), (2, "ready")], others);
    let stored = |name: &str| outcome.stored.get(&Key::new(ControllerRevision::KIND, "default", name));
    assert!(stored("db-a").is_none() && stored("db-b").is_none() && stored("db-c").is_some());
    let again = stored(&revision(&set).metadata.name).and_then(ControllerRevision::read);
    assert_eq!(again.map(|r| r.revision), Some(5));
    assert!(outcome.notes.iter().all(|note| SENTENCES.iter().any(|s| s.code == note.code)));
    assert_eq!(Pod::KIND, Kind::Pod);
}
