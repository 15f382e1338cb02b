//! Node.

use super::{
    Page, events, node_resources,
    page::{date, or_none},
};
use crate::{
    fault::Fault,
    kc::{Flow, Kc},
    printers::find_roles,
};
use kubestep_model::{
    Key, Kind, Lease, MicroTime, Node, Object, Quantity, Status, Time, text::FieldSelector,
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) fn describe(
    kc: &mut Kc<'_>,
    page: &mut Page,
    o: &Arc<Node>,
    events: bool,
) -> Flow<Result<(), Fault>> {
    let (meta, spec) = (&o.metadata, &o.spec);
    let fields = format!("spec.nodeName={},status.phase!=Succeeded,status.phase!=Failed", meta.name);
    let pods = match kc.list(Kind::Pod, None, None, FieldSelector::parse(&fields).ok())? {
        Ok((pods, _)) => pods,
        Err(status) => return Ok(Err(status.into())),
    };
    page.field(0, "Name", &meta.name);
    page.field(0, "Roles", or_none(&find_roles(o).join(",")));
    page.labels("Labels", &meta.labels);
    page.annotations("Annotations", &meta.annotations);
    page.field(0, "CreationTimestamp", date(meta.creation_timestamp));
    page.taints("Taints", &spec.taints);
    page.field(0, "Unschedulable", spec.unschedulable);
    let lease = kc.get(Key::new(Kind::Lease, "kube-node-lease", meta.name.clone()))?;
    write_lease(page, &lease);
    conditions(page, o);
    page.line(0, "Addresses:");
    o.status.addresses.iter().for_each(|a| page.field(1, &a.r#type, &a.address));
    resources(page, "Capacity", &o.status.capacity);
    resources(page, "Allocatable", &o.status.allocatable);
    system(page, o);
    let mut unless_empty = |title: &str, value: &str| {
        if !value.is_empty() {
            page.field(0, title, value);
        }
    };
    unless_empty("PodCIDR", &spec.pod_cidr);
    unless_empty("PodCIDRs", &spec.pod_cidrs.join(","));
    unless_empty("ProviderID", &spec.provider_id);
    node_resources::describe(page, o, &pods, kc.now());
    if events {
        // The kubelet's events name the node where others name its uid.
        let object = Object::Node(o.clone());
        let mut found = self::events::search(kc, &object, true, &meta.uid)?;
        found.extend(self::events::search(kc, &object, true, &meta.name)?);
        self::events::write(page, found, kc.now());
    }
    Ok(Ok(()))
}

fn write_lease(page: &mut Page, lease: &Result<Object, Status>) {
    match lease {
        Ok(lease) => {
            let spec = lease.get::<Lease>().map(|l| l.spec.clone()).unwrap_or_default();
            let time = |t: Option<MicroTime>| match t {
                Some(t) => date(Some(Time(t.0.div_euclid(1_000_000)))),
                None => "<unset>".to_owned(),
            };
            page.line(0, "Lease:");
            page.field(1, "HolderIdentity", spec.holder_identity.as_deref().unwrap_or("<unset>"));
            page.field(1, "AcquireTime", time(spec.acquire_time));
            page.field(1, "RenewTime", time(spec.renew_time));
        }
        Err(status) => page.field(0, "Lease", format!("Failed to get lease: {}", status.message)),
    }
}

fn conditions(page: &mut Page, o: &Node) {
    if o.status.conditions.is_empty() {
        return;
    }
    page.line(0, "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage");
    page.line(1, "----\t------\t-----------------\t------------------\t------\t-------");
    for c in &o.status.conditions {
        let (beat, change) = (date(c.last_heartbeat_time), date(c.last_transition_time));
        page.line(
            1,
            format!("{} \t{} \t{beat} \t{change} \t{} \t{}", c.r#type, c.status, c.reason, c.message),
        );
    }
}

fn resources(page: &mut Page, title: &str, list: &BTreeMap<String, Quantity>) {
    if !list.is_empty() {
        page.line(0, format!("{title}:"));
        list.iter().for_each(|(name, amount)| page.field(1, name, amount));
    }
}

fn system(page: &mut Page, o: &Node) {
    let info = &o.status.node_info;
    page.line(0, "System Info:");
    page.field(1, "Machine ID", &info.machine_id);
    page.field(1, "System UUID", &info.system_uuid);
    page.field(1, "Boot ID", &info.boot_id);
    page.field(1, "Kernel Version", &info.kernel_version);
    page.field(1, "OS Image", &info.os_image);
    page.field(1, "Operating System", &info.operating_system);
    page.field(1, "Architecture", &info.architecture);
    page.field(1, "Container Runtime Version", &info.container_runtime_version);
    page.field(1, "Kubelet Version", &info.kubelet_version);
}
