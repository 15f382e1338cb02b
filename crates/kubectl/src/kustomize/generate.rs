//! Config maps and secrets made of literals and files. Upstream: kustomize/api/internal/generators.

use super::{Layer, Res, put};
use crate::{base64, kc::Kc};
use serde_json::{Map, Value, json};

/// Adds what the generators of a folder make, or merges it into what is there.
pub(super) fn add(kc: &Kc<'_>, layer: &Layer<'_>, all: &mut Vec<Res>) -> Result<(), String> {
    for (field, kind) in [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")] {
        for entry in layer.list(field) {
            let made = make(kc, layer, entry, kind)?;
            let name = made.name().to_owned();
            let there = all.iter_mut().find(|r| r.kind() == kind && r.names.contains(&name));
            match (entry["behavior"].as_str().unwrap_or("create"), there) {
                ("create" | "unspecified", None) => all.push(made),
                ("create" | "unspecified", Some(_)) => {
                    return Err(format!("may not add resource with an already registered id: {kind}.{name}"));
                }
                ("replace", Some(old)) => put(&mut old.value, "data", made.value["data"].clone()),
                ("merge", Some(old)) => {
                    let new = made.value["data"].as_object().cloned().unwrap_or_default();
                    let data = old.value["data"].as_object().cloned().unwrap_or_default();
                    put(&mut old.value, "data", data.into_iter().chain(new).collect::<Map<_, _>>().into());
                }
                (other, _) => {
                    return Err(format!("{kind} {name}: behavior {other}: there is nothing to {other}"));
                }
            }
        }
    }
    Ok(())
}

fn make(kc: &Kc<'_>, layer: &Layer<'_>, entry: &Value, kind: &str) -> Result<Res, String> {
    let name = entry["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        return Err(format!("a generator of a {kind} has no name"));
    }
    let secret = kind == "Secret";
    let mut data = Map::new();
    for (key, text) in pairs(kc, layer, entry)? {
        let value = if secret { base64::encode(text.as_bytes()) } else { text };
        if data.insert(key.clone(), json!(value)).is_some() {
            return Err(format!(
                "{kind} {name}: cannot add key {key}, another key by that name already exists"
            ));
        }
    }
    let mut value = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data});
    if let Some(namespace) = entry["namespace"].as_str() {
        value["metadata"]["namespace"] = json!(namespace);
    }
    if secret {
        value["type"] = json!(entry["type"].as_str().unwrap_or("Opaque"));
    }
    let (of_all, own) = (&layer.says.get("generatorOptions").cloned().unwrap_or_default(), &entry["options"]);
    for field in ["labels", "annotations"] {
        let both = [of_all, own].into_iter().filter_map(|o| o[field].as_object()).flatten();
        let all: Map<String, Value> = both.map(|(k, v)| (k.clone(), v.clone())).collect();
        if !all.is_empty() {
            value["metadata"][field] = all.into();
        }
    }
    let on = |field: &str| own[field].as_bool().or(of_all[field].as_bool()).unwrap_or(false);
    if on("immutable") {
        value["immutable"] = json!(true);
    }
    let hashed = !on("disableNameSuffixHash");
    Ok(Res { hashed, ..Res::new(value) })
}

/// Keys and texts, from env files, literals and files in this order.
fn pairs(kc: &Kc<'_>, layer: &Layer<'_>, entry: &Value) -> Result<Vec<(String, String)>, String> {
    let list = |field: &str| -> Vec<String> {
        let texts = entry[field].as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let mut out = Vec::new();
    for name in list("envs").into_iter().chain(entry["env"].as_str().map(str::to_owned)) {
        for line in layer.file(kc, &name)?.lines().map(str::trim_start) {
            if !line.is_empty() && !line.starts_with('#') {
                let (key, value) = line.split_once('=').unwrap_or((line, ""));
                out.push((key.to_owned(), value.to_owned()));
            }
        }
    }
    for literal in list("literals") {
        let (key, value) = literal
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| format!("invalid literal source {literal}, expected key=value"))?;
        let bare = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(value);
        out.push((key.to_owned(), bare.to_owned()));
    }
    for file in list("files") {
        let (key, path) =
            file.split_once('=').unwrap_or_else(|| (file.rsplit('/').next().unwrap_or(&file), &file));
        out.push((key.to_owned(), layer.file(kc, path)?.to_owned()));
    }
    Ok(out)
}
