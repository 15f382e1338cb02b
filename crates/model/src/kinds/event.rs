//! Events: what components say about objects.

use crate::{MicroTime, ObjectMeta, Time, go::api};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The fields that events.k8s.io names otherwise: their names in the core group, and there.
///
/// Upstream: pkg/apis/events/v1, conversion.go (v1.37).
pub const NEWER_NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

/// Gives an event's fields the names of the newer group, or those of the core group.
pub fn rename_event(fields: &mut Map<String, Value>, newer: bool) {
    for (core, name) in NEWER_NAMES {
        let (from, to) = if newer { (core, name) } else { (name, core) };
        if let Some(value) = fields.remove(from) {
            fields.insert(to.into(), value);
        }
    }
}

api! {
    /// A core/v1 Event.
    pub struct Event {
        always {
            metadata: ObjectMeta,
            involved_object: ObjectReference,
            source: EventSource,
            first_timestamp: Option<Time>,
            last_timestamp: Option<Time>,
            event_time: Option<MicroTime>,
            reporting_component: String,
            reporting_instance: String,
        }
        maybe {
            reason: String,
            message: String,
            count: i32,
            r#type: String,
            action: String,
            series: Option<EventSeries>,
        }
    }
    /// How often an event of the newer kind repeated.
    pub struct EventSeries {
        maybe { count: i32, last_observed_time: Option<MicroTime> }
    }
    /// Who said it, and on which node.
    pub struct EventSource {
        maybe { component: String, host: String }
    }
    /// A reference to any object.
    pub struct ObjectReference {
        maybe {
            kind: String,
            namespace: Arc<str>,
            name: Arc<str>,
            uid: Arc<str>,
            api_version: String,
            resource_version: String,
            field_path: String,
        }
    }
}
