//! Event.

use super::{Cell, Column, Row, age, column, common, micro_age, wide};
use crate::output::table::Cells;
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

/// Which of the cells is a number.
const COUNT: usize = 8;

pub(super) fn row(o: &Event, now: Instant, wide: bool) -> Row {
    let mut cells = Cells::default();
    write(o, now, wide, &mut cells);
    let cell = |at: usize| match at {
        COUNT => Cell::from(count(o)),
        at => Cell::from(cells.get(at).unwrap_or_default()),
    };
    (0..cells.len()).map(cell).collect()
}

fn count(o: &Event) -> i32 {
    o.series.as_ref().map_or(o.count.max(1), |series| series.count)
}

/// Writes the cells. What is not shown is left empty.
pub(super) fn write(o: &Event, now: Instant, wide: bool, out: &mut Cells) {
    let first = || match o.first_timestamp {
        Some(time) => age(Some(time), now),
        None => micro_age(o.event_time, now),
    };
    let last = match (&o.series, o.last_timestamp) {
        (Some(series), _) => micro_age(series.last_observed_time, now),
        (None, Some(time)) => age(Some(time), now),
        (None, None) => first(),
    };
    out.put(&last);
    out.put(&o.r#type);
    out.put(&o.reason);
    // `pod/web`.
    out.add_small(&o.involved_object.kind);
    if !o.involved_object.name.is_empty() {
        out.add("/");
        out.add(&o.involved_object.name);
    }
    out.end();
    out.put(if wide { &o.involved_object.field_path } else { "" });
    out.put(&if wide { source(o) } else { String::new() });
    out.put(o.message.trim());
    out.put(&if wide { first() } else { String::new() });
    if wide {
        out.put_cell(&Cell::from(count(o)));
        out.put(&o.metadata.name);
    }
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
