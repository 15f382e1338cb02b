//! `kubectl diff`. Upstream: kubectl/pkg/cmd/diff (v1.37).

use super::{
    apply::three_way,
    common::{self, FIELD_MANAGER, FILENAME, KUSTOMIZE, RECURSIVE, SELECTOR},
    create::manifests,
    prune, server_side,
};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc, Stop},
    manifest::Manifest,
    output::unified,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Body, Key, Kind, Object, PatchKind, Request, Subresource, Verb, patch::LAST_APPLIED, yaml,
};
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
    flag("server-side", Takes::Bool),
    flag("prune", Takes::Bool),
    flag("prune-allowlist", Takes::Each),
    KUSTOMIZE,
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        let words = args.words.join(" ");
        return Err(wrong(kc.usage(&args.path, &format!("Unexpected args: [{words}]"))));
    }
    if args.all("filename").is_empty() {
        return Err(wrong(kc.fail("must specify one of -f and -k")));
    }
    let mut differs = false;
    let mut text = String::new();
    let (mut pairs, mut visited): (Vec<(String, String, String)>, Vec<Key>) = (Vec::new(), Vec::new());
    for item in manifests(kc, args).map_err(wrong)? {
        let manifest = common::or_stop(kc, item).map_err(wrong)?;
        let key = manifest.key();
        let (live, merged) = both(kc, args, &manifest, &key)?;
        visited.push(key.clone());
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
    if args.on("prune") {
        let gone = prune::find(kc, args, visited.as_slice()).map_err(wrong)?;
        for object in gone {
            pairs.push((file_name(&object.key()), yaml::to_yaml(&object), String::new()));
        }
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

/// How often an object that keeps changing is read. Upstream: diff.go, maxRetries.
const TRIES: u32 = 4;

/// A fault ends this command with 2; with 1 it ends where something differs. Upstream: cmdutil.CheckDiffErr.
fn wrong(stop: Stop) -> Stop {
    match stop {
        Stop::Exit(1) => Stop::Exit(2),
        other => other,
    }
}

/// An object as it is and as it would be. After a conflict it is read again; at last its revision is not looked at.
fn both(kc: &mut Kc<'_>, args: &Args, manifest: &Manifest, key: &Key) -> Flow<(Option<Object>, Object)> {
    let mut tries = 1;
    loop {
        let live = match kc.get(key.clone())? {
            Ok(object) => Some(object),
            Err(status) if status.is_not_found() => None,
            Err(status) => return Err(wrong(kc.fault(&status.into()))),
        };
        let locked = tries < TRIES;
        if !locked {
            let kind = key.kind;
            let version =
                if kind.group().is_empty() { format!("/{}", kind.version()) } else { kind.api_version() };
            let text = format!(
                "Object ({version}, Kind={}: {}) keeps changing, diffing without lock",
                kind.name(),
                key.name
            );
            kc.log("diff.go:723", &text);
        }
        let merged = if args.on("server-side") {
            applied(kc, args, manifest, key)?
        } else {
            merged(kc, manifest, key, live.as_ref(), locked)?
        };
        match merged {
            Ok(merged) => return Ok((live, merged)),
            Err(Fault::Status(status)) if status.is_conflict() && locked => tries += 1,
            Err(fault) => return Err(wrong(kc.fault(&fault))),
        }
    }
}

/// The object as it would be after a server-side apply.
fn applied(kc: &mut Kc<'_>, args: &Args, manifest: &Manifest, key: &Key) -> Flow<Result<Object, Fault>> {
    let manager = args.text("field-manager").unwrap_or(server_side::MANAGER);
    let patch = Arc::new(manifest.value.clone());
    let verb =
        Verb::Patch { key: key.clone(), subresource: Subresource::None, kind: PatchKind::Apply, patch };
    let request = Request {
        dry_run: true,
        force: args.on("force-conflicts"),
        field_manager: Some(manager.into()),
        ..verb.into()
    };
    Ok(kc.ask_object(request)?.map_err(Fault::from).map(without_owners))
}

/// Who owns what is not compared.
fn without_owners(mut object: Object) -> Object {
    object.meta_mut().rest.remove("managedFields");
    object
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
    locked: bool,
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
    let (kind, mut patch) = match three_way(key, &modified, &live.to_value()) {
        Ok(found) => found,
        Err(why) => return Ok(Err(Fault::Text(why))),
    };
    if common::is_empty(&patch) {
        return Ok(Ok(live.clone()));
    }
    if locked && let Some(map) = patch.as_object_mut() {
        let metadata = map.entry("metadata").or_insert_with(|| Map::new().into());
        metadata["resourceVersion"] = live.meta().resource_version.as_str().into();
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
