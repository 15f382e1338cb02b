//! The inspector: one object, and everything that can be asked about it.

mod attempts;
mod audit;
mod drift;
mod events;
mod history;
mod pair;
mod trace;
mod why;
mod yaml;

use crate::{
    ask::ask,
    session::{Session, key_of},
    view,
};
use kubestep_model::{Deployment, Object, client::Stream};
use kubestep_protocol::{Body, Details, FrameId, ObjectRef, Rich, Span, Tab};
use std::collections::BTreeMap;

/// The inspector's content for the moment that is looked at.
pub(crate) fn details(session: &Session, object: &ObjectRef, tab: Tab, frame: FrameId) -> Details {
    let found = session.object(object).cloned();
    let absent = found.is_none().then(|| absent(session, object));
    let body = match (tab, &found) {
        (Tab::Why, Some(o)) => Body::Why(Box::new(why::why(session, o))),
        (Tab::Why, None) => Body::Why(Box::default()),
        (Tab::Describe, _) => Body::Describe(describe(session, object)),
        (Tab::Yaml, Some(o)) => Body::Yaml(yaml::lines(session, o)),
        (Tab::Yaml, None) => Body::Yaml(vec![]),
        (Tab::Events, _) => Body::Events(events::rows(session, object)),
        (Tab::History, _) => Body::History(history::rows(session, object)),
        (Tab::Audit, _) => Body::Audit(audit::rows(session, object)),
    };
    Details {
        frame,
        object: object.clone(),
        absent,
        tag: found.as_ref().map_or_else(Rich::default, |o| tag(session, o)),
        pair: found.as_ref().and_then(|o| pair::pair(session, o)),
        gap: found.as_ref().and_then(|o| view::gap(session, o)),
        deadline: found.as_ref().and_then(deadline),
        body,
    }
}

/// How long a Deployment may make no progress before it says that it is late.
fn deadline(object: &Object) -> Option<u64> {
    // The largest number means: never.
    let seconds = object.get::<Deployment>()?.spec.progress_deadline_seconds.filter(|s| *s < i32::MAX)?;
    u64::try_from(seconds).ok()?.checked_mul(1000)
}

/// The object does not exist now: it is not there yet, or not any more.
fn absent(session: &Session, object: &ObjectRef) -> Rich {
    let key = key_of(session, object);
    let entry = key.and_then(|key| {
        session.world().store().log_after(0).filter(|e| e.key == key && e.new.is_none()).last()
    });
    match entry {
        Some(e) => Rich::words("It was deleted ")
            .then(Span::Since(session.at(e.at)))
            .then(Span::Words(" ago.".into())),
        None => Rich::words("It is not there at this moment."),
    }
}

fn tag(session: &Session, object: &Object) -> Rich {
    match object {
        Object::Pod(p) if !p.spec.node_name.is_empty() => Rich::words(format!("on {}", p.spec.node_name)),
        Object::ReplicaSet(s) => Rich::words(format!("rev {}", kubestep_insight::look::revision(s))),
        _ => object.meta().creation_timestamp.map_or_else(Rich::default, |t| {
            Rich::default().then(Span::Since(session.at(t.instant()))).then(Span::Words(" old".into()))
        }),
    }
}

fn describe(session: &Session, object: &ObjectRef) -> String {
    let Some(key) = key_of(session, object) else { return String::new() };
    let namespace = if key.namespace.is_empty() { String::new() } else { format!(" -n {}", key.namespace) };
    let answer = ask(
        session.world(),
        &format!("kubectl describe {} {}{namespace}", key.kind.qualified(), key.name),
        BTreeMap::new(),
    );
    let text = answer.text(Stream::Out);
    if text.is_empty() { answer.text(Stream::Err) } else { text }
}
