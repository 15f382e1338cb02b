//! ResourceQuota.

use super::{Column, Row, age, column, common, row};
use kubestep_model::{Instant, ResourceQuota};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Request"), column("Limit"), column("Age")];

pub(super) fn row(o: &ResourceQuota, now: Instant, _: bool) -> Row {
    let entry = |name: &str| {
        let (used, hard) = (common::amount(&o.status.used, name), common::amount(&o.status.hard, name));
        format!("{name}: {used}/{hard}")
    };
    let (limits, requests): (Vec<&String>, Vec<&String>) =
        o.status.hard.keys().partition(|n| n.starts_with("limits."));
    let list = |names: Vec<&String>| names.into_iter().map(|n| entry(n)).collect::<Vec<_>>().join(", ");
    row![&*o.metadata.name, list(requests), list(limits), age(o.metadata.creation_timestamp, now)]
}
