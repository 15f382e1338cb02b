//! `kubectl edit`. A terminal has no editor here: the page opens the object as a file, and applying that file saves it.
//! Upstream: kubectl/pkg/cmd/util/editor (v1.37); the patch is made against the object as it is when it is saved.

use super::{
    applied,
    common::{self, DryRun, FILENAME, OUTPUT, RECURSIVE},
    create,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    docs,
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
    select::{self, Info, Select},
};
use kubestep_model::{Key, PatchKind, patch::merge::create_merge_patch, yaml};
use serde_json::Value;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    common::FIELD_MANAGER,
    common::VALIDATE,
    flag("windows-line-endings", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("kustomize", Takes::Text),
    not_done("save-config", Takes::Bool),
    not_done("output-patch", Takes::Bool),
    not_done("subresource", Takes::Text),
    not_done("template", Takes::Text),
];

/// How the names of files begin that this command opened.
const OPENED: &str = "edit-";

const HEAD: &str = "# Edit the object below; lines that begin with '#' do not count. Apply saves it.\n#\n";

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !matches!(args.text_or_empty("output"), "" | "yaml") {
        return Err(kc.not_done(&format!("edit -o {}", args.text_or_empty("output"))));
    }
    if is_saved(args, OPENED) {
        return save(kc, args);
    }
    let infos = wanted(kc, args)?;
    if infos.is_empty() {
        kc.err("edit cancelled, no objects found\n");
        return Ok(1);
    }
    for info in &infos {
        let mut value = info.object.to_value();
        if !args.on("show-managed-fields")
            && let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut)
        {
            meta.remove("managedFields");
        }
        open(kc, OPENED, HEAD, &info.key, &value);
    }
    Ok(0)
}

/// The command that saves a file of the editor: of what kubectl opened the one that opened it, else `apply`.
pub fn saves(file: &str) -> &'static str {
    match file {
        file if file.starts_with(applied::OPENED) => "apply edit-last-applied",
        file if file.starts_with(OPENED) => "edit",
        _ => "apply",
    }
}

/// Whether the command is asked to save a file that it opened, by how the names of those begin.
pub(super) fn is_saved(args: &Args, prefix: &str) -> bool {
    let opened = |file: &String| file.rsplit('/').next().is_some_and(|name| name.starts_with(prefix));
    args.words.is_empty() && args.all("filename").iter().any(opened)
}

/// The objects that are to be opened; kinds alone mean all of them.
pub(super) fn wanted(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<Info>> {
    let found = select::find(kc, &Select { types_alone: true, ..Select::from(args, &args.words) })?;
    match Fault::all(found.faults) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(found.infos),
    }
}

/// Opens a value of an object as a file of the editor.
pub(super) fn open(kc: &mut Kc<'_>, prefix: &str, head: &str, key: &Key, value: &Value) {
    let name = format!("{prefix}{}-{}.yaml", key.kind.singular(), key.name);
    kc.out(docs::opens(&name, &format!("{head}{}", yaml::to_yaml(value))));
    kc.out(format!("{name} is open in the editor; Apply there saves it.\n"));
}

fn save(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let mut faults = Vec::new();
    for item in create::manifests(kc, args)? {
        let saved = match item {
            Ok(manifest) => put(kc, &manifest)?,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = saved {
            faults.push(fault);
        }
    }
    common::finish(kc, faults)
}

/// Sends what the file says otherwise than the object.
fn put(kc: &mut Kc<'_>, manifest: &Manifest) -> Flow<Result<(), Fault>> {
    let key = manifest.key();
    let live = match select::get(kc, key.clone())? {
        Ok(object) => object,
        Err(fault) => return Ok(Err(fault)),
    };
    let (before, after) = (plain(live.to_value()), plain(manifest.value.clone()));
    let (kind, patch) = match common::difference(key.kind, &before, &after) {
        Ok(patch) => (PatchKind::Strategic, patch),
        Err(_) => match (&before, &after) {
            (Value::Object(before), Value::Object(after)) => {
                (PatchKind::Merge, Value::Object(create_merge_patch(before, after)))
            }
            _ => return Ok(Err(Fault::Text("the file holds no object".into()))),
        },
    };
    if common::is_empty(&patch) {
        kc.err("Edit cancelled, no changes made.\n");
        return Ok(Ok(()));
    }
    match common::patch(kc, &key, kind, patch, DryRun::None)? {
        Ok(_) => {
            common::said(kc, &key, "edited", DryRun::None);
            Ok(Ok(()))
        }
        Err(status) => Ok(Err(Fault::from(status))),
    }
}

/// Without what the API server alone writes: it may have gone on since the file was opened.
fn plain(mut value: Value) -> Value {
    if let Some(map) = value.as_object_mut() {
        map.remove("status");
        if let Some(meta) = map.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in ["resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"] {
                meta.remove(field);
            }
        }
    }
    value
}
