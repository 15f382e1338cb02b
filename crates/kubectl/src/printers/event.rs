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

pub(super) fn row(o: &Event, now: Instant, wide: bool) -> Row {
    let first = || match o.first_timestamp {
        Some(time) => age(Some(time), now),
        None => micro_age(o.event_time, now),
    };
    let last = match (&o.series, o.last_timestamp) {
        (Some(series), _) => micro_age(series.last_observed_time, now),
        (None, Some(time)) => age(Some(time), now),
        (None, None) => first(),
    };
    // There may be thousands: what is not shown is not written.
    let (source, first) = if wide { (source(o), first()) } else { Default::default() };
    row![
        last,
        o.r#type.as_str(),
        o.reason.as_str(),
        involved(o),
        if wide { o.involved_object.field_path.as_str() } else { "" },
        source,
        o.message.trim(),
        first,
        o.series.as_ref().map_or(o.count.max(1), |series| series.count),
        if wide { &*o.metadata.name } else { "" },
    ]
}

/// `pod/web`.
fn involved(o: &Event) -> String {
    let (kind, name) = (&o.involved_object.kind, &*o.involved_object.name);
    let mut text = String::with_capacity(kind.len() + 1 + name.len());
    text.extend(kind.chars().map(|c| c.to_ascii_lowercase()));
    if !name.is_empty() {
        text.push('/');
        text.push_str(name);
    }
    text
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
