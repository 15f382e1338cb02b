//! Which pods stand behind a service, under which ports, and which changes of a pod matter.
//! Upstream: staging/src/k8s.io/endpointslice/util (v1.37).

use kubestep_control::{Change, View, Wake};
use kubestep_model::arrange::Gather;
use kubestep_model::{Container, IntOrString, Key, Kind, Labels, Pod, Resource, Service, ServicePort};
use std::collections::BTreeSet;

/// The pods that a service selects, by name.
pub(crate) fn selected<'a>(view: &'a View, service: &Service) -> Vec<&'a Pod> {
    view.list::<Pod>(Some(&service.metadata.namespace))
        .filter(|pod| selects(&service.spec.selector, &pod.metadata.labels))
        .collect()
}

/// Pods have a handful of labels: most that are not meant differ in their length.
fn selects(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(key, value)| labels.iter().any(|(k, v)| k == key && v == value))
}

/// Whether a controller makes endpoints for this service at all: not without a selector, not for external names.
pub(crate) fn has_endpoints(service: &Service) -> bool {
    service.spec.r#type != "ExternalName" && !service.spec.selector.is_empty()
}

/// Whether the service has an address of its own. Upstream: IsServiceIPSet.
pub(crate) fn has_address(service: &Service) -> bool {
    !matches!(service.spec.cluster_ip.as_str(), "" | "None")
}

/// Whether a pod can be an endpoint: it has an address and has not ended. Upstream: ShouldPodBeInEndpoints.
pub(crate) fn can_be_endpoint(pod: &Pod, also_terminating: bool) -> bool {
    let has_ip = !pod.status.pod_ip.is_empty() || !pod.status.pod_ips.is_empty();
    has_ip && !pod.is_terminal() && (also_terminating || !pod.metadata.is_terminating())
}

/// Whether an endpoint carries the pod's host name. Upstream: ShouldSetHostname.
pub(crate) fn has_hostname(pod: &Pod, service: &Service) -> bool {
    !pod.spec.hostname.is_empty()
        && *pod.spec.subdomain == *service.metadata.name
        && pod.metadata.namespace == service.metadata.namespace
}

/// The number of a service's port on a pod; none if the pod has no port of that name. Upstream: FindPort.
pub(crate) fn find_port(pod: &Pod, port: &ServicePort) -> Option<i32> {
    let name = match &port.target_port {
        IntOrString::Int(number) => return Some(*number),
        IntOrString::Str(name) => name,
    };
    let sidecar = |c: &&Container| c.restart_policy.as_deref() == Some("Always");
    let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter().filter(sidecar));
    let protocol = |text: &str| if text.is_empty() { "TCP".to_owned() } else { text.to_owned() };
    containers
        .flat_map(|c| &c.ports)
        .find(|p| p.name == *name && protocol(&p.protocol) == protocol(&port.protocol))
        .map(|p| p.container_port)
}

/// The services that select a pod. Upstream: GetPodServiceMemberships.
fn services_of(view: &View, pod: &Pod) -> BTreeSet<Key> {
    view.list::<Service>(Some(&pod.metadata.namespace))
        .filter(|s| !s.spec.selector.is_empty() && selects(&s.spec.selector, &pod.metadata.labels))
        .map(Service::key)
        .gather()
}

/// Whether a change of a pod changes its endpoint. Upstream: podEndpointsChanged.
fn endpoint_changed(old: &Pod, new: &Pod) -> bool {
    let ips = |pod: &Pod| (pod.status.pod_ip.clone(), pod.status.pod_ips.clone());
    old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        || old.is_ready() != new.is_ready()
        || ips(old) != ips(new)
        || old.is_terminal() != new.is_terminal()
}

/// The services that a change of a pod concerns. Upstream: GetServicesToUpdateOnPodChange.
fn concerned(view: &View, old: Option<&Pod>, new: Option<&Pod>) -> BTreeSet<Key> {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) if old.metadata.uid == new.metadata.uid => (old, new),
        (old, new) => return old.into_iter().chain(new).flat_map(|pod| services_of(view, pod)).collect(),
    };
    let name = |pod: &Pod| (pod.spec.hostname.clone(), pod.spec.subdomain.clone());
    let labels_changed = old.metadata.labels != new.metadata.labels || name(old) != name(new);
    let changed = endpoint_changed(old, new);
    match (changed, labels_changed) {
        (false, false) => BTreeSet::new(),
        (true, false) => services_of(view, new),
        (changed, true) => {
            let (before, after) = (services_of(view, old), services_of(view, new));
            if changed { &before | &after } else { &before ^ &after }
        }
    }
}

/// The event handler for pods.
pub(crate) fn pod_wakes(change: &Change, view: &View) -> Vec<Wake> {
    let (old, new) = (change.old.as_ref().and_then(Pod::of), change.new.as_ref().and_then(Pod::of));
    concerned(view, old, new).into_iter().map(Wake::now).collect()
}

/// The event handler for services.
pub(crate) fn service_wakes(change: &Change, _view: &View) -> Vec<Wake> {
    vec![Wake::now(change.key.clone())]
}

/// The service of this name in a namespace.
pub(crate) fn service_key(namespace: &str, name: &str) -> Key {
    Key::new(Kind::Service, namespace, name)
}
