//! Endpoints.

use super::{Page, events, page::or_none};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{EndpointAddress, Endpoints, Object, Shared};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<Endpoints>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    page.head(&o.metadata);
    page.line(0, "Subsets:");
    for subset in &o.subsets {
        let list = |addresses: &[Shared<EndpointAddress>]| {
            addresses.iter().map(|a| a.ip.to_string()).collect::<Vec<_>>().join(",")
        };
        page.field(1, "Addresses", or_none(&list(&subset.addresses)));
        page.field(1, "NotReadyAddresses", or_none(&list(&subset.not_ready_addresses)));
        if !subset.ports.is_empty() {
            page.line(1, "Ports:");
            page.line(2, "Name\tPort\tProtocol");
            page.line(2, "----\t----\t--------");
            for port in &subset.ports {
                let name = if port.name.is_empty() { "<unset>" } else { &port.name };
                page.line(2, format!("{name}\t{}\t{}", port.port, port.protocol));
            }
        }
        page.line(0, "");
    }
    self::events::show(kc, page, &Object::Endpoints(o.clone()), events)?;
    Ok(Ok(()))
}
