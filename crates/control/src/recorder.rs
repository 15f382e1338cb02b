//! From event notes to Event objects: similar events are combined, repeated ones counted, floods cut off.
//!
//! Two forms, as upstream has them: most components write counted core events (client-go/tools/record), the
//! scheduler writes events with a series (client-go/tools/events).

use crate::EventNote;
use kubestep_model::tree::{OrdMap, Vector};
use kubestep_model::{
    Body, Event, EventSeries, EventSource, Instant, Key, Kind, ObjectMeta, PatchKind, Request, Subresource,
    Verb,
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

const MAX_SIMILAR: usize = 10;
const SIMILAR_WINDOW: Duration = Duration::from_secs(600);
const SPAM_BURST: u32 = 25;
const SPAM_REFILL: Duration = Duration::from_secs(300);
const SERIES_WINDOW: Duration = Duration::from_secs(6 * 60);

/// Which API the component speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Counted events; similar ones are combined.
    Counted,
    /// Events with an event time, a series and the action that the component names.
    Series,
}

#[derive(Clone, Debug, PartialEq)]
struct Similar {
    /// Different ones, the first said first.
    messages: Vector<String>,
    last: Instant,
}

#[derive(Clone, Debug, PartialEq)]
struct Observed {
    name: Arc<str>,
    count: i32,
    first: Instant,
    last: Instant,
}

/// What one process has said so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorder {
    style: Style,
    component: String,
    host: String,
    similar: OrdMap<Arc<str>, Similar>,
    observed: OrdMap<Arc<str>, Observed>,
    /// Tokens used up, per object and type: when the bucket will be full again.
    spam: OrdMap<Arc<str>, Instant>,
}

/// What notes are told apart by: the object, the type, the reason and the message in one text, and before it those without
/// the message.
struct Sorted {
    text: String,
    of_reason: usize,
}

