//! Kinds that are kept whole: which file checks which.

use super::{
    autoscaler, claim, cron_job, daemon_set, definition, disruption_budget, field::Errors, ingress, job,
    limit_range, network_policy, persistent_volume, priority_class, rbac, replication_controller, small,
    stateful_set, storage_class,
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
        _ => Errors::new(),
    }
}

/// What may not change once it is there.
pub(super) fn changed(new: &Arc<Custom>, old: &Arc<Custom>, whole: &Value) -> Errors {
    let before = Object::Custom(old.clone()).to_value();
    match new.kind.own_name() {
        "StatefulSet" => stateful_set::changed(whole, &before),
        "DaemonSet" => daemon_set::changed(whole, &before),
        "Job" => job::changed(whole, &before),
        "PersistentVolumeClaim" => claim::changed(whole, &before),
        "PersistentVolume" => persistent_volume::changed(whole, &before),
        "CustomResourceDefinition" => definition::changed(whole, &before),
        "StorageClass" => storage_class::changed(whole, &before),
        "PriorityClass" => priority_class::changed(whole, &before),
        "RoleBinding" | "ClusterRoleBinding" => rbac::changed_binding(whole, &before),
        "IngressClass" => ingress::changed_class(whole, &before),
        "ControllerRevision" => small::changed_revision(whole, &before),
        "RuntimeClass" => small::changed_runtime_class(whole, &before),
        _ => Errors::new(),
    }
}
