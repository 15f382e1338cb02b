//! One request to a Service, in words: which pod answers it, or why nobody does.
//!
//! Who gets it is the cluster's business (`crates/cluster/src/traffic.rs`).

use crate::{session::Session, words::tail};
use kubestep_cluster::{Heard, Reached, Sent, World, to_service};
use kubestep_model::Service;
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
    match to_service(world, service, None, "/", count) {
        Sent::Elsewhere => Rich::words(format!("{name} is only a name in DNS: whoever asks is sent to "))
            .then(Span::Code(service.spec.external_name.clone()))
            .then(Span::Words(", outside the cluster.".into())),
        Sent::NoPort => {
            Rich::words(format!("{name} has no port: there is nothing that a request could be sent to."))
        }
        Sent::Nobody(count) => nobody(service, count),
        Sent::To(reached) => answer(reached),
    }
}

/// No endpoint: why there is none.
fn nobody(service: &Service, count: usize) -> Rich {
    let name = &service.metadata.name;
    let words = Rich::default().then(Span::Strong("Connection refused.".into()));
    words.then(Span::Words(if service.spec.selector.is_empty() {
        format!(" {name} has no selector, and nobody wrote an EndpointSlice for it.")
    } else if count == 0 {
        format!(" {name} has no endpoint: no pod with an address has the labels that it selects.")
    } else {
        format!(" {name} has {count} endpoints, and none of them is ready.")
    }))
}

/// What the drawn endpoint does with the request.
fn answer(reached: Reached<'_>) -> Rich {
    let strong = |text: &str| Rich::default().then(Span::Strong(text.into()));
    let Reached { place, port, pod, heard } = reached;
    let Some(pod) = pod else {
        let words = " stands in an EndpointSlice, but no pod has that address any more.";
        return strong("The connection times out. ").then(Span::Code(place)).then(Span::Words(words.into()));
    };
    let object = crate::session::object_ref(&kubestep_model::Resource::key(pod));
    let link = Span::Object(object, format!("Pod {}", tail(&pod.metadata.name)));
    let node = &pod.spec.node_name;
    let refused = "Connection refused. ";
    let (start, words) = match heard {
        Heard::Nothing => (
            "The connection times out. ",
            format!(" is on {node}, and {node} cannot be reached; the endpoint is still listed as ready."),
        ),
        Heard::NotRunning => {
            (refused, " is listed as ready, and no container of it runs at this moment.".into())
        }
        Heard::OtherPorts(declared) => {
            let declared: Vec<String> = declared.iter().map(i32::to_string).collect();
            let declared = declared.join(", ");
            let question = "Is the Service's targetPort right?";
            (refused, format!(" was asked on port {port}; its containers declare {declared}. {question}"))
        }
        Heard::Deaf => (refused, format!(" was asked on port {port}, and no process in it listens there.")),
        Heard::Code(code) => {
            let note = match (pod.metadata.is_terminating(), pod.is_ready()) {
                (true, _) => ", which is being ended",
                (false, false) => {
                    ", although its probe says that it is not ready: the slice has not caught up"
                }
                (false, true) => "",
            };
            let how = if code < 400 { String::new() } else { format!(" with the error {code}") };
            let words = Rich::default().then(link).then(Span::Words(format!(" answered{how} at ")));
            return words.then(Span::Code(place)).then(Span::Words(format!("{note}.")));
        }
    };
    strong(start).then(link).then(Span::Words(words))
}
