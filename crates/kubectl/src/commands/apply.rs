//! `kubectl apply -f`: what the file says now, what it said before and what is there make one patch.
//! Upstream: kubectl/pkg/cmd/apply (v1.37), client side.

use super::common::{
    self, DRY_RUN, DryRun, FIELD_MANAGER, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE,
    VALIDATE, unsent,
};
use super::{delete, prune, server_side};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc, put_cause},
    manifest::{self, Manifest},
    output::format::{self, Format},
    select,
};
use kubestep_model::{
    Body, Key, Kind, Object, PatchKind, Reason, Request, Status, Subresource, Verb,
    patch::{
        LAST_APPLIED, last_applied::original, merge_patch, strategic_merge_patch, three_way_merge_patch,
        three_way_strategic_patch, with_last_applied,
    },
    schema::patch_schema,
    text::Selector,
    yaml::json,
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    TEMPLATE,
    DRY_RUN,
    FIELD_MANAGER,
    VALIDATE,
    flag("overwrite", Takes::Bool),
    flag("record", Takes::Bool),
    flag("openapi-patch", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    flag("server-side", Takes::Bool),
    flag("force-conflicts", Takes::Bool),
    flag("force", Takes::Bool),
    flag("grace-period", Takes::Int),
    flag("cascade", Takes::Maybe("background")),
    flag("timeout", Takes::Span),
    flag("wait", Takes::Bool),
    flag("prune", Takes::Bool),
    flag("prune-allowlist", Takes::Each),
    flag("all", Takes::Bool),
    not_done("applyset", Takes::Text),
    KUSTOMIZE,
    flag("subresource", Takes::Text),
];

/// How often a patch is tried again after a conflict, and from which try on it waits.
const RETRIES: u32 = 5;
const TRIES_BEFORE_WAIT: u32 = 1;

/// What one run of apply is like.
pub(super) struct How {
    pub(super) dry: DryRun,
    pub(super) strict: bool,
    format: Format,
    server_side: bool,
    pub(super) force: bool,
    /// `--subresource`.
    pub(super) part: String,
    /// `--force`: what cannot be patched is deleted and made anew, in this way.
    anew: Option<delete::How>,
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, strict) = (DryRun::of(kc, args)?, common::strict(kc, args)?);
    // Upstream looks at the form of the output when everything was applied.
    let mark = kc.printed();
    let format = Format::of(kc, args, false);
    let wrong = kc.since(mark);
    kc.replace(mark, vec![]);
    let (format, formless) = match format {
        Ok(format) => (format, None),
        Err(stop) => (Format::Json, Some(stop)),
    };
    let how = How {
        dry,
        strict,
        format,
        server_side: args.on("server-side"),
        force: args.on("force-conflicts"),
        part: args.text_or_empty("subresource").to_owned(),
        anew: anew(kc, args)?,
    };
    if how.force && !how.server_side {
        return Err(kc.fail("--force-conflicts only works with --server-side"));
    }
    if how.server_side && how.dry == DryRun::Client {
        return Err(kc.fail(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        ));
    }
    if how.server_side && args.text("field-manager").is_none() {
        kc.field_manager = Some(server_side::MANAGER.into());
    }
    check(kc, args, &how)?;
    if !args.words.is_empty() {
        return Err(kc.usage(&args.path, &format!("Unexpected args: [{}]", args.words.join(" "))));
    }
    if args.all("filename").is_empty() {
        return Err(kc.fail("must specify one of -f and -k"));
    }
    let validate = args.text("validate").is_none_or(|v| !matches!(v, "ignore" | "false"));
    let reading =
        manifest::Reading { files: args.all("filename").to_vec(), recursive: args.on("recursive"), validate };
    let read = manifest::read(kc, &reading)?;
    manifest::look_for_kinds(kc, &read)?;
    if let Some(fault) = Fault::all(read.stops) {
        return Err(kc.fault(&fault));
    }
    let labels = Selector::parse(args.text_or_empty("selector")).map_err(|why| kc.fail(why))?;
    let (mut faults, mut manifests) = (Vec::new(), Vec::new());
    for item in read.items {
        match item {
            Ok(manifest) if matches_labels(&labels, &manifest) => manifests.push(manifest),
            Ok(_) => {}
            Err(fault) => faults.push(fault),
        }
    }
    if let Some(cause) = kc.change_cause.take() {
        manifests.iter_mut().for_each(|m| put_cause(&mut m.value, &cause));
    }
    if manifests.is_empty() && faults.is_empty() {
        return Err(kc.fail("no objects passed to apply"));
    }
    let unread = faults.len();
    let allowed = if args.on("prune") { prune::allowed(kc, args)? } else { vec![] };
    let mut objects = Vec::new();
    for manifest in &manifests {
        match apply(kc, manifest, &how)? {
            Ok(object) => objects.push(object),
            Err(fault) => faults.push(fault),
        }
    }
    if let Some(stop) = formless.filter(|_| faults.is_empty()) {
        kc.replace(kc.printed(), wrong);
        return Err(stop);
    }
    if faults.is_empty() && !matches!(how.format, Format::Human { .. } | Format::Name) {
        match objects.as_slice() {
            [one] => how.format.print(kc, one, true)?,
            many => how.format.print_list(kc, "List", many, true)?,
        }
    }
    // What files have wrong is one fault, where there are others.
    if unread > 1 && faults.len() > unread {
        let texts: Vec<String> = faults.drain(..unread).map(|fault| fault.text()).collect();
        faults.insert(0, Fault::Bare(format!("[{}]", texts.join(", "))));
    }
    if args.on("prune") && faults.is_empty() {
        let visited: Vec<Key> = objects.iter().map(Object::key).collect();
        prune::run(kc, args, &visited, &allowed, how.dry, &how.format)?;
    }
    common::finish(kc, faults)
}

