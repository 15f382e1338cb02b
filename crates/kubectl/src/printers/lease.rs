//! Lease.

use super::{Column, Row, age, column, row};
use kubestep_model::{Instant, Lease};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Holder"), column("Age")];

pub(super) fn row(o: &Lease, now: Instant, _: bool) -> Row {
    let holder = o.spec.holder_identity.as_deref().unwrap_or_default();
    row![&*o.metadata.name, holder, age(o.metadata.creation_timestamp, now)]
}
