//! Cluster addresses and node ports of services.
//!
//! Upstream: pkg/registry/core/service/storage, alloc.go, and pkg/registry/core/service/ipallocator (v1.37).

use crate::{service_fields, turn::Turn, validation::field::Errors};
use kubestep_model::arrange::Gather;
use kubestep_model::{Custom, Key, Kind, Object, ObjectMeta, Service, Status};
use serde_json::json;
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

/// Addresses are drawn from 10.96.0.0/16; the lowest 256 are left to those who ask for one.
const RANGE: [u8; 2] = [10, 96];
const STATIC_BAND: u32 = 256;
const LAST: u32 = 65_534;
const NONE: &str = "None";
/// Node ports; the lowest 86 are left to those who ask for one.
const PORTS: std::ops::RangeInclusive<i32> = 30_000..=32_767;
const PORT_BAND: i32 = 86;

/// Before a new service is checked: its families, addresses and node ports.
pub(crate) fn for_new(turn: &mut Turn<'_>, service: &mut Service) -> Result<(), Status> {
    service_fields::match_cluster_ips(service, None);
    allocate(turn, service, None)
}

/// Before a changed service is checked: what it keeps, what it gets, what it gives back.
pub(crate) fn for_changed(turn: &mut Turn<'_>, new: &mut Service, old: &Service) -> Result<(), Status> {
    service_fields::match_cluster_ips(new, Some(old));
    service_fields::keep_given_values(new, old);
    service_fields::drop_other_types_fields(new, old);
    allocate(turn, new, Some(old))?;
    for address in old.spec.cluster_ips.iter().filter(|ip| !new.spec.cluster_ips.contains(ip)) {
        // An address once set cannot be exchanged, only given up with the type.
        if new.spec.r#type == "ExternalName" {
            release_one(turn, address);
        }
    }
    Ok(())
}

fn allocate(turn: &mut Turn<'_>, service: &mut Service, old: Option<&Service>) -> Result<(), Status> {
    let mut errors = Errors::new();
    families(&mut errors, service);
    if errors.is_empty() {
        addresses(&mut errors, turn, service, old);
    }
    if errors.is_empty() && matches!(service.spec.r#type.as_str(), "NodePort" | "LoadBalancer") {
        node_ports(&mut errors, turn, service, old);
        health_check(turn, service, old);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(Kind::Service, &service.metadata.name, errors.into_causes()))
}

const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/// One family: this cluster knows IPv4 only.
fn families(errors: &mut Errors, service: &mut Service) {
    let spec = &mut service.spec;
    if spec.r#type == "ExternalName" {
        return;
    }
    for (i, family) in spec.ip_families.iter().enumerate() {
        let field = format!("spec.ipFamilies[{i}]");
        if spec.ip_families[..i].contains(family) {
            errors.duplicate(&field, &serde_json::Value::from(family.as_str()).to_string());
        }
        match family.as_str() {
            "IPv4" | "IPv6" => {}
            other => errors.not_supported_text(&field, other, &["IPv4", "IPv6"]),
        }
    }
    if let Some(policy) = spec.ip_family_policy.as_deref()
        && !POLICIES.contains(&policy)
    {
        errors.not_supported_text("spec.ipFamilyPolicy", policy, &POLICIES);
    }
    let ips = &spec.cluster_ips;
    if !ips.is_empty() {
        let shown = serde_json::to_string(ips).unwrap_or_default();
        let mut wrong = |why: &str| errors.invalid("spec.clusterIPs", &shown, why);
        if ips[0] != spec.cluster_ip {
            wrong("first value must match `clusterIP`");
        }
        if ips.len() > 2 {
            wrong("may only hold up to 2 values");
        }
        let of_six = |ip: &&String| ip.contains(':');
        let six = ips.iter().filter(of_six).count();
        if six > 1 || ips.len() - six > 1 {
            wrong("may specify no more than one IP for each IP family");
        }
    }
    if errors.is_empty() && spec.cluster_ip != NONE {
        for (i, (ip, family)) in spec.cluster_ips.iter().zip(&spec.ip_families).enumerate() {
            let address: Option<IpAddr> = ip.parse().ok();
            let other = match family.as_str() {
                "IPv4" => address.is_some_and(|ip| ip.is_ipv6()),
                _ => address.is_some_and(|ip| ip.is_ipv4()),
            };
            if other {
                let why = format!("expected an {family} value as indicated by `ipFamilies[{i}]`");
                errors.invalid_text(&format!("spec.clusterIPs[{i}]"), ip, &why);
            }
        }
    }
    if !errors.is_empty() {
        return;
    }
    for (i, family) in spec.ip_families.iter().enumerate().filter(|(_, family)| *family == "IPv6") {
        errors.invalid_text(&format!("spec.ipFamilies[{i}]"), family, "not configured on this cluster");
    }
    if !errors.is_empty() {
        return;
    }
    if spec.ip_family_policy.as_deref() == Some("RequireDualStack") {
        let text = "\"RequireDualStack\"";
        errors.invalid("spec.ipFamilyPolicy", text, "this cluster is not configured for dual-stack services");
        return;
    }
    if spec.ip_families.is_empty() {
        spec.ip_families = vec!["IPv4".into()];
    }
    spec.ip_family_policy.get_or_insert_with(|| "SingleStack".into());
}