/// How objects are deleted that cannot be patched; none without `--force`. Upstream: DeleteFlags.ToOptions.
fn anew(kc: &mut Kc<'_>, args: &Args) -> Flow<Option<delete::How>> {
    if !args.on("force") {
        return Ok(None);
    }
    Ok(Some(delete::How {
        grace: args.int("grace-period").unwrap_or(-1),
        propagation: delete::cascade(kc, args)?,
        dry: DryRun::None,
        ignore_missing: true,
        wait: args.on("wait"),
        timeout: args.span("timeout").filter(|t| !t.is_zero()).unwrap_or(delete::FOREVER),
        name_only: false,
    }))
}

/// Flags that do not go together. Upstream: ApplyOptions.Validate.
fn check(kc: &mut Kc<'_>, args: &Args, how: &How) -> Flow<()> {
    if how.anew.is_some() && how.server_side {
        return Err(kc.fail("--force cannot be used with --server-side"));
    }
    if how.dry == DryRun::Server && how.anew.is_some() {
        return Err(kc.fail("--dry-run=server cannot be used with --force"));
    }
    if !how.part.is_empty() && !how.server_side {
        return Err(kc.fail("--subresource can only be specified for --server-side"));
    }
    if args.on("prune") && !args.on("all") && args.text_or_empty("selector").is_empty() {
        return Err(kc.fail(prune::ALL_OR_SOME));
    }
    if args.on("all") && !args.text_or_empty("selector").is_empty() {
        return Err(kc.fail("cannot set --all and --selector at the same time"));
    }
    Ok(())
}

fn matches_labels(labels: &Selector, manifest: &Manifest) -> bool {
    let own = manifest.value.pointer("/metadata/labels").cloned().unwrap_or_default();
    labels.is_empty() || labels.matches(&serde_json::from_value(own).unwrap_or_default())
}

/// What an object is called in errors. Upstream: resource.Info.String.
fn describe(key: &Key) -> String {
    let version =
        if key.kind.group().is_empty() { format!("/{}", key.kind.version()) } else { key.kind.api_version() };
    format!(
        "Resource: \"{version}, Resource={}\", GroupVersionKind: \"{version}, Kind={}\"\nName: \"{}\", Namespace: \"{}\"",
        key.kind.resource(),
        key.kind.name(),
        key.name,
        key.namespace
    )
}

/// What was done when an object could not be read.
pub(super) fn reading(key: &Key) -> String {
    format!("retrieving current configuration of:\n{}\nfrom server for:", describe(key))
}

/// What is wrong with a name, as the client sees it before it asks.
pub(super) fn name_fault(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("resource name may not be empty".to_owned());
    }
    let why = match name {
        "." | ".." => format!("may not be '{name}'"),
        _ if name.contains('/') => "may not contain '/'".to_owned(),
        _ if name.contains('%') => "may not contain '%'".to_owned(),
        _ => return None,
    };
    Some(format!("invalid resource name \"{name}\": [{why}]"))
}

