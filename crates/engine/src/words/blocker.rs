//! What a gap waits for, in the teacher's words.

use super::{tail, who::long};
use crate::session::{Session, object_ref};
use kubestep_insight::{Blocker, Refusal, Wait};
use kubestep_model::{Deployment, Key, Kind, Lease};
use kubestep_protocol::{End, EndAct, ImageAct, NodeAct, Rich, Span};

fn words(text: impl Into<String>) -> Span {
    Span::Words(text.into())
}

/// An image without its registry's host.
pub(crate) fn short_image(image: &str) -> String {
    image.split_once('/').filter(|(host, _)| host.contains('.')).map_or(image, |(_, rest)| rest).to_string()
}

fn object(key: &Key) -> Span {
    Span::Object(object_ref(key), tail(&key.name).to_string())
}

/// An autoscaler, which waits for numbers and not for what a container needs.
fn scales(at: &Key) -> bool {
    at.kind.name() == "HorizontalPodAutoscaler"
}

/// "The kubelet asked 7 times; next in 3m 40s."
fn asked(session: &Session, image: &str) -> Rich {
    let (times, next) = crate::view::asked(session.world(), image);
    let start = match times {
        0 => return Rich::words("The kubelet has not asked yet. "),
        1 => Rich::words("The kubelet asked once"),
        n => Rich::words(format!("The kubelet asked {n} times")),
    };
    match next {
        Some(at) => start.then(words("; next in ")).then(Span::Until(session.at(at))).then(words(". ")),
        None => start.then(words(". ")),
    }
}

/// When a node's kubelet was last heard of: the renewal of its lease.
pub(crate) fn last_heard(session: &Session, node: &str) -> Option<kubestep_protocol::At> {
    let lease = session.world().store().get(&Key::new(Kind::Lease, "kube-node-lease", node))?;
    let renewed = lease.get::<Lease>()?.spec.renew_time?;
    Some(session.at(renewed.instant()))
}

/// The teacher: all is as asked, and a node is silent, which Kubernetes notices later.
pub(crate) fn silent(session: &Session, node: &str) -> Rich {
    let start = Rich::words("but ")
        .then(Span::Code(node.into()))
        .then(words(" is silent and Kubernetes has not noticed"));
    match last_heard(session, node) {
        Some(at) => start.then(words(": last heard of ")).then(Span::Since(at)).then(words(" ago.")),
        None => start.then(words(".")),
    }
}

/// "because …" of the verdict.
pub(crate) fn because(at: &Key, blocker: &Blocker) -> Rich {
    let start = Rich::words("because ");
    match blocker {
        Blocker::NotObserved => {
            start.then(words("its loop has not looked at ")).then(object(at)).then(words(" yet."))
        }
        Blocker::LoopStopped { who } => start.then(words(format!("the {} is stopped.", long(who)))),
        Blocker::WatchHeld { who, kind } => {
            start.then(words(format!("the watch of the {} for {kind} is held.", long(who))))
        }
        Blocker::Refused { how, .. } => start.then(words(refused(*how))),
        Blocker::Paused => start.then(object(at)).then(words(" is paused.")),
        Blocker::Turn => {
            start.then(words("others come first: so many may be too many or too few, and no more."))
        }
        Blocker::NothingFits { .. } => start.then(words("no node takes ")).then(object(at)).then(words(".")),
        Blocker::Gated { .. } => {
            start.then(words("a gate keeps the scheduler from ")).then(object(at)).then(words("."))
        }
        Blocker::Image { image, absent: true, .. } => {
            start.then(words("the registry has no ")).then(Span::Code(short_image(image))).then(words("."))
        }
        Blocker::Image { image, .. } => start
            .then(words("the registry does not give "))
            .then(Span::Code(short_image(image)))
            .then(words(".")),
        Blocker::Volume { claim, .. } => {
            start.then(words("no volume is bound to ")).then(Span::Code(claim.clone())).then(words("."))
        }
        Blocker::Configuration { .. } if scales(at) => {
            start.then(object(at)).then(words(" gets no numbers to count with."))
        }
        Blocker::Configuration { .. } => start.then(words("something that the container needs is missing.")),
        Blocker::Ends { container, code, restarts, .. } => start
            .then(words(format!("container {container} ends with code {code}, {restarts} times so far."))),
        Blocker::Probe { container } => {
            start.then(words(format!("the probe of container {container} does not succeed.")))
        }
        Blocker::Time { what } => start.then(words(time(*what))),
        Blocker::NodeSilent { node } => start.then(words(format!("{node} does not answer."))),
        Blocker::Finalizer { names } => start
            .then(object(at))
            .then(words(" is held back by "))
            .then(Span::Code(names.join(", ")))
            .then(words(".")),
        Blocker::UnderWay => start.then(object(at)).then(words(" is on its way.")),
        Blocker::NoLoop => start.then(words("no loop acts on ")).then(object(at)).then(words(".")),
    }
}

