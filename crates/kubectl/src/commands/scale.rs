//! `kubectl scale`.

use super::common::{self, ALL, DRY_RUN, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR, TEMPLATE};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    output::format::Format,
    select::{self, Info, Select},
};
use kubestep_model::{Answer, Body, Key, Object, PatchKind, Status, Subresource, Verb};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    TEMPLATE,
    DRY_RUN,
    flag("replicas", Takes::Int),
    flag("current-replicas", Takes::Int),
    flag("resource-version", Takes::Text),
    flag("record", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    not_done("timeout", Takes::Span),
    KUSTOMIZE,
];

/// After a conflict the scale is tried again each second, for five minutes.
const RETRY: Duration = Duration::from_secs(1);
const GIVE_UP: Duration = Duration::from_secs(300);

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let (dry, format) = (DryRun::of(kc, args)?, Format::of(kc, args, false)?);
    let Some(replicas) = args.int("replicas") else {
        return Err(kc.fail("required flag(s) \"replicas\" not set"));
    };
    if replicas < 0 {
        return Err(
            kc.fail("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
        );
    }
    let current = args.int("current-replicas").unwrap_or(-1);
    if current < -1 {
        return Err(kc.fail("The --current-replicas must specify an integer of -1 or greater"));
    }
    let select = Select { types_alone: args.on("all"), ..Select::from(args, &args.words) };
    let found = select::find(kc, &Select { all: false, ..select })?;
    let version = args.text_or_empty("resource-version").to_owned();
    if !version.is_empty() && found.infos.len() > 1 {
        return Err(kc.fail("cannot use --resource-version with multiple resources"));
    }
    if found.infos.is_empty() && found.faults.is_empty() {
        return Err(kc.fail("no objects passed to scale"));
    }
    for info in &found.infos {
        let size = if dry == DryRun::Client {
            Ok(replicas)
        } else {
            scale(kc, info, replicas, current, &version, dry)?
        };
        match size {
            Ok(size) => common::say(kc, &format, &with_replicas(&info.object, size), "scaled", dry)?,
            Err(fault) => return Err(kc.fault(&fault)),
        }
    }
    common::finish(kc, found.faults)
}

/// The object as it is printed: its replicas as they were set.
fn with_replicas(object: &Object, replicas: i64) -> Object {
    let mut value = object.to_value();
    if matches!(object.kind().group(), "" | "apps")
        && let Some(Value::Object(spec)) = value.get_mut("spec")
    {
        spec.insert("replicas".into(), replicas.into());
    }
    Object::from_value(object.kind(), value).unwrap_or_else(|_| object.clone())
}

/// Sets the scale and tries again after conflicts. Upstream: kubectl/pkg/scale, genericScaler.
fn scale(
    kc: &mut Kc<'_>,
    info: &Info,
    replicas: i64,
    current: i64,
    version: &str,
    dry: DryRun,
) -> Flow<Result<i64, Fault>> {
    let end = kc.now() + GIVE_UP;
    loop {
        let key = &info.key;
        let answer = if current == -1 && version.is_empty() {
            let patch = Arc::new(json!({ "spec": { "replicas": replicas } }));
            let verb = Verb::Patch {
                key: key.clone(),
                subresource: Subresource::Scale,
                kind: PatchKind::Merge,
                patch,
            };
            kc.ask(dry.request(verb))?
        } else {
            match checked(kc, key, replicas, current, version)? {
                Ok(scale) => {
                    let body = Body::Json(Arc::new(scale));
                    let verb = Verb::Replace { key: key.clone(), subresource: Subresource::Scale, body };
                    kc.ask(dry.request(verb))?
                }
                Err(fault) => return Ok(Err(fault)),
            }
        };
        match answer {
            Ok(answer) => {
                if kc.change_cause.is_some() {
                    // Written down on its own: a scale has no annotations.
                    let _said = common::patch(kc, key, PatchKind::Merge, json!({}), dry)?;
                }
                return Ok(Ok(size(&answer).unwrap_or(replicas)));
            }
            Err(status) if status.is_conflict() && kc.now() < end => kc.sleep(RETRY)?,
            Err(status) if status.is_conflict() => {
                return Ok(Err(Fault::Text("timed out waiting for the condition".into())));
            }
            Err(status) => return Ok(Err(status.into())),
        }
    }
}

fn size(answer: &Answer) -> Option<i64> {
    match answer {
        Answer::Json { value, .. } => value.pointer("/spec/replicas").and_then(Value::as_i64),
        Answer::Object { object, .. } => object.to_value().pointer("/spec/replicas").and_then(Value::as_i64),
        Answer::List { .. } | Answer::Chunk { .. } => None,
    }
}

/// Reads the scale, checks what was demanded of it, and changes it.
fn checked(
    kc: &mut Kc<'_>,
    key: &Key,
    replicas: i64,
    current: i64,
    version: &str,
) -> Flow<Result<Value, Fault>> {
    let answer = kc.ask(Verb::Get { key: key.clone(), subresource: Subresource::Scale })?;
    let mut scale = match answer {
        Ok(Answer::Json { value, .. }) => (*value).clone(),
        Ok(Answer::Object { object, .. }) => object.to_value(),
        Ok(Answer::List { .. } | Answer::Chunk { .. }) => {
            return Ok(Err(Status::bad_request("the answer is not a scale").into()));
        }
        Err(status) => return Ok(Err(status.into())),
    };
    let expected =
        |what: &str, want: &str, have: &str| Fault::Text(format!("Expected {what} to be {want}, was {have}"));
    let have = scale.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or_default();
    if current != -1 && have != current {
        return Ok(Err(expected("replicas", &current.to_string(), &have.to_string())));
    }
    let have = scale.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
    if !version.is_empty() && have != version {
        return Ok(Err(expected("resource version", version, have)));
    }
    if let Some(map) = scale.as_object_mut() {
        let spec = map.entry("spec").or_insert_with(|| json!({}));
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("replicas".into(), replicas.into());
        }
    }
    Ok(Ok(scale))
}