fn apply(kc: &mut Kc<'_>, manifest: &Manifest, how: &How) -> Flow<Result<Object, Fault>> {
    let key = manifest.key();
    let generate =
        manifest.value.pointer("/metadata/generateName").and_then(Value::as_str).unwrap_or_default();
    if key.name.is_empty() && !generate.is_empty() {
        return Ok(Err(Fault::Text(format!("from {generate}: cannot use generate name with apply"))));
    }
    let reading = reading(&key);
    if let Some(why) = name_fault(&key.name) {
        return Ok(Err(Fault::Text(why).when(&reading, &manifest.source)));
    }
    if how.server_side {
        let applied = server_side::apply(kc, manifest, &key, how)?;
        if let Ok(object) = &applied {
            warn_if_going(kc, object);
            report(kc, object, "serverside-applied", how);
        }
        return Ok(applied);
    }
    match kc.get(key.clone())? {
        Ok(current) => update(kc, manifest, &key, current, how),
        Err(status) if status.is_not_found() => {
            // Where an object is missing, its namespace is asked for, too. Upstream: Info.Get.
            if !matches!(&*key.namespace, "" | "default") {
                let _there = kc.get(Key::new(Kind::Namespace, "", key.namespace.clone()))?;
            }
            create(kc, manifest, &key, how)
        }
        Err(status) => Ok(Err(Fault::from(status).when(&reading, &manifest.source))),
    }
}

fn create(kc: &mut Kc<'_>, manifest: &Manifest, key: &Key, how: &How) -> Flow<Result<Object, Fault>> {
    let mut body = with_last_applied(&manifest.value);
    prune_nulls(&mut body, 0);
    // A revision is of no use to an object that is new. Upstream: resource.Helper.CreateWithOptions.
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        metadata.remove("resourceVersion");
    }
    let created = if how.dry == DryRun::Client {
        unsent(key.kind, body)
    } else {
        let verb = Verb::Create {
            kind: key.kind,
            namespace: key.namespace.clone(),
            body: Body::Json(Arc::new(body)),
        };
        let request = Request { strict: how.strict, ..how.dry.request(verb) };
        kc.ask_object(request)?.map_err(Fault::from)
    };
    Ok(match created {
        Ok(object) => {
            report(kc, &object, "created", how);
            Ok(object)
        }
        Err(fault) => Err(fault.when("creating", &manifest.source)),
    })
}

