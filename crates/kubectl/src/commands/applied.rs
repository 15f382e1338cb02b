//! `kubectl apply view-last-applied`, `set-last-applied` and `edit-last-applied`. Upstream: kubectl/pkg/cmd/apply (v1.37).

use super::{
    apply,
    common::{self, ALL, DRY_RUN, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    create,
};
use crate::{
    args::{Args, Flag, Takes, flag},
    docs,
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
    output::{format::Format, json},
    select::{self, Select},
};
use kubestep_model::{
    Key, Object, PatchKind,
    patch::{LAST_APPLIED, last_applied::original},
    yaml,
};
use serde_json::json;

pub(super) const FLAGS: &[Flag] = &[FILENAME, RECURSIVE, OUTPUT, SELECTOR, ALL, KUSTOMIZE];

pub(super) fn view(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let output = args.text("output").filter(|o| !o.is_empty()).unwrap_or("yaml");
    if !matches!(output, "yaml" | "json") {
        let text = format!("Unexpected -o output mode: {output}, the flag 'output' must be one of yaml|json");
        return Err(kc.usage(&args.path, &text));
    }
    let found = select::find(kc, &Select::from(args, &args.words))?;
    if let Some(fault) = found.faults.first() {
        return Err(kc.fault(fault));
    }
    let mut texts = Vec::new();
    for info in &found.infos {
        match original(&info.object.to_value()) {
            Some(value) if output == "json" => texts.push(json::pretty_with(&value, "  ")),
            Some(value) => texts.push(yaml::to_yaml(&value)),
            // Upstream adds the file to an error that is none; without a file nothing is said.
            None if info.source.is_empty() => {}
            None => {
                let (name, source) = (&info.key.name, &info.source);
                let text = format!(
                    "error when no last-applied-configuration annotation found on resource: {name}\n \"{source}\": <nil>"
                );
                return Err(kc.fault(&Fault::Text(text)));
            }
        }
    }
    texts.into_iter().for_each(|text| kc.out(text));
    common::finish(kc, vec![])
}

pub(super) const SET: &[Flag] = &[
    FILENAME,
    OUTPUT,
    DRY_RUN,
    TEMPLATE,
    flag("create-annotation", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

/// `kubectl apply set-last-applied -f`: what a file says counts as applied last.
pub(super) fn set(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    if args.all("filename").is_empty() {
        // Looks for objects where none are named, which is refused.
        select::find(kc, &Select::default())?;
        return Ok(0);
    }
    let mut changes: Vec<(Key, String, Object)> = vec![];
    for item in create::manifests(kc, args)? {
        let manifest = common::or_stop(kc, item)?;
        let (key, text) = (key_of(&manifest), yaml::json::encode(&manifest.value) + "\n");
        let live = match select::get(kc, key.clone())? {
            Ok(object) => object,
            Err(fault) if common::is_not_found(&fault) => return Err(kc.fault(&fault)),
            Err(fault) => return Err(kc.fault(&fault.when(&apply::reading(&key), &manifest.source))),
        };
        let name = &key.name;
        match live.meta().annotations.get(LAST_APPLIED) {
            None if !args.on("create-annotation") => {
                return Err(kc.fail(format!(
                    "no last-applied-configuration annotation found on resource: {name}, to create the annotation, run the command with --create-annotation"
                )));
            }
            Some(there) if *there == text => {
                kc.out(format!("set-last-applied {name}: no changes required.\n"));
            }
            _ => changes.push((key, text, live)),
        }
    }
    for (key, text, live) in changes {
        let object = if dry == DryRun::Client { live } else { put(kc, &key, text, dry)? };
        common::say(kc, &format, &object, "configured", dry)?;
    }
    Ok(0)
}

fn key_of(manifest: &Manifest) -> Key {
    Key { kind: manifest.kind, namespace: manifest.namespace.clone(), name: manifest.name.clone() }
}

/// Writes the annotation.
fn put(kc: &mut Kc<'_>, key: &Key, text: String, dry: DryRun) -> Flow<Object> {
    kc.field_manager = None;
    let patch = json!({ "metadata": { "annotations": { LAST_APPLIED: text } } });
    let patched = common::patch(kc, key, PatchKind::Merge, patch, dry)?;
    patched.map_err(|status| kc.fault(&status.into()))
}

pub(super) const EDIT: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    KUSTOMIZE,
    OUTPUT,
    TEMPLATE,
    common::FIELD_MANAGER,
    common::VALIDATE,
    flag("windows-line-endings", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

/// How the names of files begin that `edit-last-applied` opened.
const OPENED: &str = "edit-last-applied-";

const HEAD: &str = "# What was applied last; lines that begin with '#' do not count. Apply saves it.\n#\n";

/// `kubectl apply edit-last-applied`: what was applied last opens as a file, and applying that file writes it down.
pub(super) fn edit(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let opened = |f: &String| f.rsplit('/').next().is_some_and(|name| name.starts_with(OPENED));
    if args.words.is_empty() && args.all("filename").iter().any(opened) {
        return save(kc, args);
    }
    let found = select::find(kc, &Select { types_alone: true, ..Select::from(args, &args.words) })?;
    if let Some(fault) = Fault::all(found.faults) {
        return Err(kc.fault(&fault));
    }
    for info in &found.infos {
        let name = &info.key.name;
        let Some(value) = original(&info.object.to_value()) else {
            return Err(kc.fail(format!(
                "no last-applied-configuration annotation found on resource: {name}, to create the annotation, run the command with --create-annotation"
            )));
        };
        let file = format!("{OPENED}{}-{name}.yaml", info.key.kind.singular());
        kc.out(docs::opens(&file, &format!("{HEAD}{}", yaml::to_yaml(&value))));
        kc.out(format!("{file} is open in the editor; Apply there saves it.\n"));
    }
    Ok(0)
}

fn save(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    for item in create::manifests(kc, args)? {
        let manifest = common::or_stop(kc, item)?;
        let (key, text) = (key_of(&manifest), yaml::json::encode(&manifest.value) + "\n");
        let live = match select::get(kc, key.clone())? {
            Ok(object) => object,
            Err(fault) => return Err(kc.fault(&fault)),
        };
        if live.meta().annotations.get(LAST_APPLIED) == Some(&text) {
            kc.err("Edit cancelled, no changes made.\n");
            continue;
        }
        put(kc, &key, text, DryRun::None)?;
        common::said(kc, &key, "edited", DryRun::None);
    }
    Ok(0)
}
