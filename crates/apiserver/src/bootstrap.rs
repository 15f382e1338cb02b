//! What is in a cluster before anyone uses it.

use kubestep_model::{
    ConfigMap, CoreEndpointPort, Custom, Dice, Endpoint, EndpointAddress, EndpointConditions, EndpointPort,
    EndpointSlice, EndpointSubset, Endpoints, Instant, IntOrString, Kind, Namespace, Object, ObjectMeta,
    Service, ServiceAccount, ServicePort,
};
use serde_json::json;
use std::sync::Arc;

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// The first address of the range, kept for the API server itself.
const OWN_ADDRESS: &str = "10.96.0.1";
const PRIORITY_CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

/// Namespaces with their service accounts and certificates, the service `kubernetes`, the built-in priority classes.
pub fn first_objects(now: Instant, dice: &mut Dice) -> Vec<Object> {
    let mut objects = vec![];
    for name in NAMESPACES {
        objects.push(namespace(name).into());
        objects
            .push(ServiceAccount { metadata: placed(name, "default"), ..ServiceAccount::default() }.into());
        objects.push(root_certificate(name).into());
    }
    objects.push(own_service().into());
    objects.push(own_endpoints().into());
    objects.push(own_slice().into());
    objects.extend(own_address());
    objects.extend(
        PRIORITY_CLASSES.iter().filter_map(|(name, value, about)| priority_class(name, *value, about)),
    );
    for object in &mut objects {
        let meta = object.meta_mut();
        meta.uid = dice.uuid().into();
        meta.creation_timestamp = Some(now.to_time());
    }
    objects
}

fn placed(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta { namespace: namespace.into(), name: name.into(), ..ObjectMeta::default() }
}

fn namespace(name: &str) -> Namespace {
    let mut namespace = Namespace { metadata: placed("", name), ..Namespace::default() };
    namespace.metadata.labels.insert("kubernetes.io/metadata.name".into(), name.into());
    namespace.spec.finalizers = vec!["kubernetes".into()];
    namespace.status.phase = "Active".into();
    namespace
}

/// What the publisher of the cluster's certificate puts into every namespace.
fn root_certificate(namespace: &str) -> ConfigMap {
    let mut map = ConfigMap { metadata: placed(namespace, "kube-root-ca.crt"), ..ConfigMap::default() };
    let about = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
    map.metadata.annotations.insert("kubernetes.io/description".into(), about.into());
    let certificate = "-----BEGIN CERTIFICATE-----\nsimulated\n-----END CERTIFICATE-----\n";
    map.data.insert("ca.crt".into(), certificate.into());
    map
}

fn own_service() -> Service {
    let mut service = Service { metadata: placed("default", "kubernetes"), ..Service::default() };
    service.metadata.labels = [("component", "apiserver"), ("provider", "kubernetes")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into();
    let spec = &mut service.spec;
    spec.cluster_ip = OWN_ADDRESS.into();
    spec.cluster_ips = vec![OWN_ADDRESS.into()];
    spec.r#type = "ClusterIP".into();
    spec.session_affinity = "None".into();
    spec.ip_families = vec!["IPv4".into()];
    spec.ip_family_policy = Some("SingleStack".into());
    spec.internal_traffic_policy = Some("Cluster".into());
    spec.ports = vec![ServicePort {
        name: "https".into(),
        protocol: "TCP".into(),
        port: 443,
        target_port: IntOrString::Int(OWN_PORT),
        ..ServicePort::default()
    }];
    service
}

/// Where the API server itself listens.
const OWN_HOST: &str = "172.18.0.2";
const OWN_PORT: i32 = 6443;

fn own_endpoints() -> Endpoints {
    let mut endpoints = Endpoints { metadata: placed("default", "kubernetes"), ..Endpoints::default() };
    endpoints.metadata.labels.insert("endpointslice.kubernetes.io/skip-mirror".into(), "true".into());
    endpoints.subsets = vec![EndpointSubset {
        addresses: vec![EndpointAddress { ip: OWN_HOST.into(), ..EndpointAddress::default() }.into()],
        ports: vec![CoreEndpointPort {
            name: "https".into(),
            port: OWN_PORT,
            protocol: "TCP".into(),
            ..CoreEndpointPort::default()
        }],
        ..EndpointSubset::default()
    }];
    endpoints
}

fn own_slice() -> EndpointSlice {
    let mut slice = EndpointSlice { metadata: placed("default", "kubernetes"), ..EndpointSlice::default() };
    slice.metadata.generation = 1;
    slice.metadata.labels.insert("kubernetes.io/service-name".into(), "kubernetes".into());
    slice.address_type = "IPv4".into();
    slice.endpoints = vec![
        Endpoint {
            addresses: vec![OWN_HOST.into()],
            conditions: EndpointConditions { ready: Some(true), ..EndpointConditions::default() },
            ..Endpoint::default()
        }
        .into(),
    ];
    slice.ports = vec![EndpointPort {
        name: Some("https".into()),
        port: Some(OWN_PORT),
        protocol: Some("TCP".into()),
        ..EndpointPort::default()
    }];
    slice
}

fn own_address() -> Option<Object> {
    let kind = Kind::find("networking.k8s.io", "IPAddress")?;
    Some(crate::ip_allocation::address_object(kind, OWN_ADDRESS, "default", "kubernetes"))
}

fn priority_class(name: &str, value: i64, about: &str) -> Option<Object> {
    let kind = Kind::find("scheduling.k8s.io", "PriorityClass")?;
    let mut metadata = placed("", name);
    metadata.generation = 1;
    let rest = json!({"value": value, "description": about, "preemptionPolicy": "PreemptLowerPriority"});
    let rest = rest.as_object().cloned().unwrap_or_default();
    Some(Object::Custom(Arc::new(Custom { kind, metadata, rest })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_the_same_for_the_same_dice() {
        let first = first_objects(Instant::START, &mut Dice::new(3));
        assert_eq!(first, first_objects(Instant::START, &mut Dice::new(3)));
        assert_eq!(first.len(), 4 * 3 + 4 + 2);
        assert!(first.iter().all(|o| o.meta().uid.len() == 36));
    }
}
