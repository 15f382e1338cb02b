//! `kubectl create -f`.

use super::common::{
    self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE, VALIDATE,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    manifest::{self, Manifest},
    output::format::Format,
};
use kubestep_model::{Body, Object, Request, Verb, patch::with_last_applied};
use serde_json::Value;
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    VALIDATE,
    flag("save-config", Takes::Bool),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    flag("windows-line-endings", Takes::Bool),
    not_done("edit", Takes::Bool),
    not_done("raw", Takes::Text),
    not_done("kustomize", Takes::Text),
];

/// The objects that `create` can make from flags alone.
const GENERATORS: &[&str] = &[
    "clusterrole",
    "clusterrolebinding",
    "configmap",
    "cm",
    "cronjob",
    "cj",
    "deployment",
    "deploy",
    "ingress",
    "ing",
    "job",
    "namespace",
    "ns",
    "poddisruptionbudget",
    "pdb",
    "priorityclass",
    "pc",
    "quota",
    "resourcequota",
    "role",
    "rolebinding",
    "secret",
    "service",
    "svc",
    "serviceaccount",
    "sa",
    "token",
];

/// Whether a word after `create` names something that is made from flags.
pub(super) fn is_generator(word: &str) -> bool {
    GENERATORS.contains(&word)
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if args.all("filename").is_empty() {
        return Err(kc.fail("must specify one of -f and -k"));
    }
    if !args.words.is_empty() {
        return Err(kc.usage(&args.path, &format!("Unexpected args: [{}]", args.words.join(" "))));
    }
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let strict = common::strict(kc, args)?;
    let mut count = 0;
    let mut faults = Vec::new();
    for item in manifests(kc, args)? {
        let made = match item {
            Ok(manifest) => create(kc, &manifest, dry, strict, args.on("save-config"))?,
            Err(fault) => Err(fault),
        };
        match made {
            Ok(object) => {
                count += 1;
                common::say(kc, &format, &object, "created", dry)?;
            }
            Err(fault) => faults.push(fault),
        }
    }
    if count == 0 && faults.is_empty() {
        return Err(kc.fail("no objects passed to create"));
    }
    common::finish(kc, faults)
}

/// What the files of `-f` hold; a file that is not there ends the command.
pub(super) fn manifests(kc: &mut Kc<'_>, args: &Args) -> Flow<Vec<Result<Manifest, Fault>>> {
    let validate = args.text("validate").is_none_or(|v| !matches!(v, "ignore" | "false"));
    let reading =
        manifest::Reading { files: args.all("filename").to_vec(), recursive: args.on("recursive"), validate };
    let read = manifest::read(kc, &reading);
    manifest::look_for_kinds(kc, &read)?;
    match Fault::all(read.stops) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(read.items),
    }
}

/// The body of a manifest, with the annotation of apply where it is wanted or was there.
pub(super) fn body(manifest: &Manifest, save_config: bool) -> Value {
    if save_config { with_last_applied(&manifest.value) } else { manifest.value.clone() }
}

/// Creates the object of a manifest.
pub(super) fn create(
    kc: &mut Kc<'_>,
    manifest: &Manifest,
    dry: DryRun,
    strict: bool,
    save_config: bool,
) -> Flow<Result<Object, Fault>> {
    let body = body(manifest, save_config);
    let made = if dry == DryRun::Client {
        Object::from_value(manifest.kind, body).map_err(Fault::Text)
    } else {
        let verb = Verb::Create {
            kind: manifest.kind,
            namespace: manifest.namespace.clone(),
            body: Body::Json(Arc::new(body)),
        };
        kc.ask_object(Request { strict, ..dry.request(verb) })?.map_err(Fault::from)
    };
    Ok(made.map_err(|fault| fault.when("creating", &manifest.source)))
}
