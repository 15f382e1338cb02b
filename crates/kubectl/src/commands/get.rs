//! `kubectl get`.

mod watch;

pub(super) use watch::matches_fields;

use super::common;
use crate::{
    args::{Args, Flag, Takes, flag, short},
    fault::Fault,
    kc::{Flow, Kc},
    output::{
        format::Format,
        sort,
        table::{Shape, shown},
    },
    printers,
    select::{self, Found, Info, Select},
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Kind, Look, Object,
    client::Stream,
    defined::{self, Definition},
};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const FLAGS: &[Flag] = &[
    short("output", 'o', Takes::Text),
    short("selector", 'l', Takes::Text),
    flag("field-selector", Takes::Text),
    short("all-namespaces", 'A', Takes::Bool),
    short("filename", 'f', Takes::List),
    short("recursive", 'R', Takes::Bool),
    short("label-columns", 'L', Takes::List),
    flag("show-labels", Takes::Bool),
    flag("no-headers", Takes::Bool),
    flag("sort-by", Takes::Text),
    flag("ignore-not-found", Takes::Bool),
    flag("show-kind", Takes::Bool),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
    flag("template", Takes::Text),
    flag("chunk-size", Takes::Int),
    flag("server-print", Takes::Bool),
    flag("subresource", Takes::Text),
    flag("raw", Takes::Text),
    common::KUSTOMIZE,
    flag("output-watch-events", Takes::Bool),
    flag("watch-only", Takes::Bool),
    short("watch", 'w', Takes::Bool),
];

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let raw = args.text_or_empty("raw");
    if !raw.is_empty() && !args.words.is_empty() {
        return Err(kc.fail("arguments may not be passed when --raw is specified"));
    }
    if !raw.is_empty() {
        return super::raw::run(kc, args, raw);
    }
    let watches = args.on("watch") || args.on("watch-only");
    if args.words.is_empty() && args.all("filename").is_empty() {
        if watches {
            return Err(super::mistakes::nothing_named(kc)?);
        }
        kc.err(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n\n",
        );
        return Err(kc.usage(
            &args.path,
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).",
        ));
    }
    let format = Format::of(kc, args, true)?;
    let output = args.text_or_empty("output");
    if args.on("show-labels") && !matches!(output, "" | "wide") {
        return Err(kc.fail(format!("--show-labels option cannot be used with {output} printer")));
    }
    if !args.all("label-columns").is_empty() && output.starts_with("custom-columns") {
        return Err(kc.fail(format!("--label-columns option cannot be used with {output} printer")));
    }
    if args.on("output-watch-events") && !watches {
        return Err(kc.fail("--output-watch-events option can only be used with --watch or --watch-only"));
    }
    kc.owners = !format.is_human() && (args.on("show-managed-fields") || format.shows_owners(output));
    let select = Select { types_alone: true, ..Select::from(args, &args.words) };
    let part = args.text_or_empty("subresource");
    if !part.is_empty() {
        return super::part::get(kc, args, &format, &select, part);
    }
    if watches {
        kc.limit = common::chunk_size(args);
        return watch::run(kc, args, &format, &select);
    }
    // What is to be sorted has to be there at once.
    kc.limit = if args.text_or_empty("sort-by").is_empty() { common::chunk_size(args) } else { 0 };
    let mut found = select::find(kc, &select)?;
    if args.on("ignore-not-found") {
        found.faults.retain(|fault| !common::is_not_found(fault));
    }
    if format.is_human() { human(kc, args, &format, found) } else { generic(kc, args, &format, found) }
}

pub(super) fn generic(kc: &mut Kc<'_>, args: &Args, format: &Format, found: Found) -> Flow<i32> {
    let fault = Fault::all(found.faults);
    if let (Some(fault), true) = (&fault, found.single) {
        return Err(kc.fault(fault));
    }
    if found.infos.is_empty() && args.on("ignore-not-found") {
        return Ok(0);
    }
    let mut objects: Vec<Object> = found.infos.into_iter().map(|info| info.object).collect();
    if let Some(field) = args.text("sort-by")
        && objects.len() > 1
    {
        let places = in_order(&objects, field).map_err(|why| kc.fail(why))?;
        objects = places.into_iter().map(|at| objects[at].clone()).collect();
    }
    if *format == Format::Name {
        let (mut text, mut spans) = (String::new(), vec![]);
        for object in &objects {
            common::put_name(&mut text, &mut spans, &object.key());
        }
        kc.print(Stream::Out, text, spans);
        return match fault {
            Some(fault) => Err(kc.fault(&fault)),
            None => Ok(0),
        };
    }
    let heads = !args.on("no-headers");
    match objects.as_slice() {
        [one] if found.single => format.print(kc, one, heads)?,
        many => format.print_list(kc, "List", many, heads)?,
    }
    match fault {
        Some(fault) => Err(kc.fault(&fault)),
        None => Ok(0),
    }
}

