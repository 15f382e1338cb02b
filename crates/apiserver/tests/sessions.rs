//! What the recorded sessions' manifests are stored as: equal to what a real API server stored.

mod replay;

use kubestep_model::{Answer, Body, Key, Kind, Object, Verb, patch, yaml};
use replay::{World, applied, first_difference, kind_of, normal};
use serde_json::Value;
use std::sync::Arc;

/// So many objects were compared when this was written.
const AT_LEAST: usize = 59;

#[test]
fn applied_manifests_are_stored_as_recorded() {
    let (mut compared, mut wrong) = (0, vec![]);
    for session in sessions() {
        for document in documents(&session) {
            let sent = applied(&document);
            let annotation = sent["metadata"]["annotations"][patch::LAST_APPLIED].clone();
            // Only what was applied as it stands in the file: later edits are other manifests.
            let Some(recorded) = added(&session, &annotation) else { continue };
            compared += 1;
            // What a limit range fills in needs the limit range beside it.
            let limited = recorded["metadata"]["annotations"]["kubernetes.io/limit-ranger"].is_string();
            let mut beside = if limited { limit_ranges(&session) } else { vec![] };
            // A pod's priority stands in its class.
            let class = &sent["spec"]["priorityClassName"];
            let classes = documents(&session).into_iter().filter(|d| d["kind"] == "PriorityClass");
            beside.extend(classes.filter(|d| d["metadata"]["name"] == *class).map(|d| applied(&d)));
            match stored(&beside, &sent) {
                Ok(ours) => {
                    let (ours, want) = (normal(ours), normal(recorded));
                    if ours != want {
                        wrong.push(format!("{}: {}", session["session"], first_difference(&ours, &want, "")));
                    }
                }
                Err(why) => wrong.push(format!("{}: {why}", session["session"])),
            }
        }
    }
    println!("objects stored as recorded: {} of {compared}", compared - wrong.len());
    assert_eq!(wrong, Vec::<String>::new());
    assert!(compared >= AT_LEAST, "only {compared} objects were compared");
}

fn sessions() -> Vec<Value> {
    let folder = format!("{}/../../tests/golden/sessions", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the recordings are there")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a recording can be read");
    let each = paths.iter().map(|path| {
        let mut session: Value = serde_json::from_str(&read(path)).expect("a recording is JSON");
        let script =
            yaml::yaml_to_json(&read(&path.with_extension("yaml")), false).expect("a script is YAML");
        session["script"] = script;
        session
    });
    each.collect()
}

fn documents(session: &Value) -> Vec<Value> {
    let files = session["script"]["files"].as_object().into_iter().flatten();
    files
        .flat_map(|(_, text)| yaml::read(text.as_str().unwrap_or_default()).documents)
        .map(|d| d.value)
        .collect()
}

/// The first state of the object that a manifest became.
fn added(session: &Value, annotation: &Value) -> Option<Value> {
    let changes = session["changes"].as_array()?.iter();
    let mut adds = changes.filter(|c| c["type"] == "ADDED").map(|c| &c["object"]);
    adds.find(|o| o["metadata"]["annotations"][patch::LAST_APPLIED] == *annotation).cloned()
}

fn limit_ranges(session: &Value) -> Vec<Value> {
    documents(session).iter().filter(|d| d["kind"] == "LimitRange").map(applied).collect()
}

/// What is stored of a manifest that is applied beside others.
fn stored(beside: &[Value], sent: &Value) -> Result<Value, String> {
    let mut world = World::new();
    // One that the session shows being refused is refused here, too.
    let kept = beside.iter().filter(|other| create(&mut world, other).is_ok()).count();
    assert!(beside.is_empty() || kept > 0, "a limit range is there");
    create(&mut world, sent)
}

fn create(world: &mut World, sent: &Value) -> Result<Value, String> {
    let kind = kind_of(sent).ok_or("an unknown kind")?;
    let namespace: Arc<str> = sent["metadata"]["namespace"].as_str().unwrap_or_default().into();
    if kind.namespaced() && world.store.get(&Key::new(Kind::Namespace, "", namespace.clone())).is_none() {
        let mut made = kubestep_model::Namespace::default();
        made.metadata.name = namespace.clone();
        let body = Body::Typed(Object::from(made));
        let _made = world.ask(&Verb::Create { kind: Kind::Namespace, namespace: "".into(), body }.into());
        world.run_namespaces();
    }
    let body = Body::Json(Arc::new(sent.clone()));
    let mut request: kubestep_model::Request = Verb::Create { kind, namespace, body }.into();
    request.strict = true;
    match world.ask(&request).0 {
        Ok(Answer::Object { object, .. }) => Ok(object.to_value()),
        Ok(_) => Err("no object in the answer".into()),
        Err(status) => Err(status.message),
    }
}
