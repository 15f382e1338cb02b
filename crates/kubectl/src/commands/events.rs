//! `kubectl events`. Upstream: kubectl/pkg/cmd/events (v1.37).

use super::common::{self, OUTPUT, TEMPLATE};
use crate::{
    args::{Args, Flag, Takes, flag, short},
    describe::interval,
    fault::Fault,
    kc::{Flow, Kc},
    output::{
        format::Format,
        links,
        table::{Even, Grid, LONG},
        tabs::Tabs,
    },
    resources,
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{
    Event, Instant, Kind, Object,
    client::{Stream, WatchEvent},
    text::FieldSelector,
};
use std::{borrow::Cow, sync::Arc};

pub(super) const FLAGS: &[Flag] = &[
    OUTPUT,
    TEMPLATE,
    short("watch", 'w', Takes::Bool),
    short("all-namespaces", 'A', Takes::Bool),
    flag("for", Takes::Text),
    flag("types", Takes::List),
    flag("no-headers", Takes::Bool),
    flag("chunk-size", Takes::Int),
    flag("show-managed-fields", Takes::Bool),
    flag("allow-missing-template-keys", Takes::Bool),
];

/// Which events are shown, and how.
struct Screen {
    types: Vec<String>,
    everywhere: bool,
    heads: bool,
}

impl Screen {
    fn fits(&self, event: &Event) -> bool {
        self.types.is_empty() || self.types.iter().any(|t| t.eq_ignore_ascii_case(&event.r#type))
    }

    /// The heads, the first time.
    fn heads(&mut self) -> &'static [&'static str] {
        const HEADS: [&str; 6] = ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];
        match std::mem::take(&mut self.heads) {
            false => &[],
            true => &HEADS[usize::from(!self.everywhere)..],
        }
    }

    /// The rows of events.
    fn rows(&self, events: &[Arc<Event>], now: Instant) -> Grid {
        let mut grid = Grid::with(events.len(), 6);
        let mut about = String::new();
        for event in events {
            if self.everywhere {
                grid.put_whole(&event.metadata.namespace);
            }
            grid.put_whole(&interval(event, now));
            about.clear();
            for part in [&*event.involved_object.kind, "/", &event.involved_object.name] {
                about.push_str(part);
            }
            for cell in [&event.r#type, &event.reason, &*about, event.message.trim()] {
                grid.put_whole(&clean(cell));
            }
            grid.end_row();
        }
        grid
    }

    /// Prints events; a long table is written when somebody reads it.
    fn print(&mut self, kc: &mut Kc<'_>, events: &[Arc<Event>]) {
        let heads = self.heads();
        match Even::plain(heads, self.rows(events, kc.now())) {
            Ok(even) if even.least() > LONG => kc.out_later(even),
            Ok(even) => {
                let text = even.printed().text;
                let spans = if self.everywhere { vec![] } else { links::pairs(&text, &kc.namespace) };
                kc.print(Stream::Out, text, spans);
            }
            Err(grid) => {
                let mut text = heads.join("\t");
                text += if heads.is_empty() { "" } else { "\n" };
                for row in 0..grid.len() {
                    text += &grid.row(row).collect::<Vec<_>>().join("\t");
                    text += "\n";
                }
                kc.out(Tabs::TABLE.align(&text));
            }
        }
    }
}

/// Characters that steer a terminal are made visible.
fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|b| matches!(b, b'\x1b' | b'\r')) {
        return text.replace('\u{1b}', "^[").replace('\r', "\\r").into();
    }
    text.into()
}

