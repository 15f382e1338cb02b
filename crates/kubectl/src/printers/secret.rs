//! Secret.

use super::{Column, Row, age, column, common, row};
use kubestep_model::{Instant, Secret};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Type"), column("Data"), column("Age")];

pub(super) fn row(o: &Secret, now: Instant, _: bool) -> Row {
    let entries = i64::try_from(o.data.len()).unwrap_or(i64::MAX);
    row![&*o.metadata.name, common::or(&o.r#type, "Opaque"), entries, age(o.metadata.creation_timestamp, now)]
}
