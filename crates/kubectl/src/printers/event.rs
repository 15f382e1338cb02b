//! Event.

use super::{Column, Row, age, column, common, micro_age, row, wide};
use kubestep_model::{Event, Instant, Kind, Object, kinds::rename_event};
use serde_json::Value;

pub(super) const COLUMNS: &[Column] = &[
    column("Last Seen"),
    column("Type"),
    column("Reason"),
    column("Object"),
    wide("Subobject"),
    wide("Source"),
    column("Message"),
    wide("First Seen"),
    wide("Count"),
    wide("Name"),
];

pub(super) fn row(o: &Event, now: Instant, _: bool) -> Row {
    let first = match o.first_timestamp {
        Some(time) => age(Some(time), now),
        None => micro_age(o.event_time, now),
    };
    let last = o.last_timestamp.map_or_else(|| first.clone(), |time| age(Some(time), now));
    let (last, count) = match &o.series {
        Some(series) => (micro_age(series.last_observed_time, now), series.count),
        None => (last, o.count.max(1)),
    };
    let kind = o.involved_object.kind.to_ascii_lowercase();
    let name = &*o.involved_object.name;
    row![
        last,
        o.r#type.as_str(),
        o.reason.as_str(),
        if name.is_empty() { kind } else { format!("{kind}/{name}") },
        o.involved_object.field_path.as_str(),
        source(o),
        o.message.trim(),
        first,
        count,
        &*o.metadata.name,
    ]
}

/// The same of an event of events.k8s.io.
pub(super) fn newer(o: &Value, now: Instant, wide: bool) -> Row {
    let mut event = o.clone();
    if let Value::Object(fields) = &mut event {
        rename_event(fields, false);
    }
    let event = Object::from_value(Kind::Event, event).ok();
    event.as_ref().and_then(Object::get).map(|event| row(event, now, wide)).unwrap_or_default()
}

fn source(o: &Event) -> String {
    let component = common::or(&o.source.component, &o.reporting_component);
    let instance = common::or(&o.source.host, &o.reporting_instance);
    if instance.is_empty() { component.to_owned() } else { format!("{component}, {instance}") }
}
