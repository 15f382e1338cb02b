//! EndpointSlice: all addresses, ready or not.

use super::{Column, Row, age, column, common, row, sum_up};
use kubestep_model::{EndpointSlice, Instant};

pub(super) const COLUMNS: &[Column] =
    &[column("Name"), column("AddressType"), column("Ports"), column("Endpoints"), column("Age")];

pub(super) fn row(o: &EndpointSlice, now: Instant, _: bool) -> Row {
    let port = |p: &kubestep_model::EndpointPort| match (p.port, &p.name) {
        (Some(port), _) => port.to_string(),
        (None, Some(name)) => name.clone(),
        (None, None) => "*".to_owned(),
    };
    let ports: Vec<String> = o.ports.iter().map(port).collect();
    let addresses: Vec<String> =
        o.endpoints.iter().flat_map(|e| e.addresses.iter().map(|a| a.to_string())).collect();
    row![
        &*o.metadata.name,
        o.address_type.as_str(),
        common::or(&sum_up(&ports), "<unset>"),
        common::or(&sum_up(&addresses), "<unset>"),
        age(o.metadata.creation_timestamp, now),
    ]
}
