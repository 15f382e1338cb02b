//! Why: the chain of loops to what blocks it, who says so, and the causes back to a keystroke.

use super::attempts;
use crate::{
    link::Saved,
    session::{Session, object_ref},
    words::{self, blocker, deed, who},
};
use kubestep_cluster::{Act, Input, InputKind, LogEntry, NodeAct, Record, What};
use kubestep_insight::{Blocker, Said as Says, has_failed, says, why as chain, writes};
use kubestep_model::arrange::Arrange;
use kubestep_model::{Deployment, Event, Instant, Key, Kind, Object, Pod};
use kubestep_protocol::{At, Link, Quote, Rich, Said, Span, Speaker, Speech, Who, Why, WhyHead};
use std::{sync::Arc, time::Duration};

/// So many causes are told.
const CAUSES: usize = 12;
/// So many marks of one speaker are drawn.
const MARKS: usize = 40;

/// The Why tab of an object.
pub(super) fn why(session: &Session, object: &Object) -> Why {
    let key = object.key();
    let links = chain(session.world(), &session.note().gaps, &key);
    let end = links.last().and_then(|l| l.blocker.clone().map(|b| (l.object.clone(), b)));
    let mut tab = Why { chain: causes(session, object, end.as_ref()), ..Why::default() };
    tab.trace = super::trace::trace(session, object);
    if let Object::Pod(pod) = object {
        tab.attempts = attempts::attempts(session, &pod.metadata.uid);
    }
    let Some((at, what)) = end else {
        let idle = matches!(object, Object::Custom(c) if !kubestep_cluster::loops::acts_on(c.kind));
        let otherwise = if idle { WhyHead::NoLoop } else { WhyHead::Agreed };
        tab.head =
            failed(session, object).or_else(|| super::drift::head(session, object)).unwrap_or(otherwise);
        return tab;
    };
    let since = links.first().and_then(|l| l.since);
    let mut head = blocker::head(session, &at, &what);
    if let Some(since) = since.filter(|_| what.stalls()) {
        let words =
            Rich::words(" So for ").then(Span::Since(session.at(since))).then(Span::Words(".".into()));
        head = head.then_all(words);
    }
    tab.head = if what.stalls() { WhyHead::Blocked(head) } else { WhyHead::Moving(head) };
    tab.strip = strip(&links.iter().map(|l| l.object.clone()).collect::<Vec<_>>(), &what);
    tab.stops_at = blocker::stops_at(&at, &what).map(Into::into);
    tab.ends = blocker::ends(session, &what, Some(&key));
    tab.speech = speech(session, &key, &links);
    tab.quote = links.iter().rev().find_map(|l| quote(session, l));
    tab
}

/// What has failed for good: nothing is left to do, and it is not as asked.
fn failed(session: &Session, object: &Object) -> Option<WhyHead> {
    let at = writes(session.world().store(), object).take_while(|(o, _)| has_failed(o)).last()?.1.at;
    let words = match says(object) {
        Some((_, said)) => Rich::words("It has failed, ").then(Span::Code(said)),
        None => Rich::words("It has failed"),
    };
    let until = Rich::words("Its loop is done with it, and tries no more: delete it and make it anew.");
    Some(WhyHead::Silent { words, since: session.at(at), until })
}

/// The chain from you on: who wrote, who noticed, who acted.
fn strip(objects: &[Key], end: &Blocker) -> Vec<(Who, String)> {
    let mut strip = vec![(Who::Person, "you".to_string()), (Who::Api, "api".into())];
    for key in objects {
        match key.kind {
            Kind::Deployment => strip.push((Who::Deployment, "deployment".into())),
            Kind::ReplicaSet => strip.push((Who::ReplicaSet, "replicaset".into())),
            Kind::Pod => {
                strip.push((Who::Scheduler, "scheduler".into()));
                if !matches!(end, Blocker::NothingFits { .. }) {
                    strip.push((Who::Kubelet, "kubelet".into()));
                }
            }
            _ => strip.push((Who::Other, brief(key.kind))),
        }
    }
    strip
}

