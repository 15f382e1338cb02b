//! `kubectl diff`. Upstream: kubectl/pkg/cmd/diff (v1.37).

use super::{
    apply::three_way,
    common::{self, FIELD_MANAGER, FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR},
    create::manifests,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
    output::unified,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Body, Key, Kind, Object, Request, Subresource, Verb, patch::LAST_APPLIED, yaml};
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    SELECTOR,
    FIELD_MANAGER,
    flag("concurrency", Takes::Int),
    flag("force-conflicts", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("show-secrets", Takes::Bool),
    not_done("server-side", Takes::Bool),
    not_done("prune", Takes::Bool),
    not_done("prune-allowlist", Takes::Each),
    KUSTOMIZE,
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        let words = args.words.join(" ");
        return Err(kc.usage(&args.path, &format!("Unexpected args: [{words}]")));
    }
    if args.all("filename").is_empty() {
        return Err(kc.fail("must specify one of -f and -k"));
    }
    let mut differs = false;
    let mut text = String::new();
    let mut pairs: Vec<(String, String, String)> = Vec::new();
    for item in manifests(kc, args)? {
        let manifest = common::or_stop(kc, item)?;
        let key =
            Key { kind: manifest.kind, namespace: manifest.namespace.clone(), name: manifest.name.clone() };
        let live = match kc.get(key.clone())? {
            Ok(object) => Some(object),
            Err(status) if status.is_not_found() => None,
            Err(status) => return Err(kc.fault(&status.into())),
        };
        let merged = match merged(kc, &manifest, &key, live.as_ref())? {
            Ok(merged) => merged,
            Err(fault) => return Err(kc.fault(&fault)),
        };
        let (live, merged) = (live.map(|o| o.to_value()), merged.to_value());
        let (live, merged) = if key.kind == Kind::Secret && !args.on("show-secrets") {
            let (mut live, mut merged) = (live, merged);
            mask(live.as_mut(), &mut merged);
            (live, merged)
        } else {
            (live, merged)
        };
        pairs.push((
            file_name(&key),
            live.map_or_else(String::new, |v| yaml::to_yaml(&v)),
            yaml::to_yaml(&merged),
        ));
    }
    // The program that compares reads two folders, so files come by name.
    pairs.arrange();
    let now = stamp(kc);
    for (name, before, after) in pairs {
        let (from, to) = (format!("/tmp/LIVE-1/{name}"), format!("/tmp/MERGED-1/{name}"));
        if let Some(hunks) = unified::diff(&before, &after) {
            differs = true;
            text += &format!("diff -u -N {from} {to}\n--- {from}\t{now}\n+++ {to}\t{now}\n{hunks}");
        }
    }
    kc.out(text);
    Ok(i32::from(differs))
}

/// A time as the program that compares prints it.
fn stamp(kc: &Kc<'_>) -> String {
    let text = kc.now().to_micro().to_string();
    let (date, rest) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {}000 +0000", rest.trim_end_matches('Z'))
}

/// `apps.v1.Deployment.default.web`. Upstream: Printer and DiffProgram's file names.
fn file_name(key: &Key) -> String {
    let group = if key.kind.group().is_empty() { String::new() } else { format!("{}.", key.kind.group()) };
    format!(
        "{group}{}.{}.{}.{}",
        key.kind.version(),
        key.kind.name(),
        key.namespace,
        key.name.replace(':', "-")
    )
}

/// The object as it would be after apply, asked of the server without keeping it.
fn merged(
    kc: &mut Kc<'_>,
    manifest: &Manifest,
    key: &Key,
    live: Option<&Object>,
) -> Flow<Result<Object, Fault>> {
    let dry = |verb: Verb| Request { dry_run: true, ..verb.into() };
    let Some(live) = live else {
        let mut body = manifest.value.clone();
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.remove("resourceVersion");
        }
        let verb = Verb::Create {
            kind: key.kind,
            namespace: key.namespace.clone(),
            body: Body::Json(Arc::new(body)),
        };
        return Ok(kc.ask_object(dry(verb))?.map_err(Fault::from));
    };
    // What was applied is not written down, so annotations are compared without the one that says so.
    let mut modified = manifest.value.clone();
    if let Some(Value::Object(metadata)) = modified.get_mut("metadata") {
        let annotations = metadata.entry("annotations").or_insert_with(|| Map::new().into());
        if let Value::Object(annotations) = annotations {
            annotations.remove(LAST_APPLIED);
        }
    }
    let (kind, patch) = match three_way(key, &modified, &live.to_value()) {
        Ok(found) => found,
        Err(why) => return Ok(Err(Fault::Text(why))),
    };
    if common::is_empty(&patch) {
        return Ok(Ok(live.clone()));
    }
    let verb = Verb::Patch { key: key.clone(), subresource: Subresource::None, kind, patch: Arc::new(patch) };
    Ok(kc.ask_object(dry(verb))?.map_err(Fault::from))
}

/// Values of secrets are replaced by stars that only say whether they differ. Upstream: Masker.
fn mask(live: Option<&mut Value>, merged: &mut Value) {
    let before =
        live.as_ref().and_then(|v| v.get("data")).and_then(Value::as_object).cloned().unwrap_or_default();
    let after = merged.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    let stars = |which: &str, value: &Value, there: Option<&Value>| match there {
        Some(there) if there != value => format!("*** ({which})"),
        _ => "***".to_owned(),
    };
    if let Some(Value::Object(data)) = live.and_then(|v| v.get_mut("data")) {
        for (key, value) in data.iter_mut() {
            *value = stars("before", value, after.get(key)).into();
        }
    }
    if let Some(Value::Object(data)) = merged.get_mut("data") {
        for (key, value) in data.iter_mut() {
            *value = stars("after", value, before.get(key)).into();
        }
    }
}
