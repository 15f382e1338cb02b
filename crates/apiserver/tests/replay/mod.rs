//! A cluster to which recorded manifests are sent, and how what it stores is compared with a recording.

// Each test file uses its own part of this.
#![allow(dead_code)]

use kubestep_apiserver::{Actor, Settings, Store, first_objects, serve};
use kubestep_model::{Body, Dice, Instant, Key, Kind, Reply, Request, Verb, patch};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) struct World {
    pub(crate) store: Store,
    dice: Dice,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut dice = Dice::new(5);
        let mut store = Store::new();
        store.seed(first_objects(Instant::START, &mut dice));
        World { store, dice }
    }

    /// The answer and the code in the audit record.
    pub(crate) fn ask(&mut self, request: &Request) -> (Reply, u16) {
        let who = Actor::new("kubectl", "kubernetes-admin");
        let outcome =
            serve(self.store.clone(), request, &who, Instant::START, &mut self.dice, &Settings::default());
        self.store = outcome.store;
        (outcome.reply, outcome.audit[0].code)
    }

    /// What the service account controller does: every namespace has its default account.
    pub(crate) fn run_namespaces(&mut self) {
        let names: Vec<Arc<str>> =
            self.store.list(Kind::Namespace, None).map(|n| n.meta().name.clone()).collect();
        for name in names {
            if self.store.get(&Key::new(Kind::ServiceAccount, name.clone(), "default")).is_none() {
                let mut account = kubestep_model::ServiceAccount::default();
                account.metadata.name = "default".into();
                let body = Body::Typed(account.into());
                let _made =
                    self.ask(&Verb::Create { kind: Kind::ServiceAccount, namespace: name, body }.into());
            }
        }
    }
}

pub(crate) fn kind_of(document: &Value) -> Option<Kind> {
    Kind::of_manifest(document["apiVersion"].as_str()?, document["kind"].as_str()?)
}

/// A document as kubectl apply sends it to be created.
pub(crate) fn applied(document: &Value) -> Value {
    let mut document = document.clone();
    let namespaced = kind_of(&document).is_some_and(Kind::namespaced);
    if let Some(meta) = document["metadata"].as_object_mut() {
        if !namespaced {
            meta.remove("namespace");
        } else if meta.get("namespace").is_none_or(|n| n.as_str().is_none_or(str::is_empty)) {
            meta.insert("namespace".into(), "default".into());
        }
    }
    patch::with_last_applied(&document)
}

pub(crate) fn first_difference(ours: &Value, want: &Value, path: &str) -> String {
    match (ours, want) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let differs = keys.into_iter().find(|k| a.get(*k) != b.get(*k));
            differs.map_or(path.into(), |k| first_difference(&ours[k], &want[k], &format!("{path}.{k}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(0);
            first_difference(&a[at], &b[at], &format!("{path}[{at}]"))
        }
        _ => format!("{path}: {ours} want {want}"),
    }
}

/// What the server draws is left out: uid, version, times, addresses, ports, drawn names.
pub(crate) fn normal(mut object: Value) -> Value {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    if !uid.is_empty()
        && let Ok(same) = serde_json::from_str(&object.to_string().replace(&format!("\"{uid}\""), "\"uid\""))
    {
        object = same;
    }
    if object["status"]["lastPhaseTransitionTime"].is_string() {
        object["status"]["lastPhaseTransitionTime"] = "T".into();
    }
    if let Some(meta) = object["metadata"].as_object_mut() {
        for name in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
            meta.remove(name);
        }
        if meta.contains_key("generateName") {
            meta.remove("name");
        }
    }
    if object["kind"] == "Service" {
        if object["spec"]["clusterIP"].as_str().is_some_and(|ip| ip.starts_with("10.")) {
            object["spec"]["clusterIP"] = "drawn".into();
            object["spec"]["clusterIPs"] = json!(["drawn"]);
        }
        for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
            if port["nodePort"].as_u64().is_some_and(|n| n >= 30_086) {
                port["nodePort"] = "drawn".into();
            }
        }
    }
    for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastTransitionTime"] = "T".into();
    }
    without_drawn(object)
}

/// Drawn names and long runs, as the record has them.
fn without_drawn(object: Value) -> Value {
    match object {
        Value::String(text) if text.starts_with("kube-api-access-") => "kube-api-access-xxxxx".into(),
        Value::String(text) if text.len() >= 1000 => shortened(&text).into(),
        Value::Array(items) => items.into_iter().map(without_drawn).collect(),
        Value::Object(map) => map.into_iter().map(|(k, v)| (k, without_drawn(v))).collect(),
        other => other,
    }
}

/// Long runs of one letter stand shortened in the record.
pub(crate) fn shortened(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let run = chars[i..].iter().take_while(|c| **c == chars[i]).count();
        if run >= 1000 {
            out.push_str(&format!("${{repeat:{}:{run}}}", chars[i]));
        } else {
            out.extend(&chars[i..i + run]);
        }
        i += run;
    }
    out
}
