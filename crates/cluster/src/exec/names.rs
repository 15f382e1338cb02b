//! Names that the cluster's DNS knows, as a pod asks for them.

use crate::{World, traffic::slices};
use kubestep_model::{EndpointSlice, Key, Kind, Pod, Service};

/// What stands behind a name or an address.
pub(super) struct Found<'a> {
    /// The whole name.
    pub(super) name: String,
    /// The Service that answers at its own address.
    pub(super) service: Option<&'a Service>,
    pub(super) addresses: Vec<String>,
    /// The name outside the cluster that it stands for.
    pub(super) alias: Option<String>,
}

/// Looks a name up as a pod's resolver does: within its namespace, then within `svc.cluster.local`.
pub(super) fn lookup<'a>(world: &'a World, from: &Pod, host: &str) -> Option<Found<'a>> {
    let found = |address: &str, service| Found {
        name: host.into(),
        service,
        addresses: vec![address.to_owned()],
        alias: None,
    };
    if host == "localhost" || host.starts_with("127.") {
        return Some(found(&from.status.pod_ip, None));
    }
    if host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok()) {
        let mut all = world.store().list(Kind::Service, None).filter_map(|o| o.get::<Service>());
        return Some(found(host, all.find(|s| s.spec.cluster_ip == host)));
    }
    let short = host.trim_end_matches('.');
    let short = short.strip_suffix(".cluster.local").unwrap_or(short);
    let whole = short.strip_suffix(".svc");
    let parts: Vec<&str> = whole.unwrap_or(short).split('.').collect();
    let own = &*from.metadata.namespace;
    match parts.as_slice() {
        [service] if whole.is_none() => of_service(world, own, service),
        [service, namespace] => of_service(world, namespace, service)
            .or_else(|| of_pod(world, own, namespace, service).filter(|_| whole.is_none())),
        [pod, service, namespace] => of_pod(world, namespace, service, pod),
        _ => None,
    }
}

fn service<'a>(world: &'a World, namespace: &str, name: &str) -> Option<&'a Service> {
    world.store().get(&Key::new(Kind::Service, namespace, name)).and_then(|o| o.get::<Service>())
}

fn of_service<'a>(world: &'a World, namespace: &str, name: &str) -> Option<Found<'a>> {
    let service = service(world, namespace, name)?;
    let spec = &service.spec;
    let mut found = Found {
        name: format!("{name}.{namespace}.svc.cluster.local"),
        service: None,
        addresses: vec![],
        alias: (spec.r#type == "ExternalName").then(|| spec.external_name.clone()),
    };
    if spec.cluster_ip == "None" {
        found.addresses = ready(world, service, None);
    } else if found.alias.is_none() {
        found.addresses.push(spec.cluster_ip.clone());
        found.service = Some(service);
    }
    Some(found)
}

/// A pod of a headless Service that has a name of its own.
fn of_pod<'a>(world: &'a World, namespace: &str, name: &str, pod: &str) -> Option<Found<'a>> {
    let service = service(world, namespace, name).filter(|s| s.spec.cluster_ip == "None")?;
    let addresses = ready(world, service, Some(pod));
    let name = format!("{pod}.{name}.{namespace}.svc.cluster.local");
    (!addresses.is_empty()).then_some(Found { name, service: None, addresses, alias: None })
}

/// The addresses of a Service's ready endpoints, or of the one with a host name.
fn ready(world: &World, service: &Service, host: Option<&str>) -> Vec<String> {
    let slices: Vec<&EndpointSlice> = slices(world, service).collect();
    let all = slices.iter().flat_map(|s| &s.endpoints).filter(|e| e.conditions.ready != Some(false));
    let named = all.filter(|e| host.is_none_or(|host| e.hostname.as_deref() == Some(host)));
    named.flat_map(|e| e.addresses.iter().map(|a| a.to_string())).collect()
}
