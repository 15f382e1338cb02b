//! The pure functions of the API server, called as the recorded vectors call them.

use crate::{
    admission::{limit_range, quota},
    defaults,
};
use kubestep_model::{
    Instant, Kind, Object, ResourceQuota,
    resources::{Amounts, qos, quota as counting},
    schema, yaml,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers one case of a vector; none if the vector is about something else.
pub fn run(name: &str, input: &Value) -> Option<Value> {
    Some(match name {
        "defaults" => defaulted(input),
        "qos-class" => json!({"qosClass": class(input)}),
        "quota-usage" => usage(input),
        "quota-check" => check(input),
        "limit-range" => ranged(input),
        _ => return None,
    })
}

fn read(value: &Value) -> Option<Object> {
    let kind = Kind::of_manifest(value["apiVersion"].as_str()?, value["kind"].as_str()?)?;
    Object::from_value(kind, value.clone()).ok()
}

fn defaulted(input: &Value) -> Value {
    let manifest = yaml::yaml_to_json(input["yaml"].as_str().unwrap_or_default(), false);
    let Ok(manifest) = manifest else { return json!({"error": "unreadable"}) };
    let Some(mut object) = read(&manifest) else { return json!({"error": "unreadable"}) };
    defaults::apply(&mut object);
    let kind = object.kind();
    let whole = object.to_value();
    let kept_whole = matches!(object, Object::Custom(_));
    let mut written =
        if kept_whole { schema::encode(&kind.api_version(), kind.name(), &whole) } else { whole };
    keep_empty_lists(&mut written, &manifest);
    json!({"object": written})
}

/// Go tells an empty list from none where a struct does not: the structs here have one word for both, and what has no
/// containers is refused either way.
fn keep_empty_lists(written: &mut Value, read: &Value) {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            for (name, value) in written.iter_mut() {
                if let Some(read) = read.get(name) {
                    keep_empty_lists(value, read);
                }
            }
        }
        (written @ Value::Null, Value::Array(items)) if items.is_empty() => *written = json!([]),
        _ => {}
    }
}

fn defaulted_object(value: &Value) -> Option<Object> {
    let mut object = read(value)?;
    defaults::apply(&mut object);
    Some(object)
}

fn class(input: &Value) -> &'static str {
    let containers = |part: &str| -> Value {
        let each = input[part].as_array().into_iter().flatten();
        each.map(|resources| json!({"name": "c", "resources": resources})).collect()
    };
    let mut spec =
        json!({"containers": containers("containers"), "initContainers": containers("initContainers")});
    if !input["pod"].is_null() {
        spec["resources"] = input["pod"].clone();
    }
    match defaulted_object(&json!({"apiVersion": "v1", "kind": "Pod", "spec": spec})) {
        Some(Object::Pod(pod)) => qos::class(&pod.spec),
        _ => "",
    }
}

fn usage(input: &Value) -> Value {
    let now =
        input["now"].as_str().and_then(kubestep_model::Time::parse).map_or(Instant::START, |t| t.instant());
    let used = defaulted_object(&input["object"]).map(|object| counting::usage(&object, now));
    json!({"usage": used.unwrap_or_default()})
}

fn check(input: &Value) -> Value {
    let quotas: Vec<Arc<ResourceQuota>> = input["quotas"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|q| if let Some(Object::ResourceQuota(q)) = read(q) { Some(q) } else { None })
        .collect();
    let Some(pod) = defaulted_object(&input["pod"]) else { return json!({"error": "unreadable"}) };
    match quota::check(&quotas, &pod, None, Instant::START) {
        Err(status) => json!({"code": status.code, "error": status.message}),
        Ok(changed) => {
            let used = |quota: &Arc<ResourceQuota>| -> Amounts {
                let now = changed.iter().find(|(q, _)| q.metadata.name == quota.metadata.name);
                now.map_or_else(|| quota.status.used.clone(), |(_, used)| used.clone())
            };
            let each = quotas.iter().map(|q| (q.metadata.name.to_string(), json!(used(q))));
            json!({"used": each.collect::<serde_json::Map<_, _>>()})
        }
    }
}

fn ranged(input: &Value) -> Value {
    let (range, pod) = (defaulted_object(&input["limitRange"]), defaulted_object(&input["pod"]));
    let (Some(Object::Custom(range)), Some(Object::Pod(pod))) = (range, pod) else {
        return json!({"error": "unreadable"});
    };
    let mut pod = Arc::unwrap_or_clone(pod);
    let spec = range.rest.get("spec").cloned().unwrap_or_default();
    limit_range::fill(&mut pod, &spec);
    let mut errors = limit_range::check(&pod, &spec);
    errors.sort();
    let resources = |containers: &[kubestep_model::Container]| -> Value {
        containers.iter().map(|c| json!(c.resources)).collect()
    };
    let mut out = json!({"containers": resources(&pod.spec.containers), "errors": errors});
    if !pod.spec.init_containers.is_empty() {
        out["initContainers"] = resources(&pod.spec.init_containers);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differing(name: &str) -> (usize, Vec<String>) {
        let path = format!("{}/../../tests/golden/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the vector is there");
        let file: Value = serde_json::from_str(&text).expect("the vector is JSON");
        let cases = file["cases"].as_array().expect("it has cases");
        let wrong = cases.iter().filter_map(|case| {
            let ours = run(name, &case["in"]).expect("the function is here");
            (ours != case["out"]).then(|| format!("{}\n ours {ours}\n want {}", case["in"], case["out"]))
        });
        (cases.len(), wrong.collect())
    }

    #[test]
    fn vectors_are_met() {
        for name in ["defaults", "qos-class", "quota-usage", "quota-check", "limit-range"] {
            let (all, wrong) = differing(name);
            assert!(all > 50, "{name}");
            for case in wrong.iter().take(12) {
                println!("{name}: {case}");
            }
            assert!(wrong.is_empty(), "{name}: {} of {all} differ", wrong.len());
        }
    }
}