fn addresses(errors: &mut Errors, turn: &mut Turn<'_>, service: &mut Service, old: Option<&Service>) {
    let kind = service.spec.r#type.as_str();
    if !matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer") || service.spec.cluster_ip == NONE {
        return;
    }
    if service.spec.cluster_ips.is_empty() {
        let address = draw(turn);
        reserve(turn, &address, service);
        service.spec.cluster_ips = vec![address.clone()];
        service.spec.cluster_ip = address;
        return;
    }
    let asked = service.spec.cluster_ips[0].clone();
    let kept = old.is_some_and(|o| !o.spec.cluster_ips.is_empty());
    // What is no address, or not what was given before, is refused by the checks that follow.
    let Ok(ip) = asked.parse::<Ipv4Addr>() else { return };
    if kept {
        return;
    }
    let shown = serde_json::to_string(&service.spec.cluster_ips).unwrap_or_default();
    let refuse = |errors: &mut Errors, why: &str| {
        errors.invalid("spec.clusterIPs", &shown, &format!("failed to allocate IP {asked}: {why}"));
    };
    if ip.octets()[..2] != RANGE {
        refuse(errors, "the provided network does not match the current range");
    } else if taken(turn, &asked) {
        refuse(errors, "provided IP is already allocated");
    } else {
        reserve(turn, &asked, service);
    }
}

fn node_ports(errors: &mut Errors, turn: &mut Turn<'_>, service: &mut Service, old: Option<&Service>) {
    if service.spec.r#type == "LoadBalancer"
        && service.spec.rest.get("allocateLoadBalancerNodePorts") == Some(&false.into())
    {
        return;
    }
    let mut used = used_ports(turn, service);
    let own: BTreeSet<i32> = old.into_iter().flat_map(|o| o.spec.ports.iter().map(|p| p.node_port)).gather();
    let mut mine: Vec<(String, i32)> = vec![];
    for (i, port) in service.spec.ports.iter_mut().enumerate() {
        let number = port.node_port;
        if number == 0 {
            // TCP and UDP of the same port share a node port.
            let Some(drawn) = draw_port(turn, &used) else {
                errors.invalid(
                    &format!("spec.ports[{i}].nodePort"),
                    "0",
                    "failed to allocate a nodePort: range is full",
                );
                return;
            };
            port.node_port = drawn;
            used.insert(drawn);
            mine.push((port.protocol.clone(), drawn));
            continue;
        }
        let twin = mine.iter().any(|(protocol, n)| *n == number && *protocol == port.protocol);
        let shared = mine.iter().any(|(_, n)| *n == number);
        let field = format!("spec.ports[{i}].nodePort");
        if !PORTS.contains(&number) {
            let why = "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.invalid(&field, &number.to_string(), why);
            return;
        }
        if twin || (used.contains(&number) && !shared && !own.contains(&number)) {
            errors.invalid(&field, &number.to_string(), "provided port is already allocated");
            return;
        }
        used.insert(number);
        mine.push((port.protocol.clone(), number));
    }
}

