//! One sentence for each step: who did what to which object.

use super::{name, tail, who};
use crate::session::Session;
use kubestep_cluster::control::{Report, RuntimeState};
use kubestep_cluster::{Act, ChangeKind, InputKind, NOT_SERVED, NodeAct, Record, What};
use kubestep_model::{Deployment, Event, Key, Kind, Object, Pod, ReplicaSet};
use kubestep_protocol::{Rich, Sentence, Span, Who};
use std::{sync::Arc, time::Duration};

/// So many inner records are told with a step.
const MOST_INSIDE: usize = 40;

/// The sentence of a step of the current branch.
pub(crate) fn sentence(session: &Session, step: usize) -> Sentence {
    let records: Vec<Arc<Record>> = session.history.records_of(step).to_vec();
    let number = u32::try_from(step).unwrap_or(u32::MAX);
    let at = session.moment(step).map_or(session.now(), |m| session.at(m.at));
    let Some(last) = records.last().filter(|r| r.visible()) else {
        let words = if step == 0 {
            Rich::words("The cluster is up; its nodes are ready.")
        } else {
            waited(session, step, &records)
        };
        let words = match chosen(session, step) {
            Some(record) => words
                .then(Span::Words(" You chose what came next. ".into()))
                .then_all(of_record(session, &record)),
            None => words,
        };
        return Sentence { step: number, at, who: Who::Other, words, inside: inside(session, &records) };
    };
    let (who, _) = who::of_record(last, session.world());
    let mut words = of_record(session, last);
    if step == session.step()
        && (session.history.at_present() || session.between)
        && session.peeking.is_none()
    {
        let passed = session.world().now().since(last.at);
        if passed.as_secs() > 0 {
            words = words.then(Span::Words(" Then ".into())).then(lasting(passed));
            words = words.then(Span::Words(" passed in which nothing was written.".into()));
        }
    }
    let inside = inside(session, &records[..records.len() - 1]);
    Sentence { step: number, at, who, words, inside }
}

/// What a person let happen at the end of the last step, of which nobody else sees anything.
fn chosen(session: &Session, step: usize) -> Option<Arc<Record>> {
    let input = session.history.branches()[session.history.branch()].inputs.last()?;
    let after = session.moment(step)?.next_record <= input.after && session.moment(step + 1).is_none();
    let here = step == session.step() && session.peeking.is_none();
    let choice = matches!(input.what, InputKind::Choice(_));
    session.history.record(input.after).filter(|r| here && after && choice && !r.visible()).cloned()
}

fn inside(session: &Session, records: &[Arc<Record>]) -> Vec<Rich> {
    let mut last: Vec<Rich> =
        records.iter().rev().filter_map(|r| inner(session, r)).take(MOST_INSIDE).collect();
    last.reverse();
    last
}

fn lasting(time: Duration) -> Span {
    Span::Lasting(u64::try_from(time.as_millis()).unwrap_or(0))
}

/// A step in which nothing but time passed, or a command came to its end.
fn waited(session: &Session, step: usize, records: &[Arc<Record>]) -> Rich {
    let ended = records.iter().rev().find_map(|r| match &r.what {
        What::Client { line, exit: Some(_) } => Some(Rich::default().then(Span::Code(line.clone()))),
        _ => None,
    });
    let at = |step: usize| session.moment(step).map(|m| m.at);
    let passed = at(step).zip(at(step - 1)).map_or(Duration::ZERO, |(now, before)| now.since(before));
    match ended {
        Some(line) if passed.as_secs() < 2 => {
            line.then(Span::Words(" was answered. Nothing was written.".into()))
        }
        _ => Rich::default().then(lasting(passed)).then(Span::Words(" passed. Nothing was written.".into())),
    }
}

/// The sentences of several steps.
pub(crate) fn sentences(session: &Session, from: usize, to: usize) -> Vec<Sentence> {
    (from..to.min(session.history.last() + 1)).map(|step| sentence(session, step)).collect()
}

/// The first words: who, as the subject of a sentence.
fn subject(agent: &str) -> String {
    match agent {
        "kubectl" => "You".into(),
        "kube-apiserver" => "The API server".into(),
        _ => match agent.strip_prefix("kubelet ") {
            Some(node) => format!("The kubelet on {node}"),
            None => format!("The {}", super::who::long(agent)),
        },
    }
}

