//! What several printers share.

use crate::fields::Fields;
use kubestep_model::arrange::Gather;
use kubestep_model::{
    Container, Instant, Labels, MicroTime, Node, Quantity, Time, text::duration::human_duration,
};
use std::collections::{BTreeMap, BTreeSet};

/// How long ago a moment was, in two or three digits. Upstream: translateTimestampSince.
pub fn age(time: Option<Time>, now: Instant) -> String {
    time.map_or_else(|| "<unknown>".to_owned(), |t| human_duration(now.nanos_since(t.instant())))
}

/// As [`age`], for times with microseconds.
pub fn micro_age(time: Option<MicroTime>, now: Instant) -> String {
    time.map_or_else(|| "<unknown>".to_owned(), |t| human_duration(now.nanos_since(t.instant())))
}

/// The name of an object that has no struct.
pub(super) fn name(o: &serde_json::Value) -> &str {
    o.text("metadata.name")
}

/// How long ago an object that has no struct was made.
pub(super) fn created(o: &serde_json::Value, now: Instant) -> String {
    age(o.time("metadata.creationTimestamp"), now)
}

/// How many elements a list has.
pub(super) fn count(list: &[serde_json::Value]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}

/// The names and the images of containers.
pub(super) fn containers(containers: &[Container]) -> (String, String) {
    let list = |of: fn(&Container) -> &str| containers.iter().map(of).collect::<Vec<_>>().join(",");
    (list(|c| &c.name), list(|c| &c.image))
}

/// Labels between commas; `<none>` if there are none. Upstream: labels.FormatLabels.
pub(super) fn labels(labels: &Labels) -> String {
    if labels.is_empty() {
        return "<none>".to_owned();
    }
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
}

/// `text`, or `otherwise` if it is empty.
pub(super) fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// An address with its port, IPv6 in brackets. Upstream: net.JoinHostPort.
pub fn host_port(address: &str, port: impl std::fmt::Display) -> String {
    if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") }
}

/// At most three of several texts, and how many more there are.
pub fn sum_up(list: &[String]) -> String {
    match list.get(..3) {
        Some(first) if list.len() > 3 => format!("{} + {} more...", first.join(","), list.len() - 3),
        _ => list.join(","),
    }
}

/// The roles that a node's labels give it.
pub fn find_roles(node: &Node) -> Vec<String> {
    let role = |(key, value): (&String, &String)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()).filter(|r| !r.is_empty()),
        None => (key == "kubernetes.io/role" && !value.is_empty()).then(|| value.clone()),
    };
    let roles: BTreeSet<String> = node.metadata.labels.iter().filter_map(role).gather();
    roles.into_iter().collect()
}

/// A quantity of a map of resources; zero if it is not there.
pub(super) fn amount(resources: &BTreeMap<String, Quantity>, name: &str) -> Quantity {
    resources.get(name).cloned().unwrap_or_default()
}