/// A kind's name where there is little room.
fn brief(kind: Kind) -> String {
    match kind.name() {
        "HorizontalPodAutoscaler" => "autoscaler".into(),
        "PersistentVolumeClaim" => "claim".into(),
        "PersistentVolume" => "volume".into(),
        "PodDisruptionBudget" => "budget".into(),
        "ReplicationController" => "replication".into(),
        _ => kind.singular().into(),
    }
}

/// The words of one who says so: where they stand, and who wrote them.
fn quote(session: &Session, link: &kubestep_insight::Link) -> Option<Quote> {
    let (source, text) = match &link.said {
        Says::Field(key, path, value) => {
            (format!("{} {} · {path}", key.kind, words::tail(&key.name)), value.clone())
        }
        Says::Event(key, reason, message) => {
            (format!("Event {reason} about {} {}", key.kind, words::tail(&key.name)), message.clone())
        }
        Says::Nobody => return None,
    };
    let by = link.writer.as_ref().map_or_else(Rich::default, |(who, at)| written(who, session.at(*at)));
    Some(Quote { source: Rich::words(source), by, text })
}

/// By whom, and when.
pub(super) fn written(who: &str, at: At) -> Rich {
    Rich::words(format!("written by {}, ", deed::writer(who)))
        .then(Span::Since(at))
        .then(Span::Words(" ago".into()))
}

/// Who could have spoken since the gap opened, and when they did.
fn speech(session: &Session, key: &Key, chain: &[kubestep_insight::Link]) -> Option<Speech> {
    let gap = session.note().gaps.get(key)?;
    let mut lanes = vec![];
    if key.kind == Kind::Deployment {
        lanes.push(apply_lane(session, gap.opened));
    }
    for link in chain {
        let own = field(link).filter(|(of, _)| **of == link.object).map(|(_, at)| at);
        lanes.push(lane(session, &link.object, own, gap.opened));
        if let Some((of, at)) = field(link).filter(|(of, _)| **of != link.object) {
            lanes.push(lane(session, of, Some(at), gap.opened));
        }
    }
    for service in session
        .world()
        .store()
        .list(Kind::Service, Some(&key.namespace))
        .filter(|_| key.kind == Kind::Deployment)
    {
        if &*service.meta().name != "kubernetes" {
            lanes.push(Speaker {
                name: "Service".into(),
                who: Who::EndpointSlice,
                spoke: vec![],
                words: "says nothing".into(),
                helps: false,
                ended: false,
            });
            break;
        }
    }
    Some(Speech { from: session.at(gap.opened), lanes })
}

fn apply_lane(session: &Session, opened: Instant) -> Speaker {
    let ended = session
        .world()
        .clients()
        .filter(|(_, c)| c.terminal == crate::session::APPLY)
        .filter_map(|(_, c)| c.ended)
        .map(|e| e.1)
        .filter(|at| *at + Duration::from_secs(2) >= opened)
        .min();
    Speaker {
        name: "apply".into(),
        who: Who::Api,
        spoke: ended.map(|at| session.at(at)).into_iter().collect(),
        words: "exit 0, then gone".into(),
        helps: false,
        ended: true,
    }
}

/// The object of which a field says why, and since when it has. That too few are there is no reason.
fn field(link: &kubestep_insight::Link) -> Option<(&Key, Instant)> {
    let Says::Field(of, path, _) = &link.said else { return None };
    let counts_only = of.kind == Kind::Deployment && !path.contains("ReplicaFailure");
    link.writer.as_ref().filter(|_| !counts_only).map(|(_, at)| (of, *at))
}

