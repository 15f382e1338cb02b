//! `kubectl get --raw '…?watch=1'`: what changes, one line each, until the time is over.
//! Upstream: apiserver/pkg/endpoints/handlers/watch.go and pkg/storage/cacher, cacheWatcher (v1.37).

use super::{path::Target, text_of};
use crate::{
    commands::get::matches_fields,
    fault::Fault,
    kc::{Flow, Kc},
};
use kubestep_model::arrange::{Arrange, Gather};
use kubestep_model::{
    Answer, Instant, Key, ListOptions, Object, Reason, Request, Revision, Status, Verb,
    client::WatchEvent,
    schema,
    text::{FieldSelector, Selector},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How a watch was asked for.
pub(super) struct How {
    pub(super) labels: Option<Selector>,
    pub(super) fields: Option<FieldSelector>,
    pub(super) options: ListOptions,
    pub(super) bookmarks: bool,
    /// After so many seconds it ends; 0: when the server thinks fit.
    pub(super) seconds: u64,
}

/// How long the server lets a watch live that says nothing. Upstream draws a time from here to twice as much.
const WITHOUT_A_LIMIT: Duration = Duration::from_secs(1800);
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The last bookmark comes so long before the end.
const BEFORE_THE_END: Duration = Duration::from_secs(2);

pub(super) fn run(kc: &mut Kc<'_>, target: &Target, how: &How) -> Flow<i32> {
    let verb = Verb::List {
        kind: target.kind,
        namespace: target.namespace.clone(),
        labels: how.labels.clone(),
        fields: how.fields.clone(),
    };
    let began = kc.now();
    let options = Some(Arc::new(how.options.clone()));
    let (items, mut from) = match kc.ask(Request { owners: true, list: options, ..verb.into() })? {
        Ok(Answer::List { items, revision }) => (items, revision),
        Ok(_) => return Err(kc.fail("the answer is not a list")),
        Err(status) if status.reason == Reason::Expired => {
            let status = status_value(&status);
            kc.out(line("ERROR", &schema::text("v1", "Status", &status)));
            return Ok(0);
        }
        Err(status) => return Err(kc.fault(&Fault::from(status))),
    };
    let known: BTreeMap<Key, Object> = items.iter().map(|o| (o.key(), o.clone())).gather();
    first(kc, target, how, items, from);
    let limit = if how.seconds > 0 { Duration::from_secs(how.seconds) } else { WITHOUT_A_LIMIT };
    let end = began + limit;
    let mut screen = Screen { how, known };
    let mut bookmark = next_bookmark(kc.now(), end);
    loop {
        let until = if how.bookmarks { bookmark.min(end) } else { end };
        let (kind, namespace) = (target.kind, target.namespace.clone());
        let (events, seen) = kc.watch_owned(kind, namespace, from, until)?;
        if events.is_empty() && kc.now() >= end {
            return Ok(0);
        }
        if events.is_empty() && how.bookmarks {
            kc.out(bookmark_line(target, seen, false));
            bookmark = next_bookmark(kc.now(), end);
        }
        from = from.max(seen);
        for event in events {
            screen.tell(kc, event);
        }
    }
}

/// What is there at the start, if it was asked for, and the bookmark behind it.
fn first(kc: &mut Kc<'_>, target: &Target, how: &How, mut items: Vec<Object>, from: Revision) {
    let asked: Revision = how.options.resource_version.parse().unwrap_or(0);
    let all = how.options.send_initial_events == Some(true);
    if !all && asked > 0 {
        items.retain(|o| o.meta().revision() > asked);
        items.arrange_by_key(|o| o.meta().revision());
    }
    if how.options.send_initial_events != Some(false) || asked > 0 {
        for item in &items {
            kc.out(line("ADDED", &text_of(item, true)));
        }
    }
    let unset = how.options.resource_version.is_empty() && how.options.send_initial_events.is_none();
    if how.bookmarks && (all || unset) {
        kc.out(bookmark_line(target, from, true));
    }
}

/// Upstream: cacheWatcher.nextBookmarkTime.
fn next_bookmark(now: Instant, end: Instant) -> Instant {
    let last = Instant(end.0.saturating_sub(i64::try_from(BEFORE_THE_END.as_nanos()).unwrap_or(0)));
    let beat = now + BOOKMARK_EVERY;
    if last > now && last < beat { last } else { beat }
}

fn line(what: &str, object: &str) -> String {
    format!("{{\"type\":\"{what}\",\"object\":{object}}}\n")
}

fn bookmark_line(target: &Target, revision: Revision, initial: bool) -> String {
    let (version, name) = (target.kind.api_version(), target.kind.name());
    let mut meta = json!({ "resourceVersion": revision.to_string() });
    if initial {
        meta["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
    }
    let mut value = schema::encode(&version, name, &json!({ "metadata": meta }));
    value["kind"] = name.into();
    value["apiVersion"] = version.as_str().into();
    line("BOOKMARK", &schema::text(&version, name, &value))
}

/// A refusal as an object.
fn status_value(status: &Status) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": status.message, "reason": format!("{:?}", status.reason), "code": status.code,
    })
}

/// What the one who watches knows.
struct Screen<'a> {
    how: &'a How,
    known: BTreeMap<Key, Object>,
}

impl Screen<'_> {
    /// Tells of a change; one that begins or ceases to fit the selectors is told as added or deleted.
    fn tell(&mut self, kc: &mut Kc<'_>, event: WatchEvent) {
        let (object, gone) = match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
            WatchEvent::Deleted(object) => (object, true),
        };
        let how = self.how;
        let fits = how.labels.as_ref().is_none_or(|l| l.matches(&object.meta().labels))
            && how.fields.as_ref().is_none_or(|f| matches_fields(f, &object));
        let key = object.key();
        let before = self.known.remove(&key);
        let (what, shown) = match (fits && !gone, before) {
            (true, None) => ("ADDED", object.clone()),
            (true, Some(_)) => ("MODIFIED", object.clone()),
            (false, Some(_)) if gone && fits => ("DELETED", object.clone()),
            (false, Some(mut old)) => {
                old.meta_mut().resource_version.clone_from(&object.meta().resource_version);
                ("DELETED", old)
            }
            (false, None) => return,
        };
        if fits && !gone {
            self.known.insert(key, object);
        }
        kc.out(line(what, &text_of(&shown, true)));
    }
}
