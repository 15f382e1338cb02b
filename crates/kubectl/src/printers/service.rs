//! Service.

use super::{Column, Row, age, column, common, row, wide};
use kubestep_model::arrange::Gather;
use kubestep_model::{Instant, Service};
use std::collections::BTreeSet;

pub(super) const COLUMNS: &[Column] = &[
    column("Name"),
    column("Type"),
    column("Cluster-IP"),
    column("External-IP"),
    column("Port(s)"),
    column("Age"),
    wide("Selector"),
];

pub(super) fn row(o: &Service, now: Instant, wide: bool) -> Row {
    let ports = o.spec.ports.iter().map(|p| {
        let protocol = common::or(&p.protocol, "TCP");
        if p.node_port > 0 {
            format!("{}:{}/{protocol}", p.port, p.node_port)
        } else {
            format!("{}/{protocol}", p.port)
        }
    });
    let ports = ports.collect::<Vec<_>>().join(",");
    row![
        &*o.metadata.name,
        common::or(&o.spec.r#type, "ClusterIP"),
        o.spec.cluster_ips.first().map_or("<none>", String::as_str),
        external_ip(o, wide),
        common::or(&ports, "<none>"),
        age(o.metadata.creation_timestamp, now),
        common::labels(&o.spec.selector),
    ]
}

fn external_ip(o: &Service, wide: bool) -> String {
    let given = &o.spec.external_ips;
    match o.spec.r#type.as_str() {
        "" | "ClusterIP" | "NodePort" if given.is_empty() => "<none>".to_owned(),
        "" | "ClusterIP" | "NodePort" => given.join(","),
        "LoadBalancer" => {
            let balancer = balancer(o, wide);
            let mut all: Vec<&str> = balancer.split(',').filter(|ip| !ip.is_empty()).collect();
            all.extend(given.iter().map(String::as_str));
            common::or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => o.spec.external_name.clone(),
        _ => "<unknown>".to_owned(),
    }
}

fn balancer(o: &Service, wide: bool) -> String {
    let entries =
        o.status.load_balancer.rest.get("ingress").and_then(|i| i.as_array()).cloned().unwrap_or_default();
    let address = |entry: &serde_json::Value| {
        let text = |field: &str| {
            entry.get(field).and_then(|v| v.as_str()).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        text("ip").or_else(|| text("hostname"))
    };
    let addresses: BTreeSet<String> = entries.iter().filter_map(address).gather();
    let list = addresses.into_iter().collect::<Vec<_>>().join(",");
    if !wide && list.chars().count() > 16 { list.chars().take(13).collect::<String>() + "..." } else { list }
}
