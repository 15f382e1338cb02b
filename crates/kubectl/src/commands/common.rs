//! What several commands share.

use crate::{
    args::{self, Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc},
    manifest,
    output::format::{Format, qualified},
    select::{Found, Info},
};
use kubestep_model::{
    Key, Kind, Object, PatchKind, Request, Status, Subresource, Verb,
    client::{Sense, Span, Stream},
    patch::strategic::two_way_strategic_patch,
    schema::patch_schema,
};
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// What a client that sends nothing holds: the manifest as it is, also where a server would refuse a value's type.
pub(super) fn unsent(kind: Kind, body: Value) -> Result<Object, Fault> {
    Object::from_value(kind, body.clone()).or_else(|_| Object::unread(kind, body)).map_err(Fault::Text)
}

/// How many objects come with one answer to a list. Upstream: cmdutil.DefaultChunkSize.
pub(super) const CHUNK_SIZE: i64 = 500;

/// `--chunk-size`; 0 for everything at once.
pub(super) fn chunk_size(args: &Args) -> i64 {
    args.int("chunk-size").unwrap_or(CHUNK_SIZE)
}

/// `-f`.
pub(super) const FILENAME: Flag = short("filename", 'f', Takes::List);
/// `-k`.
pub(super) const KUSTOMIZE: Flag = short("kustomize", 'k', Takes::Text);
/// `-R`.
pub(super) const RECURSIVE: Flag = short("recursive", 'R', Takes::Bool);
/// `-o`.
pub(super) const OUTPUT: Flag = short("output", 'o', Takes::Text);
/// `-l`.
pub(super) const SELECTOR: Flag = short("selector", 'l', Takes::Text);
/// `--dry-run`.
pub(super) const DRY_RUN: Flag = flag("dry-run", Takes::Maybe("unchanged"));
/// `--field-manager`, which changes nothing here.
pub(super) const FIELD_MANAGER: Flag = flag("field-manager", Takes::Text);
/// `--all`.
pub(super) const ALL: Flag = flag("all", Takes::Bool);
/// `--template`.
pub(super) const TEMPLATE: Flag = flag("template", Takes::Text);
/// `--validate`.
pub(super) const VALIDATE: Flag = flag("validate", Takes::Maybe("strict"));

/// Whether a fault says that something is not there.
pub(super) fn is_not_found(fault: &Fault) -> bool {
    matches!(fault, Fault::Status(status) if status.is_not_found())
}

/// `--dry-run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    None,
    Client,
    Server,
}

impl DryRun {
    /// Reads the flag. Upstream: cmdutil.GetDryRunStrategy.
    pub(super) fn of(kc: &mut Kc<'_>, args: &Args) -> Flow<DryRun> {
        match args.text("dry-run") {
            None | Some("none") => Ok(DryRun::None),
            Some("client") => Ok(DryRun::Client),
            Some("server") => Ok(DryRun::Server),
            Some("unchanged") => {
                kc.log(
                    "helpers.go:714",
                    "--dry-run is deprecated and can be replaced with --dry-run=client.",
                );
                Ok(DryRun::Client)
            }
            Some(other) => {
                if let Some(on) = args::parse_bool(other) {
                    let (line, means) = if on { (726, "client") } else { (729, "none") };
                    let text = format!(
                        "--dry-run={other} is deprecated (boolean value) and can be replaced with --dry-run={means}."
                    );
                    kc.log(&format!("helpers.go:{line}"), &text);
                    return Ok(if on { DryRun::Client } else { DryRun::None });
                }
                Err(kc.fail(format!(
                    "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
                )))
            }
        }
    }

    /// What is printed after the operation.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            DryRun::None => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }

    /// A request with this flag in it.
    pub(super) fn request(self, verb: Verb) -> Request {
        Request { dry_run: self == DryRun::Server, ..verb.into() }
    }
}

/// Prints an object in the form that was asked for, or what was done to it: `deployment.apps/web scaled`.
pub(super) fn say(kc: &mut Kc<'_>, format: &Format, object: &Object, done: &str, dry: DryRun) -> Flow<()> {
    if format.is_human() {
        said(kc, &object.key(), done, dry);
        return Ok(());
    }
    if *format == Format::Name {
        let (mut text, mut spans) = (String::new(), vec![]);
        put_name(&mut text, &mut spans, &object.key());
        kc.print(Stream::Out, text, spans);
        return Ok(());
    }
    format.print(kc, object, true)
}

/// Writes an object's line of `-o name`.
pub(super) fn put_name(text: &mut String, spans: &mut Vec<Span>, key: &Key) {
    text.push_str(&qualified(key.kind, &key.name));
    let end = text.len();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let start = number(end - key.name.len());
    spans.push(Span { start, end: number(end), means: Sense::Object(key.clone()) });
    text.push('\n');
}

/// As [`say`], of an object that kubectl holds as a struct.
pub(super) fn say_typed(
    kc: &mut Kc<'_>,
    format: &Format,
    object: &Object,
    done: &str,
    dry: DryRun,
) -> Flow<()> {
    if *format != Format::Json {
        return say(kc, format, object, done, dry);
    }
    format.print_typed(kc, object.kind(), &object.to_value())
}

/// Prints what was done to an object.
pub(super) fn said(kc: &mut Kc<'_>, key: &Key, done: &str, dry: DryRun) {
    let known = if key.name.is_empty() { "<unknown>" } else { &*key.name };
    let name = qualified(key.kind, known);
    let end = u32::try_from(name.len()).unwrap_or(0);
    let span = Span { start: 0, end, means: Sense::Object(key.clone()) };
    kc.print(Stream::Out, format!("{name} {done}{}\n", dry.suffix()), vec![span]);
}

