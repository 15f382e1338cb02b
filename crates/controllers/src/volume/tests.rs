//! Single passes over claims and volumes.

use super::*;
use crate::harness::{Outcome, pass};
use kubestep_control::{Controller, Progress};
use kubestep_model::{Instant, Object};
use serde_json::{Value, json};

fn object(kind: Kind, value: Value) -> Object {
    Object::from_value(kind, value).expect("an object")
}

fn claim(more: Value) -> Object {
    let mut value = json!({"metadata": {"name": "data", "namespace": "default", "uid": "c", "resourceVersion": "1",
            "finalizers": ["kubernetes.io/pvc-protection"]},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"}});
    merge(&mut value, &more);
    object(CLAIM, value)
}

fn volume(more: Value) -> Object {
    let mut value = json!({"metadata": {"name": "disk", "uid": "v", "resourceVersion": "1"},
        "spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain"},
        "status": {"phase": "Available"}});
    merge(&mut value, &more);
    object(VOLUME, value)
}

fn class(provisioner: &str, mode: &str) -> Object {
    object(
        CLASS,
        json!({"metadata": {"name": "fast"}, "provisioner": provisioner, "volumeBindingMode": mode}),
    )
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

fn run(controller: &dyn Controller, kind: Kind, name: &str, objects: Vec<Object>) -> Outcome {
    let namespace = if kind == CLAIM { "default" } else { "" };
    let done = pass(controller, Key::new(kind, namespace, name), objects, Instant::START, vec![]);
    assert!(matches!(done.progress, Some(Progress::Done(_))), "{:?}", done.progress);
    done
}

fn stored<W: Whole>(done: &Outcome, key: &Key) -> W {
    done.stored.get(key).and_then(W::read).expect("it is there")
}

fn said(done: &Outcome) -> Vec<&str> {
    done.events.iter().map(|e| &*e.reason).collect()
}

#[test]
fn a_claim_and_a_volume_are_bound_to_each_other_in_four_writes() {
    let done = run(&VolumeBinder, CLAIM, "data", vec![claim(json!({})), volume(json!({}))]);
    assert_eq!(done.actions.len(), 4);
    let claim: PersistentVolumeClaim = stored(&done, &Key::new(CLAIM, "default", "data"));
    let volume: PersistentVolume = stored(&done, &Key::new(VOLUME, "", "disk"));
    assert_eq!((claim.spec.volume_name.as_str(), claim.status.phase.as_str()), ("disk", "Bound"));
    assert_eq!(claim.status.capacity["storage"].to_string(), "5Gi", "it gets all of it");
    assert_eq!(volume.status.phase, "Bound");
    assert_eq!(volume.spec.claim_ref.map(|r| r.uid.to_string()).as_deref(), Some("c"));
    // Done again, nothing is written.
    let again = run(&VolumeBinder, CLAIM, "data", done.stored.into_values().collect());
    assert!(again.actions.is_empty(), "{:?}", again.actions);
}

#[test]
fn a_claim_that_finds_nothing_says_why() {
    assert_eq!(said(&run(&VolumeBinder, CLAIM, "data", vec![claim(json!({}))])), ["FailedBinding"]);
    let fast = || claim(json!({"spec": {"storageClassName": "fast"}}));
    let of = |objects| run(&VolumeBinder, CLAIM, "data", objects);
    assert_eq!(said(&of(vec![fast()])), ["ProvisioningFailed"], "there is no such class");
    let done = of(vec![fast(), class("kubernetes.io/no-provisioner", "WaitForFirstConsumer")]);
    assert_eq!(said(&done), ["WaitForFirstConsumer"]);
    let done = of(vec![fast(), class(PROVISIONER, "Immediate")]);
    assert_eq!(said(&done), ["ExternalProvisioning"]);
    let claim: PersistentVolumeClaim = stored(&done, &Key::new(CLAIM, "default", "data"));
    assert_eq!(claim.metadata.annotations[STORAGE_PROVISIONER], PROVISIONER);
    // Handed over, the provisioner makes a volume for it.
    let done = run(&Provisioner, CLAIM, "data", done.stored.into_values().collect());
    assert_eq!(said(&done), ["Provisioning", "ProvisioningSucceeded"]);
    let made: PersistentVolume = stored(&done, &Key::new(VOLUME, "", "pvc-c"));
    assert!(matching::is_bound_to(&made, &claim));
}

#[test]
fn a_volume_whose_claim_is_gone_is_released_and_kept() {
    let reference = json!({"name": "data", "namespace": "default", "uid": "c"});
    let lone = volume(json!({"spec": {"claimRef": reference}, "status": {"phase": "Bound"}}));
    let done = run(&VolumeBinder, VOLUME, "disk", vec![lone]);
    let volume: PersistentVolume = stored(&done, &Key::new(VOLUME, "", "disk"));
    assert_eq!(volume.status.phase, "Released");
}

#[test]
fn a_claim_in_use_stays_and_an_unused_one_says_so() {
    let pod = |node: &str| {
        object(
            Kind::Pod,
            json!({"metadata": {"name": "db", "namespace": "default"}, "spec": {"nodeName": node,
                "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}),
        )
    };
    let going = || claim(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}));
    let of = |objects| run(&ClaimProtection, CLAIM, "data", objects).actions.len();
    assert_eq!(of(vec![going(), pod("node-1")]), 0, "a pod that runs holds it");
    assert_eq!(of(vec![going(), pod("")]), 1, "one that has no node does not");
    let bound = || claim(json!({"status": {"phase": "Bound"}}));
    let condition = |objects| {
        let done = run(&ClaimProtection, CLAIM, "data", objects);
        let claim: PersistentVolumeClaim = stored(&done, &Key::new(CLAIM, "default", "data"));
        claim.status.conditions.first().map(|c| c.reason.clone())
    };
    assert_eq!(condition(vec![bound()]).as_deref(), Some("NoPodsUsingPVC"));
    assert_eq!(
        condition(vec![bound(), pod("")]).as_deref(),
        Some("PodUsingPVC"),
        "though it waits for a node"
    );
    assert_eq!(condition(vec![claim(json!({}))]), None, "not before it is bound");
}
