//! Service.
//!
//! Upstream: pkg/apis/core/v1/defaults.go, SetDefaults_Service (v1.37).

use super::set;
use kubestep_model::{IntOrString, Service};
use serde_json::json;

/// Three hours.
const AFFINITY_SECONDS: i64 = 10_800;

pub(super) fn service(service: &mut Service) {
    let spec = &mut service.spec;
    set(&mut spec.session_affinity, "None");
    if spec.session_affinity == "None" {
        spec.rest.remove("sessionAffinityConfig");
    }
    if spec.session_affinity == "ClientIP" {
        let said = spec
            .rest
            .get("sessionAffinityConfig")
            .is_some_and(|c| !c["clientIP"]["timeoutSeconds"].is_null());
        if !said {
            let config = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
            spec.rest.insert("sessionAffinityConfig".into(), config);
        }
    }
    set(&mut spec.r#type, "ClusterIP");
    for port in &mut spec.ports {
        set(&mut port.protocol, "TCP");
        let silent = match &port.target_port {
            IntOrString::Int(n) => *n == 0,
            IntOrString::Str(text) => text.is_empty(),
        };
        if silent {
            port.target_port = IntOrString::Int(port.port);
        }
    }
    let outside = matches!(spec.r#type.as_str(), "NodePort" | "LoadBalancer");
    if outside || (spec.r#type == "ClusterIP" && !spec.external_ips.is_empty()) {
        spec.rest.entry("externalTrafficPolicy".into()).or_insert_with(|| "Cluster".into());
    }
    if (outside || spec.r#type == "ClusterIP") && spec.internal_traffic_policy.is_none() {
        spec.internal_traffic_policy = Some("Cluster".into());
    }
    if spec.r#type == "LoadBalancer" {
        spec.rest.entry("allocateLoadBalancerNodePorts".into()).or_insert(true.into());
    }
}
