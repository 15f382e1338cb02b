//! What the slices of some Endpoints should hold. Upstream: endpointslicemirroring/reconciler_helpers.go (v1.37).

use crate::endpoints::order::slice_ports;
use kubestep_model::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSlice, EndpointSubset, Endpoints,
    Shared,
};

/// So many addresses of a subset are mirrored. Upstream: MirroringMaxEndpointsPerSubset.
const MOST: usize = 1000;

/// One slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    family: &'static str,
    ports: Vec<EndpointPort>,
    endpoints: Vec<Shared<Endpoint>>,
}

impl Wanted {
    /// Whether a slice is this one already.
    pub(super) fn is(&self, slice: &EndpointSlice) -> bool {
        self.fits(slice) && slice.endpoints == self.endpoints
    }
    /// Whether a slice can become this one.
    pub(super) fn fits(&self, slice: &EndpointSlice) -> bool {
        slice.address_type == self.family && slice.ports == self.ports
    }
    /// Whether a slice is of the same family.
    pub(super) fn is_like(&self, slice: &EndpointSlice) -> bool {
        slice.address_type == self.family
    }
    pub(super) fn fill(self, slice: &mut EndpointSlice) {
        slice.address_type = self.family.into();
        slice.ports = self.ports;
        slice.endpoints = self.endpoints;
    }
}

/// One slice for each subset and address family.
pub(super) fn wanted(endpoints: &Endpoints) -> Vec<Wanted> {
    let mut found: Vec<Wanted> = vec![];
    for subset in &endpoints.subsets {
        let ready = subset.addresses.iter().map(|a| (a, true));
        let all = ready.chain(subset.not_ready_addresses.iter().map(|a| (a, false)));
        for (address, ready) in all.take(MOST) {
            let family = if address.ip.contains(':') { "IPv6" } else { "IPv4" };
            let ports = ports(subset);
            let at = found.iter().position(|w| w.family == family && w.ports == ports);
            let at = at.unwrap_or_else(|| {
                found.push(Wanted { family, ports, endpoints: vec![] });
                found.len() - 1
            });
            found[at].endpoints.push(endpoint(address, ready).into());
        }
    }
    found
}

fn ports(subset: &EndpointSubset) -> Vec<EndpointPort> {
    let port = |p: &kubestep_model::CoreEndpointPort| EndpointPort {
        name: Some(p.name.clone()),
        protocol: Some(if p.protocol.is_empty() { "TCP".into() } else { p.protocol.clone() }),
        port: Some(p.port),
        app_protocol: p.app_protocol.clone(),
        ..Default::default()
    };
    let mut ports: Vec<EndpointPort> = subset.ports.iter().map(port).collect();
    slice_ports(&mut ports);
    ports
}

fn endpoint(address: &EndpointAddress, ready: bool) -> Endpoint {
    Endpoint {
        addresses: vec![address.ip.clone()],
        conditions: EndpointConditions { ready: Some(ready), ..Default::default() },
        hostname: Some(address.hostname.clone()).filter(|h| !h.is_empty()),
        node_name: address.node_name.clone(),
        target_ref: address.target_ref.clone(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::{Kind, Object, Resource};
    use serde_json::json;

    #[test]
    fn a_slice_for_each_family_with_what_is_ready() {
        let value = json!({"metadata": {"name": "old"}, "subsets": [{"ports": [{"port": 80}],
            "addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "notReadyAddresses": [{"ip": "10.0.0.2"}]}]});
        let object = Object::from_value(Kind::Endpoints, value).expect("endpoints");
        let wanted = wanted(Endpoints::of(&object).expect("endpoints"));
        let shapes: Vec<(&str, usize)> = wanted.iter().map(|w| (w.family, w.endpoints.len())).collect();
        assert_eq!(shapes, [("IPv4", 2), ("IPv6", 1)]);
        assert_eq!(wanted[0].endpoints[1].conditions.ready, Some(false));
        assert_eq!(wanted[0].ports[0].protocol.as_deref(), Some("TCP"));
    }
}
