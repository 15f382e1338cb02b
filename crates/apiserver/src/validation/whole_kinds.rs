//! Kinds that are kept whole: which file checks which.

use super::{
    admission_policy, autoscaler, claim, cron_job, csi, daemon_set, definition, device_claim, device_slice,
    devices, disruption_budget, field::Errors, flow_control, ingress, job, limit_range, migration,
    network_policy, persistent_volume, priority_class, rbac, replication_controller, service_range,
    signing_request, small, stateful_set, storage_class, webhooks,
};
use kubestep_model::{Custom, Object};
use serde_json::Value;
use std::sync::Arc;

/// A new object, or the new state of one: what holds whatever was there before.
pub(super) fn object(custom: &Custom, whole: &Value) -> Errors {
    match custom.kind.own_name() {
        "StatefulSet" => stateful_set::check(whole),
        "DaemonSet" => daemon_set::check(whole),
        "Job" => job::check(whole),
        "CronJob" => cron_job::check(whole),
        "ReplicationController" => replication_controller::check(whole),
        "PersistentVolumeClaim" => claim::check(whole),
        "PersistentVolume" => persistent_volume::check(whole),
        "StorageClass" => storage_class::check(whole),
        "CustomResourceDefinition" => definition::check(whole),
        "LimitRange" => limit_range::check(whole),
        "PodDisruptionBudget" => disruption_budget::check(whole),
        "HorizontalPodAutoscaler" => autoscaler::check(whole),
        "PriorityClass" => priority_class::check(whole),
        "Role" | "ClusterRole" => rbac::role(whole, custom.kind.namespaced()),
        "RoleBinding" | "ClusterRoleBinding" => rbac::binding(whole, custom.kind.namespaced()),
        "Ingress" => ingress::check(whole),
        "IngressClass" => ingress::class(whole),
        "NetworkPolicy" => network_policy::check(whole),
        "ControllerRevision" => small::revision(whole),
        "PodTemplate" => small::pod_template(whole),
        "RuntimeClass" => small::runtime_class(whole),
        "CSIDriver" => csi::driver(whole),
        "CSINode" => csi::node(whole),
        "CSIStorageCapacity" => csi::capacity(whole),
        "VolumeAttachment" => csi::attachment(whole),
        "VolumeAttributesClass" => csi::attributes_class(whole),
        "FlowSchema" => flow_control::schema(whole),
        "PriorityLevelConfiguration" => flow_control::level(whole),
        "APIService" => service_range::api_service(whole),
        "StorageVersionMigration" => migration::check(whole),
        "ServiceCIDR" => service_range::range(whole),
        "IPAddress" => service_range::address(whole),
        "ResourceClaim" => device_claim::claim(whole),
        "ResourceClaimTemplate" => device_claim::template(whole),
        "PodCertificateRequest" => signing_request::of_pod(whole),
        _ => either(custom, whole, None).unwrap_or_default(),
    }
}

/// Kinds that look at the old state to tell what they let pass in the new one.
fn either(custom: &Custom, whole: &Value, old: Option<&Value>) -> Option<Errors> {
    Some(match (custom.kind.own_name(), old) {
        ("DeviceClass", _) => devices::class(whole, old),
        ("DeviceTaintRule", _) => devices::taint_rule(whole, old),
        ("ResourceSlice", _) => device_slice::check(whole, old),
        ("ClusterTrustBundle", _) => signing_request::bundle(whole, old),
        ("CertificateSigningRequest", None) => signing_request::request(whole, None),
        ("CertificateSigningRequest", Some(old)) => signing_request::changed_request(whole, old, ""),
        ("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration", None) => webhooks::check(whole),
        ("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration", Some(old)) => {
            webhooks::changed(whole, old)
        }
        ("ValidatingAdmissionPolicy", _) => admission_policy::policy(whole, old, false),
        ("MutatingAdmissionPolicy", _) => admission_policy::policy(whole, old, true),
        ("ValidatingAdmissionPolicyBinding", _) => admission_policy::binding(whole, false),
        ("MutatingAdmissionPolicyBinding", _) => admission_policy::binding(whole, true),
        _ => return None,
    })
}

/// The new state of an object, all that is asked of it.
pub(super) fn new_state(new: &Arc<Custom>, old: &Arc<Custom>, whole: &Value) -> Errors {
    let before = Object::Custom(old.clone()).to_value();
    // Their specs are for life, so that nothing else is looked at.
    match new.kind.own_name() {
        "ServiceCIDR" => return service_range::changed_range(whole, &before),
        "IPAddress" => return service_range::changed_address(whole, &before),
        "ResourceClaim" => return device_claim::changed_claim(whole, &before),
        "ResourceClaimTemplate" => return device_claim::changed_template(whole, &before),
        "PodCertificateRequest" => return signing_request::changed_of_pod(whole, &before),
        _ => {}
    }
    if let Some(errors) = either(new, whole, Some(&before)) {
        return errors;
    }
    let mut errors = object(new, whole);
    errors.append(changed(new, whole, &before));
    errors
}

/// What may not change once it is there.
fn changed(new: &Custom, whole: &Value, before: &Value) -> Errors {
    match new.kind.own_name() {
        "StatefulSet" => stateful_set::changed(whole, before),
        "DaemonSet" => daemon_set::changed(whole, before),
        "Job" => job::changed(whole, before),
        "PersistentVolumeClaim" => claim::changed(whole, before),
        "PersistentVolume" => persistent_volume::changed(whole, before),
        "CustomResourceDefinition" => definition::changed(whole, before),
        "StorageClass" => storage_class::changed(whole, before),
        "PriorityClass" => priority_class::changed(whole, before),
        "RoleBinding" | "ClusterRoleBinding" => rbac::changed_binding(whole, before),
        "IngressClass" => ingress::changed_class(whole, before),
        "ControllerRevision" => small::changed_revision(whole, before),
        "RuntimeClass" => small::changed_runtime_class(whole, before),
        "CSIDriver" => csi::changed_driver(whole, before),
        "CSINode" => csi::changed_node(whole, before),
        "CSIStorageCapacity" => csi::changed_capacity(whole, before),
        "VolumeAttachment" => csi::changed_attachment(whole, before),
        "VolumeAttributesClass" => csi::changed_attributes_class(whole, before),
        "StorageVersionMigration" => migration::changed(whole, before),
        _ => Errors::new(),
    }
}
