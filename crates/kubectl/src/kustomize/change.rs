//! What a folder changes in all of its objects: namespace, names, labels, annotations, replicas, images.
//! Upstream: kustomize/api/internal/builtins and konfig/builtinpluginconsts.

use super::{Layer, Res, elements, put};
use serde_json::{Map, Value, json};

/// Applies the changes in upstream's order.
pub(super) fn apply(layer: &Layer<'_>, all: &mut [Res]) -> Result<(), String> {
    let (prefix, suffix) = (layer.text("namePrefix"), layer.text("nameSuffix"));
    for res in all.iter_mut() {
        namespace(layer.text("namespace"), res);
        if !matches!(res.kind(), "CustomResourceDefinition" | "APIService" | "Namespace") {
            res.rename(format!("{prefix}{}{suffix}", res.name()));
        }
        for entry in layer.list("labels") {
            let on = |field: &str| entry[field].as_bool().unwrap_or(false);
            if let Some(pairs) = entry["pairs"].as_object() {
                labels(res, pairs, on("includeSelectors"), on("includeTemplates"));
            }
        }
        if let Some(pairs) = layer.map("commonLabels") {
            labels(res, pairs, true, true);
        }
        if let Some(pairs) = layer.map("commonAnnotations") {
            for path in ["metadata/annotations", "spec/template/metadata/annotations"] {
                set(&mut res.value, path, pairs);
            }
            if res.kind() == "CronJob" {
                set(&mut res.value, "spec/jobTemplate/metadata/annotations", pairs);
                set(&mut res.value, "spec/jobTemplate/spec/template/metadata/annotations", pairs);
            }
        }
    }
    replicas(layer, all)?;
    for entry in layer.list("images") {
        all.iter_mut().for_each(|res| images(&mut res.value, entry, 0));
    }
    Ok(())
}

fn namespace(to: &str, res: &mut Res) {
    if to.is_empty() {
        return;
    }
    if res.kind() == "Namespace" {
        res.rename(to.to_owned());
    } else if res.namespaced() {
        put(&mut res.value, "metadata/namespace", json!(to));
    }
    if matches!(res.kind(), "RoleBinding" | "ClusterRoleBinding") {
        for subject in elements(&mut res.value, "/subjects") {
            if subject["kind"] == "ServiceAccount" && subject["name"] == "default" {
                put(subject, "namespace", json!(to));
            }
        }
    }
}

/// Kinds with a pod template at `spec.template`.
const WORKLOADS: [&str; 6] =
    ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "ReplicationController"];

fn labels(res: &mut Res, pairs: &Map<String, Value>, selectors: bool, templates: bool) {
    set(&mut res.value, "metadata/labels", pairs);
    let kind = res.kind().to_owned();
    let value = &mut res.value;
    if templates || selectors {
        match kind.as_str() {
            kind if WORKLOADS.contains(&kind) => make(value, "spec/template/metadata/labels", pairs),
            "CronJob" => {
                make(value, "spec/jobTemplate/metadata/labels", pairs);
                make(value, "spec/jobTemplate/spec/template/metadata/labels", pairs);
            }
            _ => {}
        }
    }
    if !selectors {
        return;
    }
    match kind.as_str() {
        "Service" | "ReplicationController" => make(value, "spec/selector", pairs),
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" => {
            make(value, "spec/selector/matchLabels", pairs);
        }
        "Job" | "PodDisruptionBudget" => set(value, "spec/selector/matchLabels", pairs),
        "CronJob" => set(value, "spec/jobTemplate/spec/selector/matchLabels", pairs),
        "NetworkPolicy" => set(value, "spec/podSelector/matchLabels", pairs),
        _ => {}
    }
    for claim in elements(value, "/spec/volumeClaimTemplates") {
        make(claim, "metadata/labels", pairs);
    }
}

/// Adds entries to a map; the map is made where its parent is there (`metadata` itself always is).
fn set(value: &mut Value, path: &str, pairs: &Map<String, Value>) {
    let top = path.starts_with("metadata/");
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let wanted = if path.ends_with("/matchLabels") { path } else { parent };
    if top || value.pointer(&format!("/{wanted}")).is_some_and(Value::is_object) {
        make(value, path, pairs);
    } else if path.ends_with("metadata/annotations")
        && let Some((above, _)) = parent.rsplit_once('/')
        && value.pointer(&format!("/{above}")).is_some_and(Value::is_object)
    {
        make(value, path, pairs);
    }
}

/// Adds entries to a map; what is missing on the way there is made.
fn make(value: &mut Value, path: &str, pairs: &Map<String, Value>) {
    for (key, new) in pairs {
        let text = match new {
            Value::String(_) => new.clone(),
            other => json!(other.to_string()),
        };
        // A key may hold slashes of its own.
        let mut map =
            value.pointer(&format!("/{path}")).and_then(Value::as_object).cloned().unwrap_or_default();
        map.insert(key.clone(), text);
        put(value, path, map.into());
    }
}

fn replicas(layer: &Layer<'_>, all: &mut [Res]) -> Result<(), String> {
    for entry in layer.list("replicas") {
        let name = entry["name"].as_str().unwrap_or_default();
        let scalable = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
        let mut found = false;
        for res in all.iter_mut().filter(|r| scalable.contains(&r.kind())) {
            if res.names.iter().any(|n| n == name) {
                put(&mut res.value, "spec/replicas", entry["count"].clone());
                found = true;
            }
        }
        if !found {
            return Err(format!(
                "resource with name {name} does not match a config with the following GVK [ReplicationController.[noVer].[noGrp] Deployment.[noVer].[noGrp] ReplicaSet.[noVer].[noGrp] StatefulSet.[noVer].[noGrp]]"
            ));
        }
    }
    Ok(())
}

/// Changes an image wherever containers stand.
fn images(value: &mut Value, entry: &Value, depth: usize) {
    if depth > 32 {
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|v| images(v, entry, depth + 1)),
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                if matches!(key.as_str(), "containers" | "initContainers") {
                    for container in inner.as_array_mut().into_iter().flatten() {
                        if let Some(new) = container["image"].as_str().and_then(|old| image(old, entry)) {
                            put(container, "image", json!(new));
                        }
                    }
                }
                images(inner, entry, depth + 1);
            }
        }
        _ => {}
    }
}

/// The image that an entry makes of one; none if it is about another.
fn image(old: &str, entry: &Value) -> Option<String> {
    let (bare, digest) = old.split_once('@').map_or((old, None), |(b, d)| (b, Some(d)));
    let from = bare.rfind('/').map_or(0, |at| at + 1);
    let (name, tag) = match bare[from..].find(':') {
        Some(at) => (&bare[..from + at], Some(&bare[from + at + 1..])),
        None => (bare, None),
    };
    let says = |field: &str| match &entry[field] {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    if says("name").as_deref() != Some(name) {
        return None;
    }
    let new = says("newName").unwrap_or_else(|| name.to_owned());
    let (new_tag, new_digest) = (says("newTag"), says("digest"));
    Some(match (new_tag, new_digest, tag, digest) {
        (tag, Some(digest), ..) => {
            format!("{new}{}@{digest}", tag.map_or(String::new(), |t| format!(":{t}")))
        }
        (Some(tag), None, ..) => format!("{new}:{tag}"),
        (None, None, tag, digest) => format!(
            "{new}{}{}",
            tag.map_or(String::new(), |t| format!(":{t}")),
            digest.map_or(String::new(), |d| format!("@{d}"))
        ),
    })
}
