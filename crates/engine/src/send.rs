//! One request to a Service: which pod answers it, or why nobody does.
//!
//! As kube-proxy does it in its iptables mode: a ready endpoint is drawn, each with the same chance; where there is
//! none, one that still serves while it ends; without any the connection is refused. kube-proxy itself is not
//! modelled: what the EndpointSlices say is what every node does at once.

use crate::{session::Session, words::tail};
use kubestep_cluster::{Health, ProcessId, World};
use kubestep_model::{Dice, Endpoint, EndpointSlice, Kind, Pod, Service};
use kubestep_protocol::{ObjectRef, Rich, Span};

/// Sends it and says what comes of it. `count` tells one request from the next. Errors: it is no Service, or not there.
pub(crate) fn send(session: &Session, object: &ObjectRef, count: u32) -> Result<Rich, String> {
    let found = session.object(object).and_then(|o| o.get::<Service>());
    let service = found.ok_or("Only a Service that is there can be asked.")?;
    Ok(request(session.world(), service, count))
}

/// What comes of a request to a Service, in the teacher's voice. `count` tells one request from the next.
pub fn request(world: &World, service: &Service, count: u32) -> Rich {
    let name = &service.metadata.name;
    if service.spec.r#type == "ExternalName" {
        let other = &service.spec.external_name;
        return Rich::words(format!("{name} is only a name in DNS: whoever asks is sent to "))
            .then(Span::Code(other.clone()))
            .then(Span::Words(", outside the cluster.".into()));
    }
    let Some(port) = service.spec.ports.first() else {
        return Rich::words(format!("{name} has no port: there is nothing that a request could be sent to."));
    };
    let slices: Vec<&EndpointSlice> = slices(world, service).collect();
    let of_port = |slice: &&&EndpointSlice| {
        slice.ports.iter().any(|p| p.name.as_deref().unwrap_or_default() == port.name && p.port.is_some())
    };
    let number = slices.iter().find(of_port).and_then(|s| s.ports.iter().find_map(|p| p.port));
    let all: Vec<&Endpoint> =
        slices.iter().filter(of_port).flat_map(|s| &s.endpoints).map(|e| &**e).collect();
    let Some(drawn) = draw(&all, world, count) else { return nobody(service, &all) };
    let address = drawn.addresses.first().map_or("", |a| &**a);
    let place = format!("{address}:{}", number.unwrap_or_default());
    answer(world, service, drawn, &place, number.unwrap_or_default())
}

/// The slices of a service.
fn slices<'a>(world: &'a World, service: &'a Service) -> impl Iterator<Item = &'a EndpointSlice> {
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

/// No endpoint: why there is none.
fn nobody(service: &Service, all: &[&Endpoint]) -> Rich {
    let name = &service.metadata.name;
    let words = Rich::default().then(Span::Strong("Connection refused.".into()));
    words.then(Span::Words(if service.spec.selector.is_empty() {
        format!(" {name} has no selector, and nobody wrote an EndpointSlice for it.")
    } else if all.is_empty() {
        format!(" {name} has no endpoint: no pod with an address has the labels that it selects.")
    } else {
        format!(" {name} has {} endpoints, and none of them is ready.", all.len())
    }))
}

/// What the drawn endpoint does with the request.
fn answer(world: &World, service: &Service, drawn: &Endpoint, place: &str, number: i32) -> Rich {
    let pod = drawn.target_ref.as_ref().and_then(|t| {
        world
            .store()
            .list(Kind::Pod, Some(&service.metadata.namespace))
            .filter_map(|o| o.get::<Pod>())
            .find(|p| p.metadata.uid == t.uid)
    });
    let strong = |text: &str| Rich::default().then(Span::Strong(text.into()));
    let Some(pod) = pod else {
        let words = " stands in an EndpointSlice, but no pod has that address any more.";
        return strong("The connection times out. ")
            .then(Span::Code(place.into()))
            .then(Span::Words(words.into()));
    };
    let object = crate::session::object_ref(&kubestep_model::Resource::key(pod));
    let link = Span::Object(object, format!("Pod {}", tail(&pod.metadata.name)));
    let node = &pod.spec.node_name;
    let kubelet = world.process(&ProcessId::Kubelet(node.clone()));
    if kubelet.is_none_or(|p| p.health == Health::Down) || world.faults().cut.contains(&**node) {
        return strong("The connection times out. ").then(link).then(Span::Words(format!(
            " is on {node}, and {node} cannot be reached; the endpoint is still listed as ready."
        )));
    }
    let runs = world.machines().any(|(name, machine)| name == node && machine.runs(&pod.metadata.uid));
    if !runs {
        return strong("Connection refused. ")
            .then(link)
            .then(Span::Words(" is listed as ready, and no container of it runs at this moment.".into()));
    }
    let ports: Vec<i32> =
        pod.spec.containers.iter().flat_map(|c| &c.ports).map(|p| p.container_port).collect();
    if !ports.is_empty() && !ports.contains(&number) {
        let declared: Vec<String> = ports.iter().map(i32::to_string).collect();
        return strong("Connection refused. ").then(link).then(Span::Words(format!(
            " was asked on port {number}; its containers declare {}. Is the Service's targetPort right?",
            declared.join(", ")
        )));
    }
    let note = match (pod.metadata.is_terminating(), pod.is_ready()) {
        (true, _) => ", which is being ended",
        (false, false) => ", although its probe says that it is not ready: the slice has not caught up",
        (false, true) => "",
    };
    link_answers(link, place, note)
}

fn link_answers(pod: Span, place: &str, note: &str) -> Rich {
    let words =
        Rich::default().then(pod).then(Span::Words(" answered at ".into())).then(Span::Code(place.into()));
    words.then(Span::Words(format!("{note}.")))
}