impl Sorted {
    fn new(note: &EventNote) -> Self {
        let mut text = object_key(note);
        let mut add = |part: &str| {
            text.push('\n');
            text.push_str(part);
            text.len()
        };
        add(note.r#type);
        let of_reason = add(&note.reason);
        add(&note.message);
        Sorted { text, of_reason }
    }

    fn group(&self) -> &str {
        &self.text[..self.of_reason]
    }
}

fn object_key(note: &EventNote) -> String {
    let r = &note.regarding;
    let parts: [&str; 6] = [&r.kind, &r.namespace, &r.name, &r.uid, &r.api_version, &r.field_path];
    parts.join("\n")
}

/// Floods are cut off by object and type: many warnings leave room for what is normal.
fn spam_key(note: &EventNote) -> String {
    let r = &note.regarding;
    let parts: [&str; 6] = [&r.kind, &r.namespace, &r.name, &r.uid, &r.api_version, note.r#type];
    parts.join("\n")
}

impl Recorder {
    /// A recorder that has said nothing.
    pub fn new(style: Style, component: impl Into<String>, host: impl Into<String>) -> Self {
        let (component, host) = (component.into(), host.into());
        Recorder {
            style,
            component,
            host,
            similar: OrdMap::new(),
            observed: OrdMap::new(),
            spam: OrdMap::new(),
        }
    }

    /// The request that writes this note now, or `None` if nothing is to be written.
    pub fn note(&mut self, note: &EventNote, now: Instant) -> Option<Request> {
        match self.style {
            Style::Counted => self.counted(note, now),
            Style::Series => self.series(note, now),
        }
    }

    fn counted(&mut self, note: &EventNote, now: Instant) -> Option<Request> {
        let sorted = Sorted::new(note);
        let entry = match self.similar.get_mut(sorted.group()) {
            Some(entry) => entry,
            None => self
                .similar
                .entry(sorted.group().into())
                .or_insert(Similar { messages: Vector::new(), last: now }),
        };
        if now.since(entry.last) > SIMILAR_WINDOW {
            entry.messages.clear();
        }
        entry.last = now;
        if !entry.messages.contains(&note.message) {
            entry.messages.push_back(note.message.clone());
        }
        let (key, message) = if entry.messages.len() < MAX_SIMILAR {
            (&*sorted.text, note.message.clone())
        } else {
            // Upstream forgets any of them, as Go's maps have it; here it is the one that was said first.
            entry.messages.pop_front();
            (sorted.group(), format!("(combined from similar events): {}", note.message))
        };
        let before = self.observed.get(key).cloned();
        let name: Arc<str> = before.as_ref().map_or_else(|| event_name(note, now), |o| o.name.clone());
        let count = before.as_ref().map_or(1, |o| o.count.saturating_add(1));
        let first = before.as_ref().map_or(now, |o| o.first);
        self.observed.insert(key.into(), Observed { name: name.clone(), count, first, last: now });
        if !self.admit(&spam_key(note), now) {
            return None;
        }
        if count > 1 {
            let patch = json!({"count": count, "lastTimestamp": now.to_time(), "message": message});
            let key = Key::new(Kind::Event, namespace(note), name);
            let verb = Verb::Patch {
                key,
                subresource: Subresource::None,
                kind: PatchKind::Strategic,
                patch: Arc::new(patch),
            };
            return Some(verb.into());
        }
        let mut event = self.event(note, name, message);
        event.source =
            EventSource { component: self.component.clone(), host: self.host.clone(), ..Default::default() };
        event.first_timestamp = Some(first.to_time());
        event.last_timestamp = Some(now.to_time());
        event.count = 1;
        event.reporting_component = self.component.clone();
        event.reporting_instance = self.host.clone();
        Some(create(event))
    }

    /// One token a repeat; the bucket of an object and type holds 25 and gains one every five minutes.
    fn admit(&mut self, kind: &str, now: Instant) -> bool {
        let full_at = self.spam.get(kind).copied().unwrap_or(now).max(now);
        let after = full_at + SPAM_REFILL;
        if after.since(now) > SPAM_REFILL * SPAM_BURST {
            return false;
        }
        self.spam.insert(kind.into(), after);
        true
    }

    fn series(&mut self, note: &EventNote, now: Instant) -> Option<Request> {
        // A later state of the object begins a series of its own: the reference holds the resource version.
        let version = &note.regarding.resource_version;
        let key =
            format!("{}\n{version}\n{}\n{}\n{}", object_key(note), note.r#type, note.reason, note.action);
        let before = self.observed.get(&*key).filter(|o| now.since(o.last) <= SERIES_WINDOW).cloned();
        let Some(mut seen) = before else {
            let name = event_name(note, now);
            let seen = Observed { name: name.clone(), count: 1, first: now, last: now };
            self.observed.insert(key.into(), seen);
            let mut event = self.event(note, name, note.message.clone());
            event.event_time = Some(now.to_micro());
            event.action = note.action.into();
            event.reporting_component = self.component.clone();
            event.reporting_instance = self.host.clone();
            return Some(create(event));
        };
        seen.count = seen.count.saturating_add(1);
        seen.last = now;
        let starts = seen.count == 2;
        let name = seen.name.clone();
        self.observed.insert(key.into(), seen);
        if !starts {
            return None;
        }
        let series = EventSeries { count: 2, last_observed_time: Some(now.to_micro()), ..Default::default() };
        let key = Key::new(Kind::Event, namespace(note), name);
        let patch = Arc::new(json!({"series": series}));
        Some(Verb::Patch { key, subresource: Subresource::None, kind: PatchKind::Strategic, patch }.into())
    }

    fn event(&self, note: &EventNote, name: Arc<str>, message: String) -> Event {
        Event {
            metadata: ObjectMeta { name, namespace: namespace(note), ..Default::default() },
            involved_object: note.regarding.clone(),
            r#type: note.r#type.into(),
            reason: note.reason.clone(),
            message,
            ..Default::default()
        }
    }

    /// A patched event was gone: what to create in its place.
    pub fn recreate(&mut self, note: &EventNote, now: Instant) -> Request {
        let mut event = self.event(note, event_name(note, now), note.message.clone());
        event.source =
            EventSource { component: self.component.clone(), host: self.host.clone(), ..Default::default() };
        event.first_timestamp = Some(now.to_time());
        event.last_timestamp = Some(now.to_time());
        event.count = 1;
        create(event)
    }
}

fn namespace(note: &EventNote) -> Arc<str> {
    if note.regarding.namespace.is_empty() { "default".into() } else { note.regarding.namespace.clone() }
}

fn event_name(note: &EventNote, now: Instant) -> Arc<str> {
    format!("{}.{:x}", note.regarding.name, now.0).into()
}

fn create(event: Event) -> Request {
    let namespace = event.metadata.namespace.clone();
    Verb::Create { kind: Kind::Event, namespace, body: Body::Typed(event.into()) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubestep_model::ObjectReference;

    fn note(message: &str) -> EventNote {
        let regarding = ObjectReference { kind: "Pod".into(), name: "web".into(), ..Default::default() };
        EventNote {
            regarding,
            r#type: "Normal",
            reason: "BackOff".into(),
            message: message.into(),
            action: "",
        }
    }

    fn kinds(recorder: &mut Recorder, messages: &[String]) -> Vec<String> {
        let write = |(i, m): (usize, &String)| match recorder
            .note(&note(m), Instant::START + Duration::from_secs(i as u64))
        {
            None => "-".to_string(),
            Some(Request { verb: Verb::Create { body: Body::Typed(o), .. }, .. }) => {
                o.get::<Event>().map_or(String::new(), |e| e.message.clone())
            }
            Some(Request { verb: Verb::Patch { patch, .. }, .. }) => format!("count {}", patch["count"]),
            Some(_) => "?".into(),
        };
        messages.iter().enumerate().map(write).collect()
    }

    #[test]
    fn a_repeated_event_is_counted_and_the_flood_is_cut_off() {
        let mut r = Recorder::new(Style::Counted, "kubelet", "node-1");
        let all = kinds(&mut r, &vec!["same".to_string(); 27]);
        assert_eq!(all[..3], ["same", "count 2", "count 3"]);
        assert_eq!(all[24..], ["count 25", "-", "-"]);
        let warning = EventNote { r#type: "Warning", ..note("other") };
        assert!(
            r.note(&warning, Instant::START + Duration::from_secs(30)).is_some(),
            "each type has a bucket"
        );
    }

    #[test]
    fn the_tenth_similar_event_is_combined() {
        let mut r = Recorder::new(Style::Counted, "replicaset-controller", "");
        let all = kinds(&mut r, &(0..12).map(|i| format!("m{i}")).collect::<Vec<_>>());
        assert_eq!(all[8], "m8");
        assert_eq!(all[9], "(combined from similar events): m9");
        assert_eq!(all[10], "count 2");
    }

    #[test]
    fn a_series_is_written_at_its_second_event_only() {
        let mut r = Recorder::new(Style::Series, "default-scheduler", "default-scheduler-host");
        let now = Instant::START;
        assert!(matches!(r.note(&note("a"), now).map(|r| r.verb), Some(Verb::Create { .. })));
        assert!(matches!(r.note(&note("b"), now).map(|r| r.verb), Some(Verb::Patch { .. })));
        assert_eq!(r.note(&note("c"), now), None);
        let mut later = note("d");
        later.regarding.resource_version = "later".into();
        assert!(
            matches!(r.note(&later, now).map(|r| r.verb), Some(Verb::Create { .. })),
            "a series of its own"
        );
        let verb = r.note(&EventNote { action: "Binding", ..note("e") }, now).map(|r| r.verb);
        let Some(Verb::Create { body: Body::Typed(event), .. }) = verb else {
            panic!("another action, another series")
        };
        assert_eq!(event.get::<Event>().map(|e| e.action.as_str()), Some("Binding"));
    }
}