/// Warnings about an object, its field that says why, and its conditions that turned bad, since a moment.
fn lane(session: &Session, key: &Key, said: Option<Instant>, since: Instant) -> Speaker {
    let world = session.world();
    let (who, name) = match key.kind {
        Kind::Deployment => (Who::Deployment, "Deployment".to_string()),
        Kind::ReplicaSet => (Who::ReplicaSet, "ReplicaSet".into()),
        Kind::Pod => (Who::Kubelet, format!("Pod {}", words::tail(&key.name))),
        Kind::Node => (Who::Other, format!("Node {}", key.name)),
        _ => (Who::Other, brief(key.kind)),
    };
    let warns = |e: &Event| {
        e.r#type == "Warning"
            && e.involved_object.name == key.name
            && e.involved_object.kind == key.kind.name()
    };
    let mut spoke: Vec<Instant> = world
        .store()
        .log_after(0)
        .filter(|e| e.key.kind == Kind::Event && e.at >= since)
        .filter(|e| e.new.as_ref().and_then(|o| o.get::<Event>()).is_some_and(warns))
        .map(|e| e.at)
        .collect();
    spoke.extend(said.map(|at| at.max(since)));
    let helps = !spoke.is_empty();
    if key.kind == Kind::ReplicaSet {
        // It tells of the pods that it made: a word, if none that helps.
        let tells = |e: &Event| e.involved_object.name == key.name && e.involved_object.kind == "ReplicaSet";
        let told = world
            .store()
            .log_after(0)
            .filter(|e| e.key.kind == Kind::Event && e.at >= since)
            .filter(|e| e.new.as_ref().and_then(|o| o.get::<Event>()).is_some_and(tells));
        spoke.extend(told.map(|e| e.at));
        spoke.arrange();
        spoke.dedup();
    }
    let late = world
        .store()
        .get(key)
        .and_then(|o| o.get::<Deployment>())
        .and_then(|d| d.condition("Progressing"))
        .filter(|c| c.status == "False");
    // The field itself counts in whole seconds: when it was written is known better.
    let is_late = |o: Option<&Object>| {
        let progressing = o.and_then(|o| o.get::<Deployment>()).and_then(|d| d.condition("Progressing"));
        progressing.is_some_and(|c| c.status == "False")
    };
    let turned =
        |e: &&LogEntry| e.key == *key && e.at >= since && is_late(e.new.as_ref()) && !is_late(e.old.as_ref());
    if late.is_some()
        && let Some(at) = world.store().log_after(0).filter(turned).last().map(|e| e.at)
    {
        spoke.push(at);
    }
    spoke.arrange();
    let words = if late.is_some() {
        "says it is late"
    } else if helps {
        "says why"
    } else if !spoke.is_empty() {
        "made its pods"
    } else {
        "says nothing"
    };
    if spoke.len() > MARKS {
        spoke.drain(MARKS / 2..spoke.len() - MARKS / 2);
    }
    Speaker {
        name,
        who,
        spoke: spoke.into_iter().map(|at| session.at(at)).collect(),
        words: words.into(),
        helps: helps || late.is_some(),
        ended: false,
    }
}

/// From the last write to this object back along the causes to a person's act.
fn causes(session: &Session, object: &Object, end: Option<&(Key, Blocker)>) -> Vec<Link> {
    let at = end.map_or_else(|| object.key(), |(key, _)| key.clone());
    let revision = session.world().store().get(&at).map_or(0, |o| o.meta().revision());
    let step = session.step();
    // The record that made the revision which the object has now.
    let made = (0..=step).rev().find_map(|s| {
        session
            .history
            .records_of(s)
            .iter()
            .find(|r| r.changes.iter().any(|c| c.revision == revision))
            .cloned()
    });
    let mut links: Vec<Link> = vec![];
    let mut next = made.clone();
    let mut written = made;
    while let Some(record) = next.filter(|_| links.len() < CAUSES) {
        if record.visible() {
            links.push(link(session, &record, end.map(|(_, b)| b)));
        }
        if !record.changes.is_empty() {
            written = Some(record.clone());
        }
        let cause = || record.cause.and_then(|id| session.history.record(id)).cloned();
        let earlier = || earlier(session, written.as_ref()?);
        next = match &record.what {
            // A tick serves all objects of an agent: what it does for one is better told by who wrote that one before.
            What::ByClock { .. } => earlier().or_else(cause),
            _ => cause().or_else(|| begun(session, &record)).or_else(earlier),
        };
        if matches!(record.what, What::Act { .. }) {
            break;
        }
    }
    if let Some((_, Blocker::NodeSilent { node })) = end
        && let Some(stop) = stopped(session, node).map(|record| link(session, &record, None))
    {
        // The latest is first.
        let at = links.iter().position(|l| l.at <= stop.at).unwrap_or(links.len());
        links.insert(at, stop);
    }
    if let (Some(first), Some(Object::Pod(pod))) = (links.first_mut(), session.world().store().get(&at)) {
        first.said = pod_said(pod);
    }
    links
}

