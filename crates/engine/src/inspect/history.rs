//! Every write to one object, and the difference that each made.

use crate::{
    session::{Session, key_of},
    words::who,
};
use kubestep_cluster::LogEntry;
use kubestep_model::Object;
use kubestep_model::arrange::Gather;
use kubestep_protocol::{HistoryRow, ObjectRef, Rich, Span};
use serde_json::Value;

/// So many rows, and so many fields in one.
const MOST: usize = 200;
const FIELDS: usize = 4;

/// The rows, newest first.
pub(super) fn rows(session: &Session, object: &ObjectRef) -> Vec<HistoryRow> {
    let Some(key) = key_of(session, object) else { return vec![] };
    let entries: Vec<&LogEntry> = session.world().store().log_after(0).filter(|e| e.key == key).collect();
    entries.iter().rev().take(MOST).map(|e| row(session, e)).collect()
}

fn row(session: &Session, entry: &LogEntry) -> HistoryRow {
    let (who, _) = who::of_agent(&entry.who);
    let moments = &session.history.branches()[session.history.branch()].moments;
    let step = u32::try_from(moments.partition_point(|m| m.at < entry.at)).unwrap_or(u32::MAX);
    let mut words = match (&entry.old, &entry.new) {
        (None, _) => Rich::words("Created."),
        (_, None) => Rich::words("Removed."),
        (Some(old), Some(new)) => changed(old, new),
    };
    words = words.then(Span::Words(format!(" Revision {}.", entry.revision)));
    HistoryRow { who, at: session.at(entry.at), step, words }
}

fn changed(old: &Object, new: &Object) -> Rich {
    let mut found = vec![];
    differences("", &old.to_value(), &new.to_value(), &mut found);
    found.retain(|(path, ..)| {
        !path.starts_with("metadata.resourceVersion") && !path.contains("last-applied-configuration")
    });
    if found.is_empty() {
        return Rich::words("Nothing that counts.");
    }
    let mut rich = Rich::default();
    for (i, (path, before, after)) in found.iter().take(FIELDS).enumerate() {
        if i > 0 {
            rich = rich.then(Span::Words(", ".into()));
        }
        rich = rich.then(Span::Code(path.clone())).then(Span::Words(format!(" {before} → {after}")));
    }
    let more = found.len().saturating_sub(FIELDS);
    rich.then(Span::Words(if more > 0 { format!(" and {more} more.") } else { ".".into() }))
}

/// The leaves in which two values differ: path, before, after.
pub(crate) fn differences(path: &str, old: &Value, new: &Value, out: &mut Vec<(String, String, String)>) {
    if old == new {
        return;
    }
    let join = |key: &str| if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).gather();
            for key in keys {
                differences(
                    &join(key),
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                    out,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for i in 0..a.len().max(b.len()) {
                differences(
                    &format!("{path}[{i}]"),
                    a.get(i).unwrap_or(&Value::Null),
                    b.get(i).unwrap_or(&Value::Null),
                    out,
                );
            }
        }
        _ => out.push((path.to_string(), short(old), short(new))),
    }
}

/// A value in a few characters.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "none".to_string(),
        Value::String(text) => text.clone(),
        Value::Object(_) => "{…}".into(),
        Value::Array(items) => format!("[{}]", items.len()),
        other => other.to_string(),
    };
    if text.chars().count() > 60 { format!("{}…", text.chars().take(59).collect::<String>()) } else { text }
}
