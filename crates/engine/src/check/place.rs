//! Places as the page marks them.

use kubestep_model::yaml::{self, Span};
use kubestep_protocol::Place;

pub(super) fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A stretch of text; of one that goes over several lines, its beginning.
pub(super) fn of_span(span: Span) -> Place {
    let length = if span.line == span.end_line { span.end_column.saturating_sub(span.column) } else { 0 };
    Place { line: number(span.line.max(1)), column: number(span.column.max(1)), length: number(length) }
}

/// A field: its value if that stands in one line, else its name.
pub(super) fn of_field(place: yaml::Place) -> Place {
    match place.key {
        Some(key) if place.value.line != place.value.end_line || place.value.line != key.line => of_span(key),
        _ => of_span(place.value),
    }
}

/// A field's name.
pub(super) fn of_key(place: yaml::Place) -> Place {
    of_span(place.key.unwrap_or(place.value))
}
