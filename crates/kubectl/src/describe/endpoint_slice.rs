//! EndpointSlice.

use super::{Page, events, page::or_none};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::{EndpointSlice, Object};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<EndpointSlice>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    page.head(&o.metadata);
    page.field(0, "AddressType", &o.address_type);
    if o.ports.is_empty() {
        page.line(0, "Ports: <unset>");
    } else {
        page.line(0, "Ports:");
        page.line(1, "Name\tPort\tProtocol");
        page.line(1, "----\t----\t--------");
    }
    for port in &o.ports {
        let name = port.name.as_deref().filter(|n| !n.is_empty()).unwrap_or("<unset>");
        let number = port.port.map_or_else(|| "<unset>".to_owned(), |p| p.to_string());
        page.line(1, format!("{name}\t{number}\t{}", port.protocol.as_deref().unwrap_or_default()));
    }
    page.line(0, if o.endpoints.is_empty() { "Endpoints: <none>" } else { "Endpoints:" });
    for endpoint in &o.endpoints {
        let addresses = endpoint.addresses.iter().map(|a| a.to_string()).collect::<Vec<_>>().join(", ");
        page.field(1, "- Addresses", or_none(&addresses));
        page.line(2, "Conditions:");
        page.field(
            3,
            "Ready",
            endpoint.conditions.ready.map_or_else(|| "<unset>".to_owned(), |r| r.to_string()),
        );
        page.field(2, "Hostname", endpoint.hostname.as_deref().unwrap_or("<unset>"));
        if let Some(target) = &endpoint.target_ref {
            page.field(2, "TargetRef", format!("{}/{}", target.kind, target.name));
        }
        page.field(2, "NodeName", endpoint.node_name.as_deref().unwrap_or("<unset>"));
        page.field(2, "Zone", endpoint.zone.as_deref().unwrap_or("<unset>"));
    }
    self::events::show(kc, page, &Object::EndpointSlice(o.clone()), events)?;
    Ok(Ok(()))
}
