//! Node.

use super::{Column, Row, age, column, common, find_roles, row, wide};
use kubestep_model::{Instant, Node};

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    column("Status"),
    column("Roles"),
    column("Age"),
    column("Version"),
    wide("Internal-IP"),
    wide("External-IP"),
    wide("OS-Image"),
    wide("Kernel-Version"),
    wide("Container-Runtime"),
];

pub(super) fn row(o: &Node, now: Instant, _: bool) -> Row {
    let info = &o.status.node_info;
    let mut status = match o.condition("Ready") {
        Some(ready) if ready.status == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if o.spec.unschedulable {
        status.push_str(",SchedulingDisabled");
    }
    let mut kernel = common::or(&info.kernel_version, "<unknown>").to_owned();
    if !info.architecture.is_empty() {
        kernel = format!("{kernel} ({})", info.architecture);
    }
    row![
        &*o.metadata.name,
        status,
        common::or(&find_roles(o).join(","), "<none>"),
        age(o.metadata.creation_timestamp, now),
        info.kubelet_version.as_str(),
        address(o, "InternalIP"),
        address(o, "ExternalIP"),
        common::or(&info.os_image, "<unknown>"),
        kernel,
        common::or(&info.container_runtime_version, "<unknown>"),
    ]
}

fn address<'a>(o: &'a Node, r#type: &str) -> &'a str {
    o.status.addresses.iter().find(|a| a.r#type == r#type).map_or("<none>", |a| &*a.address)
}
