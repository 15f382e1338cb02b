//! `kubectl patch`.

use super::{
    common::{self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, TEMPLATE},
    part,
};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Info, Select},
};
use kubestep_model::{
    Kind, Object, PatchKind, Reason, Status, Subresource, Verb,
    patch::{json_patch, merge_patch, strategic_merge_patch},
    schema::patch_schema,
    text::go::quote,
    yaml,
};
use serde_json::Value;
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    short("patch", 'p', Takes::Text),
    flag("patch-file", Takes::Text),
    flag("type", Takes::Text),
    flag("subresource", Takes::Text),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    common::LOCAL,
    KUSTOMIZE,
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let dry = DryRun::of(kc, args)?;
    let (inline, file) = (args.text_or_empty("patch"), args.text_or_empty("patch-file"));
    if !inline.is_empty() && !file.is_empty() {
        return Err(kc.fail("cannot specify --patch and --patch-file together"));
    }
    if inline.is_empty() && file.is_empty() {
        return Err(kc.fail("must specify --patch or --patch-file containing the contents of the patch"));
    }
    let format = Format::of(kc, args, false)?;
    let name = args.text("type").filter(|t| !t.is_empty()).unwrap_or("strategic");
    let kind = match name.to_ascii_lowercase().as_str() {
        "json" => PatchKind::Json,
        "merge" => PatchKind::Merge,
        "strategic" => PatchKind::Strategic,
        _ => return Err(kc.fail(format!("--type must be one of [json merge strategic], not \"{name}\""))),
    };
    let text = if file.is_empty() {
        inline.to_owned()
    } else {
        match kc.file(file) {
            Some(text) => text.to_owned(),
            None => {
                return Err(
                    kc.fail(format!("unable to read patch file: open {file}: no such file or directory"))
                );
            }
        }
    };
    let patch = read(kc, &text)?;
    if args.on("local") {
        return on_files(kc, args, &format, kind, &patch);
    }
    let found = select::find(kc, &Select::from(args, &args.words))?;
    if found.infos.is_empty() && found.faults.is_empty() {
        return Err(kc.fail("no objects passed to patch"));
    }
    common::each(kc, found, |kc, info| {
        let subresource = match part::named(kc, info.key.kind, args.text_or_empty("subresource"))? {
            Ok(subresource) => subresource,
            Err(status) => return Ok(Err(status.into())),
        };
        if subresource == Subresource::Scale && dry != DryRun::Client {
            let (key, patch) = (info.key.clone(), Arc::new(patch.clone()));
            let request = dry.request(Verb::Patch { key, subresource, kind, patch });
            let sent = part::write(
                kc,
                &format,
                request,
                "patched",
                DryRun::None,
                Some(&info.object.meta().resource_version),
            )?;
            return Ok(sent.map_err(|status| refusal(status, info, kind)));
        }
        let patched = if dry == DryRun::Client {
            locally(info, kind, &patch).map_err(Fault::Text)
        } else {
            let verb =
                Verb::Patch { key: info.key.clone(), subresource, kind, patch: Arc::new(patch.clone()) };
            let answer = kc.ask_object(dry.request(verb))?;
            answer.map_err(|status| refusal(status, info, kind))
        };
        match patched {
            Ok(object) => {
                let done = if object == info.object { "patched (no change)" } else { "patched" };
                // Upstream does not say here that it was a trial, nor does taint.
                common::say(kc, &format, &object, done, DryRun::None)?;
                Ok(Ok(()))
            }
            Err(fault) => Ok(Err(fault)),
        }
    })
}

/// A refusal; where the kind takes no patch of this form, that is said.
fn refusal(status: Status, info: &Info, kind: PatchKind) -> Fault {
    if status.reason != Reason::UnsupportedMediaType {
        return status.into();
    }
    let form = match kind {
        PatchKind::Json => "json",
        PatchKind::Merge => "merge",
        PatchKind::Strategic | PatchKind::Apply => "strategic-merge",
    };
    let own = info.key.kind;
    let (version, name) = (own.api_version(), own.name());
    Fault::Text(format!(
        "application/{form}-patch+json is not supported by {version}, Kind={name}: {}",
        status.message
    ))
}

/// A patch may be JSON or YAML; broken JSON is what the API server refuses.
fn read(kc: &mut Kc<'_>, text: &str) -> Flow<Value> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('{') {
        // What is no JSON goes as it stands.
        return Ok(yaml::json::parse(text).unwrap_or_else(|_| text.into()));
    }
    yaml::yaml_to_json(text, false).map_err(|why| kc.fail(format!("unable to parse {}: {why}", quote(text))))
}

/// `--local`: changes what files say.
fn on_files(kc: &mut Kc<'_>, args: &Args, format: &Format, kind: PatchKind, patch: &Value) -> Flow<i32> {
    for mut manifest in common::local(kc, args, &args.words)? {
        let patched = apply(manifest.kind, &manifest.value, kind, patch).map_err(|why| kc.fail(why))?;
        let done = if patched == manifest.value { "patched (no change)" } else { "patched" };
        manifest.value = patched;
        common::say_local(kc, format, &manifest, done)?;
    }
    Ok(0)
}

fn locally(info: &Info, kind: PatchKind, patch: &Value) -> Result<Object, String> {
    let after = apply(info.key.kind, &info.object.to_value(), kind, patch)?;
    Object::from_value(info.key.kind, after)
}

/// An object with a patch in it.
fn apply(own: Kind, before: &Value, kind: PatchKind, patch: &Value) -> Result<Value, String> {
    Ok(match kind {
        PatchKind::Json => json_patch(before, patch)?,
        PatchKind::Merge | PatchKind::Apply => merge_patch(before, patch)?,
        PatchKind::Strategic => match patch_schema(&own.api_version(), own.name()) {
            Some(schema) => strategic_merge_patch(before, patch, schema)?,
            None => {
                let text = format!("{}, Kind={}", own.api_version(), own.name());
                return Err(format!(
                    "strategic merge patch is not supported for {text} locally, try --type merge"
                ));
            }
        },
    })
}
