//! Deployment.

use super::{Column, Row, age, column, common, row, wide};
use kubestep_model::{Deployment, Instant};

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    column("Ready"),
    column("Up-to-date"),
    column("Available"),
    column("Age"),
    wide("Containers"),
    wide("Images"),
    wide("Selector"),
];

pub(super) fn row(o: &Deployment, now: Instant, _: bool) -> Row {
    let (names, images) = common::containers(&o.spec.template.spec.containers);
    let selector =
        o.spec.selector.as_ref().map_or(Ok(String::new()), |s| s.to_selector().map(|s| s.to_string()));
    row![
        &*o.metadata.name,
        format!("{}/{}", o.status.ready_replicas, o.replicas()),
        o.status.updated_replicas,
        o.status.available_replicas,
        age(o.metadata.creation_timestamp, now),
        names,
        images,
        selector.unwrap_or_else(|_| "<invalid>".to_owned()),
    ]
}
