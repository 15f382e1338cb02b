//! Events: what components say about objects.

use crate::{MicroTime, ObjectMeta, Time, go::api};
use std::sync::Arc;

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
