//! `kubectl get --watch`: what is there, then each change, until it is stopped.

use super::shape;
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Kc},
    output::{
        format::Format,
        jsonpath::Need,
        table::{Shape, more},
    },
    select::{self, Select},
};
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Key, Kind, Named, Object,
    client::{Stream, WatchEvent},
    text::{FieldSelector, Selector},
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// What is shown, and how.
struct Screen<'a> {
    kind: Kind,
    format: &'a Format,
    shape: Shape,
    widths: Vec<usize>,
    printed: usize,
}

impl Screen<'_> {
    fn show(&mut self, kc: &mut Kc<'_>, objects: &[Object], event: &'static str) -> Flow<()> {
        if self.format.is_human() {
            self.shape.event = self.shape.event.map(|_| event);
            let objects: Vec<&Object> = objects.iter().collect();
            let shown = more(self.kind, &objects, kc.now(), &self.shape, &mut self.widths);
            self.shape.no_headers |= !objects.is_empty();
            kc.print(Stream::Out, shown.text, shown.spans);
            return Ok(());
        }
        for object in objects {
            if self.printed > 0 && *self.format == Format::Yaml {
                kc.out("---\n");
            }
            let heads = self.printed == 0 && !self.shape.no_headers;
            if self.shape.event.is_some() {
                let value = Named(vec![("object", object), ("type", &event)]);
                self.format.print(kc, &value, heads)?;
            } else {
                self.format.print(kc, object, heads)?;
            }
            self.printed += 1;
        }
        Ok(())
    }
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args, format: &Format, select: &Select) -> Flow<i32> {
    if args.has("sort-by") {
        let which = if args.on("watch") {
            "--watch requested, --sort-by will be ignored for watch events received"
        } else {
            "--watch-only requested, --sort-by will be ignored"
        };
        kc.err(format!("warning: {which}\n"));
    }
    let found = select::find(kc, &Select { one_kind: true, ..select.clone() })?;
    if let Some(fault) = Fault::all(found.faults) {
        if args.on("ignore-not-found") && super::common::is_not_found(&fault) {
            return Ok(0);
        }
        return Err(kc.fault(&fault));
    }
    let objects: Vec<Object> = found.infos.iter().map(|info| info.object.clone()).collect();
    let (kind, mut from, name) = match (found.lists.first(), objects.as_slice()) {
        (Some((kind, revision)), _) => (*kind, *revision, None),
        (None, [one]) => (one.kind(), one.meta().revision(), Some(one.meta().name.clone())),
        (None, _) => return Err(kc.fail("you may only specify a single resource type")),
    };
    let event = args.on("output-watch-events").then_some("ADDED");
    let shape = Shape { definition: super::columns_of(kc, kind)?, event, ..shape(args, format, kind) };
    let mut screen = Screen { kind, format, shape, widths: vec![], printed: 0 };
    if !args.on("watch-only") {
        screen.show(kc, &objects, "ADDED")?;
    }
    let labels = Selector::parse(&select.labels).unwrap_or_else(|_| Selector::everything());
    let fields = FieldSelector::parse(&select.fields).unwrap_or_default();
    let mut known: BTreeSet<Key> = objects.iter().map(Object::key).gather();
    let everywhere = select.all_namespaces || !kind.namespaced();
    let namespace: Option<Arc<str>> = (!everywhere).then(|| kc.namespace.clone());
    loop {
        let (events, seen) = kc.watch(kind, namespace.clone(), name.clone(), from, None)?;
        from = seen;
        for event in events {
            let (object, gone) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
            };
            let fits = !gone && labels.matches(&object.meta().labels) && matches_fields(&fields, &object);
            let was = if fits { !known.insert(object.key()) } else { known.remove(&object.key()) };
            // One that no longer fits is shown once more, as a watch tells of it.
            if fits || was {
                let event = match (fits, was) {
                    (true, true) => "MODIFIED",
                    (true, false) => "ADDED",
                    (false, _) => "DELETED",
                };
                screen.show(kc, &[object], event)?;
            }
        }
    }
}

pub(in crate::commands) fn matches_fields(fields: &FieldSelector, object: &Object) -> bool {
    if fields.is_empty() {
        return true;
    }
    let mut need = Need::default();
    fields.terms().for_each(|(field, ..)| need.path(field));
    let value = need.cut(object);
    fields.terms().all(|(field, equal, wanted)| {
        let found = value.pointer(&format!("/{}", field.replace('.', "/")));
        let text = found.and_then(Value::as_str).unwrap_or_default();
        (text == wanted) == equal
    })
}
