//! `kubectl describe`.

use super::common;
use crate::{
    args::{Args, Flag, Takes, flag, short},
    describe,
    fault::Fault,
    kc::{Flow, Kc},
    output::links,
    select::{self, Select},
};
use kubestep_model::client::Stream;

pub(super) const FLAGS: &[Flag] = &[
    short("selector", 'l', Takes::Text),
    short("all-namespaces", 'A', Takes::Bool),
    short("filename", 'f', Takes::List),
    short("recursive", 'R', Takes::Bool),
    flag("show-events", Takes::Bool),
    flag("chunk-size", Takes::Int),
    common::KUSTOMIZE,
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    if args.words.is_empty() && args.all("filename").is_empty() {
        return Err(kc.fail("You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.\n"));
    }
    let select = Select { types_alone: true, ..Select::from(args, &args.words) };
    kc.limit = common::chunk_size(args);
    let found = select::find(kc, &select)?;
    let events = args.on_or("show-events", found.infos.len() <= 1 && found.faults.is_empty());
    let mut faults = found.faults;
    if let ([fault], [kind, prefix]) = (faults.as_slice(), args.words.as_slice())
        && common::is_not_found(fault)
    {
        let fault = fault.clone();
        if kind.contains('/') {
            return Err(kc.fault(&fault));
        }
        return by_prefix(kc, &fault, kind, prefix, events);
    }
    let mut said: Vec<String> = Vec::new();
    let mut first = true;
    for info in &found.infos {
        match describe::describe(kc, &info.object, events)? {
            Ok(text) => {
                let text = if first { text } else { format!("\n\n{text}") };
                let spans = links::described(&text, &info.key);
                kc.print(Stream::Out, text, spans);
                first = false;
            }
            Err(fault) => {
                let text = fault.text();
                if !said.contains(&text) {
                    said.push(text);
                    faults.push(fault);
                }
            }
        }
    }
    if found.infos.is_empty() && faults.is_empty() {
        let namespace = &kc.namespace;
        let text = if select.all_namespaces {
            "No resources found\n".into()
        } else {
            format!("No resources found in {namespace} namespace.\n")
        };
        kc.err(text);
    }
    match Fault::all(faults) {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(0),
    }
}

/// Describes all objects whose names begin with a text; the fault if there is none.
fn by_prefix(kc: &mut Kc<'_>, fault: &Fault, kind: &str, prefix: &str, events: bool) -> Flow<i32> {
    let select =
        Select { words: vec![kind.to_owned()], types_alone: true, one_kind: true, ..Select::default() };
    let found = select::find(kc, &select)?;
    if let Some(fault) = Fault::all(found.faults) {
        return Err(kc.fault(&fault));
    }
    let mut any = false;
    for info in found.infos.iter().filter(|info| info.key.name.starts_with(prefix)) {
        any = true;
        match describe::describe(kc, &info.object, events)? {
            Ok(text) => {
                let spans = links::described(&text, &info.key);
                kc.print(Stream::Out, text + "\n", spans);
            }
            Err(fault) => return Err(kc.fault(&fault)),
        }
    }
    if any { Ok(0) } else { Err(kc.fault(fault)) }
}
