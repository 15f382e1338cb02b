//! Endpoints.

use super::{Column, Row, age, column, host_port, row, sum_up};
use kubestep_model::{Endpoints, Instant};

pub(super) const COLUMNS: &[Column] = &[column("Name"), column("Endpoints"), column("Age")];

pub(super) fn row(o: &Endpoints, now: Instant, _: bool) -> Row {
    row![&*o.metadata.name, addresses(o), age(o.metadata.creation_timestamp, now)]
}

/// The ready addresses with each of their ports; an empty text if there are some, but none is ready.
fn addresses(o: &Endpoints) -> String {
    if o.subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut list = Vec::new();
    for subset in &o.subsets {
        if subset.ports.is_empty() {
            list.extend(subset.addresses.iter().map(|a| a.ip.to_string()));
        }
        for port in &subset.ports {
            list.extend(subset.addresses.iter().map(|a| host_port(&a.ip, port.port)));
        }
    }
    sum_up(&list)
}
