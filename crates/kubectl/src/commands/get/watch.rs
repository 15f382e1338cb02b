//! `kubectl get --watch`: what is there, then each change, until it is stopped.

use super::shape;
use crate::{
    args::Args,
    fault::Fault,
    kc::{Flow, Going, Kc},
    output::{
        format::Format,
        jsonpath::Need,
        table::{Shape, more},
    },
    select::{self, Select},
};
use kubestep_model::{
    Key, Kind, Named, Object, Revision,
    client::{Stream, WatchEvent},
    text::{FieldSelector, Selector},
    tree::OrdSet,
};
use serde_json::Value;
use std::sync::Arc;

/// What is shown, and how.
#[derive(Clone, Debug)]
struct Screen {
    kind: Kind,
    format: Format,
    shape: Shape,
    widths: Vec<usize>,
    printed: usize,
}

impl Screen {
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
            if self.printed > 0 && self.format == Format::Yaml {
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
    let (kind, from, name) = match (found.lists.first(), objects.as_slice()) {
        (Some((kind, revision)), _) => (*kind, *revision, None),
        (None, [one]) => (one.kind(), one.meta().revision(), Some(one.meta().name.clone())),
        (None, _) => return Err(kc.fail("you may only specify a single resource type")),
    };
    let event = args.on("output-watch-events").then_some("ADDED");
    let shape = Shape { definition: super::columns(kc, args, kind)?, event, ..shape(args, format, kind) };
    let mut screen = Screen { kind, format: format.clone(), shape, widths: vec![], printed: 0 };
    if !args.on("watch-only") {
        screen.show(kc, &objects, "ADDED")?;
    }
    let labels = Selector::parse(&select.labels).unwrap_or_else(|_| Selector::everything());
    let fields = FieldSelector::parse(&select.fields).unwrap_or_default();
    let mut known: OrdSet<Key> = OrdSet::default();
    known.extend(objects.iter().map(Object::key));
    let everywhere = select.all_namespaces || !kind.namespaced();
    let namespace: Option<Arc<str>> = (!everywhere).then(|| kc.namespace.clone());
    Watching { screen, labels, fields, known, namespace, name, from }.follow(kc)
}

/// A watch on its way: all it has to know for what comes next.
#[derive(Clone, Debug)]
struct Watching {
    screen: Screen,
    labels: Selector,
    fields: FieldSelector,
    known: OrdSet<Key>,
    namespace: Option<Arc<str>>,
    name: Option<Arc<str>>,
    from: Revision,
}

impl Going for Watching {
    fn go_on(&self, kc: &mut Kc<'_>) -> Flow<i32> {
        self.clone().follow(kc)
    }
}

impl Watching {
    fn follow(mut self, kc: &mut Kc<'_>) -> Flow<i32> {
        loop {
            if kc.direct {
                kc.stands(self.clone());
            }
            let (kind, namespace, name) = (self.screen.kind, self.namespace.clone(), self.name.clone());
            let (events, seen) = kc.watch(kind, namespace, name, self.from, None)?;
            self.from = seen;
            for event in events {
                self.show(kc, event)?;
            }
        }
    }

    fn show(&mut self, kc: &mut Kc<'_>, event: WatchEvent) -> Flow<()> {
        let (object, gone) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
            WatchEvent::Deleted(object) => (object, true),
        };
        let fits =
            !gone && self.labels.matches(&object.meta().labels) && matches_fields(&self.fields, &object);
        let was = if fits { self.known.insert(object.key()) } else { self.known.remove(&object.key()) };
        // One that no longer fits is shown once more, as a watch tells of it.
        let event = match (fits, was.is_some()) {
            (true, true) => "MODIFIED",
            (true, false) => "ADDED",
            (false, true) => "DELETED",
            (false, false) => return Ok(()),
        };
        self.screen.show(kc, &[object], event)
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
