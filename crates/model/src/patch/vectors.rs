//! The recorded answers of Kubernetes' own patch functions, asked of ours.

use serde_json::{Value, json};

use super::json_patch::json_patch_text;
use super::last_applied::{last_applied, with_last_applied};
use super::merge::{merge_patch, three_way_merge_patch};
use super::strategic::{strategic_merge_patch, three_way_strategic_patch};
use crate::schema::{PatchSchema, patch_schema};
use crate::yaml::json as go_json;

/// Answers one case of a vector; none if the vector is not about patches.
#[must_use]
pub fn run(name: &str, input: &Value) -> Option<Value> {
    let text = |name: &str| input[name].as_str().unwrap_or_default();
    let answer = match name {
        "patch-json" => json_patch_text(text("object"), text("patch")).map(|text| json!({ "result": text })),
        "patch-merge" => merge_texts(text("object"), text("patch")).map(|text| json!({ "result": text })),
        "patch-merge-three-way" => three_way_texts(text("original"), text("modified"), text("current"))
            .map(|text| json!({ "patch": text })),
        "patch-strategic" => schema_of(&input["object"])
            .and_then(|schema| strategic_merge_patch(&input["object"], &input["patch"], schema))
            .map(|result| json!({ "result": result })),
        "apply-three-way" => apply(input),
        "apply-last-applied" => {
            let manifest = &input["manifest"];
            Ok(json!({ "lastApplied": last_applied(manifest), "sent": with_last_applied(manifest) }))
        }
        _ => return None,
    };
    Some(answer.unwrap_or_else(|problem| json!({ "error": problem })))
}

fn schema_of(object: &Value) -> Result<PatchSchema, String> {
    let (version, kind) = (object["apiVersion"].as_str(), object["kind"].as_str());
    patch_schema(version.unwrap_or_default(), kind.unwrap_or_default())
        .ok_or_else(|| "unknown kind".to_owned())
}

fn merge_texts(object: &str, patch: &str) -> Result<String, String> {
    let object = go_json::parse(object).map_err(|_| "Invalid JSON Document".to_owned())?;
    let patch = go_json::parse(patch).map_err(|_| "Invalid JSON Patch".to_owned())?;
    merge_patch(&object, &patch).map(|result| go_json::encode(&result))
}

fn three_way_texts(original: &str, modified: &str, current: &str) -> Result<String, String> {
    let parse = |text: &str| go_json::parse(text).map_err(|broken| broken.text);
    let patch = three_way_merge_patch(&parse(original)?, &parse(modified)?, &parse(current)?)?;
    Ok(go_json::encode(&patch))
}

fn apply(input: &Value) -> Result<Value, String> {
    let (original, modified, current) = (&input["original"], &input["modified"], &input["current"]);
    let schema = schema_of(modified)?;
    let patch = three_way_strategic_patch(original, modified, current, schema)?;
    let result = strategic_merge_patch(current, &patch, schema)?;
    Ok(json!({ "patch": patch, "result": result }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::vectors::check;

    #[test]
    fn patches_are_made_and_applied_as_recorded() {
        for name in [
            "patch-json",
            "patch-merge",
            "patch-merge-three-way",
            "patch-strategic",
            "apply-three-way",
            "apply-last-applied",
        ] {
            check(name, run);
        }
    }
}
