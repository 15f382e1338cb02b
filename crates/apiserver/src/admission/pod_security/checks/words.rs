//! What the checks of all levels share: which containers are at fault, and how it is said.

use kubestep_model::arrange::Arrange;
use serde_json::Value;

use super::Found;

pub(super) const SECCOMP: &str = "seccompProfile";
pub(super) const NOT_UNCONFINED: &str = "must not set securityContext.seccompProfile.type to \"Unconfined\"";

pub(super) fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists.into_iter().flat_map(|list| spec[list].as_array().into_iter().flatten())
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The names of the containers for which something holds.
pub(super) fn named(spec: &Value, wrong: impl Fn(&Value) -> bool) -> Vec<&str> {
    containers(spec).filter(|c| wrong(c)).map(|c| text(&c["name"])).collect()
}

pub(super) fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")
}

pub(super) fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// `container "a"`, `containers "a", "b"`.
pub(super) fn these(names: &[&str]) -> String {
    format!("{} {}", plural("container", names.len()), quoted(names))
}

/// Who set it: `pod`, `container "a"` or `pod and containers "a", "b"`; nobody, if none did.
pub(super) fn setters(pod: bool, names: &[&str]) -> Option<String> {
    match (pod, names.is_empty()) {
        (false, true) => None,
        (true, true) => Some("pod".into()),
        (false, false) => Some(these(names)),
        (true, false) => Some(format!("pod and {}", these(names))),
    }
}

/// Each value once, in order.
pub(super) fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.arrange();
    values.dedup();
    values
}

/// A check that finds nothing where no container is at fault.
pub(super) fn of_containers(reason: &'static str, names: &[&str], must: &str) -> Option<Found> {
    (!names.is_empty()).then(|| (reason, format!("{} {must}", these(names))))
}

pub(super) fn is_windows(spec: &Value) -> bool {
    spec["os"]["name"] == "windows"
}

pub(super) fn profile(context: &Value) -> Option<&str> {
    context["seccompProfile"]["type"].as_str()
}

pub(super) fn is_confined(kind: &str) -> bool {
    matches!(kind, "RuntimeDefault" | "Localhost")
}

/// Capabilities that are added beyond those allowed and, where all have to be dropped, who does not.
pub(super) fn capabilities(
    spec: &Value,
    reason: &'static str,
    allowed: &[&str],
    drop_all: bool,
) -> Option<Found> {
    let has = |c: &Value, part: &str| -> Vec<String> {
        let list = c["securityContext"]["capabilities"][part].as_array().cloned().unwrap_or_default();
        list.iter().map(|v| text(v).to_owned()).collect()
    };
    let missing = if drop_all { named(spec, |c| !has(c, "drop").iter().any(|d| d == "ALL")) } else { vec![] };
    let extra = |c: &Value| -> Vec<String> {
        has(c, "add").into_iter().filter(|a| !allowed.contains(&a.as_str())).collect()
    };
    let adding = named(spec, |c| !extra(c).is_empty());
    let mut details = vec![];
    if !missing.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", these(&missing)));
    }
    if !adding.is_empty() {
        let added = sorted(containers(spec).flat_map(extra).collect());
        let added = quoted(&added.iter().map(String::as_str).collect::<Vec<_>>());
        details
            .push(format!("{} must not include {added} in securityContext.capabilities.add", these(&adding)));
    }
    (!details.is_empty()).then(|| (reason, details.join("; ")))
}
