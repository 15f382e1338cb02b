//! `--subresource`: parts of objects that are read and written on their own.
//! Upstream: cli-runtime/pkg/resource, Builder.Subresource and Helper.WithSubresource (v1.37).

use super::get;
use crate::{
    args::Args,
    commands::{common, info},
    fault::Fault,
    kc::{Flow, Kc},
    manifest,
    output::{
        format::{Format, list_of},
        tabs::Tabs,
    },
    printers::common::age,
    select::{self, Found, Info, Named, Select},
};
use kubestep_model::{Answer, Key, Kind, Request, Status, Subresource, Time, Verb};
use serde_json::Value;
use std::sync::Arc;

/// The part that a flag names; `Ok(Err)` where the server does not know it.
pub(super) fn named(kc: &mut Kc<'_>, kind: Kind, name: &str) -> Flow<Result<Subresource, Status>> {
    match name {
        "" => Ok(Ok(Subresource::None)),
        "status" => Ok(Ok(Subresource::Status)),
        "scale" => Ok(Ok(Subresource::Scale)),
        "approval" if kind.name() == "CertificateSigningRequest" => Ok(Ok(Subresource::Approval)),
        other if info::parts(kind).iter().any(|p| p.name == other) => {
            Err(kc.not_done(&format!("--subresource={other}")))
        }
        _ => Ok(Err(Status::no_such_resource())),
    }
}

/// The keys of the objects that a command names one by one.
fn keys(kc: &mut Kc<'_>, select: &Select) -> Flow<Vec<Key>> {
    if !select.files.is_empty() {
        let how =
            manifest::Reading { files: select.files.clone(), recursive: select.recursive, validate: false };
        let read = manifest::read(kc, &how)?;
        if let Some(fault) = Fault::all(read.stops) {
            return Err(kc.fault(&fault));
        }
        let mut keys = vec![];
        for item in read.items {
            keys.push(common::or_stop(kc, item)?.key());
        }
        return Ok(keys);
    }
    match select::named(kc, select)? {
        Err(fault) => Err(kc.fault(&fault)),
        Ok(Named::Keys(keys)) => Ok(keys),
        Ok(Named::Kinds(_)) => Err(kc.fail("subresource cannot be used when bulk resources are specified")),
    }
}

/// `kubectl get --subresource`.
pub(super) fn get(kc: &mut Kc<'_>, args: &Args, format: &Format, select: &Select, name: &str) -> Flow<i32> {
    let keys = keys(kc, select)?;
    let mut found = Found { single: keys.len() == 1, ..Found::default() };
    let mut scales: Vec<Value> = vec![];
    for key in keys {
        let part = match named(kc, key.kind, name)? {
            Ok(part) => part,
            Err(status) => {
                found.faults.push(status.into());
                continue;
            }
        };
        let verb = Verb::Get { key: key.clone(), subresource: part };
        match kc.ask(verb)? {
            Ok(Answer::Object { object, .. }) => {
                found.infos.push(Info { key, object, source: String::new() });
            }
            Ok(Answer::Json { value, .. }) => scales.push((*value).clone()),
            Ok(Answer::List { .. } | Answer::Chunk { .. }) => {
                return Err(kc.fail("the answer is not an object"));
            }
            Err(status) => found.faults.push(status.into()),
        }
    }
    if args.on("ignore-not-found") {
        found.faults.retain(|fault| !common::is_not_found(fault));
    }
    if scales.is_empty() {
        return if format.is_human() {
            get::human(kc, args, format, found)
        } else {
            get::generic(kc, args, format, found)
        };
    }
    if format.is_human() {
        kc.out(table(&scales, kc.now(), !args.on("no-headers")));
    } else {
        let value = match scales.as_slice() {
            [one] if found.single => one.clone(),
            many => list_of(many.to_vec()),
        };
        format.print(kc, &value, !args.on("no-headers"))?;
    }
    common::finish(kc, found.faults)
}

/// Upstream: pkg/printers/internalversion, printScale.
fn table(scales: &[Value], now: kubestep_model::Instant, heads: bool) -> String {
    let mut text = if heads { "NAME\tDESIRED\tAVAILABLE\tAGE\n".to_owned() } else { String::new() };
    for scale in scales {
        let number = |part: &str| scale[part]["replicas"].as_i64().unwrap_or(0);
        let made = scale["metadata"]["creationTimestamp"].as_str().and_then(Time::parse);
        let name = scale["metadata"]["name"].as_str().unwrap_or_default();
        text += &format!("{name}\t{}\t{}\t{}\n", number("spec"), number("status"), age(made, now));
    }
    Tabs::TABLE.align(&text)
}

/// Sends a write of a part, and prints what was done to it; where it is of the kept version still, that, too.
pub(super) fn write(
    kc: &mut Kc<'_>,
    format: &Format,
    request: Request,
    done: &str,
    dry: common::DryRun,
    kept: Option<&str>,
) -> Flow<Result<(), Status>> {
    match kc.ask(request)? {
        Ok(Answer::Object { object, .. }) => common::say(kc, format, &object, done, dry)?,
        Ok(Answer::Json { value, .. }) if format.is_human() => {
            let name = value["metadata"]["name"].as_str().unwrap_or_default();
            let same = kept.is_some_and(|version| value["metadata"]["resourceVersion"] == *version);
            let same = if same { " (no change)" } else { "" };
            kc.out(format!("scale.autoscaling/{name} {done}{same}{}\n", dry.suffix()));
        }
        Ok(Answer::Json { value, .. }) => format.print(kc, &*value, true)?,
        Ok(Answer::List { .. } | Answer::Chunk { .. }) => {
            return Err(kc.fail("the answer is not an object"));
        }
        Err(status) => return Ok(Err(status)),
    }
    Ok(Ok(()))
}

/// A body for the part of an object.
pub(super) fn body(value: Value) -> kubestep_model::Body {
    kubestep_model::Body::Json(Arc::new(value))
}