fn refused(how: Refusal) -> &'static str {
    match how {
        Refusal::Quota => "the quota is used up.",
        Refusal::LimitRange => "the limit range forbids such a pod.",
        Refusal::Forbidden => "the API server forbids it.",
        Refusal::Invalid => "the API server finds the object invalid.",
        Refusal::Other => "the API server refuses it.",
    }
}

fn time(what: Wait) -> &'static str {
    match what {
        Wait::PullBackOff => "the next pull is still to come: it will succeed.",
        Wait::JobBackOff => "a pod failed, and the next one waits for its back-off.",
        Wait::Throttled => "the registry throttles: it answers some pulls only, whoever asks.",
        Wait::Retry => "what it was refused for is mended; the next try is still to come.",
        Wait::MinReady => "its pods have not been ready for long enough.",
        Wait::Grace => "its time to end is not over.",
    }
}

/// The second sentence: what goes on all the same.
pub(crate) fn more(session: &Session, object: Option<&Key>) -> Rich {
    let Some(d) = object.and_then(|k| session.world().store().get(k)).and_then(|o| o.get::<Deployment>())
    else {
        return Rich::default();
    };
    let old = d.status.replicas - d.status.updated_replicas;
    if old > 0 && d.status.available_replicas > 0 {
        Rich::words("Old pods still serve.")
    } else {
        Rich::default()
    }
}

/// "Which loop is getting nowhere?"
pub(crate) fn nowhere(session: &Session, at: &Key, blocker: &Blocker) -> Rich {
    let node = session
        .world()
        .store()
        .get(at)
        .and_then(|o| o.get::<kubestep_model::Pod>())
        .map(|p| p.spec.node_name.to_string())
        .unwrap_or_default();
    match blocker {
        Blocker::Image { absent: true, .. } => Rich::words(format!(
            "The kubelet on {node}: the registry keeps answering “not found”. Every other loop has done its part."
        )),
        Blocker::Image { .. } => Rich::words(format!(
            "The kubelet on {node}: it gets no image. Every other loop has done its part."
        )),
        Blocker::Ends { .. } => Rich::words(format!(
            "The kubelet on {node}: it starts the container again and again, and it ends. Every other loop has done its part."
        )),
        Blocker::Probe { .. } => Rich::words(format!(
            "The kubelet on {node}: the probe keeps failing. Every other loop has done its part."
        )),
        Blocker::NothingFits { .. } => Rich::words(
            "The scheduler: no node passes its filters. It will look again when something changes.",
        ),
        Blocker::Gated { .. } => {
            Rich::words("The scheduler: it may not look at the pod before somebody takes its gates away.")
        }
        Blocker::Refused { .. } => {
            Rich::words("The loop that makes the pods: every pod it asks for is refused.")
        }
        Blocker::NodeSilent { node } => {
            Rich::words(format!("The kubelet on {node}: nothing is heard of it."))
        }
        Blocker::LoopStopped { who } => Rich::words(format!("The {}: somebody stopped it.", long(who))),
        Blocker::WatchHeld { who, .. } => Rich::words(format!("The {}: it is told nothing new.", long(who))),
        Blocker::Volume { .. } => Rich::words("The volume controller: it has no volume that fits the claim."),
        Blocker::Configuration { .. } if scales(at) => {
            Rich::words("The autoscaler: it asks for numbers, and nobody gives it any.")
        }
        Blocker::Configuration { .. } => {
            Rich::words(format!("The kubelet on {node}: what the container needs is not there."))
        }
        Blocker::Paused => {
            Rich::words("None: the Deployment is paused, and its loop keeps still as it was told.")
        }
        _ => Rich::default(),
    }
}