/// Does something to each object that was found and gathers the faults.
pub(super) fn each<F>(kc: &mut Kc<'_>, found: Found, mut act: F) -> Flow<i32>
where
    F: FnMut(&mut Kc<'_>, &Info) -> Flow<Result<(), Fault>>,
{
    let mut faults = found.faults;
    for info in &found.infos {
        if let Err(fault) = act(kc, info)? {
            faults.push(fault);
        }
    }
    finish(kc, faults)
}

/// `--local`.
pub(super) const LOCAL: Flag = flag("local", Takes::Bool);

/// What the files of `--local` hold, as it stands. Upstream: resource.Builder.Local.
pub(super) fn local(kc: &mut Kc<'_>, args: &Args, resources: &[String]) -> Flow<Vec<manifest::Manifest>> {
    if !resources.is_empty() || args.all("filename").is_empty() {
        return Err(kc.fail(
            "can only use local files by -f pod.yaml or --filename=pod.json when --local=true is set",
        ));
    }
    kc.local = true;
    let how = manifest::Reading {
        files: args.all("filename").to_vec(),
        recursive: args.on("recursive"),
        validate: false,
    };
    let read = manifest::read(kc, &how)?;
    if let Some(fault) = Fault::all(read.stops) {
        return Err(kc.fault(&fault));
    }
    read.items.into_iter().map(|item| or_stop(kc, item)).collect()
}

/// Prints a local object that was changed, or what was done to it.
pub(super) fn say_local(
    kc: &mut Kc<'_>,
    format: &Format,
    manifest: &manifest::Manifest,
    done: &str,
) -> Flow<()> {
    if format.is_human() {
        said(kc, &manifest.key(), done, DryRun::None);
        return Ok(());
    }
    format.print(kc, &manifest.value, true)
}

/// Exit code 0, or the faults' words.
pub(super) fn finish(kc: &mut Kc<'_>, faults: Vec<Fault>) -> Flow<i32> {
    match Fault::all(faults) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(0),
    }
}

/// A patch of one object.
pub(super) fn patch(
    kc: &mut Kc<'_>,
    key: &Key,
    kind: PatchKind,
    patch: Value,
    dry: DryRun,
) -> Flow<Result<Object, Status>> {
    let verb = Verb::Patch { key: key.clone(), subresource: Subresource::None, kind, patch: Arc::new(patch) };
    kc.ask_object(dry.request(verb))
}

/// The strategic merge patch that makes one object of another.
pub(super) fn difference(kind: Kind, before: &Value, after: &Value) -> Result<Value, String> {
    match patch_schema(&kind.api_version(), kind.name()) {
        Some(schema) => two_way_strategic_patch(before, after, schema),
        None => {
            Err(format!("no kind \"{}\" is registered for version \"{}\"", kind.name(), kind.api_version()))
        }
    }
}

/// Whether a patch changes nothing.
pub(super) fn is_empty(patch: &Value) -> bool {
    patch.as_object().is_some_and(serde_json::Map::is_empty)
}

/// `deployments/web`.
pub(super) fn resource_name(key: &Key) -> String {
    format!("{}/{}", key.kind.resource(), key.name)
}

/// Splits words into resources and `KEY=VALUE` or `KEY-`. Upstream: cmdutil.GetResourcesAndPairs.
pub(super) fn resources_and_pairs(words: &[String], what: &str) -> Result<(Vec<String>, Vec<String>), Fault> {
    let is_pair = |w: &String| (w.contains('=') && !w.starts_with('=')) || (w.ends_with('-') && w != "-");
    let first = words.iter().position(is_pair).unwrap_or(words.len());
    let (resources, pairs) = words.split_at(first);
    match pairs.iter().find(|w| !is_pair(w)) {
        Some(word) => {
            Err(Fault::Text(format!("all resources must be specified before {what} changes: {word}")))
        }
        None => Ok((resources.to_vec(), pairs.to_vec())),
    }
}

/// New values and names to remove. Upstream: cmdutil.ParsePairs.
pub(super) fn parse_pairs(
    pairs: &[String],
    what: &str,
    removes: bool,
) -> Result<(BTreeMap<String, String>, Vec<String>), Fault> {
    let (mut new, mut gone, mut wrong) = (BTreeMap::new(), Vec::new(), Vec::new());
    for pair in pairs {
        match (pair.split_once('='), pair.strip_suffix('-')) {
            (Some((key, value)), _) if !key.is_empty() => {
                new.insert(key.to_owned(), value.to_owned());
            }
            (_, Some(key)) if removes && !key.is_empty() => gone.push(key.to_owned()),
            _ => wrong.push(pair.as_str()),
        }
    }
    if wrong.is_empty() {
        Ok((new, gone))
    } else {
        Err(Fault::Text(format!("invalid {what} format: {}", wrong.join(", "))))
    }
}

/// Ends the command with a fault if there is one.
pub(super) fn or_stop<T>(kc: &mut Kc<'_>, result: Result<T, Fault>) -> Flow<T> {
    result.map_err(|fault| kc.fault(&fault))
}

/// `--validate`: whether the server is to refuse unknown fields. Upstream: cmdutil.GetValidationDirective.
pub(super) fn strict(kc: &mut Kc<'_>, args: &Args) -> Flow<bool> {
    match args.text_or_empty("validate") {
        "" | "strict" | "true" => Ok(true),
        "warn" => Ok(false),
        "ignore" | "false" => {
            kc.ignore_unknown_fields();
            Ok(false)
        }
        other => {
            let text = format!(
                "invalid - validate option \"{other}\"; must be one of: strict (or true), warn, ignore (or false)"
            );
            Err(kc.fail(text))
        }
    }
}
