//! `kubectl config`: there is one cluster, one user and one context, whose namespace can be set.

use super::{
    common::{self, OUTPUT, TEMPLATE},
    info::SERVER,
};
use crate::{
    args::{Args, Flag, Takes, flag, not_done},
    fault::Fault,
    kc::{Flow, Kc},
    output::{format::Format, tabs::Tabs},
};
use kubestep_model::yaml;
use serde_json::{Value, json};

/// The names of the one cluster, its one user and their context.
const CLUSTER: &str = "kubestep";
const USER: &str = "kubernetes-admin";
pub(super) const CONTEXT: &str = "kubernetes-admin@kubestep";

pub(super) const NONE: &[Flag] = &[];
pub(super) const VIEW: &[Flag] = &[
    OUTPUT,
    TEMPLATE,
    flag("minify", Takes::Bool),
    not_done("raw", Takes::Bool),
    flag("flatten", Takes::Bool),
    flag("merge", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

fn config(kc: &Kc<'_>) -> Value {
    let mut context = json!({ "cluster": CLUSTER, "user": USER });
    if &*kc.context != "default" {
        context["namespace"] = json!(&*kc.context);
    }
    json!({
        "apiVersion": "v1",
        "clusters": [{
            "cluster": { "certificate-authority-data": "DATA+OMITTED", "server": SERVER },
            "name": CLUSTER,
        }],
        "contexts": [{ "context": context, "name": CONTEXT }],
        "current-context": CONTEXT,
        "kind": "Config",
        "users": [{
            "name": USER,
            "user": { "client-certificate-data": "DATA+OMITTED", "client-key-data": "DATA+OMITTED" },
        }],
    })
}

pub(super) fn view(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if !args.words.is_empty() {
        let text = format!("unexpected arguments: [{}]", args.words.join(" "));
        return Err(kc.usage(&args.path, &text));
    }
    let (format, value) = (Format::of(kc, args, false)?, config(kc));
    if format.is_human() {
        kc.out(yaml::to_yaml(&value));
        return Ok(0);
    }
    format.print(kc, &value, true)?;
    Ok(0)
}

pub(super) fn current(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    kc.out(format!("{CONTEXT}\n"));
    Ok(0)
}

pub(super) const CONTEXTS: &[Flag] = &[OUTPUT, flag("no-headers", Takes::Bool)];

pub(super) fn contexts(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let output = args.text_or_empty("output");
    if !matches!(output, "" | "name") {
        let text = "is not available in kubectl config get-contexts; resetting to default output format";
        return Err(kc.fail(format!("--output {output} {text}")));
    }
    let there = args.words.is_empty() || args.words.iter().any(|w| w == CONTEXT);
    let missing: Vec<&String> = args.words.iter().filter(|w| *w != CONTEXT).collect();
    if output == "name" {
        kc.out(if there { format!("{CONTEXT}\n") } else { String::new() });
    } else {
        let heads = if args.on("no-headers") { "" } else { "CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n" };
        let namespace = if &*kc.context == "default" { "" } else { &*kc.context };
        let row = format!("*\t{CONTEXT}\t{CLUSTER}\t{USER}\t{namespace}\n");
        let text = [heads, if there { row.as_str() } else { "" }].concat();
        kc.out(Tabs::TABLE.align(&text));
    }
    let faults = missing.into_iter().map(|name| Fault::Text(format!("context {name} not found")));
    common::finish(kc, faults.collect())
}

pub(super) fn clusters(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    kc.out(format!("NAME\n{CLUSTER}\n"));
    Ok(0)
}

pub(super) fn users(kc: &mut Kc<'_>, _: &Args) -> Flow<i32> {
    kc.out(format!("NAME\n{USER}\n"));
    Ok(0)
}

pub(super) fn use_context(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    match args.words.as_slice() {
        [name] if name == CONTEXT => {
            kc.out(format!("Switched to context \"{CONTEXT}\".\n"));
            Ok(0)
        }
        [name] => Err(kc.fail(format!("no context exists with the name: \"{name}\""))),
        words => {
            let text = format!("Unexpected args: [{}]", words.join(" "));
            kc.out("Usage:\n  kubectl config use-context CONTEXT_NAME [options]\n");
            Err(kc.fail(text))
        }
    }
}

pub(super) const SET_CONTEXT: &[Flag] = &[flag("current", Takes::Bool)];

/// Changes the namespace of the context. Whoever starts the next command reads it from this one's line, see
/// [`crate::namespace_set`].
pub(super) fn set_context(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let named = match args.words.as_slice() {
        [] if args.on("current") => true,
        [name] => name == CONTEXT,
        _ => return Err(kc.fail("you must specify a non-empty context name or --current")),
    };
    if !named {
        return Err(kc.not_done("a second context"));
    }
    if kc.namespace_given {
        kc.context = kc.namespace.clone();
    }
    kc.out(format!("Context \"{CONTEXT}\" modified.\n"));
    Ok(0)
}
