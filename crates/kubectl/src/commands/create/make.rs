//! What all commands share that make an object from flags.

use crate::{
    args::Args,
    commands::common::{self, DryRun},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
};
use kubestep_model::{Body, Kind, Object, Request, Verb, patch::LAST_APPLIED, schema};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The flags of such a command besides its own.
macro_rules! flags {
    ($($more:expr),* $(,)?) => {
        &[
            $crate::commands::common::DRY_RUN,
            $crate::commands::common::OUTPUT,
            $crate::commands::common::TEMPLATE,
            $crate::commands::common::FIELD_MANAGER,
            $crate::commands::common::VALIDATE,
            $crate::args::flag("save-config", $crate::args::Takes::Bool),
            $crate::args::flag("show-managed-fields", $crate::args::Takes::Bool),
            $crate::args::flag("allow-missing-template-keys", $crate::args::Takes::Bool),
            $($more),*
        ]
    };
}
pub(in crate::commands) use flags;

/// The one name before `--`. Upstream: create.NameFromCommandArgs.
pub(super) fn name(kc: &mut Kc<'_>, args: &Args) -> Flow<String> {
    let count = args.before_dash.unwrap_or(args.words.len());
    match args.words.first() {
        Some(name) if count == 1 => Ok(name.clone()),
        _ => Err(kc.usage(&args.path, &format!("exactly one NAME is required, got {count}"))),
    }
}

/// Ends the command unless flags were given that it cannot do without.
pub(in crate::commands) fn required(kc: &mut Kc<'_>, args: &Args, names: &[&str]) -> Flow<()> {
    let missing: Vec<String> =
        names.iter().filter(|name| !args.has(name)).map(|name| format!("\"{name}\"")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(kc.fail(format!("required flag(s) {} not set", missing.join(", "))))
}

/// How a new object is announced, and how a refusal is.
#[derive(Clone, Copy)]
pub(in crate::commands) struct Words {
    /// `created`.
    pub(in crate::commands) done: &'static str,
    /// What stands before the server's words; if it is empty, they are printed as the server's.
    pub(in crate::commands) failed: &'static str,
}

/// An object that was made from flags, with what it is in the annotation. It is no manifest: it stands there as Go
/// writes it. Upstream: kubectl/pkg/util, CreateApplyAnnotation.
pub(in crate::commands) fn saved(kind: Kind, mut value: Value) -> Value {
    let (version, name) = (kind.api_version(), kind.name());
    let text = schema::text(&version, name, &schema::encode(&version, name, &value)) + "\n";
    if let Some(metadata) = value["metadata"].as_object_mut() {
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        annotations[LAST_APPLIED] = text.into();
    }
    value
}

/// Creates an object that was made from flags, or shows it.
pub(in crate::commands) fn make(
    kc: &mut Kc<'_>,
    args: &Args,
    kind: Kind,
    value: Value,
    words: Words,
) -> Flow<i32> {
    let made = try_make(kc, args, kind, value, words)?;
    common::or_stop(kc, made)?;
    Ok(0)
}

/// As [`make`]; a refusal is answered, not told.
pub(in crate::commands) fn try_make(
    kc: &mut Kc<'_>,
    args: &Args,
    kind: Kind,
    mut value: Value,
    words: Words,
) -> Flow<Result<(), Fault>> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let strict = args.has("validate").then(|| common::strict(kc, args)).transpose()?.unwrap_or(true);
    value["apiVersion"] = json!(kind.api_version());
    value["kind"] = json!(kind.name());
    if kc.namespace_given && kind.namespaced() {
        value["metadata"]["namespace"] = json!(&*kc.namespace);
    }
    let value = schema::encode(&kind.api_version(), kind.name(), &value);
    let value = if args.on("save-config") { saved(kind, value) } else { value };
    let namespace: Arc<str> = if kind.namespaced() { kc.namespace.clone() } else { "".into() };
    if dry == DryRun::Client {
        if format.is_human() {
            let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            common::said(kc, &kubestep_model::Key::new(kind, namespace, name), words.done, dry);
        }
        format.print_typed(kc, kind, &value)?;
        return Ok(Ok(()));
    }
    let verb = Verb::Create { kind, namespace, body: Body::Json(Arc::new(value)) };
    let made: Result<Object, Fault> =
        kc.ask_object(Request { strict, ..dry.request(verb) })?.map_err(|status| match words.failed {
            "" => status.into(),
            failed => Fault::Text(format!("{failed}{}", status.message)),
        });
    match made {
        Ok(object) => Ok(Ok(common::say_typed(kc, &format, &object, words.done, dry)?)),
        Err(fault) => Ok(Err(fault)),
    }
}

/// Creates an object; a refusal is told as `failed to create …: `.
pub(super) fn created(
    kc: &mut Kc<'_>,
    args: &Args,
    kind: Kind,
    value: Value,
    failed: &'static str,
) -> Flow<i32> {
    make(kc, args, kind, value, Words { done: "created", failed })
}

/// A map of one name to one value.
pub(super) fn one(name: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value.into())])
}

/// `5` as a number, everything else as a text. Upstream: intstr.Parse.
pub(in crate::commands) fn int_or_text(text: &str) -> Value {
    text.parse::<i32>().map_or_else(|_| json!(text), |number| json!(number))
}
