//! ReplicaSet.

use super::{Column, Row, age, column, common, number, row, wide};
use kubestep_model::{Instant, ReplicaSet};

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    number("Desired"),
    number("Current"),
    number("Ready"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

pub(super) fn row(o: &ReplicaSet, now: Instant, _: bool) -> Row {
    let (names, images) = common::containers(&o.spec.template.spec.containers);
    row![
        &*o.metadata.name,
        o.replicas(),
        o.status.replicas,
        o.status.ready_replicas,
        age(o.metadata.creation_timestamp, now),
        names,
        images,
        o.spec.selector.as_ref().map_or_else(|| "<none>".to_owned(), |s| s.format()),
    ]
}
