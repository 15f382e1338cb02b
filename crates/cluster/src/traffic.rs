//! One request to a Service or to a pod's address: who gets it, and what is heard.
//!
//! As kube-proxy does it in its iptables mode: a ready endpoint is drawn, each with the same chance; where there is
//! none, one that still serves while it ends; without any the connection is refused. kube-proxy itself is not
//! modelled: what the EndpointSlices say is what every node does at once.

use crate::{Health, ProcessId, World};
use kubestep_model::{Dice, Endpoint, EndpointSlice, Kind, Pod, Service};

/// What comes of a request to a Service.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent<'a> {
    /// The Service is only a name for something outside the cluster.
    Elsewhere,
    /// It has no such port.
    NoPort,
    /// None of so many endpoints can be used.
    Nobody(usize),
    /// It reached an endpoint.
    To(Reached<'a>),
}

/// The endpoint that a request reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached<'a> {
    /// Its address and port.
    pub place: String,
    /// Its port.
    pub port: i32,
    /// The pod that has the address, if one has.
    pub pod: Option<&'a Pod>,
    /// What is heard from it.
    pub heard: Heard,
}

/// What is heard from an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing: no pod has the address, or its node cannot be reached.
    Nothing,
    /// No container of the pod runs.
    NotRunning,
    /// The pod's containers declare these ports and not this one.
    OtherPorts(Vec<i32>),
    /// No process listens at the port.
    Deaf,
    /// An answer, with its code as HTTP has it.
    Code(u16),
}

/// Sends a request to a port of a Service (its first, if none is named). `count` tells one request from the next.
pub fn to_service<'a>(
    world: &'a World,
    service: &'a Service,
    port: Option<i32>,
    path: &str,
    count: u32,
) -> Sent<'a> {
    if service.spec.r#type == "ExternalName" {
        return Sent::Elsewhere;
    }
    let Some(port) = service.spec.ports.iter().find(|p| port.is_none_or(|n| p.port == n)) else {
        return Sent::NoPort;
    };
    let of_port = |slice: &&EndpointSlice| {
        slice.ports.iter().any(|p| p.name.as_deref().unwrap_or_default() == port.name && p.port.is_some())
    };
    let slices: Vec<&EndpointSlice> = slices(world, service).filter(of_port).collect();
    let number = slices.iter().find_map(|s| s.ports.iter().find_map(|p| p.port)).unwrap_or_default();
    let all: Vec<&Endpoint> = slices.iter().flat_map(|s| &s.endpoints).map(|e| &**e).collect();
    let Some(drawn) = draw(&all, world, count) else { return Sent::Nobody(all.len()) };
    let address = drawn.addresses.first().map_or("", |a| &**a);
    let named = drawn
        .target_ref
        .as_ref()
        .and_then(|t| pods(world, Some(&service.metadata.namespace)).find(|p| p.metadata.uid == t.uid));
    Sent::To(reach(world, named, address, number, path))
}

/// Sends a request to the address of a pod.
pub(crate) fn to_address<'a>(world: &'a World, address: &str, port: i32, path: &str) -> Reached<'a> {
    let has = |pod: &&Pod| *pod.status.pod_ip == *address && !pod.is_terminal();
    reach(world, pods(world, None).find(has), address, port, path)
}

fn pods<'a>(world: &'a World, namespace: Option<&str>) -> impl Iterator<Item = &'a Pod> {
    world.store().list(Kind::Pod, namespace).filter_map(|o| o.get::<Pod>())
}

/// The slices of a service.
pub(crate) fn slices<'a>(world: &'a World, service: &'a Service) -> impl Iterator<Item = &'a EndpointSlice> {
    let namespace = Some(&*service.metadata.namespace);
    world.store().list(Kind::EndpointSlice, namespace).filter_map(|o| o.get::<EndpointSlice>()).filter(|s| {
        s.metadata.labels.get("kubernetes.io/service-name").is_some_and(|of| **of == *service.metadata.name)
    })
}

/// Upstream: pkg/proxy, CategorizeEndpoints (v1.37): ready ones, else those that serve while they end.
fn draw<'a>(all: &[&'a Endpoint], world: &World, count: u32) -> Option<&'a Endpoint> {
    let ready: Vec<&Endpoint> = all.iter().copied().filter(|e| e.conditions.ready != Some(false)).collect();
    let ending = |e: &&Endpoint| e.conditions.serving == Some(true) && e.conditions.terminating == Some(true);
    let usable = if ready.is_empty() { all.iter().copied().filter(ending).collect() } else { ready };
    let last = u32::try_from(usable.len()).ok().filter(|n| *n > 0)?;
    let mut dice = Dice::new(world.next_record()).split(&format!("request {count}"));
    usable.get(dice.below("endpoint", last) as usize).copied()
}

/// What a pod does with the request.
fn reach<'a>(world: &World, pod: Option<&'a Pod>, address: &str, port: i32, path: &str) -> Reached<'a> {
    let heard = pod.map_or(Heard::Nothing, |pod| hear(world, pod, port, path));
    Reached { place: format!("{address}:{port}"), port, pod, heard }
}

fn hear(world: &World, pod: &Pod, port: i32, path: &str) -> Heard {
    let node = &*pod.spec.node_name;
    let kubelet = world.process(&ProcessId::Kubelet(node.into()));
    if kubelet.is_none_or(|p| p.health == Health::Down) || world.faults().cut.contains(node) {
        return Heard::Nothing;
    }
    let machine = world.machines().find(|(name, _)| ***name == *node).map(|(_, machine)| machine);
    let Some(machine) = machine.filter(|m| m.runs(&pod.metadata.uid)) else { return Heard::NotRunning };
    let declared: Vec<i32> =
        pod.spec.containers.iter().flat_map(|c| &c.ports).map(|p| p.container_port).collect();
    if !declared.is_empty() && !declared.contains(&port) {
        return Heard::OtherPorts(declared);
    }
    let number = u16::try_from(port).unwrap_or(0);
    machine.answers(&pod.metadata.uid, number, path, world.now()).map_or(Heard::Deaf, Heard::Code)
}
