//! One module per controller, scheduler and kubelet among them.
//!
//! Each follows its upstream file by phase. Controllers see caches and replies only; none can name the store.

pub mod claim;
pub mod cronjob;
pub mod daemonset;
pub mod deployment;
pub mod disruption;
pub mod endpoints;
pub mod endpointslice;
pub mod garbage_collector;
pub mod harness;
mod history;
pub mod job;
pub mod kubelet;
pub mod mirroring;
pub mod namespace;
pub mod node;
pub mod order;
mod pod_wakes;
pub mod podautoscaler;
pub mod podgc;
pub mod pods;
pub mod replicaset;
pub mod replication;
pub mod resource_quota;
pub mod scheduler;
pub mod sentences;
pub mod service_accounts;
pub mod statefulset;
mod stop;
pub mod template;
pub mod ttl_after_finished;
pub mod vectors;
pub mod volume;
mod whole;

use kubestep_control::Controller;
use kubestep_model::{Key, Kind};

/// Every controller of kube-controller-manager that takes keys from a queue.
pub static ALL: &[&dyn Controller] = &[
    &deployment::DeploymentController,
    &replicaset::ReplicaSetController,
    &statefulset::StatefulSetController,
    &job::JobController,
    &cronjob::CronJobController,
    &daemonset::DaemonSetController,
    &replication::ReplicationManager,
    &ttl_after_finished::TtlAfterFinished,
    &podautoscaler::HorizontalController,
    &endpoints::EndpointsController,
    &endpointslice::EndpointSliceController,
    &mirroring::Mirroring,
    &garbage_collector::GarbageCollector,
    &resource_quota::ResourceQuotaController,
    &namespace::NamespaceController,
    &service_accounts::ServiceAccounts,
    &service_accounts::RootCaPublisher,
    &node::NodeIpam,
    &node::Ttl,
    &node::NodeLifecycle,
    &node::TaintEviction,
    &podgc::PodGc,
    &disruption::DisruptionController,
    &volume::VolumeBinder,
    &volume::ClaimProtection,
    &volume::VolumeProtection,
    &volume::EphemeralVolumes,
    &volume::Expander,
    &volume::Provisioner,
];

/// Whether a loop acts on objects of this kind as its own.
pub fn acts_on(kind: Kind) -> bool {
    // Scheduler and kubelets are agents: pods and nodes are theirs.
    matches!(kind, Kind::Pod | Kind::Node) || ALL.iter().any(|c| c.own() == Some(kind))
}

/// The one key of a loop that runs by time and not by objects.
pub fn period_key() -> Key {
    Key::new(Kind::Namespace, "", "")
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod recordings;