/// Who wrote something, inside of a sentence.
pub(crate) fn writer(agent: &str) -> String {
    match agent {
        "kubectl" => "you".into(),
        "order" | "declare" | "statefile" => format!("you, with {agent}"),
        _ => subject(agent).replacen("The ", "the ", 1),
    }
}

pub(crate) fn of_record(session: &Session, record: &Record) -> Rich {
    match &record.what {
        What::Act { text } if text.starts_with("kubectl") => {
            Rich::words("You ran ").then(Span::Code(text.clone())).then(Span::Words(".".into()))
        }
        What::Act { text } => Rich::words(super::who::named(text)),
        What::Served { who, verb, key, subresource, code, message, .. } => {
            served(session, record, who, (verb, subresource), key, *code, message.as_deref())
        }
        What::Runtime { node, reports } => Rich::words(format!("On {node}: {}.", runtime(reports))),
        What::Delivered { process, key, behind, .. } => delivered(&process.to_string(), key, *behind),
        What::Thought { controller, key, asks, ended } => thought(controller, key, asks, ended.as_deref()),
        What::ByClock { process, .. } => Rich::words(format!("{process} acted by the clock.")),
        What::Client { line, exit } => client(line, *exit),
        What::Woke { controller } => {
            Rich::words(format!("Keys of the {} came back into line.", super::who::long(controller)))
        }
    }
}

/// An inner record in one sentence; `None` for those that say nothing to a reader.
fn inner(session: &Session, record: &Record) -> Option<Rich> {
    match &record.what {
        What::ByClock { .. } | What::Woke { .. } | What::Act { .. } => None,
        What::Delivered { key, .. } if matches!(key.kind, Kind::Lease | Kind::Event) => None,
        What::Served { key, .. } if key.kind == Kind::Lease => None,
        What::Runtime { reports, .. } if reports.is_empty() => None,
        _ => Some(of_record(session, record)),
    }
}

fn delivered(process: &str, key: &Key, behind: usize) -> Rich {
    let rest = match behind {
        0 => String::new(),
        n => format!(" It has {n} more to read."),
    };
    Rich::words(format!("{process} read: ")).then(name(key)).then(Span::Words(format!(" changed.{rest}")))
}

fn thought(controller: &str, key: &Key, asks: &[String], ended: Option<&str>) -> Rich {
    let start = Rich::words(format!("The {} looked at ", super::who::long(controller))).then(name(key));
    match (asks, ended) {
        ([], Some("settled")) => start.then(Span::Words(": nothing more to do.".into())),
        ([], Some(why)) => {
            start.then(Span::Words(": it will try again. ".into())).then(Span::Code(why.into()))
        }
        ([one], _) => start.then(Span::Words(format!(": it will ask to {one}."))),
        ([one, ..], _) => {
            start.then(Span::Words(format!(": it will ask to {one}, and {} more.", asks.len() - 1)))
        }
        ([], None) => start.then(Span::Words(".".into())),
    }
}

fn client(line: &str, exit: Option<i32>) -> Rich {
    let start = Rich::default().then(Span::Code(line.into()));
    match exit {
        Some(code) => start.then(Span::Words(format!(" ended with exit code {code}."))),
        None => start.then(Span::Words(" went on.".into())),
    }
}

/// What the containers did, in a few words.
fn runtime(reports: &[Report]) -> String {
    let mut words: Vec<&str> = reports.iter().map(reported).collect();
    words.dedup();
    words.join(", ")
}

/// A report of the runtime in words.
fn reported(report: &Report) -> &'static str {
    match report {
        Report::Listed { .. } => "the runtime said what is there",
        Report::Sandbox { sandbox, .. } if !sandbox.ready => "a pod's sandbox was stopped",
        Report::Sandbox { .. } => "a pod's sandbox is ready",
        Report::Pulled { result: Err(_), .. } => "a pull failed",
        Report::Pulled { .. } => "a pull ended",
        Report::Container { container, .. } => match container.state {
            RuntimeState::Created => "a container was created",
            RuntimeState::Exited => "a container ended",
            RuntimeState::Running => "a container started",
        },
        Report::StartDone { result: Err(_), .. } => "a container could not be started",
        Report::StartDone { .. } => "the kubelet heard that a container started",
        Report::Stopped { .. } => "a container was stopped",
        Report::ExecDone { .. } => "a probe answered",
        Report::ContainerRemoved { .. } | Report::PodRemoved { .. } => "what was left was cleared away",
    }
}

