//! Events about an object and about what it owns.

use crate::session::{Session, key_of};
use kubestep_insight::look;
use kubestep_model::arrange::Arrange;
use kubestep_model::{Event, Instant, Kind, Object};
use kubestep_protocol::{EventRow, ObjectRef};
use std::{collections::BTreeSet, sync::Arc};

/// So many rows are shown.
const MOST: usize = 200;

/// The object's uid and those of everything below it.
pub(super) fn family(session: &Session, object: &Object) -> BTreeSet<Arc<str>> {
    let store = session.world().store();
    let mut uids = BTreeSet::from([object.meta().uid.clone()]);
    for kind in [Kind::ReplicaSet, Kind::Pod] {
        for child in look::children(store, object, kind) {
            uids.insert(child.meta().uid.clone());
            uids.extend(look::children(store, child, Kind::Pod).map(|p| p.meta().uid.clone()));
        }
    }
    uids
}

/// When an event was last seen.
pub(super) fn last(event: &Event) -> Instant {
    let series = event.series.as_ref().and_then(|s| s.last_observed_time).map(|t| t.instant());
    series
        .or(event.last_timestamp.map(|t| t.instant()))
        .or(event.event_time.map(|t| t.instant()))
        .unwrap_or(Instant(0))
}

/// The rows, newest first.
pub(super) fn rows(session: &Session, object: &ObjectRef) -> Vec<EventRow> {
    let Some(key) = key_of(session, object) else { return vec![] };
    let store = session.world().store();
    let uids = store.get(&key).map(|o| family(session, o)).unwrap_or_default();
    let namespace = if key.namespace.is_empty() { "default" } else { &key.namespace };
    let about = |e: &&Event| {
        uids.contains(&e.involved_object.uid)
            || (e.involved_object.name == key.name && e.involved_object.kind == key.kind.name())
    };
    let mut events: Vec<&Event> =
        store.list(Kind::Event, Some(namespace)).filter_map(|o| o.get::<Event>()).filter(about).collect();
    events.arrange_by_key(|e| std::cmp::Reverse((last(e), e.metadata.revision())));
    let row = |e: &&Event| {
        let regarding = &e.involved_object;
        let other = *regarding.name != *object.name || regarding.kind != object.kind;
        EventRow {
            kind: e.r#type.clone(),
            reason: e.reason.clone(),
            about: other.then(|| ObjectRef {
                kind: regarding.kind.clone(),
                namespace: regarding.namespace.to_string(),
                name: regarding.name.to_string(),
            }),
            count: u32::try_from(e.series.as_ref().map_or(e.count, |s| s.count).max(1)).unwrap_or(1),
            last: session.at(last(e)),
            from: if e.source.component.is_empty() {
                e.reporting_component.clone()
            } else {
                e.source.component.clone()
            },
            message: e.message.clone(),
        }
    };
    events.iter().take(MOST).map(row).collect()
}
