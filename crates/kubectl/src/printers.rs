//! The columns of `kubectl get`, one file per kind. Upstream: pkg/printers/internalversion (v1.37).

pub(crate) mod common;
mod config_map;
pub(crate) mod defined;
mod deployment;
mod endpoint_slice;
mod endpoints;
mod event;
mod lease;
mod namespace;
mod newer;
mod node;
mod pod;
mod policy;
mod replica_set;
mod resource_quota;
mod scaler;
mod secret;
mod service;
mod service_account;
mod storage;
mod workload;

pub use common::{age, find_roles, host_port, micro_age, sum_up};
pub(crate) use storage::{access_modes, class as storage_class_of};

use crate::output::table::Cells;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Instant, Kind, Object, Resource, kinds::*};
use std::fmt;

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head, before it is put into capitals.
    pub name: &'static str,
    /// Whether it is shown with `-o wide` only.
    pub wide: bool,
    /// The type of its values, as the API names it.
    pub holds: &'static str,
}

/// A column that is always shown.
pub const fn column(name: &'static str) -> Column {
    Column { name, wide: false, holds: "string" }
}

/// A column of numbers.
pub const fn number(name: &'static str) -> Column {
    Column { name, wide: false, holds: "integer" }
}

/// A column of yes and no.
pub const fn boolean(name: &'static str) -> Column {
    Column { name, wide: false, holds: "boolean" }
}

/// A column of `-o wide`.
pub const fn wide(name: &'static str) -> Column {
    Column { name, wide: true, holds: "string" }
}

/// The value in one column of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cell {
    Text(String),
    Number(i64),
    Bool(bool),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Number(number) => write!(f, "{number}"),
            Cell::Bool(bool) => write!(f, "{bool}"),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}
impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}
impl From<i32> for Cell {
    fn from(number: i32) -> Cell {
        Cell::Number(number.into())
    }
}
impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Number(number)
    }
}

impl From<bool> for Cell {
    fn from(bool: bool) -> Cell {
        Cell::Bool(bool)
    }
}

/// The cells of one object, those of `-o wide` among them.
pub type Row = Vec<Cell>;

macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::printers::Cell::from($cell)),*] };
}
use row;

/// How one kind is shown.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    /// Its columns.
    pub columns: &'static [Column],
    /// The cells of an object at a time; the last argument says whether all columns will be shown.
    pub row: fn(&Object, Instant, bool) -> Row,
}

/// Makes a function about one kind a function about any object.
fn typed<R: Resource>(object: &Object, of: impl Fn(&R) -> Row) -> Row {
    object.get::<R>().map(of).unwrap_or_default()
}

macro_rules! printer {
    ($module:ident, $kind:ident) => {
        Printer {
            columns: $module::COLUMNS,
            row: |o, now, wide| typed::<$kind>(o, |o| $module::row(o, now, wide)),
        }
    };
}

/// How a kind is shown.
pub fn of(kind: Kind) -> Printer {
    match kind {
        Kind::Namespace => printer!(namespace, Namespace),
        Kind::Node => printer!(node, Node),
        Kind::Pod => printer!(pod, Pod),
        Kind::ReplicaSet => printer!(replica_set, ReplicaSet),
        Kind::Deployment => printer!(deployment, Deployment),
        Kind::Service => printer!(service, Service),
        Kind::Endpoints => printer!(endpoints, Endpoints),
        Kind::EndpointSlice => printer!(endpoint_slice, EndpointSlice),
        Kind::ConfigMap => printer!(config_map, ConfigMap),
        Kind::Secret => printer!(secret, Secret),
        Kind::ServiceAccount => printer!(service_account, ServiceAccount),
        Kind::Event => printer!(event, Event),
        Kind::ResourceQuota => printer!(resource_quota, ResourceQuota),
        Kind::Lease => printer!(lease, Lease),
        Kind::Other(_) => of_whole(kind.own_name()),
    }
}

macro_rules! whole {
    ($columns:expr, $row:path) => {
        Printer { columns: $columns, row: |o, now, wide| $row(&o.to_value(), now, wide) }
    };
}