/// What blocks it, for the top of Why.
pub(crate) fn head(session: &Session, at: &Key, blocker: &Blocker) -> Rich {
    let blocked = |by: &str| Rich::words("Blocked by ").then(Span::Strong(by.into())).then(words(": "));
    match blocker {
        Blocker::Image { image, absent: true, .. } => blocked("the registry")
            .then(words("it has no "))
            .then(Span::Code(short_image(image)))
            .then(words(". "))
            .then_all(asked(session, image))
            .then(words("No loop rolls back.")),
        Blocker::Image { image, reason, .. } => blocked("the registry")
            .then(Span::Code(reason.clone()))
            .then(words(" for "))
            .then(Span::Code(short_image(image)))
            .then(words(". "))
            .then_all(asked(session, image)),
        Blocker::NothingFits { message } => {
            blocked("the scheduler's filters").then(Span::Code(message.clone()))
        }
        Blocker::Gated { message } => blocked("a gate").then(Span::Code(message.clone())),
        Blocker::Refused { how, message } => blocked(match how {
            Refusal::Quota => "a quota",
            Refusal::LimitRange => "a limit range",
            _ => "the API server",
        })
        .then(Span::Code(message.clone())),
        Blocker::Ends { container, code, reason, restarts } => blocked("the container").then(words(format!(
            "{container} ends with code {code} ({reason}), started again {restarts} times."
        ))),
        Blocker::Probe { container } => blocked("a probe")
            .then(words(format!("{container} runs, and its readiness probe does not succeed."))),
        Blocker::NodeSilent { node } => {
            let silent = blocked("a silent node").then(words(format!("nothing is heard of {node}")));
            match last_heard(session, node) {
                Some(at) => silent.then(words(", for ")).then(Span::Since(at)).then(words(".")),
                None => silent.then(words(".")),
            }
        }
        Blocker::LoopStopped { who } => {
            blocked("a fault").then(words(format!("the {} is stopped.", long(who))))
        }
        Blocker::WatchHeld { who, kind } => {
            blocked("a fault").then(words(format!("the watch of the {} for {kind} is held.", long(who))))
        }
        Blocker::Volume { claim, message } if message.is_empty() => {
            blocked("a claim").then(words(format!("no volume is bound to {claim}.")))
        }
        Blocker::Volume { message, .. } => blocked("a claim").then(Span::Code(message.clone())),
        Blocker::Configuration { message } if scales(at) => {
            blocked("missing numbers").then(Span::Code(message.clone()))
        }
        Blocker::Configuration { message } => {
            blocked("missing configuration").then(Span::Code(message.clone()))
        }
        Blocker::Paused => blocked("a person").then(words("it is paused, and its loop keeps still.")),
        Blocker::Finalizer { names } => blocked("a finalizer").then(Span::Code(names.join(", "))),
        Blocker::Time { what } => Rich::words(format!("Waiting: {}", time(*what))),
        Blocker::NotObserved | Blocker::Turn | Blocker::UnderWay => Rich::words("Under way: ")
            .then(Span::Object(object_ref(at), format!("{} {}", at.kind, tail(&at.name))))
            .then(words(" comes next.")),
        Blocker::NoLoop => Rich::words("No loop acts on it."),
    }
}

/// Where the chain stops, in one word.
pub(crate) fn stops_at(at: &Key, blocker: &Blocker) -> Option<&'static str> {
    Some(match blocker {
        Blocker::Image { .. } => "registry",
        Blocker::NothingFits { .. } => "filters",
        Blocker::Gated { .. } => "gate",
        Blocker::Refused { how: Refusal::Quota, .. } => "quota",
        Blocker::Refused { .. } => "refused",
        Blocker::Ends { .. } => "container",
        Blocker::Probe { .. } => "probe",
        Blocker::NodeSilent { .. } => "node",
        Blocker::LoopStopped { .. } | Blocker::WatchHeld { .. } => "fault",
        Blocker::Volume { .. } => "volume",
        Blocker::Configuration { .. } if scales(at) => "numbers",
        Blocker::Configuration { .. } => "configuration",
        Blocker::Paused => "paused",
        Blocker::Finalizer { .. } => "finalizer",
        Blocker::NotObserved | Blocker::Turn | Blocker::Time { .. } | Blocker::UnderWay | Blocker::NoLoop => {
            return None;
        }
    })
}

/// What would end it.
pub(crate) fn ends(session: &Session, blocker: &Blocker, top: Option<&Key>) -> Vec<End> {
    let end = |label: String, then: &str, act: EndAct| End { label, then: then.into(), act };
    let mut found = match blocker {
        Blocker::Image { image, absent, .. } => {
            let verb = if *absent { "Push" } else { "Allow" };
            let act =
                if *absent { ImageAct::Push(image.clone()) } else { ImageAct::Deny(image.clone(), false) };
            vec![end(format!("{verb} {}", short_image(image)), "the next pull succeeds", EndAct::Image(act))]
        }
        Blocker::NothingFits { .. } => {
            vec![end("Add a node".into(), "the scheduler looks again", EndAct::Node(NodeAct::Add))]
        }
        Blocker::NodeSilent { node } => vec![end(
            format!("Start {node}"),
            "its kubelet reports again",
            EndAct::Node(NodeAct::Start(node.clone())),
        )],
        Blocker::LoopStopped { who } => {
            vec![end(
                format!("Let the {} go on", long(who)),
                "it reads what it has missed",
                EndAct::Fault(fault_of(who)),
            )]
        }
        Blocker::Paused => top
            .map(|k| {
                end(
                    "Resume the rollout".into(),
                    "the new revision goes on",
                    EndAct::Kubectl(format!("kubectl rollout resume deployment/{}", k.name)),
                )
            })
            .into_iter()
            .collect(),
        _ => vec![],
    };
    let history =
        top.filter(|k| k.kind == Kind::Deployment && blocker.stalls() && !matches!(blocker, Blocker::Paused));
    let undo = history
        .and_then(|k| session.world().store().get(k))
        .and_then(|o| o.get::<Deployment>())
        .filter(|d| d.status.replicas > d.status.updated_replicas);
    if let Some(d) = undo {
        found.push(end(
            "Undo the rollout".into(),
            "the revision before is rolled out again",
            EndAct::Kubectl(format!("kubectl rollout undo deployment/{}", d.metadata.name)),
        ));
    }
    found
}

fn fault_of(who: &str) -> String {
    match who {
        "kube-controller-manager" => "crash:manager".into(),
        "kube-scheduler" => "crash:scheduler".into(),
        name => format!("stop:{name}"),
    }
}