/// The act in which a person stopped a node, at last.
fn stopped(session: &Session, node: &str) -> Option<Arc<Record>> {
    let stops = |input: &&Input| matches!(&input.what, InputKind::Act(Act::Node(NodeAct::Stop(name))) if **name == *node);
    let inputs = &session.history.branches()[session.history.branch()].inputs;
    let put_in = inputs.iter().take_while(|input| input.after < session.world().next_record());
    let stop = put_in.filter(stops).last()?;
    session.history.record(stop.after).cloned()
}

fn link(session: &Session, record: &Record, blocker: Option<&Blocker>) -> Link {
    let (who, _) = who::of_record(record, session.world());
    let step = session.step_of(record.id);
    let key = matches!(record.what, What::Act { .. }).then(|| typed(session, record, blocker));
    let words = deed::of_record(session, record);
    Link { who, at: session.at(record.at), step: u32::try_from(step).ok(), words, said: Said::Nobody, key }
}

/// The file that an act applied, and the line of it that what blocks stands in.
fn typed(session: &Session, record: &Record, blocker: Option<&Blocker>) -> (String, u32) {
    let inputs = &session.history.branches()[session.history.branch()].inputs;
    let at = inputs.iter().position(|input| input.after == record.id);
    let Some(Saved::Run { files, .. }) = at.and_then(|i| session.track().saved.get(i)) else {
        return Default::default();
    };
    let Some((name, text)) = files.first() else { return Default::default() };
    let line = match blocker {
        Some(Blocker::Image { image, .. }) => text.lines().position(|l| l.contains(image.as_str())),
        Some(Blocker::Probe { .. }) => text.lines().position(|l| l.contains("readinessProbe")),
        _ => None,
    };
    (name.clone(), line.and_then(|l| u32::try_from(l + 1).ok()).unwrap_or(0))
}

/// A command goes back to the act that started it.
fn begun(session: &Session, record: &Record) -> Option<Arc<Record>> {
    let What::Client { line, .. } = &record.what else { return None };
    let records = &session.history.branches()[session.history.branch()].records;
    let before = records.partition_point(|r| r.id < record.id);
    let act = |r: &&Arc<Record>| matches!(&r.what, What::Act { text } if text == line);
    records[..before].iter().rev().find(act).cloned()
}

/// What an agent does by the clock goes back to what somebody else wrote to the same object last.
fn earlier(session: &Session, record: &Record) -> Option<Arc<Record>> {
    let store = session.world().store();
    let (change, entry) = record.changes.iter().find_map(|c| Some((c, store.entry(c.revision)?)))?;
    let earlier = |e: &&LogEntry| e.key == change.key && e.revision < change.revision && e.who != entry.who;
    let revision = store.log_after(0).filter(earlier).last()?.revision;
    let records = &session.history.branches()[session.history.branch()].records;
    records.iter().rev().find(|r| r.changes.iter().any(|c| c.revision == revision)).cloned()
}

fn pod_said(pod: &Pod) -> Said {
    let waiting = pod
        .status
        .container_statuses
        .iter()
        .enumerate()
        .find_map(|(i, s)| s.state.waiting.as_ref().map(|w| (i, w)));
    let object = object_ref(&kubestep_model::Resource::key(pod));
    match waiting {
        Some((i, w)) => Said::Field(
            object,
            format!("status.containerStatuses[{i}].state.waiting"),
            format!("{}: {}", w.reason, w.message),
        ),
        None => Said::Nobody,
    }
}
