//! For whom an endpoint is meant: the zone, or the node, that a Service prefers.
//! Upstream: staging/src/k8s.io/endpointslice/trafficdist (v1.37).

use super::plan::Plan;
use kubestep_model::{Endpoint, EndpointSlice, Service};
use serde_json::{Map, Value, json};

/// Where a Service wants its traffic to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Near {
    /// Anywhere: there are no hints.
    Anywhere,
    Zone,
    Node,
}

fn wanted(service: &Service) -> Near {
    match service.spec.rest.get("trafficDistribution").and_then(Value::as_str) {
        Some("PreferClose" | "PreferSameZone") => Near::Zone,
        Some("PreferSameNode") => Near::Node,
        _ => Near::Anywhere,
    }
}

/// What a ready endpoint should say.
fn hints(near: Near, endpoint: &Endpoint) -> Option<Value> {
    let mut hints = Map::new();
    if let Some(zone) = &endpoint.zone {
        hints.insert("forZones".into(), json!([{ "name": zone }]));
    }
    if let Some(node) = endpoint.node_name.as_ref().filter(|_| near == Near::Node) {
        hints.insert("forNodes".into(), json!([{ "name": &**node }]));
    }
    (!hints.is_empty()).then(|| hints.into())
}

fn has(endpoint: &Endpoint) -> Option<&Value> {
    endpoint.rest.get("hints").filter(|hints| !hints.is_null())
}

fn is_ready(endpoint: &Endpoint) -> bool {
    endpoint.conditions.ready == Some(true)
}

fn needs_update(near: Near, slice: &EndpointSlice) -> bool {
    slice.endpoints.iter().any(|endpoint| match near {
        Near::Anywhere => has(endpoint).is_some(),
        _ => is_ready(endpoint) && has(endpoint) != hints(near, endpoint).as_ref(),
    })
}

fn update(near: Near, slice: &mut EndpointSlice) {
    for endpoint in &mut slice.endpoints {
        let new = match near {
            Near::Anywhere => None,
            _ if is_ready(endpoint) => hints(near, endpoint),
            _ => continue,
        };
        match new {
            Some(new) if has(endpoint) != Some(&new) => drop(endpoint.rest.insert("hints".into(), new)),
            None if endpoint.rest.contains_key("hints") => drop(endpoint.rest.remove("hints")),
            _ => {}
        }
    }
}

/// Sets the hints of what is written; what only lacks hints is written, too. Upstream: ReconcileHints.
pub(super) fn set(service: &Service, plan: &mut Plan, unchanged: &[&EndpointSlice]) {
    let near = wanted(service);
    let wrong = unchanged.iter().filter(|slice| needs_update(near, slice));
    plan.update.extend(wrong.map(|slice| EndpointSlice::clone(slice)));
    for slice in plan.create.iter_mut().chain(&mut plan.update) {
        update(near, slice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(zone: &str, ready: bool) -> EndpointSlice {
        let mut endpoint = Endpoint { node_name: Some("node-1".into()), ..Endpoint::default() };
        endpoint.zone = Some(zone.into()).filter(|z: &String| !z.is_empty());
        endpoint.conditions.ready = Some(ready);
        EndpointSlice { endpoints: vec![endpoint.into()], ..EndpointSlice::default() }
    }

    #[test]
    fn ready_endpoints_say_for_whom_they_are() {
        let rows = [
            (Near::Zone, "a", true, Some(json!({"forZones": [{"name": "a"}]}))),
            (Near::Node, "", true, Some(json!({"forNodes": [{"name": "node-1"}]}))),
            (
                Near::Node,
                "a",
                true,
                Some(json!({"forZones": [{"name": "a"}], "forNodes": [{"name": "node-1"}]})),
            ),
            (Near::Zone, "a", false, None),
            (Near::Zone, "", true, None),
            (Near::Anywhere, "a", true, None),
        ];
        for (near, zone, ready, want) in rows {
            let mut slice = slice(zone, ready);
            assert_eq!(needs_update(near, &slice), want.is_some(), "{near:?} {zone:?} {ready}");
            update(near, &mut slice);
            assert_eq!(has(&slice.endpoints[0]), want.as_ref(), "{near:?} {zone:?} {ready}");
            assert!(!needs_update(near, &slice));
            update(Near::Anywhere, &mut slice);
            assert_eq!(has(&slice.endpoints[0]), None);
        }
    }
}