/// A load balancer that goes to local endpoints only asks each node at a port of its own whether there are any.
///
/// Upstream: pkg/registry/core/service/storage, allocHealthCheckNodePort (v1.37).
fn health_check(turn: &mut Turn<'_>, service: &mut Service, old: Option<&Service>) {
    const FIELD: &str = "healthCheckNodePort";
    let local = service.spec.rest.get("externalTrafficPolicy") == Some(&"Local".into());
    if service.spec.r#type != "LoadBalancer" || !local {
        return;
    }
    let there = |s: &Service| s.spec.rest.get(FIELD).and_then(serde_json::Value::as_i64).unwrap_or(0);
    if there(service) != 0 {
        return;
    }
    let before = old.map_or(0, there);
    let number = if before == 0 {
        let mut used = used_ports(turn, service);
        used.extend(service.spec.ports.iter().map(|p| p.node_port));
        draw_port(turn, &used).map_or(0, i64::from)
    } else {
        before
    };
    service.spec.rest.insert(FIELD.into(), number.into());
}

/// Node ports that other services hold.
fn used_ports(turn: &Turn<'_>, service: &Service) -> BTreeSet<i32> {
    let meta = &service.metadata;
    let others = turn.store.list(Kind::Service, None).filter_map(|object| match object {
        Object::Service(s) if s.metadata.name != meta.name || s.metadata.namespace != meta.namespace => {
            Some(s)
        }
        _ => None,
    });
    others.flat_map(|s| s.spec.ports.iter().map(|p| p.node_port)).filter(|n| *n != 0).collect()
}

fn draw_port(turn: &mut Turn<'_>, used: &BTreeSet<i32>) -> Option<i32> {
    let upper = PORTS.end() - PORTS.start() - PORT_BAND + 1;
    let start = i32::try_from(turn.dice.below("nodePort", u32::try_from(upper).unwrap_or(1))).unwrap_or(0);
    let first = PORTS.start() + PORT_BAND;
    let above = (0..upper).map(|i| first + (start + i) % upper);
    above.chain(*PORTS.start()..first).find(|n| !used.contains(n))
}

/// Gives back the addresses of a service that is gone.
pub(crate) fn release(turn: &mut Turn<'_>, service: &Service) {
    for address in &service.spec.cluster_ips {
        release_one(turn, address);
    }
}

fn kind() -> Option<Kind> {
    Kind::find("networking.k8s.io", "IPAddress")
}

fn release_one(turn: &mut Turn<'_>, address: &str) {
    let object = kind().and_then(|k| turn.store.get(&Key::new(k, "", address)).cloned());
    if let Some(object) = object {
        turn.remove_own(&object);
    }
}

fn taken(turn: &Turn<'_>, address: &str) -> bool {
    kind().is_some_and(|k| turn.store.get(&Key::new(k, "", address)).is_some())
}

/// A free address above the static band; below it when all above are taken.
fn draw(turn: &mut Turn<'_>) -> String {
    let text = |n: u32| format!("{}.{}.{}.{}", RANGE[0], RANGE[1], n >> 8, n & 0xff);
    let width = LAST - STATIC_BAND + 1;
    let start = turn.dice.below("address", width);
    let upper = (0..width).map(|i| STATIC_BAND + (start + i) % width);
    upper.chain(1..STATIC_BAND).map(text).find(|address| !taken(turn, address)).unwrap_or_default()
}

/// Writes the object that reserves an address.
fn reserve(turn: &mut Turn<'_>, address: &str, service: &Service) {
    let Some(kind) = kind() else { return };
    let mut object = address_object(kind, address, &service.metadata.namespace, &service.metadata.name);
    let uid = turn.draw_uid();
    let meta = object.meta_mut();
    meta.uid = uid;
    meta.creation_timestamp = Some(turn.now.to_time());
    turn.put_own(object, "create", "", 201);
}

/// The object that reserves an address for a service.
pub(crate) fn address_object(kind: Kind, address: &str, namespace: &str, service: &str) -> Object {
    let labels = [
        ("ipaddress.kubernetes.io/ip-family", "IPv4"),
        ("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"),
    ];
    let parent = json!({"parentRef": {"resource": "services", "namespace": namespace, "name": service}});
    let metadata = ObjectMeta {
        name: address.into(),
        labels: labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        ..ObjectMeta::default()
    };
    Object::Custom(Arc::new(Custom {
        kind,
        metadata,
        rest: [("spec".to_owned(), parent)].into_iter().collect(),
    }))
}