fn in_order(objects: &[Object], field: &str) -> Result<Vec<usize>, String> {
    let mut all: Vec<&dyn Look> = Vec::with_capacity(objects.len());
    for object in objects {
        all.push(object);
    }
    sort::order(&all, field)
}

/// The columns that the flags ask for.
fn shape(args: &Args, format: &Format, kind: Kind) -> Shape {
    Shape {
        wide: *format == Format::Human { wide: true },
        no_headers: args.on("no-headers"),
        show_labels: args.on("show-labels"),
        label_columns: args.all("label-columns").to_vec(),
        namespace: args.on("all-namespaces") && kind.namespaced(),
        kind: args.on("show-kind"),
        full: true,
        definition: None,
        listed: false,
        event: None,
    }
}

/// The columns of a kind, where they are not those that the server has for it: with `--server-print=false` kubectl knows
/// no more of an object than its name and age. Upstream: cli-runtime/pkg/printers, defaultHandlerEntry (v1.37).
fn columns(kc: &mut Kc<'_>, args: &Args, kind: Kind) -> Flow<Option<Arc<Vec<Value>>>> {
    if args.on_or("server-print", true) {
        return columns_of(kc, kind);
    }
    let age = json!({ "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" });
    Ok(Some(Arc::new(vec![age])))
}

/// The columns that the definition of a kind names, if somebody defined it.
pub(super) fn columns_of(kc: &mut Kc<'_>, kind: Kind) -> Flow<Option<Arc<Vec<Value>>>> {
    if !kind.is_defined() {
        return Ok(None);
    }
    let definitions = kc.definitions()?;
    let key = defined::definition_key(kind);
    let found = definitions.iter().find(|d| d.key() == key).and_then(Definition::of);
    Ok(found.map(|d| Arc::new(defined::columns(d, kind.version()))))
}

pub(super) fn human(kc: &mut Kc<'_>, args: &Args, format: &Format, found: Found) -> Flow<i32> {
    let mut groups: Vec<(Kind, Vec<Object>)> = Vec::new();
    for Info { object, .. } in found.infos {
        let kind = object.kind();
        match groups.last_mut() {
            Some((last, objects)) if *last == kind => objects.push(object),
            _ => groups.push((kind, vec![object])),
        }
    }
    let listed = found.lists.iter().map(|(kind, _)| *kind);
    let mut kinds: Vec<Kind> = listed.chain(groups.iter().map(|(kind, _)| *kind)).collect();
    kinds.arrange();
    kinds.dedup();
    let everywhere = args.on("all-namespaces");
    let namespaced = !everywhere && found.lists.iter().all(|(kind, _)| kind.namespaced());
    let mut printed = false;
    for (kind, objects) in &groups {
        let places = match args.text("sort-by") {
            Some(field) if !found.lists.is_empty() => match in_order(objects, field) {
                Ok(places) => places,
                // A table that cannot be sorted is not shown, and that is all.
                Err(_) if objects.len() > 1 => continue,
                Err(_) => (0..objects.len()).collect(),
            },
            _ => printers::order(*kind, objects),
        };
        let objects: Vec<&Object> = places.into_iter().map(|at| &objects[at]).collect();
        let shape = Shape {
            definition: columns(kc, args, *kind)?,
            kind: kinds.len() > 1 || args.on("show-kind"),
            listed: found.lists.iter().any(|(listed, _)| listed == kind),
            ..shape(args, format, *kind)
        };
        if printed && !shape.no_headers {
            kc.out("\n");
        }
        match shown(*kind, &objects, kc.now(), &shape) {
            Ok(shown) => kc.print(Stream::Out, shown.text, shown.spans),
            Err(long) => kc.out_later(long),
        }
        printed = true;
    }
    if let Some(fault) = Fault::all(found.faults) {
        // What a file says is one of several things that may be wrong, so no word stands before it.
        let of_file = matches!(fault, Fault::Text(_)) && args.has("filename");
        return Err(kc.fault(&if of_file { Fault::Bare(fault.text()) } else { fault }));
    }
    if !printed && !args.on("ignore-not-found") {
        let text = if namespaced {
            format!("No resources found in {} namespace.\n", kc.namespace)
        } else {
            "No resources found\n".into()
        };
        kc.err(text);
    }
    Ok(0)
}
