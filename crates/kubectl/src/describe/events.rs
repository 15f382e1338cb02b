//! The events of an object at the end of its description.

use super::Page;
use crate::{
    kc::{Flow, Kc},
    printers::{age, micro_age},
};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Event, Instant, Kind, Object, text::FieldSelector};
use std::sync::Arc;

/// Lists the events about an object. `kind` is left out where upstream leaves it out. Upstream: searchEvents.
pub(super) fn search(kc: &mut Kc<'_>, object: &Object, kind: bool, uid: &str) -> Flow<Vec<Arc<Event>>> {
    let meta = object.meta();
    let mut terms = vec![format!("involvedObject.name={}", meta.name)];
    if kind {
        terms.insert(0, format!("involvedObject.kind={}", object.kind().name()));
    }
    terms.push(format!("involvedObject.namespace={}", meta.namespace));
    if !uid.is_empty() {
        terms.push(format!("involvedObject.uid={uid}"));
    }
    let fields = FieldSelector::parse(&terms.join(",")).unwrap_or_default();
    let namespace = (!meta.namespace.is_empty()).then(|| meta.namespace.clone());
    let items =
        kc.list(Kind::Event, namespace, None, Some(fields))?.map(|(items, _)| items).unwrap_or_default();
    let event = |object: Object| if let Object::Event(event) = object { Some(event) } else { None };
    Ok(items.into_iter().filter_map(event).collect())
}

/// Lists the events about an object and writes them, if they are to be shown.
pub(super) fn show(kc: &mut Kc<'_>, page: &mut Page, object: &Object, wanted: bool) -> Flow<()> {
    if wanted {
        let uid = object.meta().uid.clone();
        let kind = !matches!(object, Object::Pod(_));
        let found = search(kc, object, kind, &uid)?;
        write(page, found, kc.now());
    }
    Ok(())
}

/// Writes events, the one that was last seen longest ago first.
pub(super) fn write(page: &mut Page, mut events: Vec<Arc<Event>>, now: Instant) {
    if events.is_empty() {
        page.line(0, "Events:\t<none>");
        return;
    }
    events.arrange_by_key(|e| e.last_timestamp);
    page.line(0, "Events:");
    page.line(1, "Type\tReason\tAge\tFrom\tMessage");
    page.line(1, "----\t------\t----\t----\t-------");
    for event in events {
        let from = if event.source.component.is_empty() {
            &event.reporting_component
        } else {
            &event.source.component
        };
        let mut message = event.message.trim().to_owned();
        let field = &event.involved_object.field_path;
        if !field.is_empty() {
            message = format!("{field}: {message}");
        }
        page.line(
            1,
            format!("{}\t{}\t{}\t{from}\t{message}", event.r#type, event.reason, interval(&event, now)),
        );
    }
}

pub(crate) fn interval(event: &Event, now: Instant) -> String {
    let first = match event.event_time {
        Some(time) => micro_age(Some(time), now),
        None => age(event.first_timestamp, now),
    };
    match &event.series {
        Some(series) => {
            format!("{} (x{} over {first})", micro_age(series.last_observed_time, now), series.count)
        }
        None if event.count > 1 => {
            format!("{} (x{} over {first})", age(event.last_timestamp, now), event.count)
        }
        None => first,
    }
}