fn served(
    session: &Session,
    record: &Record,
    agent: &str,
    (verb, sub): (&str, &str),
    key: &Key,
    code: u16,
    message: Option<&str>,
) -> Rich {
    let who = subject(agent);
    if let Some(message) = message {
        let asked = if sub.is_empty() { format!("{verb} ") } else { format!("{verb} {sub} of ") };
        if code == NOT_SERVED {
            return Rich::words(format!("{who} asked to {asked}"))
                .then(name(key))
                .then(Span::Words(", and the request did not arrive: ".into()))
                .then(Span::Code(message.into()));
        }
        return Rich::words(format!(
            "The API server refused {} to {asked}",
            who.replacen("The", "the", 1).replacen("You", "you", 1)
        ))
        .then(name(key))
        .then(Span::Words(format!(" ({code}): ")))
        .then(Span::Code(message.into()));
    }
    let change = record.changes.iter().find(|c| c.key.kind == key.kind);
    let entry = change.and_then(|c| {
        session.world().store().entry(c.revision).or_else(|| session.history.live().store().entry(c.revision))
    });
    let (old, new) = entry.map_or((None, None), |e| (e.old.as_ref(), e.new.as_ref()));
    if key.kind == Kind::Event {
        return event(&who, new);
    }
    let what = match (change.map(|c| c.kind), verb, sub) {
        (_, _, "binding") => return bound(&who, key, new),
        (None, _, "token") => return Rich::words(format!("{who} asked for a token for a pod.")),
        (None, ..) => {
            return Rich::words(format!("{who} asked to {verb} "))
                .then(name(key))
                .then(Span::Words(": nothing changed.".into()));
        }
        (Some(ChangeKind::Added), ..) => "created ",
        (Some(ChangeKind::Deleted), ..) => "removed ",
        (Some(ChangeKind::Modified), "delete", _) => "asked to end ",
        (Some(ChangeKind::Modified), _, "status") => "wrote the status of ",
        (Some(ChangeKind::Modified), _, "scale") => "scaled ",
        (Some(ChangeKind::Modified), ..) => "changed ",
    };
    // Of many that go at once, this one.
    let key = change.filter(|_| key.name.is_empty()).map_or(key, |c| &c.key);
    let mut rich = Rich::words(format!("{who} {what}")).then(name(key));
    if let (Some(old), Some(new)) = (old, new) {
        let news = differences(old, new);
        if !news.is_empty() {
            rich = rich.then(Span::Words(format!(": {}", news.join(", "))));
        }
    }
    rich.then(Span::Words(".".into()))
}

fn event(who: &str, new: Option<&Object>) -> Rich {
    let Some(event) = new.and_then(|o| o.get::<Event>()) else {
        return Rich::words(format!("{who} wrote an event."));
    };
    let about = &event.involved_object;
    let count = if event.count > 1 { format!(" ({}×)", event.count) } else { String::new() };
    Rich::words(format!("{who} said about {} {}: ", about.kind, tail(&about.name)))
        .then(Span::Code(format!("{}{count}: {}", event.reason, event.message)))
}

fn bound(who: &str, key: &Key, new: Option<&Object>) -> Rich {
    let node = new.and_then(|o| o.get::<Pod>()).map_or(String::new(), |p| p.spec.node_name.to_string());
    Rich::words(format!("{who} bound ")).then(name(key)).then(Span::Words(format!(" to {node}.")))
}

