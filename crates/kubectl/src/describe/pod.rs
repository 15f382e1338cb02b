//! Pod.

use super::{
    Page, containers,
    containers::Place,
    events,
    page::{date, or_none},
    template::spread_constraints,
    volumes,
};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    printers::age,
};
use kubestep_model::{Object, Pod};
use std::sync::Arc;

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    pod: &Arc<Pod>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    head(kc, page, pod);
    let (spec, status) = (&pod.spec, &pod.status);
    if !spec.init_containers.is_empty() {
        containers::describe(
            page,
            "Init Containers",
            &spec.init_containers,
            &status.init_container_statuses,
            Place::Pod(pod),
        );
    }
    containers::describe(page, "Containers", &spec.containers, &status.container_statuses, Place::Pod(pod));
    conditions(page, pod);
    volumes::describe(page, &spec.volumes, "");
    page.field(0, "QoS Class", if status.qos_class.is_empty() { "BestEffort" } else { &status.qos_class });
    page.labels("Node-Selectors", &spec.node_selector);
    page.tolerations("Tolerations", &spec.tolerations);
    spread_constraints(page, &spec.topology_spread_constraints, "");
    self::events::show(kc, page, &Object::Pod(pod.clone()), events)?;
    Ok(Ok(()))
}

fn head(kc: &Kc<'_>, page: &mut Page, pod: &Pod) {
    let (meta, spec, status) = (&pod.metadata, &pod.spec, &pod.status);
    page.field(0, "Name", &meta.name);
    page.field(0, "Namespace", &meta.namespace);
    if let Some(priority) = spec.priority {
        page.field(0, "Priority", priority);
    }
    let mut unless_empty = |title: &str, value: &str| {
        if !value.is_empty() {
            page.field(0, title, value);
        }
    };
    unless_empty("Priority Class Name", &spec.priority_class_name);
    unless_empty(
        "Runtime Class Name",
        spec.rest.get("runtimeClassName").and_then(|v| v.as_str()).unwrap_or_default(),
    );
    unless_empty("Service Account", &spec.service_account_name);
    if spec.node_name.is_empty() {
        page.field(0, "Node", "<none>");
    } else {
        page.field(0, "Node", format!("{}/{}", spec.node_name, status.host_ip));
    }
    if status.start_time.is_some() {
        page.field(0, "Start Time", date(status.start_time));
    }
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    if meta.is_terminating() && !pod.is_terminal() {
        page.field(0, "Status", format!("Terminating (lasts {})", age(meta.deletion_timestamp, kc.now())));
        page.field(
            0,
            "Termination Grace Period",
            format!("{}s", meta.deletion_grace_period_seconds.unwrap_or_default()),
        );
    } else {
        page.field(0, "Status", &status.phase);
    }
    let mut unless_empty = |title: &str, value: &str| {
        if !value.is_empty() {
            page.field(0, title, value);
        }
    };
    unless_empty("Reason", &status.reason);
    unless_empty("Message", &status.message);
    let seccomp = |field: &str| spec.security_context.as_ref()?.get("seccompProfile")?.get(field)?.as_str();
    unless_empty("SeccompProfile", seccomp("type").unwrap_or_default());
    unless_empty("LocalhostProfile", seccomp("localhostProfile").unwrap_or_default());
    page.field(0, "IP", &status.pod_ip);
    if status.pod_ips.is_empty() {
        page.field(0, "IPs", "<none>");
    } else {
        page.line(0, "IPs:");
        status.pod_ips.iter().for_each(|p| page.field(1, "IP", &p.ip));
    }
    page.controlled_by(meta);
    if !status.nominated_node_name.is_empty() {
        page.field(0, "NominatedNodeName", &status.nominated_node_name);
    }
}

fn conditions(page: &mut Page, pod: &Pod) {
    let gates = &pod.spec.readiness_gates;
    if !gates.is_empty() {
        page.line(0, "Readiness Gates:\n  Type\tStatus");
        for gate in gates {
            let status = pod.condition(&gate.condition_type).map_or("", |c| &c.status);
            page.line(1, format!("{} \t{} ", gate.condition_type, or_none(status)));
        }
    }
    if !pod.status.conditions.is_empty() {
        page.line(0, "Conditions:\n  Type\tStatus");
        for condition in &pod.status.conditions {
            page.line(1, format!("{} \t{} ", condition.r#type, condition.status));
        }
    }
}