/// How a kind is shown that is kept whole. No two groups share the name of such a kind.
fn of_whole(kind: &str) -> Printer {
    match kind {
        "StatefulSet" => whole!(workload::STATEFUL_SET, workload::stateful_set),
        "DaemonSet" => whole!(workload::DAEMON_SET, workload::daemon_set),
        "Job" => whole!(workload::JOB, workload::job),
        "CronJob" => whole!(workload::CRON_JOB, workload::cron_job),
        "ReplicationController" => whole!(workload::REPLICATION_CONTROLLER, workload::replication_controller),
        "PodTemplate" => whole!(workload::POD_TEMPLATE, workload::pod_template),
        "ControllerRevision" => whole!(workload::CONTROLLER_REVISION, workload::controller_revision),
        "PodDisruptionBudget" => whole!(workload::DISRUPTION_BUDGET, workload::disruption_budget),
        "HorizontalPodAutoscaler" => whole!(scaler::COLUMNS, scaler::row),
        "PersistentVolume" => whole!(storage::VOLUME, storage::volume),
        "PersistentVolumeClaim" => whole!(storage::CLAIM, storage::claim),
        "StorageClass" => whole!(storage::CLASS, storage::storage_class),
        "VolumeAttributesClass" => whole!(storage::ATTRIBUTES_CLASS, storage::attributes_class),
        "VolumeAttachment" => whole!(storage::ATTACHMENT, storage::attachment),
        "CSINode" => whole!(storage::CSI_NODE, storage::csi_node),
        "CSIDriver" => whole!(storage::CSI_DRIVER, storage::csi_driver),
        "CSIStorageCapacity" => whole!(storage::CSI_CAPACITY, storage::csi_capacity),
        "Ingress" => whole!(policy::INGRESS, policy::ingress),
        "IngressClass" => whole!(policy::INGRESS_CLASS, policy::ingress_class),
        "NetworkPolicy" => whole!(policy::NETWORK_POLICY, policy::network_policy),
        "RoleBinding" | "ClusterRoleBinding" => whole!(policy::BINDING, policy::binding),
        "PriorityClass" => whole!(policy::PRIORITY_CLASS, policy::priority_class),
        "RuntimeClass" => whole!(policy::RUNTIME_CLASS, policy::runtime_class),
        "CertificateSigningRequest" => whole!(policy::SIGNING_REQUEST, policy::signing_request),
        "ComponentStatus" => whole!(policy::COMPONENT_STATUS, policy::component_status),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            whole!(policy::WEBHOOKS, policy::webhooks)
        }
        "ValidatingAdmissionPolicy" => whole!(policy::ADMISSION_POLICY, policy::admission_policy),
        "ValidatingAdmissionPolicyBinding" => {
            whole!(policy::ADMISSION_BINDING, policy::admission_binding)
        }
        "FlowSchema" => whole!(policy::FLOW_SCHEMA, policy::flow_schema),
        "PriorityLevelConfiguration" => whole!(policy::PRIORITY_LEVEL, policy::priority_level),
        "ServiceCIDR" => whole!(policy::SERVICE_CIDR, policy::service_cidr),
        "IPAddress" => whole!(policy::IP_ADDRESS, policy::ip_address),
        "CustomResourceDefinition" => whole!(policy::CRD, policy::custom_definition),
        "DeviceClass" | "ResourceClaimTemplate" => whole!(newer::NAMED, newer::named),
        "ResourceClaim" => whole!(newer::CLAIM, newer::claim),
        "ResourceSlice" => whole!(newer::SLICE, newer::slice),
        "DeviceTaintRule" => whole!(newer::TAINT_RULE, newer::taint_rule),
        "MutatingAdmissionPolicy" => whole!(newer::MUTATING_POLICY, newer::mutating_policy),
        "MutatingAdmissionPolicyBinding" => whole!(policy::ADMISSION_BINDING, policy::admission_binding),
        "ClusterTrustBundle" => whole!(newer::TRUST_BUNDLE, newer::trust_bundle),
        "PodCertificateRequest" => whole!(newer::POD_CERTIFICATE, newer::pod_certificate),
        "StorageVersionMigration" => whole!(newer::MIGRATION, newer::migration),
        "Event" => whole!(event::COLUMNS, event::newer),
        "APIService" => whole!(policy::API_SERVICE, policy::api_service),
        _ => whole!(policy::PLAIN, policy::plain),
    }
}

/// Writes the cells of an object. There may be thousands of events: they have no text of their own for each cell.
/// `full` says that cells are as the API server makes them, `wide` that all are shown.
pub(crate) fn write(kind: Kind, object: &Object, now: Instant, wide: bool, full: bool, out: &mut Cells) {
    match object {
        Object::Event(o) if kind == Kind::Event => event::write(o, now, wide, out),
        _ => (of(kind).row)(object, now, wide || full).iter().for_each(|cell| out.put_cell(cell)),
    }
}

/// The order of a table's rows: as they came, but flow schemas by which is asked first.
pub(crate) fn order(kind: Kind, objects: &[Object]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..objects.len()).collect();
    if kind == Kind::other("flowcontrol.apiserver.k8s.io", "FlowSchema") {
        places.arrange_by_key(|&at| {
            let Object::Custom(schema) = &objects[at] else { return (0, "".into()) };
            let precedence = schema.rest.get("spec").and_then(|s| s["matchingPrecedence"].as_i64());
            (precedence.unwrap_or(0), schema.metadata.name.clone())
        });
    }
    places
}

/// What stands behind an object's name in a list of its kind: the default storage class is marked there.
pub(crate) fn mark(kind: Kind, objects: &[&Object]) -> Option<(std::sync::Arc<str>, &'static str)> {
    if kind != Kind::other("storage.k8s.io", "StorageClass") {
        return None;
    }
    storage::default_class(objects).map(|o| (o.meta().name.clone(), " (default)"))
}
