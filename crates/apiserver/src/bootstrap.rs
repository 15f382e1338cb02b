//! What is in a cluster before anyone uses it.

use kubestep_model::{
    ConfigMap, Custom, Dice, Instant, IntOrString, Kind, Namespace, Object, ObjectMeta, Service,
    ServiceAccount, ServicePort,
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
        target_port: IntOrString::Int(6443),
        ..ServicePort::default()
    }];
    service
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
        assert_eq!(first.len(), 4 * 3 + 2 + 2);
        assert!(first.iter().all(|o| o.meta().uid.len() == 36));
    }
}