/// Fields that are null are left out when an object is created, as a patch would remove them.
fn prune_nulls(value: &mut Value, depth: usize) {
    match value {
        _ if depth > 1_000 => {}
        Value::Object(map) => {
            map.retain(|_, v| !v.is_null());
            map.values_mut().for_each(|v| prune_nulls(v, depth + 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|v| prune_nulls(v, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Prints what was done, unless objects are to be printed at the end.
fn report(kc: &mut Kc<'_>, object: &Object, done: &str, how: &How) {
    match how.format {
        Format::Human { .. } => common::said(kc, &object.key(), done, how.dry),
        Format::Name => kc.out(format::qualified(object.kind(), &object.meta().name) + "\n"),
        Format::Yaml
        | Format::Json
        | Format::JsonPath(_)
        | Format::JsonPathAsJson(_)
        | Format::Columns(_) => {}
    }
}

fn update(
    kc: &mut Kc<'_>,
    manifest: &Manifest,
    key: &Key,
    current: Object,
    how: &How,
) -> Flow<Result<Object, Fault>> {
    if !current.meta().annotations.contains_key(LAST_APPLIED) {
        kc.err(format!(
            "Warning: resource {} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n",
            common::resource_name(key)
        ));
    }
    let modified = with_last_applied(&manifest.value);
    let (patch, patched) = send(kc, key, &modified, current, how)?;
    let object = match patched {
        Ok(object) => object,
        Err(Fault::Status(status)) if anew_after(&status, how) => match replace(kc, key, &modified, how)? {
            Ok(object) => object,
            Err(fault) => {
                let doing =
                    format!("applying patch:\n{}\nto:\n{}\nfor:", json::encode(&modified), describe(key));
                return Ok(Err(fault.when(&doing, &manifest.source)));
            }
        },
        Err(fault) => {
            let doing = format!("applying patch:\n{}\nto:\n{}\nfor:", json::encode(&patch), describe(key));
            return Ok(Err(fault.when("patching", &manifest.source).when(&doing, &manifest.source)));
        }
    };
    warn_if_going(kc, &object);
    report(kc, &object, if common::is_empty(&patch) { "unchanged" } else { "configured" }, how);
    Ok(Ok(object))
}

/// Whether a refusal is one that `--force` answers. Upstream: Patcher.Patch.
fn anew_after(status: &Status, how: &How) -> bool {
    how.anew.is_some() && (status.is_conflict() || status.reason == Reason::Invalid)
}

/// Deletes an object, waits until it is gone, and makes it anew; if that is refused, as it was.
/// Upstream: Patcher.deleteAndCreate.
fn replace(kc: &mut Kc<'_>, key: &Key, modified: &Value, how: &How) -> Flow<Result<Object, Fault>> {
    let Some(way) = &how.anew else { return Ok(Err(Fault::Text(String::new()))) };
    let original = match kc.get(key.clone())? {
        Ok(object) => object.to_value(),
        Err(status) => return Ok(Err(status.into())),
    };
    if let Err(fault) = delete::one(kc, key, way)? {
        return Ok(Err(fault));
    }
    let end = kc.now() + way.timeout;
    if !delete::gone(kc, key, "", end)? {
        return Ok(Err(Fault::Text("timed out waiting for the condition".into())));
    }
    let mut make = |body: &Value| {
        let mut body = body.clone();
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.remove("resourceVersion");
        }
        let (kind, namespace) = (key.kind, key.namespace.clone());
        kc.ask_object(Verb::Create { kind, namespace, body: Body::Json(Arc::new(body)) })
    };
    let refused = match make(modified)? {
        Ok(object) => return Ok(Ok(object)),
        Err(status) => status,
    };
    Ok(Err(match make(&original)? {
        Ok(_) => Fault::from(refused),
        Err(again) => Fault::Text(format!(
            "An error occurred force-replacing the existing object with the newly provided one:\n\n{}.\n\nAdditionally, an error occurred attempting to restore the original object:\n\n{}",
            refused.message, again.message
        )),
    }))
}

fn warn_if_going(kc: &mut Kc<'_>, object: &Object) {
    if object.meta().is_terminating() {
        let name = &object.meta().name;
        kc.err(format!("Warning: Detected changes to resource {name} which is currently being deleted.\n"));
    }
}

/// Makes the patch and sends it; after a conflict it is made again from what is there then.
fn send(
    kc: &mut Kc<'_>,
    key: &Key,
    modified: &Value,
    mut current: Object,
    how: &How,
) -> Flow<(Value, Result<Object, Fault>)> {
    let mut tries = 0;
    loop {
        let (kind, patch) = match three_way(key, modified, &current.to_value()) {
            Ok(found) => found,
            Err(why) => return Ok((Value::Null, Err(Fault::Text(why)))),
        };
        if common::is_empty(&patch) {
            return Ok((patch, Ok(current)));
        }
        let answer = if how.dry == DryRun::Client {
            Ok(locally(key, kind, &patch, &current).unwrap_or(current.clone()))
        } else {
            let verb = Verb::Patch {
                key: key.clone(),
                subresource: Subresource::None,
                kind,
                patch: Arc::new(patch.clone()),
            };
            kc.ask_object(Request { strict: how.strict, ..how.dry.request(verb) })?
        };
        match answer {
            Err(status) if status.is_conflict() && tries < RETRIES => tries += 1,
            other => return Ok((patch, other.map_err(Fault::from))),
        }
        if tries > TRIES_BEFORE_WAIT {
            kc.sleep(Duration::from_secs(1))?;
        }
        current = match select::get(kc, key.clone())? {
            Ok(object) => object,
            Err(fault) => return Ok((patch, Err(fault))),
        };
    }
}

/// The patch that makes of an object what a file says now, knowing what it said before.
pub(super) fn three_way(key: &Key, modified: &Value, current: &Value) -> Result<(PatchKind, Value), String> {
    let before = original(current).unwrap_or_default();
    match patch_schema(&key.kind.api_version(), key.kind.name()) {
        Some(schema) => {
            Ok((PatchKind::Strategic, three_way_strategic_patch(&before, modified, current, schema)?))
        }
        None => Ok((PatchKind::Merge, three_way_merge_patch(&before, modified, current)?)),
    }
}

/// What a patch would make of an object, for `--dry-run=client`.
fn locally(key: &Key, kind: PatchKind, patch: &Value, current: &Object) -> Option<Object> {
    let current = current.to_value();
    let schema = patch_schema(&key.kind.api_version(), key.kind.name());
    let value = match (kind, schema) {
        (PatchKind::Strategic, Some(schema)) => strategic_merge_patch(&current, patch, schema),
        _ => merge_patch(&current, patch),
    };
    unsent(key.kind, value.ok()?).ok()
}
