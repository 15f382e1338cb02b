//! `kubectl delete`, which waits until what it deleted is gone. Upstream: kubectl/pkg/cmd/delete (v1.37).

use super::common::{self, ALL, DRY_RUN, DryRun, FILENAME, KUSTOMIZE, OUTPUT, RECURSIVE, SELECTOR};
use crate::{
    args::{Args, Flag, Takes, flag, not_done, short},
    fault::Fault,
    kc::{Flow, Kc},
    manifest::{self, Reading},
    output::format::qualified,
    select::{self, Named, Select},
};
use kubestep_model::{
    Answer, DeleteOptions, Instant, Key, Propagation, Verb,
    client::{Sense, Span, Stream, WatchEvent},
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

pub(super) const FLAGS: &[Flag] = &[
    FILENAME,
    RECURSIVE,
    OUTPUT,
    SELECTOR,
    ALL,
    DRY_RUN,
    flag("field-selector", Takes::Text),
    short("all-namespaces", 'A', Takes::Bool),
    flag("cascade", Takes::Maybe("background")),
    flag("force", Takes::Bool),
    flag("grace-period", Takes::Int),
    flag("now", Takes::Bool),
    flag("wait", Takes::Bool),
    flag("timeout", Takes::Span),
    flag("ignore-not-found", Takes::Bool),
    Flag { long: "interactive", short: Some('i'), takes: Takes::Bool, done: false },
    not_done("raw", Takes::Text),
    KUSTOMIZE,
];

/// A wait without a limit ends after a week.
pub(super) const FOREVER: Duration = Duration::from_secs(168 * 3600);

const IMMEDIATE: &str = "Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.";

/// How something is deleted.
pub(super) struct How {
    pub(super) grace: i64,
    pub(super) propagation: Propagation,
    pub(super) dry: DryRun,
    pub(super) ignore_missing: bool,
    pub(super) wait: bool,
    pub(super) timeout: Duration,
    pub(super) name_only: bool,
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let how = how(kc, args)?;
    let select = Select::from(args, &args.words);
    let targets = targets(kc, &select)?;
    if kc.namespace_given && !select.all_namespaces && targets.0.iter().any(|(key, _)| !key.kind.namespaced())
    {
        kc.warn("deleting cluster-scoped resources, not scoped to the provided namespace");
    }
    delete(kc, targets, &how)
}

/// Reads the flags that say how.
pub(super) fn how(kc: &mut Kc<'_>, args: &Args) -> Flow<How> {
    let mut grace = args.int("grace-period").unwrap_or(-1);
    let force = args.on("force");
    if args.on("now") {
        if grace != -1 {
            return Err(kc.fail("--now and --grace-period cannot be specified together"));
        }
        grace = 1;
    }
    if grace == 0 && !force {
        grace = 1;
    }
    if force && grace < 0 {
        grace = 0;
    }
    let output = args.text_or_empty("output");
    if !matches!(output, "" | "name") {
        return Err(kc.fail(format!("unexpected -o output mode: {output}. We only support '-o name'")));
    }
    let selecting =
        !args.text_or_empty("selector").is_empty() || !args.text_or_empty("field-selector").is_empty();
    if args.on("all") && selecting {
        return Err(kc.fail("setting 'all' parameter but found a non empty selector. "));
    }
    if force && grace > 0 {
        return Err(kc.fail("--force and --grace-period greater than 0 cannot be specified together"));
    }
    let (propagation, dry) = (cascade(kc, args)?, DryRun::of(kc, args)?);
    if force {
        kc.warn(IMMEDIATE);
    }
    Ok(How {
        grace,
        propagation,
        dry,
        ignore_missing: args.on_or("ignore-not-found", args.on("all") || selecting),
        wait: args.on_or("wait", true),
        timeout: args.span("timeout").filter(|t| !t.is_zero()).unwrap_or(FOREVER),
        name_only: output == "name",
    })
}

/// Upstream: cmdutil.GetCascadingStrategy.
pub(super) fn cascade(kc: &mut Kc<'_>, args: &Args) -> Flow<Propagation> {
    match args.text("cascade") {
        None | Some("background") => Ok(Propagation::Background),
        Some("foreground") => Ok(Propagation::Foreground),
        Some("orphan") => Ok(Propagation::Orphan),
        Some("true") => {
            kc.err("warning: --cascade=true is deprecated (boolean value) and can be replaced with --cascade=background.\n");
            Ok(Propagation::Background)
        }
        Some("false") => {
            kc.err("warning: --cascade=false is deprecated (boolean value) and can be replaced with --cascade=orphan.\n");
            Ok(Propagation::Orphan)
        }
        Some(other) => Err(kc.fail(format!(
            "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
        ))),
    }
}

/// What is to be deleted, with the file that named it, and what could not be read.
pub(super) type Targets = (Vec<(Key, String)>, Vec<Fault>);

/// Objects by name are not read first; selectors are listed.
pub(super) fn targets(kc: &mut Kc<'_>, select: &Select) -> Flow<Targets> {
    if !select.files.is_empty() {
        select::no_words(kc, select)?;
        let how = Reading { files: select.files.clone(), recursive: select.recursive, validate: false };
        let read = manifest::read(kc, &how)?;
        if let Some(fault) = Fault::all(read.stops) {
            return Err(kc.fault(&fault));
        }
        let (mut keys, mut faults) = (Vec::new(), Vec::new());
        for item in read.items {
            match item {
                Ok(m) => keys.push((m.key(), m.source)),
                Err(fault) => faults.push(fault),
            }
        }
        return Ok((keys, faults));
    }
    match select::named(kc, select)? {
        Err(fault) => Err(kc.fault(&fault)),
        Ok(Named::Keys(keys)) => Ok((keys.into_iter().map(|k| (k, String::new())).collect(), vec![])),
        Ok(Named::Kinds(kinds)) => {
            let found = select::by_kind(kc, select, &kinds)?;
            Ok((found.infos.into_iter().map(|i| (i.key, String::new())).collect(), found.faults))
        }
    }
}

/// Deletes objects, then waits until they are gone.
pub(super) fn delete(kc: &mut Kc<'_>, (keys, mut faults): Targets, how: &How) -> Flow<i32> {
    let mut deleted: Vec<(Key, Arc<str>)> = Vec::new();
    let mut found = 0;
    for (key, source) in keys {
        let options = DeleteOptions {
            grace_period_seconds: (how.grace >= 0).then_some(how.grace),
            propagation: Some(how.propagation),
            ..DeleteOptions::default()
        };
        found += 1;
        if how.dry == DryRun::Client {
            said(kc, &key, how);
            continue;
        }
        match kc.ask(how.dry.request(Verb::Delete { key: key.clone(), options }))? {
            Ok(answer) => {
                said(kc, &key, how);
                deleted.push((key, uid(&answer)));
            }
            Err(status) if status.is_not_found() && how.ignore_missing => {}
            Err(status) => faults.push(Fault::from(status).when("deleting", &source)),
        }
    }
    if let Some(fault) = Fault::all(faults) {
        return Err(kc.fault(&fault));
    }
    if found == 0 {
        kc.out("No resources found\n");
        return Ok(0);
    }
    if how.wait && how.dry == DryRun::None {
        wait(kc, &deleted, how.timeout)?;
    }
    Ok(0)
}

/// Deletes one object, without a word.
pub(super) fn one(kc: &mut Kc<'_>, key: &Key, how: &How) -> Flow<Result<(), Fault>> {
    let options = DeleteOptions {
        grace_period_seconds: (how.grace >= 0).then_some(how.grace),
        propagation: Some(how.propagation),
        ..DeleteOptions::default()
    };
    let sent = kc.ask(Verb::Delete { key: key.clone(), options })?;
    Ok(sent.map(|_| ()).map_err(Fault::from))
}

fn uid(answer: &Answer) -> Arc<str> {
    match answer {
        Answer::Object { object, .. } => object.meta().uid.clone(),
        Answer::Json { value, .. } => {
            value.pointer("/details/uid").and_then(Value::as_str).unwrap_or_default().into()
        }
        Answer::List { .. } | Answer::Chunk { .. } => "".into(),
    }
}

/// `pod "web" deleted from default namespace`.
fn said(kc: &mut Kc<'_>, key: &Key, how: &How) {
    let full = qualified(key.kind, &key.name);
    if how.name_only {
        kc.out(full + "\n");
        return;
    }
    let kind = key.kind.qualified_kind().to_ascii_lowercase();
    let force = if how.grace == 0 { "force deleted" } else { "deleted" };
    let place =
        if key.kind.namespaced() { format!(" from {} namespace", key.namespace) } else { String::new() };
    let start = u32::try_from(kind.len() + 2).unwrap_or(0);
    let span = Span {
        start,
        end: start + u32::try_from(key.name.len()).unwrap_or(0),
        means: Sense::Object(key.clone()),
    };
    kc.print(
        Stream::Out,
        format!("{kind} \"{}\" {force}{place}{}\n", key.name, how.dry.suffix()),
        vec![span],
    );
}

/// Waits until each of several objects is gone, or another has taken its name.
fn wait(kc: &mut Kc<'_>, deleted: &[(Key, Arc<str>)], timeout: Duration) -> Flow<()> {
    let end = kc.now() + timeout;
    for (key, uid) in deleted {
        if !gone(kc, key, uid, end)? {
            return Err(
                kc.fail(format!("timed out waiting for the condition on {}", common::resource_name(key)))
            );
        }
    }
    Ok(())
}

/// Waits until an object is gone; false if the time is over first. An empty uid stands for any object of that name.
pub(super) fn gone(kc: &mut Kc<'_>, key: &Key, uid: &str, end: Instant) -> Flow<bool> {
    let object = match kc.get(key.clone())? {
        Ok(object) => object,
        Err(status) if status.is_not_found() => return Ok(true),
        Err(status) => return Err(kc.fault(&status.into())),
    };
    if !uid.is_empty() && *object.meta().uid != *uid {
        return Ok(true);
    }
    let mut from = object.meta().revision();
    loop {
        let namespace = key.kind.namespaced().then(|| key.namespace.clone());
        let (events, revision) = kc.watch(key.kind, namespace, Some(key.name.clone()), from, Some(end))?;
        if events.iter().any(|e| matches!(e, WatchEvent::Deleted(_))) {
            return Ok(true);
        }
        if events.is_empty() {
            return Ok(false);
        }
        from = revision;
    }
}
