//! `kubectl create service`. Upstream: kubectl/pkg/cmd/create (v1.37).

use super::make::{created, flags, name, required};
use crate::{
    args::{Args, Flag, Takes, flag},
    kc::{Flow, Kc},
};
use kubestep_model::{
    Kind,
    text::{go, names},
};
use serde_json::{Value, json};

pub(super) const CLUSTER_IP: &[Flag] = flags![flag("tcp", Takes::List), flag("clusterip", Takes::Text)];
pub(super) const NODE_PORT: &[Flag] = flags![flag("tcp", Takes::List), flag("node-port", Takes::Int)];
pub(super) const LOAD_BALANCER: &[Flag] = flags![flag("tcp", Takes::List)];
pub(super) const EXTERNAL_NAME: &[Flag] =
    flags![flag("tcp", Takes::List), flag("external-name", Takes::Text)];

pub(super) fn cluster_ip(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    service(kc, args, "ClusterIP", "failed to create ClusterIP service: ")
}

pub(super) fn node_port(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    service(kc, args, "NodePort", "failed to create NodePort service: ")
}

pub(super) fn load_balancer(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    service(kc, args, "LoadBalancer", "failed to create LoadBalancer service: ")
}

pub(super) fn external_name(kc: &mut Kc<'_>, args: &Args) -> Flow<i32> {
    required(kc, args, &["external-name"])?;
    service(kc, args, "ExternalName", "failed to create ExternalName service: ")
}

fn service(kc: &mut Kc<'_>, args: &Args, kind: &str, failed: &'static str) -> Flow<i32> {
    let name = name(kc, args)?;
    let address = args.text_or_empty("clusterip");
    if address != "None" && args.all("tcp").is_empty() && kind != "ExternalName" {
        return Err(kc.fail("at least one tcp port specifier must be provided"));
    }
    let external = args.text_or_empty("external-name");
    if kind == "ExternalName" && !names::is_dns1123_subdomain(external).is_empty() {
        return Err(kc.fail(format!("invalid service external name {external}")));
    }
    let mut ports = Vec::new();
    for pair in args.all("tcp") {
        match port(pair) {
            Ok(mut port) => {
                if let Some(node) = args.int("node-port").filter(|n| *n != 0) {
                    port["nodePort"] = json!(node);
                }
                ports.push(port);
            }
            Err(why) => return Err(kc.fail(why)),
        }
    }
    let mut spec = json!({ "type": kind, "selector": { "app": name } });
    if !ports.is_empty() {
        spec["ports"] = json!(ports);
    }
    if !external.is_empty() {
        spec["externalName"] = json!(external);
    }
    if !address.is_empty() {
        spec["clusterIP"] = json!(address);
    }
    let value = json!({ "metadata": { "name": name, "labels": { "app": name } }, "spec": spec });
    created(kc, args, Kind::Service, value, failed)
}

/// `80`, `80:8080` or `80:http`. Upstream: parsePorts.
fn port(pair: &str) -> Result<Value, String> {
    let mut parts = pair.split(':');
    let (first, target) = (parts.next().unwrap_or_default(), parts.next());
    let port = go::parse_int(first).map_err(|fault| go::number_error("ParseUint", first, fault))?;
    let port = u16::try_from(port).map_err(|_| {
        format!(
            "strconv.ParseUint: parsing \"{first}\": {}",
            if port < 0 { "invalid syntax" } else { "value out of range" }
        )
    })?;
    let target = match target {
        None => json!(port),
        Some(text) => match text.parse::<i64>() {
            Ok(number) => valid(json!(number), names::is_valid_port_num(number))?,
            Err(_) => valid(json!(text), names::is_valid_port_name(text))?,
        },
    };
    Ok(json!({ "name": pair.replace(':', "-"), "port": port, "protocol": "TCP", "targetPort": target }))
}

fn valid(target: Value, faults: Vec<String>) -> Result<Value, String> {
    if faults.is_empty() { Ok(target) } else { Err(faults.join(",")) }
}
