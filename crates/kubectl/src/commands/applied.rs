//! `kubectl apply view-last-applied`, `set-last-applied` and `edit-last-applied`. Upstream: kubectl/pkg/cmd/apply (v1.37).

use super::{
    apply,
    common::{self, ALL, DRY_RUN, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE},
    create, edit,
};
use crate::{
    args::{Args, Flag, Takes, flag},
    fault::Fault,
    kc::{Flow, Kc},
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
        let (key, text) = (manifest.key(), yaml::json::encode(&manifest.value) + "\n");
        let live = match select::get(kc, key.clone())? {
            Ok(object) => object,
            Err(fault) if common::is_not_found(&fault) => return Err(kc.fault(&fault)),
            Err(fault) => return Err(kc.fault(&fault.when(&apply::reading(&key), &manifest.source))),
        };
        let name = &key.name;
        match live.meta().annotations.get(LAST_APPLIED) {
            None if !args.on("create-annotation") => {
                return Err(kc.fail(nothing_applied(name)));
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

fn nothing_applied(name: &str) -> String {
    format!(
        "no last-applied-configuration annotation found on resource: {name}, to create the annotation, run the command with --create-annotation"
    )
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
pub(super) const OPENED: &str = "edit-last-applied-";

const HEAD: &str = "# What was applied last; lines that begin with '#' do not count. Apply saves it.\n#\n";

/// `kubectl apply edit-last-applied`: what was applied last opens as a file, and applying that file writes it down.
pub(super) fn edit_applied(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if edit::is_saved(args, OPENED) {
        return save(kc, args);
    }
    for info in &edit::wanted(kc, args)? {
        let name = &info.key.name;
        let Some(value) = original(&info.object.to_value()) else {
            return Err(kc.fail(nothing_applied(name)));
        };
        edit::open(kc, OPENED, HEAD, &info.key, &value);
    }
    Ok(0)
}

fn save(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    for item in create::manifests(kc, args)? {
        let manifest = common::or_stop(kc, item)?;
        let (key, text) = (manifest.key(), yaml::json::encode(&manifest.value) + "\n");
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
