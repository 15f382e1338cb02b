//! Service, Endpoints, EndpointSlice.

use crate::{IntOrString, Labels, ObjectMeta, ObjectReference, Shared, go::api};
use std::sync::Arc;

api! {
    /// A service.
    pub struct Service {
        always { metadata: ObjectMeta, spec: ServiceSpec, status: ServiceStatus }
    }
    /// See [`Service`].
    pub struct ServiceSpec {
        maybe {
            ports: Vec<ServicePort>,
            selector: Labels,
            cluster_ip as "clusterIP": String,
            cluster_ips as "clusterIPs": Vec<String>,
            r#type: String,
            external_ips as "externalIPs": Vec<String>,
            session_affinity: String,
            external_name: String,
            publish_not_ready_addresses: bool,
            ip_families: Vec<String>,
            ip_family_policy: Option<String>,
            internal_traffic_policy: Option<String>,
        }
    }
    /// One port of a service.
    pub struct ServicePort {
        always { port: i32, target_port: IntOrString }
        maybe { name: String, protocol: String, app_protocol: Option<String>, node_port: i32 }
    }
    /// See [`Service`].
    pub struct ServiceStatus {
        always { load_balancer: LoadBalancerStatus }
    }
    /// What a load balancer was given; nothing here gives any.
    pub struct LoadBalancerStatus {}
    /// The addresses behind a service, in the older form.
    pub struct Endpoints {
        always { metadata: ObjectMeta }
        maybe { subsets: Vec<EndpointSubset> }
    }
    /// Addresses that share the same ports.
    pub struct EndpointSubset {
        maybe {
            addresses: Vec<Shared<EndpointAddress>>,
            not_ready_addresses: Vec<Shared<EndpointAddress>>,
            ports: Vec<CoreEndpointPort>,
        }
    }
    /// One address.
    pub struct EndpointAddress {
        always { ip: Arc<str> }
        maybe { hostname: String, node_name: Option<Arc<str>>, target_ref: Option<ObjectReference> }
    }
    /// One port of a subset.
    pub struct CoreEndpointPort {
        always { port: i32 }
        maybe { name: String, protocol: String, app_protocol: Option<String> }
    }
    /// The addresses behind a service.
    pub struct EndpointSlice {
        always {
            metadata: ObjectMeta,
            address_type: String,
            endpoints or null: Vec<Shared<Endpoint>>,
            ports or null: Vec<EndpointPort>,
        }
    }
    /// One endpoint of a slice.
    pub struct Endpoint {
        always { addresses: Vec<Arc<str>>, conditions: EndpointConditions }
        maybe {
            hostname: Option<String>,
            target_ref: Option<ObjectReference>,
            node_name: Option<Arc<str>>,
            zone: Option<String>,
        }
    }
    /// What may be sent to an endpoint.
    pub struct EndpointConditions {
        maybe { ready: Option<bool>, serving: Option<bool>, terminating: Option<bool> }
    }
    /// One port of a slice.
    pub struct EndpointPort {
        maybe { name: Option<String>, protocol: Option<String>, port: Option<i32>, app_protocol: Option<String> }
    }
}
