//! No request makes the API server panic: recorded manifests with something wrong in them, created, replaced, patched.

mod replay;

use kubestep_model::{Body, Dice, Key, Kind, Object, PatchKind, Request, Subresource, Verb, yaml};
use replay::{World, applied, kind_of};
use serde_json::{Value, json};
use std::sync::Arc;

const ROUNDS: usize = 3;

fn manifests() -> Vec<Value> {
    let folder = format!("{}/../../tests/golden/verdicts", env!("CARGO_MANIFEST_DIR"));
    ["deployment", "pod", "service", "config"]
        .iter()
        .filter_map(|area| std::fs::read_to_string(format!("{folder}/{area}.yaml")).ok())
        .filter_map(|text| yaml::yaml_to_json(&text, false).ok())
        .flat_map(|script| script["cases"].as_array().cloned().unwrap_or_default())
        .filter_map(|case| case["manifest"].as_str().map(str::to_owned))
        .flat_map(|text| yaml::read(&text).documents)
        .map(|document| document.value)
        .collect()
}

/// Something that stands where it does not belong.
fn junk(dice: &mut Dice) -> Value {
    match dice.below("junk", 12) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(i64::MAX),
        3 => json!(1.5),
        4 => json!(""),
        5 => json!("ü\u{0}%"),
        6 => json!([]),
        7 => json!({}),
        8 => json!([null]),
        9 => json!({"": null}),
        10 => json!("99999999999999999999Gi"),
        _ => json!(true),
    }
}

/// Replaces one value somewhere.
fn spoil(value: &mut Value, dice: &mut Dice) {
    let deeper = dice.below("deeper", 8) != 0;
    match value {
        Value::Object(map) if deeper && !map.is_empty() => {
            let at = dice.below("key", u32::try_from(map.len()).unwrap_or(1)) as usize;
            if let Some(child) = map.values_mut().nth(at) {
                spoil(child, dice);
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = dice.below("item", u32::try_from(items.len()).unwrap_or(1)) as usize;
            spoil(&mut items[at], dice);
        }
        other => *other = junk(dice),
    }
}

#[test]
fn spoilt_manifests_are_answered() {
    let (mut dice, mut answered, mut accepted) = (Dice::new(11), 0, 0);
    for manifest in manifests() {
        let Some(kind) = kind_of(&manifest) else { continue };
        let mut world = World::new();
        let name = manifest["metadata"]["name"].as_str().unwrap_or("x").to_owned();
        let key = Key::new(kind, if kind.namespaced() { "default" } else { "" }, name);
        let whole = Arc::new(applied(&manifest));
        let create =
            |body: Arc<Value>| Verb::Create { kind, namespace: "default".into(), body: Body::Json(body) };
        let (first, _) = world.ask(&create(whole.clone()).into());
        for round in 0..ROUNDS {
            let mut spoilt = (*whole).clone();
            spoil(&mut spoilt, &mut dice);
            let mut verbs = vec![create(Arc::new(spoilt.clone()))];
            if first.is_ok() {
                let spoilt = Arc::new(spoilt.clone());
                let (key, body) = (key.clone(), Body::Json(spoilt.clone()));
                verbs.push(Verb::Replace { key: key.clone(), subresource: Subresource::None, body });
                for how in [PatchKind::Strategic, PatchKind::Merge] {
                    let (key, patch) = (key.clone(), spoilt.clone());
                    verbs.push(Verb::Patch { key, subresource: Subresource::None, kind: how, patch });
                }
                let patch = Arc::new(json!([{"op": "add", "path": "/spec", "value": spoilt["spec"]}]));
                verbs.push(Verb::Patch {
                    key,
                    subresource: Subresource::Status,
                    kind: PatchKind::Json,
                    patch,
                });
            }
            if let Ok(object) = Object::from_value(kind, spoilt) {
                verbs.push(Verb::Create { kind, namespace: "default".into(), body: Body::Typed(object) });
            }
            for verb in verbs {
                let mut request: Request = verb.into();
                request.strict = round % 2 == 0;
                let (reply, code) = world.ask(&request);
                assert!(reply.is_ok() == (code < 400));
                answered += 1;
                accepted += usize::from(reply.is_ok());
            }
        }
    }
    println!("{answered} spoilt requests, {accepted} of them accepted");
    assert!(answered > 2_000 && accepted > 100 && accepted < answered);
}

#[test]
fn a_spoilt_pod_status_is_answered() {
    let mut world = World::new();
    let mut dice = Dice::new(12);
    let manifest = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let create =
        Verb::Create { kind: Kind::Pod, namespace: "default".into(), body: Body::Json(Arc::new(manifest)) };
    assert!(world.ask(&create.into()).0.is_ok());
    let whole = json!({"metadata": {"labels": {"a": "b"}}, "status": {
        "$setElementOrder/conditions": [{"type": "A"}, {"type": "B"}],
        "conditions": [{"type": "A", "status": "True"}, {"type": "B", "$patch": "delete"}],
        "podIPs": [{"ip": "10.0.0.1"}], "containerStatuses": [{"name": "c"}], "startTime": "2026-01-01T00:00:00Z",
    }});
    for _ in 0..2_000 {
        let mut patch = whole.clone();
        spoil(&mut patch, &mut dice);
        let key = Key::new(Kind::Pod, "default", "p");
        let verb = Verb::Patch {
            key,
            subresource: Subresource::Status,
            kind: PatchKind::Strategic,
            patch: Arc::new(patch),
        };
        let (reply, code) = world.ask(&verb.into());
        assert!(reply.is_ok() == (code < 400));
    }
}
