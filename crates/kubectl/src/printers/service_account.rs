//! ServiceAccount.

use super::{Column, Row, age, column, row};
use kubestep_model::{Instant, ServiceAccount};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Age")];

pub(super) fn row(o: &ServiceAccount, now: Instant, _: bool) -> Row {
    row![&*o.metadata.name, age(o.metadata.creation_timestamp, now)]
}
