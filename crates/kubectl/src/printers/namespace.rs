//! Namespace.

use super::{Column, Row, age, column, common, row};
use kubestep_model::{Instant, Namespace};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Status"), column("Age")];

pub(super) fn row(o: &Namespace, now: Instant, _: bool) -> Row {
    row![&*o.metadata.name, common::or(&o.status.phase, "Active"), age(o.metadata.creation_timestamp, now)]
}