pub(super) fn run(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    let format = Format::of(kc, args, false)?;
    let fields = about(kc, args)?;
    let mut types = args.all("types").to_vec();
    types.arrange();
    if types.iter().any(|t| !t.eq_ignore_ascii_case("Normal") && !t.eq_ignore_ascii_case("Warning")) {
        return Err(kc.fail("valid --types are Normal or Warning"));
    }
    let everywhere = args.on("all-namespaces");
    let mut screen = Screen { types, everywhere, heads: !args.on("no-headers") };
    // Whatever the flag says. A watch begins with everything there is.
    kc.limit = if args.on("watch") { 0 } else { common::CHUNK_SIZE };
    let namespace = (!everywhere).then(|| kc.namespace.clone());
    let (items, revision) = match kc.list(Kind::Event, namespace.clone(), None, fields.clone())? {
        Ok(found) => found,
        Err(status) => return Err(kc.fault(&status.into())),
    };
    if args.on("watch") {
        return watch(kc, &format, &mut screen, &items, revision, fields.as_ref());
    }
    let events: Vec<Arc<Event>> = items.iter().filter_map(event).filter(|e| screen.fits(e)).collect();
    if events.is_empty() {
        let place = if everywhere { ".".to_owned() } else { format!(" in {} namespace.", kc.namespace) };
        kc.err(format!("No events found{place}\n"));
        return Ok(0);
    }
    let mut timed: Vec<(i64, Arc<Event>)> = events.into_iter().map(|e| (seen(&e), e)).collect();
    timed.arrange_by_key(|(at, _)| *at);
    let events: Vec<Arc<Event>> = timed.into_iter().map(|(_, event)| event).collect();
    if format.is_human() {
        screen.print(kc, &events);
        return Ok(0);
    }
    let objects: Vec<Object> = events.into_iter().map(Object::Event).collect();
    let kind = if format == Format::Name { "List" } else { "EventList" };
    format.print_list(kc, kind, &objects, true)?;
    Ok(0)
}

fn event(object: &Object) -> Option<Arc<Event>> {
    if let Object::Event(event) = object { Some(event.clone()) } else { None }
}

/// When an event was last seen.
fn seen(event: &Event) -> i64 {
    let nanos = |at: Option<Instant>| at.map_or(i64::MIN, |at| at.nanos_since(Instant::START));
    match (&event.series, event.last_timestamp) {
        (Some(series), _) => nanos(series.last_observed_time.map(|t| t.instant())),
        (None, Some(last)) => nanos(Some(last.instant())),
        (None, None) => nanos(event.event_time.map(|t| t.instant())),
    }
}

/// The fields that `--for` asks for.
fn about(kc: &mut Kc<'_>, args: &Args) -> Flow<Option<FieldSelector>> {
    let word = args.text_or_empty("for");
    if word.is_empty() {
        return Ok(None);
    }
    let (resource, name) = match word.split('/').collect::<Vec<_>>()[..] {
        [resource, name] => (resource, name),
        [_] => return Err(kc.fail("--for must be in resource/name form")),
        _ => return Err(kc.fail("arguments in resource/name form may not have more than one slash")),
    };
    let definitions = kc.definitions()?;
    let kind = resources::resolve_defined(&resource.to_ascii_lowercase(), &definitions);
    // These words stand alone, as upstream.
    let kind = kind.map_err(|fault| kc.fault(&Fault::Bare(fault.text())))?;
    let text = format!(
        "involvedObject.kind={},involvedObject.apiVersion={},involvedObject.name={name}",
        kind.name(),
        kind.api_version()
    );
    FieldSelector::parse(&text).map(Some).map_err(|why| kc.fail(why))
}

/// Shows events as they come, those that are there first.
fn watch(
    kc: &mut Kc<'_>,
    format: &Format,
    screen: &mut Screen,
    items: &[Object],
    mut from: u64,
    fields: Option<&FieldSelector>,
) -> Flow<i32> {
    let namespace = (!screen.everywhere).then(|| kc.namespace.clone());
    let mut show = |kc: &mut Kc<'_>, object: &Object| -> Flow<()> {
        let Some(event) = event(object).filter(|e| screen.fits(e)) else { return Ok(()) };
        if format.is_human() {
            screen.print(kc, &[event]);
            return Ok(());
        }
        format.print(kc, object, true)
    };
    for object in items {
        show(kc, object)?;
    }
    loop {
        let (events, seen) = kc.watch(Kind::Event, namespace.clone(), None, from, None)?;
        from = seen;
        for event in events {
            if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event
                && fields.is_none_or(|f| super::get::matches_fields(f, &object))
            {
                show(kc, &object)?;
            }
        }
    }
}
