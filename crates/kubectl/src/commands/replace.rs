//! `kubectl replace -f`, with and without `--force`.

use super::{
    apply,
    common::{
        self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, TEMPLATE, VALIDATE,
    },
    create, delete, part,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    manifest::Manifest,
    output::format::Format,
    select::Select,
};
use kubestep_model::{Answer, Key, Object, Request, Status, Verb};
use std::time::Duration;

/// How long it takes to read files and schemas a second time.
const READ_AGAIN: Duration = Duration::from_millis(100);

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    VALIDATE,
    flag("force", Takes::Bool),
    flag("grace-period", Takes::Int),
    flag("cascade", Takes::Maybe("background")),
    flag("timeout", Takes::Span),
    flag("wait", Takes::Bool),
    flag("save-config", Takes::Bool),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("raw", Takes::Text),
    flag("subresource", Takes::Text),
    KUSTOMIZE,
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let (strict, force) = (common::strict(kc, args)?, args.on("force"));
    if args.all("filename").is_empty() {
        return Err(kc.fail("must specify one of -f and -k"));
    }
    if args.int("grace-period").unwrap_or(-1) >= 0 && !force {
        return Err(kc.fail("--grace-period must have --force specified"));
    }
    if args.span("timeout").is_some_and(|t| !t.is_zero()) && !force {
        return Err(kc.fail("--timeout must have --force specified"));
    }
    if force && dry != DryRun::None {
        return Err(kc.fail("--dry-run can not be used when --force is set"));
    }
    if force {
        return by_force(kc, args, &format, strict);
    }
    let (save, part) = (args.on("save-config"), args.text_or_empty("subresource"));
    let how = How { dry, strict, save, format: &format, part };
    let mut faults = Vec::new();
    for item in create::manifests(kc, args)? {
        let replaced = match item {
            Ok(manifest) => put(kc, &manifest, &how)?,
            Err(fault) => Err(fault),
        };
        faults.extend(replaced.err());
    }
    common::finish(kc, faults)
}

/// How objects are put in the place of others.
struct How<'a> {
    dry: DryRun,
    strict: bool,
    /// `--save-config`.
    save: bool,
    format: &'a Format,
    /// `--subresource`.
    part: &'a str,
}

/// Puts an object in the place of another. Without a resource version the present one is taken, as the client does.
fn put(kc: &mut Kc<'_>, manifest: &Manifest, how: &How<'_>) -> Flow<Result<(), Fault>> {
    let key = manifest.key();
    let mut body = create::body(manifest, how.save);
    if how.dry == DryRun::Client {
        return match Object::from_value(manifest.kind, body) {
            Ok(object) => Ok(Ok(common::say(kc, how.format, &object, "replaced", how.dry)?)),
            Err(why) => Ok(Err(Fault::Text(why))),
        };
    }
    let replacing = |status: Status| Fault::from(status).when("replacing", &manifest.source);
    if let Some(why) = apply::name_fault(&key.name) {
        return Ok(Err(Fault::Text(why).when("replacing", &manifest.source)));
    }
    let subresource = match part::named(kc, key.kind, how.part)? {
        Ok(subresource) => subresource,
        Err(status) => return Ok(Err(replacing(status))),
    };
    // Without a revision the object is replaced as it is now.
    if body["metadata"]["resourceVersion"].as_str().is_none_or(str::is_empty)
        && let Ok(Answer::Object { object, .. }) = kc.ask(Verb::Get { key: key.clone(), subresource })?
    {
        body["metadata"]["resourceVersion"] = object.meta().resource_version.as_str().into();
    }
    let verb = Verb::Replace { key, subresource, body: part::body(body) };
    let request = Request { strict: how.strict, ..how.dry.request(verb) };
    let sent = part::write(kc, how.format, request, "replaced", how.dry, None)?;
    Ok(sent.map_err(replacing))
}

/// Deletes, waits until all is gone, and creates anew.
fn by_force(kc: &mut Kc<'_>, args: &Args, format: &Format, strict: bool) -> Flow<i32> {
    // Unlike `delete`, `replace` leaves the grace period to the objects.
    let asked = args.int("grace-period").unwrap_or(-1);
    let how = delete::How {
        grace: if asked == 0 { 1 } else { asked },
        propagation: delete::cascade(kc, args)?,
        dry: DryRun::None,
        ignore_missing: true,
        wait: args.on("wait") || asked == 0,
        timeout: args.span("timeout").filter(|t| !t.is_zero()).unwrap_or(delete::FOREVER),
        name_only: *format == Format::Name,
    };
    let select = Select::from(args, &args.words);
    let targets = delete::targets(kc, &select)?;
    let keys: Vec<Key> = targets.0.iter().map(|(key, _)| key.clone()).collect();
    delete::delete(kc, targets, &how)?;
    let limit = args.span("timeout").filter(|t| !t.is_zero()).unwrap_or(Duration::from_secs(300));
    for key in keys {
        let end = kc.now() + limit;
        if !delete::gone(kc, &key, "", end)? {
            return Err(kc.fail("timed out waiting for the condition"));
        }
    }
    kc.sleep(READ_AGAIN)?;
    let mut count = 0;
    let mut faults = Vec::new();
    for item in create::manifests(kc, args)? {
        let made = match item {
            Ok(mut manifest) => {
                manifest.source.clear();
                create::create(kc, &manifest, DryRun::None, strict, args.on("save-config"))?
            }
            Err(fault) => Err(fault),
        };
        match made {
            Ok(object) => {
                count += 1;
                common::say(kc, format, &object, "replaced", DryRun::None)?;
            }
            Err(fault) => faults.push(fault),
        }
    }
    if count == 0 && faults.is_empty() {
        return Err(kc.fail("no objects passed to replace"));
    }
    common::finish(kc, faults)
}
