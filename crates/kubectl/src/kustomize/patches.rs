//! Patches of a folder, strategic or as lists of operations. Upstream: kustomize/api/internal/builtins, PatchTransformer.

use super::{Layer, Res, documents, put};
use crate::kc::Kc;
use kubestep_model::{
    patch::{json_patch, merge_patch, strategic_merge_patch},
    schema::patch_schema,
    text::Selector,
};
use regex_lite::Regex;
use serde_json::Value;

/// Applies all patches that a folder names.
pub(super) fn apply(kc: &Kc<'_>, layer: &Layer<'_>, all: &mut Vec<Res>) -> Result<(), String> {
    for entry in layer.list("patchesStrategicMerge") {
        let entry = entry.as_str().unwrap_or_default();
        let text = if entry.contains('\n') { entry } else { layer.file(kc, entry)? };
        for patch in documents(text, entry)? {
            strategic(all, &patch, &Value::Null)?;
        }
    }
    for entry in layer.list("patches").iter().chain(layer.list("patchesJson6902")) {
        let text = match (entry["patch"].as_str(), entry["path"].as_str()) {
            (Some(text), None) => text,
            (None, Some(path)) => layer.file(kc, path)?,
            _ => return Err("patch and path can't be set at the same time, and one of them must be".into()),
        };
        for patch in documents(text, "patch")? {
            match patch.is_array() {
                true => operations(all, &patch, &entry["target"])?,
                false => strategic(all, &patch, &entry["target"])?,
            }
        }
    }
    Ok(())
}

fn operations(all: &mut [Res], patch: &Value, target: &Value) -> Result<(), String> {
    if target.is_null() {
        return Err("must specify a target for JSON patch".into());
    }
    for res in all.iter_mut() {
        if fits(res, target)? {
            res.value = json_patch(&res.value, patch)?;
        }
    }
    Ok(())
}

fn strategic(all: &mut Vec<Res>, patch: &Value, target: &Value) -> Result<(), String> {
    let of = Res::new(patch.clone());
    let namespace = patch["metadata"]["namespace"].as_str();
    let mut found = false;
    for at in (0..all.len()).rev() {
        let res = &mut all[at];
        let own = || {
            let place = res.value["metadata"]["namespace"].as_str();
            res.kind() == of.kind()
                && res.group_version() == of.group_version()
                && res.names.iter().any(|n| n == of.name())
                && (namespace.is_none() || namespace == place)
        };
        if !(if target.is_null() { own() } else { fits(res, target)? }) {
            continue;
        }
        found = true;
        if patch["$patch"] == "delete" {
            all.remove(at);
            continue;
        }
        // A patch with a target may name anything: it changes what the target names.
        let mut patch = patch.clone();
        for field in ["apiVersion", "kind"] {
            put(&mut patch, field, res.value[field].clone());
        }
        if let Some(meta) = patch.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.remove("name");
            meta.remove("namespace");
        }
        let version = res.value["apiVersion"].as_str().unwrap_or_default();
        res.value = match patch_schema(version, res.kind()) {
            Some(schema) => strategic_merge_patch(&res.value, &patch, schema)?,
            None => merge_patch(&res.value, &patch)?,
        };
    }
    match found || !target.is_null() {
        true => Ok(()),
        false => Err(format!(
            "no resource matches strategic merge patch \"{}.{}\": no matches for Id {}.{}; failed to find unique target for patch {}.{}",
            of.kind(),
            of.name(),
            of.kind(),
            of.name(),
            of.kind(),
            of.name()
        )),
    }
}

/// Whether a target names an object: by regular expressions on its names, and by labels.
fn fits(res: &Res, target: &Value) -> Result<bool, String> {
    let (group, version) = res.group_version();
    let whole = |pattern: &str, text: &str| -> Result<bool, String> {
        let regex = Regex::new(&format!("^(?:{pattern})$")).map_err(|e| format!("target {pattern}: {e}"))?;
        Ok(regex.is_match(text))
    };
    let texts = [
        ("group", group),
        ("version", version),
        ("kind", res.kind()),
        ("namespace", res.value["metadata"]["namespace"].as_str().unwrap_or_default()),
    ];
    for (field, text) in texts {
        if let Some(pattern) = target[field].as_str().filter(|p| !p.is_empty())
            && !whole(pattern, text)?
        {
            return Ok(false);
        }
    }
    if let Some(pattern) = target["name"].as_str().filter(|p| !p.is_empty()) {
        let mut any = false;
        for name in &res.names {
            any |= whole(pattern, name)?;
        }
        if !any {
            return Ok(false);
        }
    }
    for (field, of) in [("labelSelector", "labels"), ("annotationSelector", "annotations")] {
        if let Some(text) = target[field].as_str().filter(|t| !t.is_empty()) {
            let selector = Selector::parse(text).map_err(|e| format!("target {field}: {e}"))?;
            let labels = serde_json::from_value(res.value["metadata"][of].clone()).unwrap_or_default();
            if !selector.matches(&labels) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