/// The few differences that a reader wants to know, old → new.
fn differences(old: &Object, new: &Object) -> Vec<String> {
    let mut found = vec![];
    let mut number = |what: &str, a: i32, b: i32| {
        if a != b {
            found.push(format!("{what} {a} → {b}"));
        }
    };
    match (old, new) {
        (Object::Deployment(a), Object::Deployment(b)) => {
            number("replicas", a.replicas(), b.replicas());
            number("updated", a.status.updated_replicas, b.status.updated_replicas);
            number("available", a.status.available_replicas, b.status.available_replicas);
            found.extend(image(a, b));
            for c in &b.status.conditions {
                let before = a.condition(&c.r#type).map(|c| (c.status.as_str(), c.reason.as_str()));
                if before != Some((c.status.as_str(), c.reason.as_str())) {
                    found.push(format!("{}={} {}", c.r#type, c.status, c.reason));
                }
            }
        }
        (Object::ReplicaSet(a), Object::ReplicaSet(b)) => sets(a, b, &mut number),
        (Object::Pod(a), Object::Pod(b)) => {
            if a.is_ready() != b.is_ready() {
                found.push(if b.is_ready() { "ready".into() } else { "no longer ready".into() });
            }
            let (before, after) = (crate::view::status_words(a), crate::view::status_words(b));
            if before != after {
                found.push(format!("{before} → {after}"));
            }
        }
        _ => {}
    }
    found
}

fn sets(a: &ReplicaSet, b: &ReplicaSet, number: &mut impl FnMut(&str, i32, i32)) {
    number("wanted", a.replicas(), b.replicas());
    number("pods", a.status.replicas, b.status.replicas);
    number("ready", a.status.ready_replicas, b.status.ready_replicas);
}

fn image(a: &Deployment, b: &Deployment) -> Option<String> {
    let first = |d: &Deployment| d.spec.template.spec.containers.first().map(|c| c.image.clone());
    let (a, b) = (first(a)?, first(b)?);
    (a != b).then(|| format!("image {a} → {b}"))
}

/// A loop's last act in a few words, as "made x2k4p".
pub(crate) fn short_deed(record: &Record) -> String {
    match &record.what {
        What::Served { verb, key, .. } => format!("{verb} {}", tail(&key.name)),
        What::Thought { key, asks, ended, .. } => match (asks.first(), ended) {
            (Some(ask), _) => format!("asked to {}", shorten(ask)),
            (None, Some(_)) => format!("looked at {}", tail(&key.name)),
            (None, None) => "thought".into(),
        },
        What::Delivered { key, .. } => format!("read {}", tail(&key.name)),
        What::ByClock { .. } => "acted by the clock".into(),
        What::Runtime { reports, .. } => runtime(reports),
        What::Act { .. } | What::Client { .. } | What::Woke { .. } => String::new(),
    }
}

fn shorten(ask: &str) -> String {
    let mut words: Vec<&str> = ask.split(' ').collect();
    if let Some(last) = words.last_mut() {
        *last = tail(last);
    }
    words.join(" ")
}

/// An act as the name of a timeline.
pub(crate) fn of_act(act: &Act) -> String {
    match act {
        Act::Run { program, .. } => program.line(),
        Act::Interrupt { .. } => "Ctrl-C".into(),
        Act::Image { name, image: Some(_) } => format!("{name} pushed"),
        Act::Image { name, image: None } => format!("{name} taken away"),
        Act::Node(NodeAct::Add(spec)) => format!("{} added", spec.name),
        Act::Node(NodeAct::Stop(name) | NodeAct::Crash(name)) => format!("{name} stopped"),
        Act::Node(NodeAct::Start(name)) => format!("{name} started"),
        Act::Probe { .. } => "a probe changed".into(),
        Act::Exit { .. } => "a container ended by hand".into(),
        Act::Fault(_) => "a fault".into(),
        Act::Load(_) => "what pods use".into(),
        Act::WhatIf { .. } => "what if".into(),
        Act::Remark(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::runtime;
    use kubestep_cluster::control::{Report, RuntimeContainer, RuntimeState, StartRefusal};
    use std::sync::Arc;

    #[test]
    fn reports_of_the_runtime_are_told_in_words() {
        let container = |state| Report::Container {
            pod: "p".into(),
            container: Arc::new(RuntimeContainer { state, ..RuntimeContainer::default() }),
        };
        let started = |result| Report::StartDone { pod: "p".into(), name: "c".into(), result };
        let refusal = StartRefusal { id: None, text: "no".into() };
        for (report, want) in [
            (container(RuntimeState::Running), "a container started"),
            (container(RuntimeState::Exited), "a container ended"),
            (started(Ok("1".into())), "the kubelet heard that a container started"),
            (started(Err(refusal)), "a container could not be started"),
            (Report::Stopped { pod: "p".into(), id: "1".into() }, "a container was stopped"),
        ] {
            assert_eq!(runtime(&[report]), want);
        }
    }
}
