//! ConfigMap.

use super::{Column, Row, age, column, row};
use kubestep_model::{ConfigMap, Instant};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Data"), column("Age")];

pub(super) fn row(o: &ConfigMap, now: Instant, _: bool) -> Row {
    let entries = i64::try_from(o.data.len() + o.binary_data.len()).unwrap_or(i64::MAX);
    row![&*o.metadata.name, entries, age(o.metadata.creation_timestamp, now)]
}
