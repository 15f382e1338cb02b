//! What a file holds: its objects, their pod templates and containers, each with its place in the text.

use kubestep_model::yaml::{Document, Place, Reading};
use serde_json::Value;

/// Lists in lists are looked into this deep.
const DEEPEST: usize = 8;

/// One object of a file.
#[derive(Clone, Debug)]
pub(crate) struct Part<'d> {
    pub(crate) document: &'d Document,
    pub(crate) value: &'d Value,
    /// What stands before its fields in its document: `items[0].` within a list.
    prefix: String,
}

/// The objects of a file in its order, at most so many.
pub(crate) fn parts(reading: &Reading, most: usize) -> Vec<Part<'_>> {
    let mut found = vec![];
    for document in &reading.documents {
        add(document, &document.value, String::new(), 0, most, &mut found);
    }
    found
}

fn add<'d>(
    document: &'d Document,
    value: &'d Value,
    prefix: String,
    depth: usize,
    most: usize,
    found: &mut Vec<Part<'d>>,
) {
    if found.len() >= most {
        return;
    }
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    match value.get("items").and_then(Value::as_array).filter(|_| is_list && depth < DEEPEST) {
        Some(items) => {
            for (i, item) in items.iter().enumerate() {
                add(document, item, format!("{prefix}items[{i}]."), depth + 1, most, found);
            }
        }
        None => found.push(Part { document, value, prefix }),
    }
}

impl<'d> Part<'d> {
    fn text(&self, pointer: &str) -> &'d str {
        self.value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
    }
    pub(crate) fn api_version(&self) -> &'d str {
        self.text("/apiVersion")
    }
    pub(crate) fn kind(&self) -> &'d str {
        self.text("/kind")
    }
    pub(crate) fn name(&self) -> &'d str {
        self.text("/metadata/name")
    }
    /// The namespace it goes to.
    pub(crate) fn namespace(&self) -> &'d str {
        match self.text("/metadata/namespace") {
            "" => "default",
            named => named,
        }
    }

    /// Where a field stands, in the words of messages; of one that is missing, the nearest above it.
    pub(crate) fn find(&self, field: &str) -> Option<Place> {
        self.document.spans.find(&format!("{}{field}", self.prefix))
    }

    /// Where exactly this field stands.
    pub(crate) fn exactly(&self, field: &str) -> Option<Place> {
        at(self.value, field)?;
        self.find(field)
    }

    /// The field's value.
    pub(crate) fn at(&self, field: &str) -> Option<&'d Value> {
        at(self.value, field)
    }

    /// Where its pods come from: the path of the pod template, with a dot behind it; empty for a pod.
    pub(crate) fn template(&self) -> Option<&'static str> {
        match self.kind() {
            "Pod" => Some(""),
            "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController" => {
                Some("spec.template.")
            }
            "CronJob" => Some("spec.jobTemplate.spec.template."),
            _ => None,
        }
    }

    /// The labels of its pods, or of itself if it is one.
    pub(crate) fn pod_labels(&self) -> Option<Vec<(&'d str, &'d str)>> {
        let labels = self.at(&format!("{}metadata.labels", self.template()?))?;
        Some(pairs(labels))
    }

    /// The paths of its containers.
    pub(crate) fn containers(&self) -> Vec<String> {
        let Some(template) = self.template() else { return vec![] };
        let lists = ["initContainers", "containers"].map(|list| format!("{template}spec.{list}"));
        let count = |list: &String| self.at(list).and_then(Value::as_array).map_or(0, Vec::len).min(100);
        lists.iter().flat_map(|list| (0..count(list)).map(move |i| format!("{list}[{i}]"))).collect()
    }
}

/// The texts of a map.
pub(crate) fn pairs(map: &Value) -> Vec<(&str, &str)> {
    let entries = map.as_object().into_iter().flatten();
    entries.filter_map(|(k, v)| v.as_str().map(|v| (k.as_str(), v))).collect()
}

/// The value at a path of plain names and indices.
fn at<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    let mut at = value;
    for step in field.split('.') {
        let (name, index) = step.split_once('[').unwrap_or((step, ""));
        at = at.get(name)?;
        if let Some(index) = index.strip_suffix(']') {
            at = at.get(index.parse::<usize>().ok()?)?;
        }
    }
    Some(at)
}
